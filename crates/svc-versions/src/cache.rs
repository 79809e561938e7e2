//! A cache whose entries are valid until something that they depend on changes.

use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, atomic::AtomicU64 as Counter};

use quick_cache::{Equivalent, Weighter, sync::Cache};

use crate::sync::{AtomicU64, Ordering};
use crate::{Context, Dependencies, Transport, VersionStamp, Versions};

/// Memory of an entry besides its value, in bytes, and of a dependency.
const ENTRY: usize = 128;
const DEPENDENCY: usize = size_of::<crate::Key>();

/// A cache of limited size. A value is returned as long as nothing that it depends on has changed, to requests with the
/// [transport](Transport) of the request that it was computed for.
pub struct VersionedCache<K: Eq + Hash, V> {
    entries: Cache<KeyOver<K>, Arc<CachedValue<V>>, Weight>,
    // Not scheduled in models, which then have fewer schedules.
    hits: Counter,
    misses: Counter,
}

struct CachedValue<V> {
    value: V,
    size: usize,
    dependencies: Arc<Dependencies>,
    /// The time before the value was computed.
    stamp: VersionStamp,
    /// The activity of the versions at which the value was last found valid.
    checked: AtomicU64,
}

/// A key for requests with one transport.
#[derive(Clone, PartialEq, Eq, Hash)]
struct KeyOver<K>(Transport, K);

/// A borrowed [`KeyOver`].
#[derive(Hash)]
struct KeyOverRef<'k, Q: ?Sized>(Transport, &'k Q);

impl<K: Borrow<Q>, Q: Eq + ?Sized> Equivalent<KeyOver<K>> for KeyOverRef<'_, Q> {
    fn equivalent(&self, key: &KeyOver<K>) -> bool {
        self.0 == key.0 && self.1 == key.1.borrow()
    }
}

#[derive(Clone)]
struct Weight;

impl<K, V> Weighter<K, Arc<CachedValue<V>>> for Weight {
    fn weight(&self, _: &K, entry: &Arc<CachedValue<V>>) -> u64 {
        (entry.size + ENTRY + entry.dependencies.len() * DEPENDENCY) as u64
    }
}

impl<K: Eq + Hash, V> fmt::Debug for VersionedCache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VersionedCache").field("n_entries", &self.entries.len()).finish_non_exhaustive()
    }
}

/// The size of a cache, with hits and misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of entries.
    pub entries: usize,
    /// Estimated memory of the entries, in bytes.
    pub bytes: u64,
    /// Look-ups that found a valid value.
    pub hits: u64,
    /// Look-ups that did not.
    pub misses: u64,
}

impl<K: Eq + Hash + Clone, V: Clone> VersionedCache<K, V> {
    /// A cache of at most this many bytes.
    pub fn new(capacity: u64) -> Self {
        // The table grows with the number of entries.
        let entries = Cache::with_weighter(1_024, capacity, Weight);
        VersionedCache { entries, hits: Counter::new(0), misses: Counter::new(0) }
    }

