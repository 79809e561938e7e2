//! Store errors. A missing row is not an error but `None`.

/// An error of the store. Messages contain no secrets and no statements. They are meant for logs, not for clients.
/// Variants hold the part of a driver's message that may be logged, not its error, which can show a statement.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Too many requests are waiting for the database. Retry later (HTTP 503).
    #[error("the database is busy")]
    Busy,
    /// The database cannot be reached (HTTP 503).
    #[error("the database cannot be reached: {0}")]
    Unavailable(String),
    /// A read exceeded its time limit (HTTP 503).
    #[error("the database took too long to respond")]
    Deadline,
    /// The database file is corrupt.
    #[error("the database is damaged: {0}")]
    Corrupt(String),
    /// The folder of the database file is read-only, so that SQLite cannot open it.
    #[error("the folder {0} is read-only, and SQLite writes next to its database even while it only reads")]
    ReadOnlyFolder(String),
    /// SQLite cannot use the write-ahead log next to the database file.
    #[error("SQLite cannot use its write-ahead log, the files ending in -wal and -shm next to the database: {0}")]
    WriteAheadLog(String),
    /// The database is read-only.
    #[error("the database is read-only")]
    ReadOnly,
    /// The disk is full.
    #[error("the disk is full")]
    Full,
    /// A table or column is missing: the database belongs to another program or has another table prefix.
    #[error("the database schema is incomplete: {0}")]
    Schema(String),
    /// A row with the same unique value exists.
    #[error("duplicate row: {0}")]
    Duplicate(String),
    /// A query contains too many values.
    #[error("the query contains too many values")]
    TooMany,
    /// A list cannot continue: the item that it continues after does not exist, or the position is one of another list (HTTP 400).
    #[error("the list cannot continue at this position")]
    NoPosition,
    /// A write was started within a read or write on the same thread, which would deadlock.
    #[error("a write was started within a read or a transaction")]
    Nested,
    /// A transaction of several parts has ended without a commit, because one of them failed.
    #[error("the transaction was rolled back")]
    RolledBack,
    /// Another server holds the lease that the transaction requires ([`Lease::fence`](crate::Lease::fence)).
    #[error("another server does this work")]
    LeaseLost,
    /// The configuration is invalid.
    #[error("{0}")]
    Config(String),
    /// Any other error.
    #[error("{0}")]
    Other(String),
}

/// Result of a store operation.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

impl StoreError {
    /// Returns whether a retry may succeed: respond with 503 and `Retry-After` rather than 500.
    pub fn is_temporary(&self) -> bool {
        matches!(self, StoreError::Busy | StoreError::Unavailable(_) | StoreError::Deadline | StoreError::RolledBack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_errors() {
        assert!(StoreError::Busy.is_temporary() && StoreError::Deadline.is_temporary());
        assert!(!StoreError::Full.is_temporary() && !StoreError::ReadOnly.is_temporary());
    }
}
