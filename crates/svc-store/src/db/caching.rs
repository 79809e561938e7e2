//! Cached reads: list totals and autoloaded options.
//!
//! Cache entries are keyed by change counters ([`crate::tables::EPOCHS`], or on servers the values from
//! [`ChangeCounters`](super::handle::ChangeCounters)) as of the reader's snapshot. An entry is therefore never older than
//! the snapshot, whichever process wrote.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use svc_model::UserId;

use super::handle::Db;
use super::plain_totals;
use super::shared_caches::{Options, TableGroup};
use crate::dependencies::Rows;
use crate::error::Result;

/// Maximum age of totals that only influence the choice of a query plan.
const APPROXIMATE_TTL: Duration = Duration::from_mins(1);

impl Db {
    /// A version number that changes with every change to the group's tables by any process, as of this snapshot. Data
    /// derived from these tables may be cached while the version is unchanged. `None` if nothing may be cached, for
    /// example in a write transaction.
    pub fn version(&mut self, group: TableGroup) -> Option<i64> {
        if let Some((changes, begun)) = self.changes.take() {
            // If the server is unreachable, the next statement fails with the error.
            self.epochs = changes.epochs(self, begun).ok().flatten();
        }
        self.epochs.as_ref()?.get(group.name()).copied()
    }

    /// Returns whether svc's own indexes and maintained counts can be used: on SQLite, outside of write transactions.
    pub(crate) fn has_counts(&self) -> bool {
        let current = self.sql().layout();
        current.is_some_and(|(name, version)| self.epochs.as_ref().and_then(|e| e.get(name)) == Some(&version))
    }

    /// Returns a total that is cached while the groups are unchanged. `key` identifies the query and its values.
    pub(crate) fn cached_total(
        &mut self,
        groups: &[TableGroup],
        key: &str,
        count: impl FnOnce(&mut Db) -> Result<u64>,
    ) -> Result<u64> {
        let versions: Option<Vec<i64>> = groups.iter().map(|group| self.version(*group)).collect();
        let Some(versions) = versions else { return count(self) };
        let key = format!("{versions:?}{key}");
        if let Some(total) = self.shared.totals.get(&key) {
            return Ok(total);
        }
        let total = count(self)?;
        self.shared.totals.insert(key, total);
        Ok(total)
    }

    /// Returns the total of a list of posts that is restricted by these types, statuses and authors (if any) only. It is cached
    /// while they are unchanged, and follows the writes of this process.
    pub(crate) fn plain_total(
        &mut self,
        post_types: &[String],
        statuses: &[String],
        authors: &[UserId],
        count: impl FnOnce(&mut Db) -> Result<u64>,
    ) -> Result<u64> {
        let version = self.version(TableGroup::Posts);
        let (Some(version), Some(classes)) = (version, plain_totals::classes(post_types, statuses, authors)) else {
            return count(self);
        };
        let shared = self.shared.clone();
        if let Some(total) = shared.plain_totals.get(&classes, version) {
            return Ok(total);
        }
        let total = count(self)?;
        shared.plain_totals.insert(classes, version, total);
        Ok(total)
    }

    /// Returns an approximate total for the choice of a query plan, which may be as old as [`APPROXIMATE_TTL`].
    pub(crate) fn approximate_total(&mut self, key: &str, count: impl FnOnce(&mut Db) -> Result<u64>) -> Result<u64> {
        if let Some((counted, total)) = self.shared.approximate.get(key)
            && counted.elapsed() < APPROXIMATE_TTL
        {
            return Ok(total);
        }
        let total = count(self)?;
        self.shared.approximate.insert(key.to_owned(), (Instant::now(), total));
        Ok(total)
    }

    /// The autoloaded options, cached while the options are unchanged.
    pub(crate) fn cached_options(&mut self, load: impl FnOnce(&mut Db) -> Result<Options>) -> Result<Arc<Options>> {
        Rows::Options.depend_on_all();
        let Some(version) = self.version(TableGroup::Options) else { return load(self).map(Arc::new) };
        let shared = self.shared.clone();
        let cached = shared.options.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((of, options)) = cached
            && of == version
        {
            return Ok(options);
        }
        let options = Arc::new(load(self)?);
        *shared.options.lock().unwrap_or_else(PoisonError::into_inner) = Some((version, options.clone()));
        Ok(options)
    }
}
