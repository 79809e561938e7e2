//! Errors of plugins.

use serde_json::{Value, json};
use svc_schema::Error;

errors! {
    /// No plugin has this name.
    not_found = 404 "rest_plugin_not_found" "The plugin does not exist.";

    /// The plugin is active.
    is_active = 400 "rest_cannot_delete_active_plugin" "The plugin is active. Deactivate it before deleting it.";

    /// Extensions are compiled into the server.
    is_compiled_in = 400 "rest_cannot_delete_extension" "This plugin is compiled into the server. It can be deactivated but not deleted.";

    /// The unpacked package contains no plugin.
    no_plugin_inside = 500 "incompatible_archive_no_plugins" "The package contains no plugin.";

    /// The plugin's folder already exists.
    folder_exists = 500 "folder_exists" "A folder with this name already exists.";
}

/// The files could not be deleted.
pub fn cannot_remove(error: &std::io::Error) -> Error {
    tracing::warn!(%error, "failed to delete a plugin");
    Error::new("could_not_remove_plugin", "The plugin's files could not be deleted.").with_status(500)
}

/// The plugin requires a newer WordPress or PHP than this server is compatible with.
pub(crate) fn incompatible(wp: bool, php: bool) -> Error {
    let (code, what) = match (wp, php) {
        (true, true) => ("plugin_wp_php_incompatible", "WordPress and PHP"),
        (true, false) => ("plugin_wp_incompatible", "WordPress"),
        (false, _) => ("plugin_php_incompatible", "PHP"),
    };
    Error::new(code, format!("The plugin requires a newer version of {what}.")).with_status(500)
}

/// The plugin requires plugins that are not active: `missing` maps their slugs to names.
pub(crate) fn missing_dependencies(missing: Value) -> Error {
    let text = "The plugin requires other plugins to be installed and active.";
    let mut error = Error::new("plugin_missing_dependencies", text);
    error.add_data(missing, None);
    error.add_data(json!({"status": 500}), None);
    error
}

/// The package could not be downloaded or is invalid.
pub(crate) fn bad_package(code: &str, why: impl Into<String>) -> Error {
    Error::new(code, why).with_status(500)
}
