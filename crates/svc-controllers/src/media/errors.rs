//! Errors of media: authorization errors, and the errors of svc-site.

use svc_routing::Request;
use svc_schema::Error;

pub(crate) use svc_site::errors::media::*;

fn error(code: &str, message: &str, status: u16) -> Error {
    Error::new(code, message).with_status(status)
}

/// The caller may not create edited copies.
pub(crate) fn cannot_edit_image(req: &Request) -> Error {
    let message = "You are not allowed to upload files on this site.";
    error("rest_cannot_edit_image", message, req.authorization_status())
}
