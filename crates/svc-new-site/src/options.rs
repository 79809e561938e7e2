//! Options of a new site, with the names and values of WordPress, so that both can use the database.

use serde_json::json;
use svc_store::StoredText;

use FirstValue::{EmptyArray, NoSidebars, Text};

/// The value of an option.
pub(super) enum FirstValue {
    /// Text.
    Text(&'static str),
    /// An empty array.
    EmptyArray,
    /// No widgets in any sidebar.
    NoSidebars,
}

impl FirstValue {
    /// The stored form.
    pub(super) fn encoded(&self) -> StoredText {
        match self {
            Text(text) => StoredText::of(*text),
            EmptyArray => StoredText::of(json!([])),
            NoSidebars => StoredText::of(json!({"wp_inactive_widgets": []})),
        }
    }
}

/// Options that do not depend on the site: name, value, autoload.
#[rustfmt::skip]
pub(super) const FIXED: &[(&str, FirstValue, bool)] = &[
    ("blogname", Text("A fresh site"), true),
    ("blogdescription", Text("Served by a small program"), true),
    ("users_can_register", Text("0"), true),
    ("start_of_week", Text("1"), true),
    ("use_balanceTags", Text("0"), true),
    ("use_smilies", Text("1"), true),
    ("require_name_email", Text("1"), true),
    ("comments_notify", Text("1"), true),
    ("posts_per_rss", Text("10"), true),
    ("rss_use_excerpt", Text("0"), true),
    ("mailserver_url", Text("mail.example.com"), true),
    ("mailserver_login", Text("login@example.com"), true),
    ("mailserver_pass", Text(""), true),
    ("mailserver_port", Text("110"), true),
    ("default_comment_status", Text("open"), true),
    ("default_ping_status", Text("open"), true),
    ("default_pingback_flag", Text("1"), true),
    ("posts_per_page", Text("10"), true),
    ("date_format", Text("F j, Y"), true),
    ("time_format", Text("g:i a"), true),
    ("links_updated_date_format", Text("F j, Y g:i a"), true),
    ("comment_moderation", Text("0"), true),
    ("moderation_notify", Text("1"), true),
    ("permalink_structure", Text("/%year%/%monthnum%/%day%/%postname%/"), true),
    ("rewrite_rules", Text(""), true),
    ("hack_file", Text("0"), true),
    ("blog_charset", Text("UTF-8"), true),
    ("moderation_keys", Text(""), false),
    ("active_plugins", EmptyArray, true),
    ("category_base", Text(""), true),
    ("ping_sites", Text(""), true),
    ("comment_max_links", Text("2"), true),
    ("gmt_offset", Text("0"), true),
    ("recently_edited", Text(""), false),
    ("comment_registration", Text("0"), true),
    ("html_type", Text("text/html"), true),
    ("use_trackback", Text("0"), true),
    ("default_role", Text("subscriber"), true),
    ("db_version", Text(DB_VERSION), true),
    ("uploads_use_yearmonth_folders", Text("1"), true),
    ("upload_path", Text(""), true),
    ("blog_public", Text("1"), true),
    ("default_link_category", Text("2"), true),
    ("show_on_front", Text("posts"), true),
    ("tag_base", Text(""), true),
    ("show_avatars", Text("1"), true),
    ("avatar_rating", Text("G"), true),
    ("upload_url_path", Text(""), true),
    ("thumbnail_size_w", Text("150"), true),
    ("thumbnail_size_h", Text("150"), true),
    ("thumbnail_crop", Text("1"), true),
    ("medium_size_w", Text("300"), true),
    ("medium_size_h", Text("300"), true),
    ("avatar_default", Text("mystery"), true),
    ("large_size_w", Text("1024"), true),
    ("large_size_h", Text("1024"), true),
    ("image_default_link_type", Text("none"), true),
    ("image_default_size", Text(""), true),
    ("image_default_align", Text(""), true),
    ("close_comments_for_old_posts", Text("0"), true),
    ("close_comments_days_old", Text("14"), true),
    ("thread_comments", Text("1"), true),
    ("thread_comments_depth", Text("5"), true),
    ("page_comments", Text("0"), true),
    ("comments_per_page", Text("50"), true),
    ("default_comments_page", Text("newest"), true),
    ("comment_order", Text("asc"), true),
    ("sticky_posts", EmptyArray, true),
    ("uninstall_plugins", EmptyArray, false),
    ("timezone_string", Text(""), true),
    ("page_for_posts", Text("0"), true),
    ("page_on_front", Text("0"), true),
    ("default_post_format", Text("0"), true),
    ("link_manager_enabled", Text("0"), true),
    ("finished_splitting_shared_terms", Text("1"), true),
    ("site_icon", Text("0"), true),
    ("medium_large_size_w", Text("768"), true),
    ("medium_large_size_h", Text("0"), true),
    ("wp_page_for_privacy_policy", Text("0"), true),
    ("show_comments_cookies_opt_in", Text("1"), true),
    ("disallowed_keys", Text(""), false),
    ("comment_previously_approved", Text("1"), true),
    ("auto_plugin_theme_update_emails", EmptyArray, false),
    ("auto_update_core_dev", Text("enabled"), true),
    ("auto_update_core_minor", Text("enabled"), true),
    ("auto_update_core_major", Text("enabled"), true),
    ("wp_force_deactivated_plugins", EmptyArray, true),
    ("wp_attachment_pages_enabled", Text("0"), true),
    ("wp_notes_notify", Text("1"), true),
    ("initial_db_version", Text(DB_VERSION), true),
    ("WPLANG", Text(""), true),
    ("template", Text(crate::theme::NAME), true),
    ("stylesheet", Text(crate::theme::NAME), true),
    ("sidebars_widgets", NoSidebars, true),
    ("fresh_site", Text("1"), false),
    ("using_application_passwords", Text("1"), false),
];

/// The database version of WordPress 7.1. With a lower one, WordPress would offer to upgrade the database.
const DB_VERSION: &str = "61833";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn option_names_are_unique() {
        let names: std::collections::BTreeSet<&str> = FIXED.iter().map(|(name, ..)| *name).collect();
        assert_eq!(names.len(), FIXED.len());
    }
}
