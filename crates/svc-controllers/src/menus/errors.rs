//! Errors of menus.

family_errors! {
    use svc_site::errors::menus;

    /// The caller may not view menus.
    cannot_view = "rest_cannot_view" "You are not allowed to view menus.";

    /// The caller may not view menu locations.
    cannot_view_locations = "rest_cannot_view" "You are not allowed to view menu locations.";
}
