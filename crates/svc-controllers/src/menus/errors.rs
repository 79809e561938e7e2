//! Errors of the menu routes.

use svc_routing::Request;
use svc_schema::Error;

pub(crate) use svc_site::errors::menus::*;

authorization_errors! {
    /// The caller may not view menus.
    cannot_view = "rest_cannot_view" "You are not allowed to view menus.";

    /// The caller may not view menu locations.
    cannot_view_locations = "rest_cannot_view" "You are not allowed to view menu locations.";
}
