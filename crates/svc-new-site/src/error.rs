//! Errors of creating a site.

/// A failure to create a site, or to read whether there is one. The message names the failed operation; `source` has the
/// cause.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Error of the operating system.
    #[error("{context}")]
    Io {
        /// The failed operation: `cannot write first-password`.
        context: String,
        /// The cause.
        #[source]
        cause: std::io::Error,
    },
    /// Error of the database.
    #[error("{context}")]
    Store {
        /// The failed operation.
        context: &'static str,
        /// The cause; contains no secret.
        #[source]
        cause: svc_store::StoreError,
    },
    /// Any other reason.
    #[error("{0}")]
    Refused(String),
}

/// Result of creating a site.
pub type Result<T = ()> = std::result::Result<T, Error>;

impl Error {
    /// Adds the failed operation to an error of the operating system, for `map_err`.
    pub(crate) fn io(context: String) -> impl FnOnce(std::io::Error) -> Error {
        move |cause| Error::Io { context, cause }
    }

    /// Adds the failed operation to an error of the database, for `map_err`.
    pub(crate) fn store(context: &'static str) -> impl FnOnce(svc_store::StoreError) -> Error {
        move |cause| Error::Store { context, cause }
    }
}
