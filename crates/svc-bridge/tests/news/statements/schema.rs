//! The tables of the statements, and what is in them.

/// Tables with their columns.
pub(super) const TABLES: &[(&str, &[&str])] = &[
    (
        "wp_posts",
        &["ID", "post_author", "post_status", "post_parent", "post_type", "menu_order", "post_name", "post_title"],
    ),
    ("wp_postmeta", &["meta_id", "post_id", "meta_key", "meta_value"]),
    ("wp_comments", &["comment_ID", "comment_post_ID", "comment_author", "comment_karma"]),
    ("wp_terms", &["term_id", "name"]),
    ("wp_term_taxonomy", &["term_id", "term_taxonomy_id", "taxonomy", "description"]),
    ("wp_term_relationships", &["object_id", "term_taxonomy_id", "term_order"]),
    ("wp_users", &["ID", "user_login"]),
    ("wp_usermeta", &["umeta_id", "user_id", "meta_key", "meta_value"]),
    ("wp_options", &["option_id", "option_name", "option_value", "autoload"]),
    ("wp_goods", &["id", "rank", "order", "key", "value", "end", "post_id", "day", "price"]),
    ("rank", &["id", "key", "post_id"]),
    ("2fa_log", &["id", "user", "kind"]),
];

/// The column with the number of a term's row.
pub(super) const TERM: (&str, &str) = ("wp_term_taxonomy", "term_taxonomy_id");

/// Columns of which rows are often joined.
pub(super) const LINKS: &[(&str, &str, &str, &str)] = &[
    ("wp_posts", "ID", "wp_postmeta", "post_id"),
    ("wp_posts", "ID", "wp_comments", "comment_post_ID"),
    ("wp_posts", "ID", "wp_term_relationships", "object_id"),
    ("wp_posts", "post_author", "wp_users", "ID"),
    ("wp_posts", "post_parent", "wp_posts", "ID"),
    ("wp_posts", "ID", "wp_goods", "post_id"),
    ("wp_posts", "ID", "rank", "post_id"),
    ("wp_terms", "term_id", "wp_term_taxonomy", "term_id"),
    ("wp_term_taxonomy", "term_taxonomy_id", "wp_term_relationships", "term_taxonomy_id"),
    ("wp_users", "ID", "wp_usermeta", "user_id"),
    ("wp_users", "ID", "2fa_log", "user"),
    ("wp_goods", "rank", "rank", "id"),
];

/// Texts that are alike to the database, or to a careless reader.
pub(super) const TEXTS: &[&str] = &[
    "post",
    "page",
    "revision",
    "publish",
    "a",
    "A",
    "b",
    "a ",
    "ab",
    "",
    "5",
    "05",
    "2",
    "2x",
    "it's",
    "\u{e9}",
    "e",
    "a\\",
    "session_tokens",
    "yes",
];

/// Names that are keywords for some database, or look like one.
pub(super) const ALIASES: &[&str] = &[
    "p",
    "x",
    "value",
    "`order`",
    "`join`",
    "end",
    "full",
    "`a b`",
    "no",
    "t1",
    "type",
    "offset",
    "window",
    "minus",
    "returning",
];
