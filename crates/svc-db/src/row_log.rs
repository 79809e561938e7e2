//! The log of changed rows of a table that engines can have, for an index of their texts.

use crate::error::{Result, StoreError};
use crate::handle::{Db, Tx};

/// An entry of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// Ascends with each change.
    pub seq: i64,
    /// A random number, by which a log with another history is recognized.
    pub nonce: i64,
    /// The changed row.
    pub id: i64,
}

/// What an index contains, for a comparison with the rows.
#[derive(Clone, Debug, Default)]
pub struct IndexedRows {
    /// The ids and digests of the rows that it contains.
    pub digests: Vec<(i64, u64)>,
    /// The rows that it knows but does not contain.
    pub uncovered: Vec<i64>,
}

/// The log as a snapshot has it.
#[derive(Debug, PartialEq, Eq)]
pub enum Logged {
    /// These entries, ascending.
    Changes(Vec<LogEntry>),
    /// It is not known yet what other programs have changed.
    Unknown,
    /// There is no log, or it is incomplete. An index must be built again.
    Nothing,
}

/// Whether a log contains the changes of other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogState {
    /// It contains all.
    Current,
    /// Call [`RowLog::compare`], which reads all rows.
    Outdated,
    /// Another program is writing, or the rows were compared a short time ago.
    Unsettled,
}

/// A log of the changed rows of the [logged table](crate::schema::LoggedTable), which contains the writes of all programs.
pub trait RowLog: Send + Sync {
    /// Prepares the log. Returns whether the database can have one. `proceed` is called from time to time, and its error ends this.
    ///
    /// # Errors
    /// If the database cannot be read or written.
    fn open(&self, db: &mut Db, proceed: &dyn Fn() -> Result<()>) -> Result<bool>;
    /// Identifies the rules of [`Self::fold`]. Indexes with other rules are not used.
    fn folding(&self) -> String;
    /// Folds a text as `LIKE` does: texts match exactly if the folded one contains the folded term.
    fn fold(&self, text: &str, out: &mut String);
    /// An SQL expression for a hash of all indexed columns as a decimal number, if changes are found by comparison.
    fn digest(&self) -> Option<&'static str> {
        None
    }
    /// Creates the log if it is missing or incomplete, and returns the entry from which a new index begins.
    ///
    /// # Errors
    /// If the database cannot be read or written.
    fn begin(&self, tx: &mut Tx) -> Result<LogEntry>;
    /// Continues with the last entry that an index of an earlier process contains.
    fn resume(&self, _mark: LogEntry) {}
    /// Returns whether the log contains the changes of other programs. Call it in a snapshot that was just opened.
    ///
    /// # Errors
    /// If the database cannot be read or written.
    fn observe(&self, _db: &mut Db) -> Result<LogState> {
        Ok(LogState::Current)
    }
    /// Compares all rows with those of an index and appends the differences. Call it in a snapshot that was opened after
    /// [`Self::observe`]. `proceed` is as in [`Self::open`].
    ///
    /// # Errors
    /// If the database cannot be read or written.
    fn compare(&self, _db: &mut Db, _indexed: IndexedRows, _proceed: &dyn Fn() -> Result<()>) -> Result<()> {
        Ok(())
    }
    /// The entries from a number, at most `limit`.
    ///
    /// # Errors
    /// If the database cannot be read or written.
    fn read(&self, db: &mut Db, from: i64, limit: usize) -> Result<Logged>;
    /// The last entry, if it is known.
    ///
    /// # Errors
    /// If the database cannot be read or written.
    fn last(&self, db: &mut Db) -> Result<Option<LogEntry>>;
    /// Deletes the entries before a number, if the log is only for the index.
    fn trim(&self, _before: i64) {}
}

/// Parses the value of [`RowLog::digest`].
///
/// # Errors
/// If the server cannot compute it: all rows would look unchanged.
pub fn parse_digest(text: &str) -> Result<u64> {
    text.parse().map_err(|_| StoreError::Other("the database server cannot compute MD5".to_owned()))
}
