//! The log of changed posts that some engines can have, for the search index.

use super::handle::{Db, Tx};
use crate::error::Result;
use crate::search_index::Change;

/// A log of changed posts, which contains the writes of all programs. Revisions are not logged.
pub(crate) trait PostLog: Sync {
    /// Folds a text as `LIKE` does: texts match exactly if the folded one contains the folded term.
    fn fold(&self, text: &str, out: &mut String);
    /// Creates the log if it is missing or incomplete, and appends an entry without a post, from which a new index begins.
    fn begin(&self, tx: &mut Tx) -> Result<Change>;
    /// Removes the log, so that writes are no longer logged.
    fn remove(&self, tx: &mut Tx) -> Result<()>;
    /// Returns whether the snapshot has a log that is complete.
    fn is_installed(&self, db: &mut Db) -> Result<bool>;
    /// The entries from a number, ascending, at most `limit`.
    fn read(&self, db: &mut Db, from: i64, limit: usize) -> Result<Vec<Change>>;
    /// The last entry.
    fn last(&self, db: &mut Db) -> Result<Option<Change>>;
    /// Deletes the entries before a number.
    fn trim(&self, tx: &mut Tx, before: i64) -> Result<()>;
}
