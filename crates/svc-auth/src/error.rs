//! Refusals as plain values; the interface layer makes its wire errors of them.

/// Why somebody was not authenticated: a wire code, a text for people, and the HTTP status where the rule fixes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthError {
    /// The interface's error code, such as `rest_cookie_invalid_nonce`.
    pub code: &'static str,
    /// What people read.
    pub message: &'static str,
    /// HTTP status; `None` leaves it to the place that answers.
    pub status: Option<u16>,
}

impl AuthError {
    /// The same refusal with this status where it had none.
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
