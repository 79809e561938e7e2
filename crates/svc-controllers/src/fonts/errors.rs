//! Errors of fonts: refusals, and those of the site.

use svc_routing::Request;
use svc_schema::Error;

pub(crate) use svc_site::errors::fonts::*;

refusals! {
    /// The caller may not see fonts.
    cannot_read = "rest_cannot_read" "You are not allowed to see fonts.";
}
