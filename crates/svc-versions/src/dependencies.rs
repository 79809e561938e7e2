//! The dependencies of a value.

use std::time::{Duration, Instant};

use crate::Key;

/// The dependencies of a value: keys, and possibly the time.
#[derive(Clone, Debug, Default)]
pub struct Dependencies {
    keys: Vec<Key>,
    /// When the value expires, at the latest.
    expires: Option<Instant>,
    /// When the value is known to become another one, at the latest: like `expires`, but not because of what is not observed.
    ends: Option<Instant>,
    /// Whether the value depends on something that cannot be observed.
    never: bool,
    /// Whether the value depends on the request that it was computed for.
    of_request: bool,
}

impl Dependencies {
    /// The keys, sorted, each once.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Whether a value with these dependencies may be cached.
    pub fn is_cacheable(&self) -> bool {
        !self.never
    }

    /// Whether the value depends on the request that it was computed for: on its URL, its session, or the other parts of
    /// the response.
    pub fn are_of_request(&self) -> bool {
        self.of_request
    }

    /// Whether the value has expired.
    pub fn has_expired(&self) -> bool {
        self.expires.is_some_and(|at| at <= Instant::now())
    }

    /// Limits how long a value is used before it is computed again, because it depends on something whose changes are not
    /// observed.
    pub fn recheck_after(&mut self, time: Duration) {
        self.recheck(Instant::now() + time);
    }

    /// How long the value is the same if nothing changes: until a clock or a lifetime changes it. `None` if nothing does.
    pub fn lifetime(&self) -> Option<Duration> {
        self.ends.map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether the value depends on no key.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub(crate) fn add(&mut self, key: Key) {
        self.keys.push(key);
    }

    pub(crate) fn expire(&mut self, at: Instant) {
        self.recheck(at);
        self.ends = earlier(self.ends, at);
    }

    pub(crate) fn recheck(&mut self, at: Instant) {
        self.expires = earlier(self.expires, at);
    }

    pub(crate) fn never(&mut self) {
        self.never = true;
    }

    pub(crate) fn of_request(&mut self) {
        self.of_request = true;
    }

    /// Adds other dependencies.
    pub fn extend(&mut self, other: &Self) {
        self.keys.extend_from_slice(&other.keys);
        other.expires.into_iter().for_each(|at| self.recheck(at));
        other.ends.into_iter().for_each(|at| self.expire(at));
        self.never |= other.never;
        self.of_request |= other.of_request;
        if self.keys.len() > 4_096 {
            self.finish();
        }
    }

    /// Sorts the keys and removes duplicates.
    pub(crate) fn finish(&mut self) {
        // The stable sort is linear for keys that are sorted in runs: each cached value adds one.
        self.keys.sort();
        self.keys.dedup();
    }
}

fn earlier(known: Option<Instant>, at: Instant) -> Option<Instant> {
    Some(known.map_or(at, |known| known.min(at)))
}