    /// The value of a key if it is valid for a reader whose data is as old as `stamp`. The context then depends on the same
    /// as the value.
    pub fn get<Q>(&self, cx: &Context, versions: &Versions, key: &Q, stamp: VersionStamp) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let (value, dependencies) = self.find(cx.transport(), versions, key, stamp)?;
        cx.record(&dependencies);
        Some(value)
    }

    /// Like [`get`](Self::get), for a request that has no context yet, and with the dependencies of the value.
    pub fn find<Q>(
        &self,
        transport: Transport,
        versions: &Versions,
        key: &Q,
        stamp: VersionStamp,
    ) -> Option<(V, Arc<Dependencies>)>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let key = KeyOverRef(transport, key);
        let found = self.entries.get(&key).filter(|entry| entry.is_valid(versions, stamp));
        let counter = if found.is_some() { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
        found.map(|entry| (entry.value.clone(), Arc::clone(&entry.dependencies)))
    }

    /// The values of several keys, as [`get`](Self::get) returns them. Of neighbours that share their dependencies, these are checked
    /// and recorded once.
    pub fn get_many(
        &self,
        cx: &Context,
        versions: &Versions,
        keys: impl IntoIterator<Item = K>,
        stamp: VersionStamp,
    ) -> Vec<Option<V>> {
        let (mut last, mut hits, mut misses) = (None::<Arc<CachedValue<V>>>, 0, 0);
        let transport = cx.transport();
        let get = |key: K| {
            let entry = self.entries.get(&KeyOver(transport, key));
            let known = last.as_ref().zip(entry.as_ref()).is_some_and(|(last, entry)| last.has_validity_of(entry));
            let Some(entry) = entry.filter(|entry| known || entry.is_valid(versions, stamp)) else {
                misses += 1;
                return None;
            };
            hits += 1;
            if !known {
                cx.record(&entry.dependencies);
            }
            let value = entry.value.clone();
            last = Some(entry);
            Some(value)
        };
        let found = keys.into_iter().map(get).collect();
        self.hits.fetch_add(hits, Ordering::Relaxed);
        self.misses.fetch_add(misses, Ordering::Relaxed);
        found
    }

    /// Stores a value of `size` bytes for requests with this transport, that was computed from data that is at least as new as `stamp`. Values that must not
    /// be cached are ignored.
    pub fn insert(
        &self,
        transport: Transport,
        key: K,
        value: V,
        size: usize,
        dependencies: impl Into<Arc<Dependencies>>,
        stamp: VersionStamp,
    ) {
        let dependencies = dependencies.into();
        if dependencies.is_cacheable() {
            let checked = AtomicU64::new(u64::MAX);
            self.entries
                .insert(KeyOver(transport, key), Arc::new(CachedValue { value, size, dependencies, stamp, checked }));
        }
    }

    /// Sets the maximum size in bytes, and removes what exceeds it.
    pub fn set_capacity(&self, bytes: u64) {
        self.entries.set_capacity(bytes);
    }

    /// The size of the cache, with hits and misses.
    pub fn usage(&self) -> Usage {
        Usage {
            entries: self.entries.len(),
            bytes: self.entries.weight(),
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
        }
    }
}

impl<V> CachedValue<V> {
    /// Whether this entry is valid whenever the other one is.
    fn has_validity_of(&self, other: &Self) -> bool {
        self.stamp == other.stamp && Arc::ptr_eq(&self.dependencies, &other.dependencies)
    }

