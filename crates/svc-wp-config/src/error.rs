//! Errors of reading a configuration.

use std::path::{Path, PathBuf};

/// Result of reading a configuration.
pub type Result<T> = std::result::Result<T, Error>;

/// A value of a configuration could not be read. The message begins with the file and the line.
#[derive(Debug, thiserror::Error)]
#[error("{}:{line}: {kind}", file.display())]
pub struct Error {
    file: PathBuf,
    line: usize,
    kind: ErrorKind,
}

impl Error {
    pub(crate) fn new(file: &Path, line: usize, kind: ErrorKind) -> Self {
        Error { file: file.to_owned(), line, kind }
    }

    /// The file with the mistake: the configuration, or one that it includes.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The kind of error.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }
}

/// A kind of error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Io(std::io::Error),
    /// Only running the file would give the value of this constant or variable.
    #[error("the value of {0} cannot be evaluated without running this file")]
    Unknown(String),
    /// A required constant is not defined.
    #[error("{0} is not defined")]
    Undefined(String),
    /// `DB_HOST` is not a valid server address.
    #[error("DB_HOST `{0}` is not a valid server address")]
    Host(String),
}
