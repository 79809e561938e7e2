//! The columns of WordPress's tables.

/// Tables without the prefix, with their columns in lower case.
const COLUMNS: [(&str, &str); 11] = [
    (
        "posts",
        "id post_author post_date post_date_gmt post_content post_title post_excerpt post_status comment_status ping_status post_password post_name \
         to_ping pinged post_modified post_modified_gmt post_content_filtered post_parent guid menu_order post_type post_mime_type comment_count",
    ),
    ("postmeta", "meta_id post_id meta_key meta_value"),
    (
        "comments",
        "comment_id comment_post_id comment_author comment_author_email comment_author_url comment_author_ip comment_date comment_date_gmt \
         comment_content comment_karma comment_approved comment_agent comment_type comment_parent user_id",
    ),
    ("commentmeta", "meta_id comment_id meta_key meta_value"),
    ("terms", "term_id name slug term_group"),
    ("termmeta", "meta_id term_id meta_key meta_value"),
    ("term_taxonomy", "term_taxonomy_id term_id taxonomy description parent count"),
    ("term_relationships", "object_id term_taxonomy_id term_order"),
    (
        "users",
        "id user_login user_pass user_nicename user_email user_url user_registered user_activation_key user_status display_name",
    ),
    ("usermeta", "umeta_id user_id meta_key meta_value"),
    ("options", "option_id option_name option_value autoload"),
];

/// Whether a table of WordPress has a column, both in lower case.
pub(super) fn has_column(table: &str, column: &str) -> bool {
    COLUMNS.iter().any(|(name, columns)| *name == table && columns.split_whitespace().any(|known| known == column))
}
