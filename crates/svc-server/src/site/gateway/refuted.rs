//! Routes with a difference. WordPress handles them until the read that differed was equal several times in a row. The time
//! between two comparisons doubles with each further difference.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use http::HeaderMap;
use tokio::time::Instant;

/// Equal comparisons in a row after which a route is trusted again.
const PROOFS: u32 = 3;

/// Time before the first comparison, and between two.
const FIRST_WAIT: Duration = Duration::from_secs(2);

/// Maximum time between two comparisons.
const MAX_WAIT: Duration = Duration::from_secs(3_600);

/// A read that can be sent again, with the credentials of its caller. It is only held in memory.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub(super) route: String,
    /// Path and query.
    pub(super) target: String,
    pub(super) headers: HeaderMap,
}

/// The outcome of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Both servers responded with success, and equally.
    Equal,
    /// The first difference.
    Different(String),
    /// WordPress is away, or the caller's credentials are no longer valid.
    Unclear,
}

/// Routes that a comparison has refuted, by collection: a difference in an item refutes the list, and the reverse.
#[derive(Debug, Default)]
pub(super) struct Refuted {
    collections: Mutex<BTreeMap<String, State>>,
    /// Number of collections that WordPress handles, to avoid the lock in the usual case.
    count: AtomicUsize,
}

#[derive(Debug)]
struct State {
    reason: String,
    /// The read that differed last; `None` if the collection is trusted again.
    read: Option<Read>,
    /// Equal comparisons in a row.
    equal: u32,
    wait: Duration,
    due: Instant,
}

/// The path of a route's collection: everything before the first parameter.
pub(super) fn collection(pattern: &str) -> &str {
    pattern.find("/(").map_or(pattern, |end| &pattern[..end])
}

impl Refuted {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, State>> {
        self.collections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, collections: &BTreeMap<String, State>) {
        self.count.store(collections.values().filter(|state| state.read.is_some()).count(), Ordering::Release);
    }

    /// The reason for which WordPress handles a route; `None` if there is none.
    pub(super) fn reason(&self, pattern: &str) -> Option<String> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let collections = self.lock();
        collections.get(collection(pattern)).filter(|state| state.read.is_some()).map(|state| state.reason.clone())
    }

    /// Records a difference. Returns whether the route was trusted before.
    pub(super) fn refute(&self, pattern: &str, read: Read, difference: &str, now: Instant) -> bool {
        let mut collections = self.lock();
        let state = collections.entry(collection(pattern).to_owned()).or_insert_with(|| State {
            reason: String::new(),
            read: None,
            equal: 0,
            wait: FIRST_WAIT / 2,
            due: now,
        });
        let is_new = state.read.is_none();
        if is_new {
            state.wait = (state.wait * 2).min(MAX_WAIT);
        }
        state.reason = format!("a response differs: {difference}");
        state.read = Some(read);
        state.equal = 0;
        state.due = now + state.wait;
        self.count(&collections);
        is_new
    }

    /// The reads to compare again, by collection.
    pub(super) fn due(&self, now: Instant) -> Vec<(String, Read)> {
        if self.count.load(Ordering::Acquire) == 0 {
            return Vec::new();
        }
        let collections = self.lock();
        let due = collections.iter().filter(|(_, state)| state.due <= now);
        due.filter_map(|(collection, state)| Some((collection.clone(), state.read.clone()?))).collect()
    }

    /// Records that the read of a collection was compared again. Returns whether the collection is trusted from now on.
    pub(super) fn compared(&self, collection: &str, outcome: Outcome, now: Instant) -> bool {
        let mut collections = self.lock();
        let Some(state) = collections.get_mut(collection).filter(|state| state.read.is_some()) else { return false };
        match outcome {
            Outcome::Equal => state.equal += 1,
            Outcome::Different(_) | Outcome::Unclear => {
                state.wait = (state.wait * 2).min(MAX_WAIT);
                state.equal = 0;
            }
        }
        if let Outcome::Different(difference) = outcome {
            state.reason = format!("a response differs: {difference}");
        }
        state.due = now + state.wait;
        let is_trusted = state.equal >= PROOFS;
        if is_trusted {
            state.read = None;
        }
        self.count(&collections);
        is_trusted
    }

    /// Forgets all differences, since all routes were compared again after a change of WordPress.
    pub(super) fn forget(&self) {
        let mut collections = self.lock();
        collections.clear();
        self.count(&collections);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read() -> Read {
        Read { route: "/a".into(), target: "/wp-json/a".into(), headers: HeaderMap::new() }
    }

    #[test]
    fn a_collection_is_refused_until_it_was_equal_several_times() {
        let (refuted, start) = (Refuted::default(), Instant::now());
        assert_eq!(refuted.reason("/a"), None);
        assert!(refuted.refute("/a/(?P<id>[\\d]+)", read(), "title: x", start));
        assert!(!refuted.refute("/a", read(), "name: y", start));
        for pattern in ["/a", "/a/(?P<id>[\\d]+)", "/a/(?P<id>[\\d]+)/revisions"] {
            assert_eq!(refuted.reason(pattern).as_deref(), Some("a response differs: name: y"));
        }
        assert_eq!(refuted.reason("/ab"), None);
        assert!(refuted.due(start).is_empty(), "not before the wait");
        assert_eq!(refuted.due(start + FIRST_WAIT).len(), 1);
        assert!(!refuted.compared("/a", Outcome::Equal, start));
        assert!(!refuted.compared("/a", Outcome::Equal, start));
        assert!(!refuted.compared("/a", Outcome::Different("z".into()), start));
        assert_eq!(refuted.reason("/a").as_deref(), Some("a response differs: z"));
        for trusted in [false, false, true] {
            assert_eq!(refuted.compared("/a", Outcome::Equal, start), trusted);
        }
        assert_eq!(refuted.reason("/a"), None);
        assert!(refuted.due(start + MAX_WAIT).is_empty());
    }

    #[test]
    fn each_difference_doubles_the_wait() {
        let (refuted, now) = (Refuted::default(), Instant::now());
        refuted.refute("/a", read(), "x", now);
        let is_due = |after: u32| !refuted.due(now + FIRST_WAIT * after).is_empty();
        for (outcome, wait) in [(Outcome::Unclear, 2), (Outcome::Different("x".into()), 4), (Outcome::Equal, 4)] {
            refuted.compared("/a", outcome, now);
            assert!(is_due(wait) && !is_due(wait - 1));
        }
        refuted.compared("/a", Outcome::Equal, now);
        assert!(refuted.compared("/a", Outcome::Equal, now));
        // A second refutation waits longer than the first.
        refuted.refute("/a", read(), "x", now);
        assert!(is_due(8) && !is_due(7));
        refuted.forget();
        assert!(!is_due(8) && refuted.reason("/a").is_none());
    }
}
