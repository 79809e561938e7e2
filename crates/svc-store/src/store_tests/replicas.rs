//! Read replicas. Skipped if MariaDB is not installed.

use std::time::{Duration, Instant};

use svc_db::{Db, Tuning};
use svc_testkit::replication::Replication;
use svc_versions::{Context, Freshness, Transport};

use crate::{DatabaseUrl, Store, StoreConfig, StoredText, fixture, options};

/// How old what visitors read may be.
const STALENESS: Duration = Duration::from_millis(400);

struct Site {
    servers: Replication,
    store: Store,
    /// Another server on the same database.
    other: Store,
}

impl Site {
    fn start() -> Option<Self> {
        Self::start_tuned(Tuning::QUICK)
    }

    fn start_tuned(tuning: Tuning) -> Option<Self> {
        let servers = Replication::start().unwrap()?;
        let mut config = StoreConfig::new(DatabaseUrl::MySql(servers.primary.create("site").unwrap()));
        let other = fixture::open(&config).unwrap();
        other.write_blocking(crate::schema::install).unwrap();
        servers.catch_up().unwrap();
        config.replicas = vec![servers.replica.url("site")];
        config.replica_staleness = STALENESS;
        let store = fixture::open_tuned(&config, tuning).unwrap();
        let site = Site { servers, store, other };
        site.wait_until(|| site.problem().is_none());
        Some(site)
    }

    #[track_caller]
    fn wait_until(&self, is_so: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < Duration::from_mins(5), "timed out: {:?}", self.store.usage().replicas);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn problem(&self) -> Option<String> {
        self.store.usage().replicas.remove(0).problem
    }

    /// The option of a request, and whether it was read from the replica.
    fn read(&self, freshness: Option<Freshness>) -> (Option<String>, bool) {
        let cx = Context::request(Transport::Plain);
        let cx = freshness.map_or_else(|| cx.clone(), |freshness| cx.with(freshness));
        let n_reads = || self.store.usage().replicas[0].reads;
        let before = n_reads();
        let read = self.store.read(&cx, |db| options::get(db, "a")).unwrap();
        (read.map(|value| value.text().to_owned()), n_reads() > before)
    }

    fn set(store: &Store, value: &str) {
        let value = value.to_owned();
        store.write_blocking(move |tx| options::set(tx, "a", &StoredText::of(value.as_str()), true)).unwrap();
    }

    /// Waits until reads that must be current use the replica.
    #[track_caller]
    fn settle(&self) {
        self.wait_until(|| self.read(Some(current())).1);
    }
}

