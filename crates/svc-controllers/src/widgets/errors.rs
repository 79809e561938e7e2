//! Errors of widgets: one constructor per condition.

use svc_routing::{Request, forbidden};
use svc_schema::Error;

/// The caller may not set widgets.
pub(super) fn cannot_manage(req: &Request) -> Error {
    forbidden(req, "rest_cannot_manage_widgets", "You are not allowed to set the widgets of this site.")
}

/// No such sidebar.
pub(super) fn sidebar_not_found() -> Error {
    Error::new("rest_sidebar_not_found", "There is no such sidebar.").with_status(404)
}

/// No such widget.
pub(super) fn not_found() -> Error {
    Error::new("rest_widget_not_found", "There is no such widget.").with_status(404)
}

/// No such kind of widgets.
pub(super) fn invalid_type() -> Error {
    Error::new("rest_widget_type_invalid", "There is no such kind of widgets.").with_status(404)
}

/// The widget cannot be made or changed so.
pub(super) fn invalid(why: &str) -> Error {
    Error::new("rest_invalid_widget", why).with_status(400)
}

/// A change of a widget of an unknown kind: 500, as the peer.
pub(super) fn unknown_kind() -> Error {
    Error::new("rest_invalid_widget", "There is no such kind of widgets.").with_status(500)
}
