//! What searches and the indexer of a store share: the search index, the log that it follows, and requests to the indexer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use svc_db::RowLog;
use svc_search::{Language, SearchIndex, Segment};

/// The search index of a store, and requests to its indexer.
#[derive(Default)]
pub(crate) struct SearchState {
    pub(crate) index: SearchIndex,
    /// The log of changed posts, once an indexer was started.
    pub(crate) log: OnceLock<Arc<dyn RowLog>>,
    /// Posts that the index does not have, for ranked searches, and the state that they belong to.
    unindexed: Mutex<Option<(UnindexedKey, Arc<Segment>)>>,
    /// Held by the search that indexes them.
    indexing: Mutex<()>,
    requested: Mutex<Requested>,
    /// Whether there was a search since the indexer has last looked.
    has_searches: AtomicBool,
    wake: Condvar,
}

/// The state that posts in memory belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnindexedKey {
    /// The version of the posts.
    pub(crate) version: i64,
    /// The last change that the index contains. `None` without an index.
    pub(crate) mark: Option<(i64, i64)>,
    pub(crate) language: Language,
}

#[derive(Clone, Copy, Debug, Default)]
struct Requested {
    update: bool,
    stop: bool,
    /// Whether a file could not be read.
    is_damaged: bool,
}

impl SearchState {
    /// The posts that the index did not have in a state.
    pub(crate) fn unindexed(&self, key: UnindexedKey) -> Option<Arc<Segment>> {
        let cached = self.unindexed.lock().unwrap_or_else(PoisonError::into_inner);
        cached.as_ref().filter(|(of, _)| *of == key).map(|(_, segment)| Arc::clone(segment))
    }

    /// Waits until no other search indexes posts in memory, which many searches after a write would do at the same time.
    pub(crate) fn begin_indexing(&self) -> MutexGuard<'_, ()> {
        self.indexing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Caches the posts that the index does not have in a state, instead of those of another one.
    pub(crate) fn cache_unindexed(&self, key: UnindexedKey, segment: &Arc<Segment>) {
        *self.unindexed.lock().unwrap_or_else(PoisonError::into_inner) = Some((key, Arc::clone(segment)));
    }

    /// Records that a search uses the index.
    pub(crate) fn note_search(&self) {
        self.has_searches.store(true, Ordering::Relaxed);
    }

    /// Returns whether there was a search since the last call.
    pub(crate) fn take_searches(&self) -> bool {
        self.has_searches.swap(false, Ordering::Relaxed)
    }

    /// Makes the indexer look for changes now.
    pub(crate) fn request_update(&self) {
        self.request(Requested { update: true, ..Requested::default() });
    }

    /// Makes the indexer stop.
    pub(crate) fn request_stop(&self) {
        self.request(Requested { stop: true, ..Requested::default() });
    }

    fn request(&self, more: Requested) {
        let mut requested = self.requested.lock().unwrap_or_else(PoisonError::into_inner);
        requested.update |= more.update;
        requested.stop |= more.stop;
        requested.is_damaged |= more.is_damaged;
        self.wake.notify_all();
    }

    /// Forgets earlier requests, because an indexer starts.
    pub(crate) fn reset_requests(&self) {
        *self.requested.lock().unwrap_or_else(PoisonError::into_inner) = Requested::default();
    }

    /// Stops using the index, because a file cannot be read, and makes the indexer build it again.
    pub(crate) fn report_damage(&self) {
        self.index.publish(None);
        self.request(Requested { is_damaged: true, ..Requested::default() });
    }

    /// Returns whether damage has been reported since the last call.
    pub(crate) fn take_damage(&self) -> bool {
        let mut requested = self.requested.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut requested.is_damaged)
    }

    /// Returns whether an update has been requested since the last call.
    pub(crate) fn take_update(&self) -> bool {
        let mut requested = self.requested.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut requested.update)
    }

    /// Returns whether the indexer must stop.
    pub(crate) fn is_stopping(&self) -> bool {
        self.requested.lock().unwrap_or_else(PoisonError::into_inner).stop
    }

    /// Waits until something is requested.
    pub(crate) fn wait(&self, time: Duration) {
        let requested = self.requested.lock().unwrap_or_else(PoisonError::into_inner);
        let nothing = |r: &mut Requested| !r.update && !r.stop && !r.is_damaged;
        drop(self.wake.wait_timeout_while(requested, time, nothing));
    }
}
