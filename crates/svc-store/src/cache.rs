//! What is kept in memory between reads: totals of lists and the autoloaded options.
//!
//! An entry is found only by the counts of changes that it was made under ([`crate::schema::EPOCHS`]; on servers what
//! [`crate::mysql_changes`] tells instead), which are those of the reader's snapshot. So no entry is ever older than the
//! snapshot, whoever wrote.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::db::Db;
use crate::error::Result;
use crate::options::Options;

/// A family of tables whose changes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Posts of all types; revisions are not counted.
    Posts,
    /// Meta of posts.
    PostMeta,
    /// Terms, taxonomies and what they classify.
    Terms,
    /// Meta of terms.
    TermMeta,
    /// Comments.
    Comments,
    /// Meta of comments.
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

/// How old a number may be that decides nothing but the way to an answer.
const ROUGH: Duration = Duration::from_mins(1);

/// The caches that all connections of a store share.
pub(crate) struct Shared {
    totals: quick_cache::sync::Cache<String, u64>,
    /// Numbers that need not be exact, and when they were counted.
    rough: quick_cache::sync::Cache<String, (Instant, u64)>,
    options: Mutex<Option<(i64, Arc<Options>)>>,
    pub(crate) statements: AtomicU64,
    /// The columns of posts hold no characters beyond the basic plane (`utf8mb3`).
    pub(crate) narrow: AtomicBool,
}

impl Shared {
    pub(crate) fn new() -> Self {
        Shared {
            totals: quick_cache::sync::Cache::new(4_096),
            rough: quick_cache::sync::Cache::new(64),
            options: Mutex::new(None),
            statements: AtomicU64::new(0),
            narrow: AtomicBool::new(false),
        }
    }
}

impl Db {
    /// A number that changes whenever rows of the family do, in this process or another, as of this snapshot: what was
    /// made from the family's rows may be kept as long as it stays the same. `None` when nothing may be kept, as in a
    /// transaction that writes.
    pub fn version(&mut self, family: Family) -> Option<i64> {
        if let Some((changes, begun)) = self.changes.take() {
            // A server that does not answer tells so at the next statement as well.
            self.epochs = changes.epochs(self, begun).ok().flatten();
        }
        self.epochs.as_ref()?.get(family.name()).copied()
    }

    /// A total that is counted once per state of the families; `key` names the question with its values.
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

    /// A total for a choice between ways to the same answer, which a number of [`ROUGH`] ago serves as well.
    pub(crate) fn rough_total(&mut self, key: &str, count: impl FnOnce(&mut Db) -> Result<u64>) -> Result<u64> {
        if let Some((counted, total)) = self.shared.rough.get(key)
            && counted.elapsed() < ROUGH
        {
            return Ok(total);
        }
        let total = count(self)?;
        self.shared.rough.insert(key.to_owned(), (Instant::now(), total));
        Ok(total)
    }

    /// The autoloaded options, loaded once per state of the options.
    pub(crate) fn cached_options(&mut self, load: impl FnOnce(&mut Db) -> Result<Options>) -> Result<Arc<Options>> {
        let Some(version) = self.version(Family::Options) else { return load(self).map(Arc::new) };
        let shared = self.shared.clone();
        let kept = shared.options.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((of, options)) = kept
            && of == version
        {
            return Ok(options);
        }
        let options = Arc::new(load(self)?);
        *shared.options.lock().unwrap_or_else(PoisonError::into_inner) = Some((version, options.clone()));
        Ok(options)
    }
}
