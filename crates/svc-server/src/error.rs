//! Errors of opening and serving a site.

/// A failure to open or serve a site. The message names the failed operation; `source` has the cause.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Invalid configuration.
    #[error(transparent)]
    Config(#[from] crate::config::ConfigError),
    /// The server cannot listen.
    #[error(transparent)]
    Listen(#[from] svc_listen::Error),
    /// The certificate of TLS cannot be used.
    #[error(transparent)]
    Certificate(#[from] svc_certificates::Error),
    /// The monitoring listener cannot start.
    #[error(transparent)]
    Monitoring(#[from] svc_monitoring::MonitoringError),
    /// A site cannot be created, or is incomplete.
    #[error(transparent)]
    NewSite(#[from] svc_new_site::Error),
    /// Error of the operating system.
    #[error("{context}")]
    Io {
        /// The failed operation: `cannot listen on 127.0.0.1:80`.
        context: String,
        /// The cause.
        #[source]
        cause: std::io::Error,
    },
    /// Error of the database.
    #[error("{context}")]
    Store {
        /// The failed operation.
        context: String,
        /// The cause; contains no secret.
        #[source]
        cause: svc_store::StoreError,
    },
    /// Any other reason.
    #[error("{0}")]
    Refused(String),
}

/// Result of opening or serving a site.
pub type Result<T = ()> = std::result::Result<T, Error>;

impl Error {
    /// Adds the failed operation to an error of the operating system, for `map_err`.
    pub fn io(context: impl Into<String>) -> impl FnOnce(std::io::Error) -> Error {
        let context = context.into();
        move |cause| Error::Io { context, cause }
    }

    /// Adds the failed operation to an error of the database, for `map_err`.
    pub fn store(context: impl Into<String>) -> impl FnOnce(svc_store::StoreError) -> Error {
        let context = context.into();
        move |cause| Error::Store { context, cause }
    }
}
