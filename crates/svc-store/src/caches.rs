//! What all connections of a store share, beside what `svc-db` keeps for any schema.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;
use svc_db::{ChangeRecord, Companion, Db, Description, Result, Rows, Subscriber};
use svc_model::UserId;

use crate::descriptions::Descriptions;
use crate::plain_totals::{self, PlainTotals};
use crate::rows;
use crate::search_state::SearchState;
use crate::stored_text::StoredText;
use crate::tuning::Tuning;

/// Stored options by name.
pub type Options = IndexMap<String, StoredText>;

/// The caches and the search index of a store.
pub(crate) struct SiteCaches {
    pub(crate) tuning: Tuning,
    /// Totals of lists of posts that are restricted by type, status and author only.
    plain_totals: PlainTotals,
    options: Mutex<Option<(i64, Arc<Options>)>>,
    pub(crate) search: SearchState,
}

impl SiteCaches {
    pub(crate) fn new(tuning: Tuning) -> Self {
        let (plain_totals, search) = (PlainTotals::default(), SearchState::default());
        SiteCaches { tuning, plain_totals, options: Mutex::new(None), search }
    }
}

impl Subscriber for SiteCaches {
    fn committed(&self, changes: &ChangeRecord) {
        self.plain_totals.committed(changes);
    }
}

impl Companion for SiteCaches {
    fn describe(&self, changes: &ChangeRecord, of: Rows) -> HashMap<i64, Description> {
        Descriptions::of(changes, of)
    }
}

/// The caches of the store that this connection belongs to.
pub(crate) fn of(db: &Db) -> Arc<SiteCaches> {
    db.companion().expect("every connection of a store has its caches")
}

/// The tuning of the store that this connection belongs to.
pub(crate) fn tuning(db: &Db) -> Tuning {
    of(db).tuning
}

/// Returns the total of a list of posts that is restricted by these types, statuses and authors (if any) only. It is cached
/// while they are unchanged, and follows the writes of this process.
pub(crate) fn plain_total(
    db: &mut Db,
    post_types: &[String],
    statuses: &[String],
    authors: &[UserId],
    count: impl FnOnce(&mut Db) -> Result<u64>,
) -> Result<u64> {
    let version = db.version(rows::POSTS);
    let (Some(version), Some(classes)) = (version, plain_totals::classes(post_types, statuses, authors)) else {
        return count(db);
    };
    let caches = of(db);
    if let Some(total) = caches.plain_totals.get(&classes, version) {
        return Ok(total);
    }
    let total = count(db)?;
    caches.plain_totals.insert(classes, version, total);
    Ok(total)
}

/// The autoloaded options, cached while the options are unchanged.
pub(crate) fn options(db: &mut Db, load: impl FnOnce(&mut Db) -> Result<Options>) -> Result<Arc<Options>> {
    rows::OPTIONS.depend_on_all(db.cx());
    let Some(version) = db.version(rows::OPTIONS) else { return load(db).map(Arc::new) };
    let caches = of(db);
    let cached = caches.options.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some((of, options)) = cached
        && of == version
    {
        return Ok(options);
    }
    let options = Arc::new(load(db)?);
    *caches.options.lock().unwrap_or_else(PoisonError::into_inner) = Some((version, options.clone()));
    Ok(options)
}
