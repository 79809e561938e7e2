//! Authentication errors as plain values, independent of the REST API.

/// An authentication error: an error code, a message, and an HTTP status if the rule prescribes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthError {
    /// Error code in the REST API, such as `rest_cookie_invalid_nonce`.
    pub code: &'static str,
    /// Message for users.
    pub message: &'static str,
    /// HTTP status. If `None`, the caller chooses one.
    pub status: Option<u16>,
}

impl AuthError {
    /// Returns the error with this status, unless it already has one.
    pub fn or_status(self, status: u16) -> Self {
        AuthError { status: self.status.or(Some(status)), ..self }
    }
}

impl std::fmt::Display for AuthError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.message)
    }
}

impl std::error::Error for AuthError {}
