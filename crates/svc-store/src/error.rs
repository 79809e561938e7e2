//! What can go wrong in the store. "Not found" is no error: it is `None`.

/// A failure of the store. Texts hold no secret and no statement; they are for logs, not for clients.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Too much is waiting for the database already. Try again later (HTTP 503).
    #[error("the database is busy")]
    Busy,
    /// The database cannot be reached now (HTTP 503).
    #[error("the database cannot be reached: {0}")]
    Unavailable(String),
    /// The read took longer than it may (HTTP 503).
    #[error("the database took too long to answer")]
    Deadline,
    /// The database's file is damaged.
    #[error("the database is damaged: {0}")]
    Corrupt(String),
    /// The database cannot be written to.
    #[error("the database is read-only")]
    ReadOnly,
    /// No room is left on the disk.
    #[error("the disk is full")]
    Full,
    /// A table or column is missing: this is not the database of such a site, or of another table prefix.
    #[error("the database lacks what is needed: {0}")]
    Schema(String),
    /// A row with the same unique value exists already.
    #[error("such a row exists already: {0}")]
    Duplicate(String),
    /// A query asks for more at once than is allowed.
    #[error("the query names too many values")]
    TooMany,
    /// A write was started inside a read or another write of the same thread, for which it would have to wait.
    #[error("a write was started inside a read or a transaction")]
    Nested,
    /// The settings of the store cannot be used.
    #[error("{0}")]
    Config(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

/// Result of a store operation.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

impl StoreError {
    /// Whether the same request may succeed a moment later: answer 503 with `Retry-After`, not 500.
    pub fn is_temporary(&self) -> bool {
        matches!(self, StoreError::Busy | StoreError::Unavailable(_) | StoreError::Deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_waiting_helps_against_temporary_errors() {
        assert!(StoreError::Busy.is_temporary() && StoreError::Deadline.is_temporary());
        assert!(!StoreError::Full.is_temporary() && !StoreError::ReadOnly.is_temporary());
    }
}
