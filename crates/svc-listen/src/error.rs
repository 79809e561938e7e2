//! Errors of starting to listen.

/// A failure to listen. The message names the failed operation; `source` has the error of the operating system.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address is in use, not permitted, or cannot be resolved.
    #[error("cannot listen on {address}")]
    Bind {
        /// The socket address or host name.
        address: String,
        /// The error of the operating system.
        #[source]
        cause: std::io::Error,
    },
    /// The socket that the supervisor has passed cannot be used.
    #[error("cannot listen on the socket that the supervisor has passed (LISTEN_FDS)")]
    Inherited(#[source] std::io::Error),
    /// The listener's address cannot be read.
    #[error("cannot read the listening address")]
    Address(#[source] std::io::Error),
}

/// Result of starting to listen.
pub type Result<T> = std::result::Result<T, Error>;
