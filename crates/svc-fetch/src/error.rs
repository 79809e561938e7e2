//! Errors of outgoing requests.

use std::net::IpAddr;

/// An error of an outgoing request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The URL is malformed, is not HTTP(S), or contains credentials.
    #[error("the URL is not valid for an outgoing request")]
    InvalidUrl,
    /// The URL's port is not permitted.
    #[error("port {0} is not allowed")]
    ForbiddenPort(u16),
    /// The host resolves to an address that is not permitted.
    #[error("the host resolves to {0}, which is not allowed")]
    ForbiddenAddress(IpAddr),
    /// The host name does not resolve.
    #[error("the host could not be resolved")]
    Unresolved,
    /// The request exceeded its timeout.
    #[error("the request timed out")]
    TimedOut,
    /// The response body exceeds the limit, in bytes.
    #[error("the response is larger than {0} bytes")]
    TooLarge(u64),
    /// The redirect limit was exceeded.
    #[error("there were too many redirects")]
    TooManyRedirects,
    /// The TLS handshake or certificate check failed.
    #[error("TLS failed: {0}")]
    Tls(String),
    /// The connection failed, or the other side did not speak HTTP.
    #[error("the connection failed: {0}")]
    Connection(String),
}

impl FetchError {
    /// Returns whether the URL itself is the cause, rather than the network. Retrying does not help.
    pub fn is_invalid_url(&self) -> bool {
        matches!(
            self,
            FetchError::InvalidUrl
                | FetchError::ForbiddenPort(_)
                | FetchError::ForbiddenAddress(_)
                | FetchError::Unresolved
        )
    }
}

impl From<ureq::Error> for FetchError {
    fn from(error: ureq::Error) -> Self {
        match error {
            ureq::Error::Other(inner) => match inner.downcast::<FetchError>() {
                Ok(own) => *own,
                Err(other) => FetchError::Connection(other.to_string()),
            },
            ureq::Error::Timeout(_) => FetchError::TimedOut,
            ureq::Error::HostNotFound => FetchError::Unresolved,
            ureq::Error::TooManyRedirects => FetchError::TooManyRedirects,
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => FetchError::InvalidUrl,
            ureq::Error::Tls(why) => FetchError::Tls(why.to_owned()),
            ureq::Error::Rustls(why) => FetchError::Tls(why.to_string()),
            ureq::Error::Io(error) => error.into(),
            other => FetchError::Connection(other.to_string()),
        }
    }
}

impl From<std::io::Error> for FetchError {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::TimedOut {
            return FetchError::TimedOut;
        }
        // TLS failures and our own errors arrive wrapped in I/O errors.
        match error.downcast::<ureq::Error>() {
            Ok(inner) => inner.into(),
            Err(error) if error.get_ref().is_some_and(|e| e.to_string().contains("certificate")) => {
                FetchError::Tls(error.to_string())
            }
            Err(error) => FetchError::Connection(error.to_string()),
        }
    }
}
