//! Models that shuttle runs under many schedules: `cargo xtask models`.
//!
//! The guarantee that is checked here: a value that is read after a write was acknowledged is not older than that write. `flights.rs` and
//! `single_flight_cache.rs` have the models of what is built on that.

mod flights;
mod single_flight_cache;

use std::sync::Arc;

use shuttle::{
    Runner,
    scheduler::DfsScheduler,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use crate::{Context, Dependencies, Key, Transport, VersionedCache, Versions};

/// Schedules of each kind.
const SCHEDULES: usize = 5_000;

/// Schedules with at most this many changes of threads at chosen points find most faults.
const DEPTH: usize = 3;

/// More schedules than a model has that runs in all of them.
const MAX_SCHEDULES: usize = 1_000_000;

/// A database with one value, its versions, and a cache of what is computed from the value.
struct Site {
    versions: Versions,
    cache: VersionedCache<u8, u64>,
    stored: Mutex<u64>,
    /// The last value whose write was acknowledged.
    acknowledged: AtomicU64,
}

impl Site {
    fn new() -> Arc<Self> {
        Arc::new(Site {
            versions: Versions::with_slots(2),
            cache: VersionedCache::new(1 << 20),
            stored: Mutex::new(0),
            acknowledged: AtomicU64::new(0),
        })
    }

    fn key() -> Key {
        Key::of(&"value")
    }

    /// Adds one.
    fn write(&self) {
        let change = self.versions.change([Self::key()]);
        let written = {
            let mut stored = self.stored.lock().unwrap();
            *stored += 1;
            *stored
        };
        change.end();
        self.acknowledged.fetch_max(written, Ordering::SeqCst);
    }

    /// Reads through the cache, as a request does.
    fn read(&self) {
        let before = self.acknowledged.load(Ordering::SeqCst);
        let stamp = self.versions.stamp();
        let found = self.cache.get(&Context::background(), &self.versions, &1, stamp);
        let value = found.unwrap_or_else(|| {
            let value = *self.stored.lock().unwrap();
            let mut dependencies = Dependencies::default();
            dependencies.add(Self::key());
            self.cache.insert(Transport::Plain, 1, value, 8, dependencies, stamp);
            value
        });
        assert!(value >= before, "{value} was read after {before} was acknowledged");
    }
}

/// Runs each function on a thread of its own.
fn in_parallel<S: Send + Sync + 'static>(site: &Arc<S>, threads: &[fn(&S)]) {
    let run = |thread: &fn(&S)| {
        let (site, thread) = (Arc::clone(site), *thread);
        thread::spawn(move || thread(&site))
    };
    let threads: Vec<_> = threads.iter().map(run).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Runs a model in random schedules, and in random ones with few changes of threads.
fn in_many_schedules(model: impl Fn() + Clone + Send + Sync + 'static) {
    shuttle::check_random(model.clone(), SCHEDULES);
    shuttle::check_pct(model, SCHEDULES, DEPTH);
}

/// Runs a model in each schedule that is possible.
fn in_all_schedules(model: impl Fn() + Send + Sync + 'static) {
    let scheduler = DfsScheduler::new(Some(MAX_SCHEDULES), false);
    let n = Runner::new(scheduler, shuttle::Config::default()).run(model);
    println!("{n} schedules");
    assert!(n < MAX_SCHEDULES, "the model has more schedules than {MAX_SCHEDULES}");
}

#[test]
fn a_cached_value_and_a_write() {
    in_all_schedules(|| {
        let site = Site::new();
        site.read();
        in_parallel(&site, &[Site::write, Site::read]);
        site.read();
    });
}

#[test]
fn readers_and_writers() {
    let reads = |site: &Site| (0..3).for_each(|_| site.read());
    let writes = |site: &Site| (0..2).for_each(|_| site.write());
    in_many_schedules(move || in_parallel(&Site::new(), &[writes, writes, reads, reads]));
}

#[test]
fn everything_is_invalid_after_unknown_changes() {
    // Another program writes first, and is noticed later.
    let others = |site: &Site| {
        let written = {
            let mut stored = site.stored.lock().unwrap();
            *stored += 1;
            *stored
        };
        site.versions.change_all();
        site.acknowledged.fetch_max(written, Ordering::SeqCst);
    };
    let reads = |site: &Site| (0..2).for_each(|_| site.read());
    in_many_schedules(move || in_parallel(&Site::new(), &[others, Site::write, reads, reads]));
}
