//! Why an outgoing request gave no answer.

use std::net::IpAddr;

/// Why an outgoing request gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// Not an address of the web, or one with credentials in it.
    #[error("this is not an address that can be asked")]
    BadAddress,
    /// A port that is not one of the web.
    #[error("port {0} is not asked")]
    Port(u16),
    /// The host leads to an address that is not public.
    #[error("the host leads to {0}, which is not asked")]
    Refused(IpAddr),
    /// Nobody knows the host.
    #[error("the host is not known")]
    Unresolved,
    /// The whole of it took too long.
    #[error("there was no whole answer in time")]
    TimedOut,
    /// The answer is larger than what was asked for.
    #[error("the answer is larger than {0} bytes")]
    TooLarge(u64),
    /// One address led to the next too often.
    #[error("there were too many redirects")]
    TooManyRedirects,
    /// The other side did not prove who it is.
    #[error("the connection is not secure: {0}")]
    Tls(String),
    /// No connection, or not one that speaks HTTP.
    #[error("the connection failed: {0}")]
    Connection(String),
}

impl FetchError {
    /// Whether the address itself is at fault, whatever the network does.
    pub fn is_refusal(&self) -> bool {
        matches!(self, FetchError::BadAddress | FetchError::Port(_) | FetchError::Refused(_) | FetchError::Unresolved)
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
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => FetchError::BadAddress,
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
        // Failures of TLS, and our own errors, travel through readers inside others.
        match error.downcast::<ureq::Error>() {
            Ok(inner) => inner.into(),
            Err(error) if error.get_ref().is_some_and(|e| e.to_string().contains("certificate")) => {
                FetchError::Tls(error.to_string())
            }
            Err(error) => FetchError::Connection(error.to_string()),
        }
    }
}
