//! Capabilities without an object that resolve to other capabilities or depend on site settings.

use super::{DO_NOT_ALLOW, SitePolicy};

/// Calls `require` with the capabilities that `cap` resolves to. Returns false if it is primitive.
pub(super) fn resolve(cap: &str, policy: &SitePolicy, require: &mut dyn FnMut(&str)) -> bool {
    let if_allowed = |allowed: bool, cap: &'static str| if allowed { cap } else { DO_NOT_ALLOW };
    #[rustfmt::skip]
    let required = match cap {
        // Users
        "add_users" | "promote_user" | "promote_users" => "promote_users",
        "delete_user" => "delete_users",
        // Plugins, themes, core
        "activate_plugin" | "deactivate_plugin" | "deactivate_plugins" => "activate_plugins",
        "resume_plugin" => "resume_plugins",
        "resume_theme" => "resume_themes",
        "edit_files" => if_allowed(policy.file_edits && policy.file_mods, "edit_files"),
        "edit_plugins" => if_allowed(policy.file_edits && policy.file_mods, "edit_plugins"),
        "edit_themes" => if_allowed(policy.file_edits && policy.file_mods, "edit_themes"),
        "install_plugins" | "upload_plugins" => if_allowed(policy.file_mods, "install_plugins"),
        "install_themes" | "upload_themes" => if_allowed(policy.file_mods, "install_themes"),
        "install_languages" | "update_languages" => if_allowed(policy.file_mods, "install_languages"),
        "update_plugins" => if_allowed(policy.file_mods, "update_plugins"),
        "delete_plugins" => if_allowed(policy.file_mods, "delete_plugins"),
        "update_themes" => if_allowed(policy.file_mods, "update_themes"),
        "delete_themes" => if_allowed(policy.file_mods, "delete_themes"),
        "update_core" => if_allowed(policy.file_mods, "update_core"),
        "update_php" => "update_core",
        "update_https" => {
            require("manage_options");
            "update_core"
        }
        // Content
        "unfiltered_html" | "edit_css" => if_allowed(policy.unfiltered_html, "unfiltered_html"),
        "unfiltered_upload" => if_allowed(policy.unfiltered_uploads, "unfiltered_upload"),
        "customize" => "edit_theme_options",
        "manage_links" => if_allowed(policy.link_manager, "manage_links"),
        // Terms of the built-in taxonomies
        "manage_post_tags" | "edit_categories" | "edit_post_tags" | "delete_categories" | "delete_post_tags" =>
            "manage_categories",
        "assign_categories" | "assign_post_tags" => "edit_posts",
        // Synced patterns have the capabilities of posts.
        "edit_blocks" => "edit_posts",
        "edit_others_blocks" => "edit_others_posts",
        "publish_blocks" => "publish_posts",
        "read_private_blocks" => "read_private_posts",
        "delete_blocks" => "delete_posts",
        "delete_private_blocks" => "delete_private_posts",
        "delete_published_blocks" => "delete_published_posts",
        "delete_others_blocks" => "delete_others_posts",
        "edit_private_blocks" => "edit_private_posts",
        "edit_published_blocks" => "edit_published_posts",
        // The site
        "export_others_personal_data" | "erase_others_personal_data" | "manage_privacy_options" | "setup_network" =>
            "manage_options",
        "delete_site" => DO_NOT_ALLOW,
        _ => return false,
    };
    require(required);
    true
}
