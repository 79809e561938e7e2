//! The index that searches use: its current state, and a cache of results.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::bits::Bits;
use crate::generation::{Generation, LiveSegment};
use crate::tokens::TermPattern;

/// Maximum size of cached results in bytes.
const MAX_CACHED: u64 = 16 << 20;

/// The documents of a segment whose field contains a term.
#[derive(Clone)]
pub struct Matches {
    /// Documents that contain the term.
    pub known: Bits,
    /// Documents of which this is not known. Empty if the term consists of letters and digits.
    pub unknown: Bits,
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
    /// There is none.
    Absent,
    /// It has this number of documents so far, and searches cannot use it yet.
    Building(usize),
    /// It has this number of documents, and searches use it.
    Ready(usize),
}

/// The current state of an index, and a cache of results. Several threads may search while another one replaces the state.
pub struct SearchIndex {
    current: Mutex<Option<Arc<Generation>>>,
    matches: quick_cache::sync::Cache<MatchesKey, Arc<Matches>, ByBytes>,
}

impl Default for SearchIndex {
    fn default() -> Self {
        SearchIndex {
            current: Mutex::new(None),
            matches: quick_cache::sync::Cache::with_weighter(1_024, MAX_CACHED, ByBytes),
        }
    }
}

impl SearchIndex {
    /// The current state, if the index is complete.
    pub fn current(&self) -> Option<Arc<Generation>> {
        self.latest().filter(|generation| generation.is_complete())
    }

    /// Whether searches can use the index, and the number of its documents.
    pub fn state(&self) -> SearchIndexState {
        match self.latest() {
            None => SearchIndexState::Absent,
            Some(generation) if generation.is_complete() => SearchIndexState::Ready(generation.len()),
            Some(generation) => SearchIndexState::Building(generation.len()),
        }
    }

    fn latest(&self) -> Option<Arc<Generation>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the current state. `None` if there is none any more.
    pub fn publish(&self, generation: Option<Arc<Generation>>) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = generation;
    }

    /// The documents of a segment whose field contains a folded term, including those that are obsolete. Results are cached.
    ///
    /// # Errors
    /// If the segment cannot be read.
    pub fn matches(&self, live: &LiveSegment, field: usize, term: &str) -> io::Result<Arc<Matches>> {
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

    /// Replaces a cached result, after the caller has examined documents of which it was not known whether they match.
    pub fn cache_matches(&self, live: &LiveSegment, field: usize, term: &str, matches: Matches) {
        self.matches.insert((live.segment.number, field, Arc::from(term)), Arc::new(matches));
    }
}
