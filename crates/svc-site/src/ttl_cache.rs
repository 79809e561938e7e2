//! A cache of values that expire, such as documents of other sites.

use std::{
    borrow::Borrow,
    collections::HashMap,
    fmt,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use quick_cache::sync::Cache;
use svc_versions::Context;
use tokio::sync::OnceCell;

/// How long a response without a value that is not cached may be cached itself.
const MISSING: Duration = Duration::from_secs(1);

/// A bounded cache in memory whose values expire. Each value has its own lifetime.
pub struct TtlCache<K, V> {
    entries: Cache<K, Entry<V>>,
    /// Loads in progress.
    loads: Mutex<HashMap<K, Load>>,
}

/// A value and when it expires.
#[derive(Clone)]
struct Entry<V> {
    value: V,
    expires: Instant,
}

/// Set when a load has ended.
type Load = Arc<OnceCell<()>>;

impl<K: Clone + Eq + Hash, V: Clone> TtlCache<K, V> {
    /// An empty cache of at most `capacity` values.
    pub fn new(capacity: usize) -> Self {
        TtlCache { entries: Cache::new(capacity), loads: Mutex::default() }
    }

    /// The value of a key, if it is cached and has not expired. Values that depend on it expire with it.
    pub fn get<Q>(&self, cx: &Context, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let now = Instant::now();
        let entry = self.current(key, now);
        // A missing value may be loaded at any time.
        cx.expires_in(entry.as_ref().map_or(MISSING, |entry| entry.expires - now));
        entry.map(|entry| entry.value)
    }

    fn current<Q>(&self, key: &Q, now: Instant) -> Option<Entry<V>>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.entries.get(key).filter(|entry| now < entry.expires)
    }

    /// Caches a value for `ttl`.
    pub fn insert(&self, key: K, value: V, ttl: Duration) {
        self.entries.insert(key, Entry { value, expires: Instant::now() + ttl });
    }

    /// Caches the value that `load` returns with its lifetime, unless the key is cached. Concurrent calls for a key wait for
    /// one load.
    pub async fn load_once(&self, key: K, load: impl Future<Output = (V, Duration)>) {
        let current = LoadGuard { cache: self, load: Arc::clone(self.loads().entry(key.clone()).or_default()), key };
        let run = async {
            // Another load may have ended since the caller found the key missing.
            if self.current(&current.key, Instant::now()).is_none() {
                let (value, ttl) = load.await;
                self.insert(current.key.clone(), value, ttl);
            }
        };
        current.load.get_or_init(|| run).await;
    }
}

impl<K, V> TtlCache<K, V> {
    fn loads(&self) -> std::sync::MutexGuard<'_, HashMap<K, Load>> {
        self.loads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, V> fmt::Debug for TtlCache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TtlCache").finish_non_exhaustive()
    }
}

/// Removes a load when it has ended, also if its caller is cancelled.
struct LoadGuard<'c, K: Eq + Hash, V> {
    cache: &'c TtlCache<K, V>,
    key: K,
    load: Load,
}

impl<K: Eq + Hash, V> Drop for LoadGuard<'_, K, V> {
    fn drop(&mut self) {
        let mut loads = self.cache.loads();
        if loads.get(&self.key).is_some_and(|current| Arc::ptr_eq(current, &self.load)) {
            loads.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

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
        assert!(
            cache.get(&Context::background(), &0).is_some()
                && cache.get(&Context::background(), &1).is_some()
                && cache.loads().is_empty()
        );
    }

    #[tokio::test]
    async fn a_cached_value_is_not_loaded_again() {
        let cache = TtlCache::new(10);
        for (value, expected) in [(1, 1), (2, 1)] {
            cache.load_once("a".to_owned(), async move { (value, HOUR) }).await;
            assert_eq!(cache.get(&Context::background(), "a"), Some(expected));
        }
    }

    #[tokio::test]
    async fn a_cancelled_load_is_forgotten() {
        let cache = Arc::new(TtlCache::<u8, u8>::new(10));
        let load = tokio::spawn({
            let cache = Arc::clone(&cache);
            async move { cache.load_once(1, std::future::pending()).await }
        });
        while cache.loads().is_empty() {
            tokio::task::yield_now().await;
        }
        load.abort();
        assert!(load.await.is_err() && cache.loads().is_empty());
    }
}
