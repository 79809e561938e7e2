//! A cache in which a missing value is made by one caller at a time.

use std::{fmt, hash::Hash};

use crate::{Dependencies, Flight, Flights, Leader, Transport, Usage, VersionStamp, VersionedCache, Versions};

/// How often a caller waits for another one that makes the same value, before it makes its own.
const MAX_FLIGHTS: usize = 4;

/// A [`VersionedCache`] with single flight: of several callers that miss a value, one makes it, and the others wait until it is stored.
///
/// A value is older than what a caller may be given if data has changed since the value was begun. So a caller that waited looks
/// the value up like any other, with the stamp that it took itself, and makes its own if that is not valid.
pub struct SingleFlightCache<K: Eq + Hash, V> {
    values: VersionedCache<K, V>,
    /// Values that are being made. The outcome is whether the value was stored.
    flights: Flights<(Transport, K), bool>,
}

/// The caller makes a value, [inserts](SingleFlightCache::insert) it, and [ends](Self::end) this. Others may wait until it is ended or
/// dropped, as it is when the caller panics or is cancelled.
#[derive(Debug)]
#[must_use]
pub struct Making<K: Eq + Hash>(Option<Leader<(Transport, K), bool>>);

impl<K: Eq + Hash> Making<K> {
    /// Wakes those who wait. `is_stored` is whether they may find the value in the cache; otherwise each makes its own.
    pub fn end(self, is_stored: bool) {
        if let Some(leader) = self.0 {
            leader.finish(is_stored);
        }
    }
}

impl<K: Eq + Hash + Clone, V: Clone> SingleFlightCache<K, V> {
    /// A cache of at most this many bytes.
    pub fn new(capacity: u64) -> Self {
        SingleFlightCache { values: VersionedCache::new(capacity), flights: Flights::default() }
    }

    /// The value of a key if it is valid for a caller whose data is as old as `stamp`. Waits for other callers that make it.
    ///
    /// # Errors
    /// If there is none: the caller makes it.
    pub async fn find(
        &self,
        transport: Transport,
        versions: &Versions,
        key: &K,
        stamp: VersionStamp,
    ) -> Result<V, Making<K>> {
        for _ in 0..MAX_FLIGHTS {
            if let Some((value, _)) = self.values.find(transport, versions, key, stamp) {
                return Ok(value);
            }
            match self.flights.join((transport, key.clone())) {
                Flight::Lead(leader) => return Err(Making(Some(leader))),
                Flight::Follow(other) => {
                    // Another look is of use unless the value must not be cached.
                    if other.outcome().await == Some(false) {
                        break;
                    }
                }
            }
        }
        Err(Making(None))
    }

    /// Stores a value, as [`VersionedCache::insert`] does. Returns whether it can be cached.
    pub fn insert(
        &self,
        transport: Transport,
        key: K,
        value: V,
        size: usize,
        dependencies: Dependencies,
        stamp: VersionStamp,
    ) -> bool {
        let is_cacheable = dependencies.is_cacheable();
        self.values.insert(transport, key, value, size, dependencies, stamp);
        is_cacheable
    }

    /// The size of the cache, with hits and misses.
    pub fn usage(&self) -> Usage {
        self.values.usage()
    }
}

impl<K: Eq + Hash, V> fmt::Debug for SingleFlightCache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SingleFlightCache").field("values", &self.values).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::{Context, Key};

    const PLAIN: Transport = Transport::Plain;

    /// A cache, and the versions of its only dependency.
    struct Site {
        versions: Versions,
        cache: SingleFlightCache<&'static str, u32>,
    }

    impl Site {
        fn new() -> Self {
            Site { versions: Versions::default(), cache: SingleFlightCache::new(1 << 20) }
        }

        async fn find(&self, transport: Transport) -> Result<u32, Making<&'static str>> {
            self.cache.find(transport, &self.versions, &"key", self.versions.stamp()).await
        }

        fn making(&self, transport: Transport) -> Making<&'static str> {
            match self.find(transport).now_or_never() {
                Some(Err(making)) => making,
                other => panic!("expected nothing at once, found {other:?}"),
            }
        }

        fn insert(&self, value: u32, stamp: VersionStamp) -> bool {
            let cx = Context::background();
            let ((), dependencies) = cx.capture(|| cx.depends_on(Key::of(&"data")));
            self.cache.insert(PLAIN, "key", value, 4, dependencies, stamp)
        }
    }

    #[test]
    fn a_caller_waits_for_the_value_of_another() {
        let site = Site::new();
        let stamp = site.versions.stamp();
        let making = site.making(PLAIN);
        let mut waiting = Box::pin(site.find(PLAIN));
        assert!(waiting.as_mut().now_or_never().is_none());
        assert!(site.insert(5, stamp));
        making.end(true);
        assert!(matches!(waiting.now_or_never(), Some(Ok(5))));
        assert_eq!((site.cache.usage().hits, site.cache.usage().entries), (1, 1));
    }

    #[test]
    fn a_caller_that_begins_after_a_change_makes_its_own_value() {
        let site = Site::new();
        let stamp = site.versions.stamp();
        let making = site.making(PLAIN);
        site.versions.change([Key::of(&"data")]).end();
        let waiting = site.find(PLAIN);
        site.insert(5, stamp);
        making.end(true);
        assert!(matches!(waiting.now_or_never(), Some(Err(Making(Some(_))))));
    }

    #[test]
    fn callers_make_what_is_not_stored_themselves() {
        let site = Site::new();
        let making = site.making(PLAIN);
        let mut waiting: Vec<_> = (0..2).map(|_| Box::pin(site.find(PLAIN))).collect();
        assert!(waiting.iter_mut().all(|one| one.as_mut().now_or_never().is_none()));
        making.end(false);
        for one in waiting {
            assert!(matches!(one.now_or_never(), Some(Err(Making(None)))), "nobody waits for another");
        }
        let cx = Context::background();
        let ((), dependencies) = cx.capture(|| cx.never());
        assert!(!site.cache.insert(PLAIN, "key", 5, 4, dependencies, site.versions.stamp()));
        // One that is gone without a word is followed by another.
        drop(site.making(PLAIN));
        site.making(PLAIN).end(false);
    }

    #[test]
    fn transports_have_flights_of_their_own() {
        let site = Site::new();
        let _plain = site.making(PLAIN);
        site.making(Transport::Tls).end(false);
    }

    #[test]
    fn callers_do_not_wait_for_ever() {
        let site = Site::new();
        let mut waiting = Box::pin(site.find(PLAIN));
        for n in 0..MAX_FLIGHTS {
            let other = site.making(PLAIN);
            assert!(waiting.as_mut().now_or_never().is_none(), "{n}");
            drop(other);
        }
        assert!(matches!(waiting.now_or_never(), Some(Err(Making(None)))));
    }
}
