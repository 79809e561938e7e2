//! The log of changed posts that some engines can have, for the search index.

use super::handle::{Db, Tx};
use crate::error::{Result, StoreError};
use svc_search::{Change, Generation};

/// The log as a snapshot has it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Logged {
    /// These entries, ascending.
    Changes(Vec<Change>),
    /// It is not known yet what other programs have changed.
    Unknown,
    /// There is no log, or it is incomplete. An index must be built again.
    Nothing,
}

/// Whether a log contains the changes of other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogState {
    /// It contains all.
    Current,
    /// Call [`PostLog::compare`], which reads all posts.
    Outdated,
    /// Another program is writing, or the posts were compared a short time ago.
    Unsettled,
}

/// A log of changed posts, which contains the writes of all programs. Revisions are not logged.
pub(crate) trait PostLog: Send + Sync {
    /// Prepares the log. Returns whether the database can have one. `proceed` is called from time to time, and its error ends this.
    fn open(&self, db: &mut Db, proceed: &dyn Fn() -> Result<()>) -> Result<bool>;
    /// Identifies the rules of [`Self::fold`]. Indexes with other rules are not used.
    fn folding(&self) -> String;
    /// Folds a text as `LIKE` does: texts match exactly if the folded one contains the folded term.
    fn fold(&self, text: &str, out: &mut String);
    /// An SQL expression for a hash of all indexed columns as a decimal number, if changes are found by comparison.
    fn digest(&self) -> Option<&'static str> {
        None
    }
    /// Creates the log if it is missing or incomplete, and appends an entry without a post, from which a new index begins.
    fn begin(&self, tx: &mut Tx) -> Result<Change>;
    /// Continues with the last entry that an index of an earlier process contains.
    fn resume(&self, _mark: Change) {}
    /// Removes the log, so that writes are no longer logged.
    fn remove(&self, tx: &mut Tx) -> Result<()>;
    /// Returns whether the log contains the changes of other programs. Call it in a snapshot that was just opened.
    fn observe(&self, _db: &mut Db) -> Result<LogState> {
        Ok(LogState::Current)
    }
    /// Compares all posts with those of an index and appends the differences. Call it in a snapshot that was opened after
    /// [`Self::observe`]. `proceed` is as in [`Self::open`].
    fn compare(&self, _db: &mut Db, _indexed: &Generation, _proceed: &dyn Fn() -> Result<()>) -> Result<()> {
        Ok(())
    }
    /// The entries from a number, at most `limit`.
    fn read(&self, db: &mut Db, from: i64, limit: usize) -> Result<Logged>;
    /// The last entry, if it is known.
    fn last(&self, db: &mut Db) -> Result<Option<Change>>;
    /// Deletes the entries before a number.
    fn trim(&self, tx: &mut Tx, before: i64) -> Result<()>;
}

/// Parses the value of [`PostLog::digest`].
///
/// # Errors
/// If the server cannot compute it: all posts would look unchanged.
pub(crate) fn parse_digest(text: &str) -> Result<u64> {
    text.parse().map_err(|_| StoreError::Other("the database server cannot compute MD5".to_owned()))
}
