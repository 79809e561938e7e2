//! Errors of the family: one constructor per code, named for the condition.

use serde_json::{Value, json};
use svc_routing::{Request, forbidden};
use svc_schema::Error;

/// The caller may not see the list.
pub(super) fn cannot_list(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view_plugins", "You are not allowed to see the plugins of this site.")
}

/// The caller may not see this one.
pub(super) fn cannot_fetch(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view_plugin", "You are not allowed to see this plugin.")
}

/// The caller may not switch or delete plugins.
pub(super) fn cannot_manage(req: &Request) -> Error {
    forbidden(req, "rest_cannot_manage_plugins", "You are not allowed to manage the plugins of this site.")
}

/// The caller may not install plugins.
pub(super) fn cannot_install(req: &Request) -> Error {
    forbidden(req, "rest_cannot_install_plugin", "You are not allowed to install plugins on this site.")
}

/// The caller may install, but not switch on.
pub(super) fn cannot_activate(req: &Request) -> Error {
    forbidden(req, "rest_cannot_activate_plugin", "You are not allowed to activate plugins.")
}

/// No plugin has this name.
pub(super) fn not_found() -> Error {
    Error::new("rest_plugin_not_found", "There is no such plugin.").with_status(404)
}

/// A plugin in use.
pub(super) fn is_active() -> Error {
    Error::new("rest_cannot_delete_active_plugin", "The plugin is active. Deactivate it before you delete it.")
        .with_status(400)
}

/// An extension is part of the program.
pub(super) fn is_compiled_in() -> Error {
    Error::new(
        "rest_cannot_delete_extension",
        "This is a part of the server itself. It can be deactivated, not deleted.",
    )
    .with_status(400)
}

/// The files cannot be removed.
pub(super) fn cannot_remove(error: &std::io::Error) -> Error {
    tracing::warn!(%error, "a plugin was not deleted");
    Error::new("could_not_remove_plugin", "The plugin's files could not be removed.").with_status(500)
}

/// The plugin asks for a newer WordPress or PHP than this server stands for.
pub(super) fn incompatible(wp: bool, php: bool) -> Error {
    let (code, what) = match (wp, php) {
        (true, true) => ("plugin_wp_php_incompatible", "WordPress and PHP"),
        (true, false) => ("plugin_wp_incompatible", "WordPress"),
        (false, _) => ("plugin_php_incompatible", "PHP"),
    };
    Error::new(code, format!("The plugin needs a newer version of {what}.")).with_status(500)
}

/// The plugin needs others that are not active. `missing` says which, by slug with their names.
pub(super) fn missing_dependencies(missing: Value) -> Error {
    let text = "The plugin needs other plugins, which have to be installed and active.";
    let mut error = Error::new("plugin_missing_dependencies", text);
    error.add_data(missing, None);
    error.add_data(json!({"status": 500}), None);
    error
}

/// A package was unpacked, and no plugin is in it.
pub(super) fn no_plugin_inside() -> Error {
    Error::new("incompatible_archive_no_plugins", "The package holds no plugin.").with_status(500)
}

/// The folder of the plugin is there already.
pub(super) fn folder_exists() -> Error {
    Error::new("folder_exists", "There is a folder of this name already.").with_status(500)
}

/// The package could not be got, or is not what it should be.
pub(super) fn bad_package(code: &str, why: impl Into<String>) -> Error {
    Error::new(code, why).with_status(500)
}
