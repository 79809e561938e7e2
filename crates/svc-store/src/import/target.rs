//! Differences between the engines in how imports load and install tables.

use super::load::{Loader, Staged};
use crate::db::Tx;
use crate::error::Result;

/// How an engine loads and installs the tables of a dump.
pub(crate) trait ImportTarget: Sync {
    /// Prepares the database before the first table is created.
    ///
    /// # Errors
    /// If another import is in progress.
    fn begin(&self, _tx: &mut Tx) -> Result<()> {
        Ok(())
    }

    /// Type of the columns that plugins added.
    fn added_column_type(&self) -> &'static str;

    /// Called after a staging table was created.
    fn after_create(&self, _tx: &mut Tx) -> Result<()> {
        Ok(())
    }

    /// Maximum number of rows per statement, and the total size in bytes at which a batch ends early.
    fn max_batch(&self) -> (usize, usize);

    /// Replaces the tables of the site with the prefix `target` by the staged ones, whose names and keys have `prefix`,
    /// and removes the import marker.
    fn install(&self, loader: &mut Loader<'_, '_>, site: Vec<Staged>, prefix: &str, target: &str) -> Result<()>;

    /// Drops staging tables after an error, on engines where a rollback does not.
    fn drop_staged(&self, _tx: &mut Tx, _stages: &[&str]) {}
}
