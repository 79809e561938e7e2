//! Errors of request bodies.

use svc_routing::Error;

/// Error for a body beyond the limits.
pub(crate) fn too_large() -> Error {
    Error::new("rest_content_too_large", "The request is too large.").with_status(413)
}

/// Error for a body that is incomplete or does not match its content type.
pub(crate) fn unreadable_body(cause: &dyn std::fmt::Display) -> Error {
    tracing::debug!(%cause, "request body is not readable");
    Error::new("rest_invalid_body", "The request body cannot be read.").with_status(400)
}
