//! An index of the words of posts, in local files.
//!
//! It finds the posts that contain a term anywhere, also within words, as `LIKE '%term%'` does. It knows no database:
//! [`crate::posts`] builds it, keeps it current and decides which posts match.
//!
//! The words are in flat, sorted dictionaries, one per segment of up to 65,536 posts. A search scans the dictionaries
//! (a few megabytes for a million posts) for words that contain the term, and unites their posts. Segments are
//! immutable: a changed post is added to a new segment and marked as obsolete in the old one. Files that are incomplete,
//! damaged or of another version are not used.

mod bits;
mod generation;
mod segment;
mod tokens;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

pub(crate) use bits::Bits;
pub(crate) use generation::{Change, Folder, Generation, LiveSegment};
pub(crate) use segment::{Class, Document, SegmentBuilder};
pub(crate) use tokens::TermPattern;

/// Maximum size of cached results in bytes.
const MAX_CACHED: u64 = 16 << 20;

/// The documents of a segment whose field contains a term.
#[derive(Clone)]
pub(crate) struct Matches {
    /// Documents that contain the term.
    pub(crate) known: Bits,
    /// Documents of which this is not known. Empty if the term consists of letters and digits.
    pub(crate) unknown: Bits,
}

/// Number of the segment, field, folded term.
type MatchesKey = (u64, usize, Arc<str>);

#[derive(Clone)]
struct ByBytes;

impl quick_cache::Weighter<MatchesKey, Arc<Matches>> for ByBytes {
    fn weight(&self, key: &MatchesKey, _: &Arc<Matches>) -> u64 {
        (2 * Bits::BYTES + key.2.len() + 128) as u64
    }
}

/// Whether searches use an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchIndexState {
    /// There is none: it is not enabled, the site is too small, or the index could not be read or written.
    Absent,
    /// It has this number of posts so far. Searches read the database.
    Building(usize),
    /// It has this number of posts, and searches use it.
    Ready(usize),
}

/// The index of a store: its current state, and a cache of results.
pub(crate) struct SearchIndex {
    current: Mutex<Option<Arc<Generation>>>,
    matches: quick_cache::sync::Cache<MatchesKey, Arc<Matches>, ByBytes>,
    /// Requests to the indexer.
    requested: Mutex<Requested>,
    /// Whether there was a search since the indexer has last looked.
    has_searches: AtomicBool,
    wake: Condvar,
}

#[derive(Clone, Copy, Debug, Default)]
struct Requested {
    update: bool,
    stop: bool,
    /// Whether a file could not be read.
    is_damaged: bool,
}

impl SearchIndex {
    pub(crate) fn new() -> Self {
        SearchIndex {
            current: Mutex::new(None),
            matches: quick_cache::sync::Cache::with_weighter(1_024, MAX_CACHED, ByBytes),
            requested: Mutex::default(),
            has_searches: AtomicBool::new(false),
            wake: Condvar::new(),
        }
    }

    /// The current state, if the index is complete.
    pub(crate) fn current(&self) -> Option<Arc<Generation>> {
        self.latest().filter(|generation| generation.built_to.is_none())
    }

    /// Whether searches can use the index, and the number of its posts.
    pub(crate) fn state(&self) -> SearchIndexState {
        match self.latest() {
            None => SearchIndexState::Absent,
            Some(generation) if generation.built_to.is_some() => SearchIndexState::Building(generation.len()),
            Some(generation) => SearchIndexState::Ready(generation.len()),
        }
    }

    fn latest(&self) -> Option<Arc<Generation>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the current state.
    pub(crate) fn publish(&self, generation: Option<Arc<Generation>>) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = generation;
    }

    /// The documents of a segment whose field contains a folded term.
    ///
    /// # Errors
    /// If the segment cannot be read.
    pub(crate) fn matches(&self, live: &LiveSegment, field: usize, term: &str) -> io::Result<Arc<Matches>> {
        let key = (live.segment.number, field, Arc::from(term));
        if let Some(found) = self.matches.get(&key) {
            return Ok(found);
        }
        let pattern = TermPattern::parse(term);
        let found = live.segment.find(field, &live.segment.dictionary(field)?, &pattern)?;
        let found = match pattern.is_exact {
            true => Matches { known: found, unknown: Bits::none() },
            false => Matches { known: Bits::none(), unknown: found },
        };
        let found = Arc::new(found);
        self.matches.insert(key, found.clone());
        Ok(found)
    }

    /// Caches what has been found out about a segment's documents.
    pub(crate) fn learn(&self, live: &LiveSegment, field: usize, term: &str, matches: Matches) {
        self.matches.insert((live.segment.number, field, Arc::from(term)), Arc::new(matches));
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
        self.publish(None);
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
