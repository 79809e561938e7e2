//! In-memory caches of list totals and autoloaded options.
//!
//! Cache entries are keyed by change counters ([`crate::schema::EPOCHS`], or on servers the values from
//! [`crate::engine::ChangeCounters`]) as of the reader's snapshot. An entry is therefore never older than the snapshot,
//! whichever process wrote.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::db::Db;
use crate::error::Result;
use crate::options::Options;

/// A group of tables with a common change counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Posts of all types, except revisions.
    Posts,
    /// Post meta.
    PostMeta,
    /// Terms, taxonomies and their relationships.
    Terms,
    /// Term meta.
    TermMeta,
    /// Comments.
    Comments,
    /// Comment meta.
    CommentMeta,
    /// Users and their meta.
    Users,
    /// Options.
    Options,
}

impl Family {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Family::Posts => "posts",
            Family::PostMeta => "postmeta",
            Family::Terms => "terms",
            Family::TermMeta => "termmeta",
            Family::Comments => "comments",
            Family::CommentMeta => "commentmeta",
            Family::Users => "users",
            Family::Options => "options",
        }
    }
}

/// Maximum age of totals that only influence the choice of a query plan.
const APPROXIMATE_TTL: Duration = Duration::from_mins(1);

/// Caches that all connections of a store share.
pub(crate) struct SharedCaches {
    totals: quick_cache::sync::Cache<String, u64>,
    /// Approximate totals and when they were counted.
    approximate: quick_cache::sync::Cache<String, (Instant, u64)>,
    options: Mutex<Option<(i64, Arc<Options>)>>,
    pub(crate) statements: AtomicU64,
    /// Whether the columns of `posts` cannot store characters outside the Basic Multilingual Plane (`utf8mb3`).
    pub(crate) is_utf8mb3: AtomicBool,
}

impl SharedCaches {
    pub(crate) fn new() -> Self {
        SharedCaches {
            totals: quick_cache::sync::Cache::new(4_096),
            approximate: quick_cache::sync::Cache::new(64),
            options: Mutex::new(None),
            statements: AtomicU64::new(0),
            is_utf8mb3: AtomicBool::new(false),
        }
    }
}

impl Db {
    /// A version number that changes with every change to the family's tables by any process, as of this snapshot. Data
    /// derived from these tables may be cached while the version is unchanged. `None` if nothing may be cached, for
    /// example in a write transaction.
    pub fn version(&mut self, family: Family) -> Option<i64> {
        if let Some((changes, begun)) = self.changes.take() {
            // If the server is unreachable, the next statement fails with the error.
            self.epochs = changes.epochs(self, begun).ok().flatten();
        }
        self.epochs.as_ref()?.get(family.name()).copied()
    }

    /// Returns a total that is cached while the families are unchanged. `key` identifies the query and its values.
    pub(crate) fn cached_total(
        &mut self,
        families: &[Family],
        key: &str,
        count: impl FnOnce(&mut Db) -> Result<u64>,
    ) -> Result<u64> {
        let versions: Option<Vec<i64>> = families.iter().map(|f| self.version(*f)).collect();
        let Some(versions) = versions else { return count(self) };
        let key = format!("{versions:?}{key}");
        if let Some(total) = self.shared.totals.get(&key) {
            return Ok(total);
        }
        let total = count(self)?;
        self.shared.totals.insert(key, total);
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
        let Some(version) = self.version(Family::Options) else { return load(self).map(Arc::new) };
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
