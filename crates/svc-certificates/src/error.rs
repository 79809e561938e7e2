//! Errors of reading certificates.

use std::path::PathBuf;

/// An error behind another one.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// A certificate cannot be used. The message names the failed operation; `source` has the cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read, or contains no such PEM section.
    #[error("cannot read {what} from {}", .path.display())]
    Read {
        /// `a certificate` or `a private key`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        cause: Cause,
    },
    /// The key is not that of the certificate.
    #[error("the private key in {} is not that of the certificate in {}", .key.display(), .certificate.display())]
    Mismatch {
        /// The file with the certificate.
        certificate: PathBuf,
        /// The file with the key.
        key: PathBuf,
    },
    /// The certificate is not valid any more.
    #[error("the certificate in {} expired on {on}", .path.display())]
    Expired {
        /// The file with the certificate.
        path: PathBuf,
        /// The time, in UTC.
        on: chrono::NaiveDateTime,
    },
    /// A file cannot be stored.
    #[error("cannot write {}", .path.display())]
    Store {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        #[source]
        cause: std::io::Error,
    },
    /// The key is of a kind that is not supported, or the certificate is broken.
    #[error("the certificate in {} cannot be used", .path.display())]
    Unusable {
        /// The file with the certificate.
        path: PathBuf,
        /// The cause.
        #[source]
        cause: Cause,
    },
}

impl Error {
    /// The message with its cause, for a log or a stored state: `cannot write acme.json: No space left on device`.
    pub(crate) fn with_cause(&self) -> String {
        std::error::Error::source(self).map_or_else(|| self.to_string(), |cause| format!("{self}: {cause}"))
    }
}

/// Result of reading certificates.
pub type Result<T> = std::result::Result<T, Error>;

/// Why there is no new certificate, although one is due.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoNewCertificate(pub String);
