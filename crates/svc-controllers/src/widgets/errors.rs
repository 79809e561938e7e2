//! Errors of the widget routes.

use svc_routing::Request;
use svc_schema::Error;

pub(crate) use svc_site::errors::widgets::*;

authorization_errors! {
    /// The caller may not manage widgets.
    cannot_manage = "rest_cannot_manage_widgets" "You are not allowed to manage widgets on this site.";
}
