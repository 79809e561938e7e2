//! Errors of widgets.

use svc_schema::Error;

errors! {
    /// No sidebar has this id.
    sidebar_not_found = 404 "rest_sidebar_not_found" "Sidebar not found.";

    /// No widget has this id.
    not_found = 404 "rest_widget_not_found" "Widget not found.";

    /// No widget type has this id.
    invalid_type = 404 "rest_widget_type_invalid" "Widget type not found.";

    /// A change to a widget of an unknown type: 500, as in WordPress.
    unknown_kind = 500 "rest_invalid_widget" "Widget type not found.";
}

/// The widget cannot be created or changed as requested.
pub fn invalid(why: &str) -> Error {
    Error::new("rest_invalid_widget", why).with_status(400)
}
