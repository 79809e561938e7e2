//! The cache of responses: values are made by one caller at a time, stored with the stamp of that caller, and found by others. No caller
//! is given a value that is older than a write which was acknowledged before the caller began, whoever made it.

use std::sync::{
    Arc,
    // What the model itself observes is not scheduled, so that it has fewer schedules.
    atomic::{AtomicU64 as Observed, Ordering::SeqCst},
};

use shuttle::{
    future::{block_on, yield_now},
    sync::atomic::AtomicU64,
};

use super::{in_all_schedules, in_many_schedules};
use crate::{Dependencies, Key, SingleFlightCache, Transport, Versions};

/// The value of a row, and of the cached value that depends on it.
#[derive(Default)]
struct Row {
    stored: AtomicU64,
    /// The last value whose write was acknowledged.
    acknowledged: Observed,
}

/// A database of two rows, its versions, and a cache of what is computed from each row.
struct Site {
    versions: Versions,
    cache: SingleFlightCache<usize, u64>,
    rows: [Row; 2],
}

impl Site {
    fn new(capacity: u64) -> Arc<Self> {
        let (versions, cache) = (Versions::with_slots(2), SingleFlightCache::new(capacity));
        Arc::new(Site { versions, cache, rows: Default::default() })
    }

    /// Adds one.
    fn write(&self, row: usize) {
        let change = self.versions.change([Key::of(&row)]);
        let written = self.rows[row].stored.fetch_add(1, SeqCst) + 1;
        change.end();
        self.rows[row].acknowledged.fetch_max(written, SeqCst);
    }

    /// Reads through the cache, as a request does.
    async fn read(&self, row: usize) {
        let before = self.rows[row].acknowledged.load(SeqCst);
        let stamp = self.versions.stamp();
        let value = match self.cache.find(Transport::Plain, &self.versions, &row, stamp).await {
            Ok(value) => value,
            Err(making) => {
                let value = self.rows[row].stored.load(SeqCst);
                let mut dependencies = Dependencies::default();
                dependencies.add(Key::of(&row));
                let is_stored = self.cache.insert(Transport::Plain, row, value, 8, dependencies, stamp);
                making.end(is_stored);
                value
            }
        };
        assert!(value >= before, "{value} was read after {before} was acknowledged");
    }

    /// Begins to make a value, and is cancelled.
    async fn give_up(&self, row: usize) {
        let stamp = self.versions.stamp();
        let _making = self.cache.find(Transport::Plain, &self.versions, &row, stamp).await;
        yield_now().await;
    }
}

/// Runs each function on a thread of its own, and then a request for each row.
fn in_parallel(site: &Arc<Site>, threads: &[fn(&Site)]) {
    super::in_parallel(site, threads);
    (0..2).for_each(|row| block_on(site.read(row)));
}

fn write(site: &Site) {
    site.write(0);
}

fn read(site: &Site) {
    block_on(site.read(0));
}

#[test]
fn a_value_is_made_while_its_data_changes() {
    in_all_schedules(|| in_parallel(&Site::new(1 << 20), &[write, read]));
}

#[test]
fn a_value_is_found_while_its_data_changes() {
    in_all_schedules(|| {
        let site = Site::new(1 << 20);
        read(&site);
        in_parallel(&site, &[write, read]);
    });
}

#[test]
fn callers_share_a_value() {
    in_all_schedules(|| in_parallel(&Site::new(1 << 20), &[read, read]));
}

#[test]
fn callers_share_a_value_while_its_data_changes() {
    in_many_schedules(|| in_parallel(&Site::new(1 << 20), &[write, read, read]));
}

#[test]
fn callers_and_changes() {
    let reads = |site: &Site| (0..3).for_each(|n| block_on(site.read(n % 2)));
    let writes = |site: &Site| (0..2).for_each(|row| site.write(row));
    in_many_schedules(move || in_parallel(&Site::new(1 << 20), &[writes, write, reads, reads]));
}

#[test]
fn values_are_evicted_at_once() {
    let reads = |site: &Site| (0..2).for_each(|_| read(site));
    in_many_schedules(move || {
        let site = Site::new(0);
        in_parallel(&site, &[write, reads, reads]);
        assert_eq!(site.cache.usage().hits, 0);
    });
}

#[test]
fn a_caller_is_cancelled() {
    let give_up = |site: &Site| block_on(site.give_up(0));
    in_many_schedules(move || in_parallel(&Site::new(1 << 20), &[write, give_up, read, read]));
}
