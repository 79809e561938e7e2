//! Errors.

use svc_db::StoreError;

/// Why something could not be backed up or restored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// An object with this key exists. Objects are never overwritten.
    #[error("{0} exists already")]
    Exists(String),
    /// There is no object with this key.
    #[error("{0} does not exist")]
    Missing(String),
    /// The destination does not work.
    #[error("{0}")]
    Destination(String),
    /// Another server, which is named, writes to the destination.
    #[error("another server backs up to it ({0})")]
    Taken(String),
    /// An object is not what was written.
    #[error("{key} is damaged: {why}")]
    Damaged {
        /// Its key.
        key: String,
        /// What is wrong.
        why: String,
    },
    /// An object is encrypted, and no keys were given.
    #[error("{0} is encrypted: name the file with the secret key with --identity")]
    Encrypted(String),
    /// An object is encrypted for other keys.
    #[error("none of the given secret keys decrypts {0}")]
    WrongIdentity(String),
    /// A file has no usable secret key.
    #[error("{0}")]
    Identity(String),
    /// There is nothing to restore at this time.
    #[error("{0}")]
    Nothing(String),
    /// The database cannot be read.
    #[error(transparent)]
    Database(#[from] StoreError),
    /// A local file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The path of the file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

/// A result of this crate.
pub type Result<T, E = BackupError> = std::result::Result<T, E>;

/// Adds the path to an error of the file system.
pub(crate) fn at(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> BackupError + '_ {
    |source| BackupError::File { path: path.display().to_string(), source }
}