/// For a request that comes now.
fn current() -> Freshness {
    Freshness::Current(Instant::now())
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn reads_use_a_replica_that_is_current_enough() {
    let Some(site) = Site::start() else { return };
    Site::set(&site.store, "1");
    site.settle();
    assert_eq!(site.read(Some(current())), (some("1"), true));
    assert_eq!(site.read(Some(Freshness::Recent)), (some("1"), true));
    assert_eq!(site.read(None), (some("1"), false), "what writes read is read where it is written");

    // The replica is behind the writes of this server and of others.
    site.servers.hold().unwrap();
    for (writer, value) in [(&site.store, "2"), (&site.other, "3")] {
        Site::set(writer, value);
        assert_eq!(site.read(Some(current())), (some(value), false));
    }
    // Visitors may get what was current a moment ago, and no longer than that.
    let held = Instant::now();
    Site::set(&site.store, "4");
    loop {
        let (value, _) = site.read(Some(Freshness::Recent));
        if value == some("4") {
            break;
        }
        assert!(held.elapsed() < STALENESS + Duration::from_secs(10), "{value:?}");
    }
    std::thread::sleep(STALENESS);
    assert_eq!(site.read(Some(Freshness::Recent)), (some("4"), false));
    site.servers.go_on().unwrap();
    site.settle();
    assert_eq!(site.read(Some(current())), (some("4"), true));
}

#[test]
fn a_replica_is_current_although_nothing_may_be_cached_after_a_write() {
    let mut tuning = Tuning::QUICK;
    tuning.settle_time = Duration::from_hours(1);
    let Some(site) = Site::start_tuned(tuning) else { return };
    for value in ["1", "2"] {
        Site::set(&site.other, value);
        site.settle();
        assert_eq!(site.read(Some(current())), (some(value), true));
    }
}

/// Reads in so many requests at once. Returns whether each has used the replica.
fn read_at_once(site: &Site, n: usize) -> Vec<bool> {
    let cx = Context::request(Transport::Plain).with(Freshness::Recent);
    let n_reads = || site.store.usage().replicas[0].reads;
    let before = n_reads();
    let read = |db: &mut Db| {
        options::get(db, "a")?;
        let is_from_replica = n_reads() > before;
        let others = if n > 1 { read_at_once(site, n - 1) } else { Vec::new() };
        Ok([vec![is_from_replica], others].concat())
    };
    site.store.read(&cx, read).unwrap()
}

#[test]
fn reads_at_the_same_time_are_shared_with_the_primary() {
    let Some(site) = Site::start() else { return };
    Site::set(&site.store, "1");
    site.settle();
    // Of the last one, the statements of both decide.
    let of_replica = read_at_once(&site, 6);
    assert!(of_replica[0] && [3, 4].contains(&of_replica.iter().filter(|is_so| **is_so).count()), "{of_replica:?}");
    assert_eq!(read_at_once(&site, 1), [true], "the replica has nothing to do");
}

#[test]
fn what_an_older_snapshot_shows_is_cached_as_old() {
    let Some(site) = Site::start() else { return };
    Site::set(&site.store, "1");
    site.settle();
    site.servers.hold().unwrap();
    Site::set(&site.store, "2");
    let cx = Context::request(Transport::Plain).with(Freshness::Recent);
    let now = site.store.versions().stamp();
    let read = site.store.read(&cx, |db| options::get(db, "a")).unwrap();
    assert_eq!(read.as_ref().map(StoredText::text), Some("1"), "the replica is recent enough");
    // Either it must not be cached, or with a stamp before the change.
    assert!(cx.stamp_since(now).is_none_or(|stamp| stamp < now));
    assert_eq!(cx.stamp(), cx.stamp_since(now));
}

#[test]
fn replicas_that_do_not_work_are_left_out_until_they_do() {
    let Some(site) = Site::start() else { return };
    Site::set(&site.store, "1");
    let replica = &site.servers.replica;
    site.settle();
    replica.client("SET GLOBAL read_only = 0").unwrap();
    site.wait_until(|| site.problem().is_some_and(|why| why.contains("can be written")));
    assert_eq!(site.read(Some(current())), (some("1"), false));
    replica.client("SET GLOBAL read_only = 1").unwrap();
    site.settle();

    replica.pause().unwrap();
    site.wait_until(|| site.problem().is_some());
    assert_eq!(site.read(Some(Freshness::Recent)), (some("1"), false));
    replica.resume().unwrap();
    site.settle();

    replica.kill().unwrap();
    site.wait_until(|| site.problem().is_some());
    Site::set(&site.store, "2");
    assert_eq!(site.read(Some(Freshness::Recent)), (some("2"), false));
    replica.run().unwrap();
    site.settle();
    assert_eq!(site.read(Some(current())), (some("2"), true));
}

#[test]
fn own_writes_are_read_although_the_replica_lags() {
    let Some(site) = Site::start() else { return };
    let ends = std::sync::atomic::AtomicBool::new(false);
    let relaxed = std::sync::atomic::Ordering::Relaxed;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ends.load(relaxed) {
                site.servers.hold().unwrap();
                std::thread::sleep(Duration::from_millis(300));
                site.servers.go_on().unwrap();
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        let mut n_from_replica = 0;
        for n in 0..200 {
            let (value, writer) = (n.to_string(), if n % 2 == 0 { &site.store } else { &site.other });
            Site::set(writer, &value);
            if n % 10 == 0 {
                site.settle();
            }
            for _ in 0..20 {
                let (read, is_from_replica) = site.read(Some(current()));
                assert_eq!(read.as_ref(), Some(&value));
                n_from_replica += u32::from(is_from_replica);
            }
        }
        assert!(n_from_replica > 20, "{n_from_replica}");
        ends.store(true, relaxed);
    });
}

#[test]
fn a_server_without_a_binary_log_cannot_have_replicas() {
    let Some(server) = fixture::server() else { return };
    let mut config = fixture::database(server);
    config.replicas = vec![server.url("none")];
    let error = fixture::open(&config).err().map(|error| error.to_string());
    assert!(error.is_some_and(|error| error.contains("binary log")));
}
