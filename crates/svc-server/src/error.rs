//! Why a command of the server failed, in words for the person who started it.

/// A failure to start, serve or carry out a command. Shown once, at the end of the program.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] crate::config::ConfigError),
    /// The system refused something.
    #[error("{doing}: {cause}")]
    Io {
        /// What was being done: `cannot listen on 127.0.0.1:80`.
        doing: String,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The database refused something.
    #[error("{doing}: {cause}")]
    Store {
        /// What was being done.
        doing: String,
        /// What the store said; holds no secret.
        cause: svc_store::StoreError,
    },
    /// A command cannot be carried out as asked.
    #[error("{0}")]
    Refused(String),
}

/// Result of a command.
pub type Result<T = ()> = std::result::Result<T, Error>;

impl Error {
    /// Names what was being done when the system refused it; for `map_err`.
    pub fn io(doing: impl Into<String>) -> impl FnOnce(std::io::Error) -> Error {
        let doing = doing.into();
        move |cause| Error::Io { doing, cause }
    }

    /// Names what was being done when the database refused it; for `map_err`.
    pub fn store(doing: impl Into<String>) -> impl FnOnce(svc_store::StoreError) -> Error {
        let doing = doing.into();
        move |cause| Error::Store { doing, cause }
    }
}
