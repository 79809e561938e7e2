//! Errors of menus: refusals, and those of the site.

use svc_routing::Request;
use svc_schema::Error;

pub(crate) use svc_site::errors::menus::*;

refusals! {
    /// The caller may not see menus.
    cannot_view = "rest_cannot_view" "You are not allowed to see menus.";

    /// The caller may not see where menus are shown.
    cannot_view_locations = "rest_cannot_view" "You are not allowed to see the locations of menus.";
}
