//! Errors of plugins.

family_errors! {
    use svc_site::errors::plugins;

    /// The caller may not list plugins.
    cannot_list = "rest_cannot_view_plugins" "You are not allowed to view the plugins of this site.";

    /// The caller may not view this plugin.
    cannot_fetch = "rest_cannot_view_plugin" "You are not allowed to view this plugin.";

    /// The caller may not activate, deactivate or delete plugins.
    cannot_manage = "rest_cannot_manage_plugins" "You are not allowed to manage the plugins of this site.";

    /// The caller may not install plugins.
    cannot_install = "rest_cannot_install_plugin" "You are not allowed to install plugins on this site.";

    /// The caller may install plugins, but not activate them.
    cannot_activate = "rest_cannot_activate_plugin" "You are not allowed to activate plugins.";
}