    fn is_valid(&self, versions: &Versions, stamp: VersionStamp) -> bool {
        if self.dependencies.has_expired() {
            return false;
        }
        // A reader with older data must not see what has changed since.
        if stamp < self.stamp {
            return versions.is_current(&self.dependencies, stamp);
        }
        let activity = versions.activity();
        if self.checked.load(Ordering::Relaxed) == activity {
            return true;
        }
        let is_valid = versions.is_current(&self.dependencies, self.stamp);
        if is_valid {
            self.checked.store(activity, Ordering::Relaxed);
        }
        is_valid
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;

    const PLAIN: Transport = Transport::Plain;

    fn on(key: Key) -> Dependencies {
        let cx = Context::background();
        cx.capture(|| cx.depends_on(key)).1
    }

    #[test]
    fn older_readers_do_not_see_newer_values() {
        let versions = Versions::default();
        let cache = VersionedCache::<u32, &str>::new(1 << 20);
        let key = Key::of(&1);
        let old = versions.stamp();
        versions.change([key]).end();
        let new = versions.stamp();
        let cx = Context::background();
        cache.insert(PLAIN, 1, "new", 3, on(key), new);
        assert_eq!(cache.get(&cx, &versions, &1, old), None);
        assert_eq!(cache.get(&cx, &versions, &1, new), Some("new"));
        assert_eq!(cache.get(&cx, &versions, &1, new), Some("new"), "found again without checking the dependencies");
        versions.change([Key::of(&2)]).end();
        assert_eq!(cache.get(&cx, &versions, &1, new), Some("new"));
        let (found, dependencies) = cx.capture(|| cache.get(&cx, &versions, &1, versions.stamp()));
        assert_eq!((found, dependencies.len()), (Some("new"), 1), "the dependencies are passed on");
        let change = versions.change([key]);
        assert_eq!(cache.get(&cx, &versions, &1, new), None, "a change is in progress");
        change.end();
        assert_eq!(cache.get(&cx, &versions, &1, versions.stamp()), None);
        let usage = cache.usage();
        assert_eq!((usage.entries, usage.hits, usage.misses), (1, 4, 3));
    }

    #[test]
    fn neighbours_share_their_dependencies() {
        let (versions, cache) = (Versions::default(), VersionedCache::<u32, u32>::new(1 << 20));
        let (shared, own) = (Key::of(&1), Key::of(&2));
        let cx = Context::background();
        let dependencies = Arc::new(on(shared));
        for key in [1, 2] {
            cache.insert(PLAIN, key, key, 4, Arc::clone(&dependencies), versions.stamp());
        }
        cache.insert(PLAIN, 3, 3, 4, on(own), versions.stamp());
        let get = || cx.capture(|| cache.get_many(&cx, &versions, [1, 2, 3, 4], versions.stamp()));
        let (found, recorded) = get();
        assert_eq!((found, recorded.len()), (vec![Some(1), Some(2), Some(3), None], 2));
        versions.change([own]).end();
        assert_eq!(get().0, [Some(1), Some(2), None, None]);
        versions.change([shared]).end();
        assert_eq!(get().0, [None; 4]);
        let usage = cache.usage();
        assert_eq!((usage.hits, usage.misses), (5, 7));
    }

    #[test]
    fn transports_have_separate_values() {
        let (versions, cache) = (Versions::default(), VersionedCache::<String, &str>::new(1 << 20));
        let stamp = versions.stamp();
        let get = |transport| cache.get(&Context::request(transport), &versions, "url", stamp);
        let get_many = |transport| {
            let url = ["url".to_owned()];
            cache.get_many(&Context::request(transport), &versions, url, stamp).pop().flatten()
        };
        cache.insert(PLAIN, "url".to_owned(), "http:", 5, Dependencies::default(), stamp);
        assert_eq!((get(Transport::Plain), get(Transport::Tls)), (Some("http:"), None));
        cache.insert(Transport::Tls, "url".to_owned(), "https:", 6, Dependencies::default(), stamp);
        for (transport, expected) in
            [(Transport::Plain, Some("http:")), (Transport::Tls, Some("https:")), (Transport::Localhost, None)]
        {
            assert_eq!((get(transport), get_many(transport)), (expected, expected), "{transport:?}");
        }
    }

    #[test]
    fn values_that_must_not_be_cached_are_ignored() {
        let (versions, cache) = (Versions::default(), VersionedCache::<u32, u32>::new(1 << 20));
        let cx = Context::background();
        let ((), dependencies) = cx.capture(|| cx.never());
        cache.insert(PLAIN, 1, 1, 4, dependencies, versions.stamp());
        assert_eq!(cache.get(&cx, &versions, &1, versions.stamp()), None);
        let ((), dependencies) = cx.capture(|| cx.expires_in(std::time::Duration::ZERO));
        cache.insert(PLAIN, 1, 1, 4, dependencies, versions.stamp());
        assert_eq!(cache.get(&cx, &versions, &1, versions.stamp()), None);
    }
}

#[cfg(test)]
mod properties {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::Key;

    #[derive(Clone, Debug)]
    enum Step {
        Read(usize, usize),
        Write(usize),
        WriteAll,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0..4_usize, 0..4_usize).prop_map(|(from, to)| Step::Read(from, to)),
            (0..4_usize).prop_map(Step::Write),
            Just(Step::WriteAll),
        ]
    }

    proptest! {
        /// A cache of sums over rows always returns what summing again would.
        #[test]
        fn cached_values_equal_computed_ones(steps in prop::collection::vec(step(), 0..60)) {
            let versions = Versions::default();
            let cache = VersionedCache::<(usize, usize), u64>::new(1 << 20);
            let mut rows = [1_u64, 10, 100, 1_000];
            let mut served = HashMap::new();
            let cx = Context::background();
            for step in steps {
                match step {
                    Step::Read(from, to) => {
                        let sum = rows.iter().take(to).skip(from).sum::<u64>();
                        let stamp = versions.stamp();
                        let found = cache.get(&cx, &versions, &(from, to), stamp);
                        if let Some(found) = found {
                            prop_assert_eq!(found, sum);
                            *served.entry((from, to)).or_insert(0) += 1;
                        } else {
                            let ((), dependencies) = cx.capture(|| cx.depends_on_all((from..to).map(|row| Key::of(&("row", row)))));
                            cache.insert(Transport::Plain, (from, to), sum, 8, dependencies, stamp);
                        }
                    }
                    Step::Write(row) => {
                        let change = versions.change([Key::of(&("row", row))]);
                        rows[row] += 1;
                        change.end();
                    }
                    Step::WriteAll => {
                        rows.iter_mut().for_each(|row| *row += 1);
                        versions.change_all();
                    }
                }
            }
        }
    }
}
