//! Errors of widgets: refusals, and those of the site.

use svc_routing::Request;
use svc_schema::Error;

pub(crate) use svc_site::errors::widgets::*;

refusals! {
    /// The caller may not set widgets.
    cannot_manage = "rest_cannot_manage_widgets" "You are not allowed to set the widgets of this site.";
}
