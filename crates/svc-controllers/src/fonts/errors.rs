//! Font errors: permission errors here, the others from `svc_site`.

use svc_routing::Request;
use svc_schema::Error;

pub(crate) use svc_site::errors::fonts::*;

authorization_errors! {
    /// The caller may not view fonts.
    cannot_read = "rest_cannot_read" "You are not allowed to view fonts.";
}
