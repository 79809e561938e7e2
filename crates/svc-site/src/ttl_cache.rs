//! A cache of values that expire, such as documents of other sites.

use std::{
    borrow::Borrow,
    fmt,
    hash::Hash,
    time::{Duration, Instant},
};

use quick_cache::sync::{Cache, EntryAction, EntryResult};
use svc_versions::Context;

/// How long a response without a value that is not cached may be cached itself.
const MISSING: Duration = Duration::from_secs(1);

/// A bounded cache in memory whose values expire. Each value has its own lifetime.
pub struct TtlCache<K, V>(Cache<K, TtlEntry<V>>);

/// A value and when it expires.
#[derive(Clone)]
struct TtlEntry<V> {
    value: V,
    expires: Instant,
}

impl<V> TtlEntry<V> {
    fn new(value: V, ttl: Duration) -> Self {
        TtlEntry { value, expires: Instant::now() + ttl }
    }
}

impl<K: Clone + Eq + Hash, V: Clone> TtlCache<K, V> {
    /// An empty cache of at most `capacity` values.
    pub fn new(capacity: usize) -> Self {
        TtlCache(Cache::new(capacity))
    }

    /// The value of a key, if it is cached and has not expired. Values that depend on it expire with it.
    pub fn get<Q>(&self, cx: &Context, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let now = Instant::now();
        let entry = self.0.get(key).filter(|entry| now < entry.expires);
        // A missing value may be loaded at any time.
        cx.expires_in(entry.as_ref().map_or(MISSING, |entry| entry.expires - now));
        entry.map(|entry| entry.value)
    }

    /// Caches a value for `ttl`.
    pub fn insert(&self, key: K, value: V, ttl: Duration) {
        self.0.insert(key, TtlEntry::new(value, ttl));
    }

    /// Caches the value that `load` returns with its lifetime, unless the key is cached. Concurrent calls for a key wait for
    /// one load; if it is cancelled, another call loads the value.
    ///
    /// The cache's own placeholders are used instead of `svc_versions::Flights`: looking for the value and becoming the one who loads it
    /// are one step, so that no call loads a value that was stored in between.
    pub async fn load_once(&self, key: K, load: impl Future<Output = (V, Duration)>) {
        let keep = |_: &K, entry: &mut TtlEntry<V>| match Instant::now() < entry.expires {
            true => EntryAction::Retain(()),
            false => EntryAction::ReplaceWithGuard,
        };
        if let EntryResult::Vacant(guard) | EntryResult::Replaced(guard, _) = self.0.entry_async(&key, keep).await {
            let (value, ttl) = load.await;
            // Fails if the value was inserted by another call in the meantime, which is as new.
            let _inserted = guard.insert(TtlEntry::new(value, ttl));
        }
    }
}

impl<K, V> fmt::Debug for TtlCache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TtlCache").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    };

    use tokio::task::JoinSet;

    use super::*;

    const HOUR: Duration = Duration::from_secs(60 * 60);

    #[test]
    fn values_expire() {
        let cache = TtlCache::new(10);
        cache.insert("a".to_owned(), 1, HOUR);
        cache.insert("b".to_owned(), 2, Duration::ZERO);
        assert_eq!(
            (
                cache.get(&Context::background(), "a"),
                cache.get(&Context::background(), "b"),
                cache.get(&Context::background(), "c")
            ),
            (Some(1), None, None)
        );
    }

    #[tokio::test]
    async fn concurrent_calls_share_a_load() {
        let (cache, n_loads) = (Arc::new(TtlCache::new(10)), Arc::new(AtomicU32::new(0)));
        let mut calls = JoinSet::new();
        for n in 0..20 {
            let (cache, n_loads) = (Arc::clone(&cache), Arc::clone(&n_loads));
            calls.spawn(async move {
                let load = async {
                    n_loads.fetch_add(1, Ordering::Relaxed);
                    tokio::task::yield_now().await;
                    (n, HOUR)
                };
                cache.load_once(n % 2, load).await;
            });
        }
        while calls.join_next().await.is_some() {}
        assert_eq!(n_loads.load(Ordering::Relaxed), 2, "one load per key");
        let is_cached = |key| cache.get(&Context::background(), &key).is_some();
        assert!(is_cached(0) && is_cached(1));
    }

    #[tokio::test]
    async fn a_value_is_loaded_again_when_it_has_expired() {
        let cache = TtlCache::new(10);
        for (value, ttl, expected) in [(1, HOUR, Some(1)), (2, HOUR, Some(1))] {
            cache.load_once("a".to_owned(), async move { (value, ttl) }).await;
            assert_eq!(cache.get(&Context::background(), "a"), expected);
        }
        for (value, ttl, expected) in [(1, Duration::ZERO, None), (2, HOUR, Some(2))] {
            cache.load_once("b".to_owned(), async move { (value, ttl) }).await;
            assert_eq!(cache.get(&Context::background(), "b"), expected);
        }
    }

    #[tokio::test]
    async fn another_call_loads_the_value_if_a_load_is_cancelled() {
        let cache = Arc::new(TtlCache::<u8, u8>::new(10));
        let (started, is_loading) = tokio::sync::oneshot::channel();
        let load = tokio::spawn({
            let cache = Arc::clone(&cache);
            let endless = async move {
                started.send(()).unwrap();
                std::future::pending().await
            };
            async move { cache.load_once(1, endless).await }
        });
        is_loading.await.unwrap();
        let other = tokio::spawn({
            let cache = Arc::clone(&cache);
            async move { cache.load_once(1, async { (2, HOUR) }).await }
        });
        tokio::task::yield_now().await;
        assert!(!other.is_finished(), "waits for the first load");
        load.abort();
        other.await.unwrap();
        assert_eq!(cache.get(&Context::background(), &1), Some(2));
    }
}
