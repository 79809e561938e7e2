//! Restores random points in time and compares them with a log of acknowledged writes.

#![expect(clippy::unwrap_used, reason = "a failing helper fails the test")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use svc_backup::{
    Backup, BackupError, BackupSettings, Destination, Folder, Moment, Result, restore_database, summary, verify,
};
use svc_db::schema::Schema;
use svc_db::{Database, DatabaseUrl, StoreConfig, Tuning, WriteText as _};

static SCHEMA: Schema = Schema { tables: &[], ..Schema::EMPTY };

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64
}

fn open(path: &Path) -> Database {
    let mut config = StoreConfig::new(DatabaseUrl::Sqlite(path.to_owned()));
    (config.follow_log, config.durable) = (true, false);
    let database = Database::open(&config, &SCHEMA, Arc::new(()), Tuning::default()).unwrap();
    let create = "CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, text BLOB)";
    database.write_blocking(move |tx| tx.execute_text(create, &[]).map(drop)).unwrap();
    database
}

fn settings() -> BackupSettings {
    BackupSettings {
        interval: Duration::from_millis(30),
        snapshot_interval: Duration::from_millis(700),
        ..BackupSettings::default()
    }
}

fn start(database: &Database, to: &Arc<impl Destination + 'static>) -> Backup {
    let to = Arc::clone(to) as Arc<dyn Destination>;
    Backup::start(database.log_reader().unwrap().unwrap(), None, to, settings()).unwrap()
}

/// A write that was acknowledged.
#[derive(Clone, Copy, Debug)]
struct Write {
    n: i64,
    begun: u64,
    acknowledged: u64,
}

fn write(database: &Database, n: i64) -> Write {
    let begun = now();
    let sql = format!("INSERT INTO t VALUES ({n}, randomblob({}))", n % 9 * 700);
    database.write_blocking(move |tx| tx.execute_text(&sql, &[]).map(drop)).unwrap();
    Write { n, begun, acknowledged: now() }
}

/// The rows of a state of the backup.
fn restored(from: &dyn Destination, moment: Moment, folder: &Path) -> Result<(BTreeSet<i64>, u64)> {
    let path = folder.join("restored.db");
    drop(std::fs::remove_file(&path));
    let reached = restore_database(from, moment, &path)?.reached;
    let conn = rusqlite::Connection::open(&path).unwrap();
    let mut all = conn.prepare("SELECT n FROM t").unwrap();
    let rows = all.query_map([], |row| row.get(0)).unwrap().map(|n| n.unwrap()).collect();
    Ok((rows, reached))
}

/// A small generator of numbers, so that failures can be repeated.
fn random(seed: &mut u64, below: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % below.max(1)
}

#[test]
fn every_point_in_time_has_what_was_acknowledged_by_then() {
    let root = tempfile::tempdir().unwrap();
    let to = Arc::new(Folder::new(&root.path().join("backup")));
    let database = open(&root.path().join("site.db"));
    let backup = start(&database, &to);
    while backup.report().last_snapshot.is_none() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let writes = Mutex::new(Vec::new());
    let begin = now();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (writes, database) = (&writes, &database);
            scope.spawn(move || {
                for n in 0..200 {
                    let done = write(database, thread * 10_000 + n);
                    writes.lock().unwrap().push(done);
                    if n % 40 == 0 {
                        std::thread::sleep(Duration::from_millis(60));
                    }
                }
            });
        }
    });
    let end = now();
    drop(backup);
    let writes = writes.into_inner().unwrap();
    let found = summary(&*to).unwrap();
    assert!(found.generations == 1 && found.snapshots >= 1 && found.log_parts > 1, "{found:?}");
    // A larger number of points is set by hand.
    let n_points = std::env::var("SVC_BACKUP_POINTS").ok().and_then(|n| n.parse().ok()).unwrap_or(15);
    let mut seed = 1;
    for _ in 0..n_points {
        let time = begin + random(&mut seed, end - begin + 200);
        let (rows, reached) = restored(&*to, Moment::At(time), root.path()).unwrap();
        assert!(reached <= time);
        for write in &writes {
            let is_there = rows.contains(&write.n);
            assert!(is_there || write.acknowledged > time, "{write:?} is not there at {time}");
            assert!(!is_there || write.begun <= time, "{write:?} is there at {time}");
        }
    }
    assert_eq!(restored(&*to, Moment::Latest, root.path()).unwrap().0.len(), writes.len());
    assert!(matches!(restored(&*to, Moment::At(1), root.path()), Err(BackupError::Nothing(_))));
    let verified = verify(&*to).unwrap();
    assert!(verified.faults.is_empty() && verified.transactions > 0, "{:?}", verified.faults);
}

#[test]
fn a_restart_continues_the_generation() {
    let root = tempfile::tempdir().unwrap();
    let to = Arc::new(Folder::new(&root.path().join("backup")));
    let path = root.path().join("site.db");
    let mut before_last = 0;
    for round in 0..5 {
        let database = open(&path);
        // Writes before the backup has started, and while it runs.
        write(&database, round * 10);
        let backup = start(&database, &to);
        write(&database, round * 10 + 1);
        drop(backup);
        before_last = now();
        std::thread::sleep(Duration::from_millis(2));
        // Not shipped any more by this server.
        write(&database, round * 10 + 2);
    }
    let found = summary(&*to).unwrap();
    assert_eq!(found.generations, 1, "{found:?}");
    let (rows, _) = restored(&*to, Moment::Latest, root.path()).unwrap();
    assert_eq!(rows.len(), 14, "all but the last one: {rows:?}");
    assert_eq!(restored(&*to, Moment::At(before_last), root.path()).unwrap().0.len(), 14);
    // The log is lost together with what was not stored: a new generation begins.
    let aside = rusqlite::Connection::open(&path).unwrap();
    aside.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(aside);
    let database = open(&path);
    drop(start(&database, &to));
    assert_eq!(summary(&*to).unwrap().generations, 2);
    assert_eq!(restored(&*to, Moment::Latest, root.path()).unwrap().0.len(), 15);
    assert!(verify(&*to).unwrap().faults.is_empty());
}

/// A destination that can be switched off.
#[derive(Debug)]
struct Switched {
    folder: Folder,
    is_off: AtomicBool,
    /// Number of parts of the log that were not stored.
    refused_log: AtomicUsize,
}

impl Switched {
    fn check(&self) -> Result<()> {
        let is_off = self.is_off.load(Ordering::Relaxed);
        if is_off { Err(BackupError::Destination("switched off".to_owned())) } else { Ok(()) }
    }
}

impl Destination for Switched {
    fn put(&self, key: &str, bytes: Vec<u8>) -> Result<()> {
        self.check().inspect_err(|_| {
            self.refused_log.fetch_add(usize::from(key.contains("/log/")), Ordering::Relaxed);
        })?;
        self.folder.put(key, bytes)
    }
    fn get(&self, key: &str) -> Result<Vec<u8>> {
        self.check()?;
        self.folder.get(key)
    }
    fn list(&self, folder: &str) -> Result<Vec<String>> {
        self.check()?;
        self.folder.list(folder)
    }
    fn folders(&self, folder: &str) -> Result<Vec<String>> {
        self.check()?;
        self.folder.folders(folder)
    }
    fn delete(&self, key: &str) -> Result<()> {
        self.check()?;
        self.folder.delete(key)
    }
}

fn wait_until(what: &str, mut is_done: impl FnMut() -> bool) {
    for _ in 0..6_000 {
        if is_done() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{what}");
}

#[test]
fn an_outage_of_the_destination_loses_nothing_until_the_log_is_full() {
    let root = tempfile::tempdir().unwrap();
    let folder = Folder::new(&root.path().join("backup"));
    let to = Arc::new(Switched { folder, is_off: AtomicBool::new(true), refused_log: AtomicUsize::new(0) });
    let database = open(&root.path().join("site.db"));
    let reader = database.log_reader().unwrap().unwrap();
    let settings = BackupSettings { max_log: 2 << 20, ..settings() };
    let backup = Backup::start(reader, None, Arc::clone(&to) as Arc<dyn Destination>, settings).unwrap();
    wait_until("a failure", || backup.report().failures > 0);
    for n in 0..10 {
        write(&database, n);
    }
    to.is_off.store(false, Ordering::Relaxed);
    wait_until("a snapshot", || backup.report().last_snapshot.is_some());
    to.is_off.store(true, Ordering::Relaxed);
    let outage = now();
    for n in 10..20 {
        write(&database, n);
    }
    let times = (outage, now());
    wait_until("pending frames", || backup.report().pending_frames > 0);
    to.is_off.store(false, Ordering::Relaxed);
    wait_until("the end of the outage", || backup.report().stored_until > times.1);
    assert_eq!(restored(&*to, Moment::Latest, root.path()).unwrap().0.len(), 20);
    assert_eq!(restored(&*to, Moment::At(times.0 - 1), root.path()).unwrap().0.len(), 10, "exact, too");
    assert_eq!(restored(&*to, Moment::At(times.1), root.path()).unwrap().0.len(), 20, "also within the outage");
    assert_eq!(backup.report().generations, 1);
    // More is written than the log may have.
    to.is_off.store(true, Ordering::Relaxed);
    let off = now();
    let refused = to.refused_log.load(Ordering::Relaxed);
    let big = "INSERT INTO t VALUES (1000, randomblob(4000000))";
    database.write_blocking(move |tx| tx.execute_text(big, &[]).map(drop)).unwrap();
    wait_until("a failure", || to.refused_log.load(Ordering::Relaxed) > refused);
    wait_until("the end of the generation", || backup.report().pending_frames == 0);
    let within = now();
    std::thread::sleep(Duration::from_millis(5));
    to.is_off.store(false, Ordering::Relaxed);
    wait_until("a new generation", || backup.report().generations == 2);
    wait_until("its snapshot", || summary(&*to).unwrap().last_snapshot.is_some_and(|time| time > within));
    assert_eq!(restored(&*to, Moment::Latest, root.path()).unwrap().0.len(), 21);
    let (rows, reached) = restored(&*to, Moment::At(within), root.path()).unwrap();
    assert_eq!(rows.len(), 20, "the end of the first generation");
    assert!(reached <= off, "and it is reported");
    drop(backup);
    assert!(verify(&*to).unwrap().faults.is_empty());
}

#[test]
fn a_second_server_does_not_write_to_the_destination() {
    let root = tempfile::tempdir().unwrap();
    let to = Arc::new(Folder::new(&root.path().join("backup")));
    let [one, two] = ["one.db", "two.db"].map(|name| open(&root.path().join(name)));
    let first = start(&one, &to);
    write(&one, 1);
    wait_until("a snapshot", || first.report().last_snapshot.is_some());
    let second = start(&two, &to);
    write(&two, 2);
    wait_until("a second refusal", || second.report().failures > 1);
    write(&one, 3);
    drop((second, first));
    assert_eq!(summary(&*to).unwrap().generations, 1);
    assert_eq!(restored(&*to, Moment::Latest, root.path()).unwrap().0, [1, 3].into());
    // The first one has stopped, so that the destination is free.
    let second = start(&two, &to);
    wait_until("a snapshot", || second.report().last_snapshot.is_some());
    drop(second);
    assert_eq!(restored(&*to, Moment::Latest, root.path()).unwrap().0, [2].into());
}

#[test]
fn damage_and_missing_objects_are_noticed() {
    let root = tempfile::tempdir().unwrap();
    let to = Arc::new(Folder::new(&root.path().join("backup")));
    let database = open(&root.path().join("site.db"));
    // One snapshot: what comes before another one would not be needed.
    let settings = BackupSettings { snapshot_interval: Duration::from_secs(3_600), ..settings() };
    let reader = database.log_reader().unwrap().unwrap();
    let backup = Backup::start(reader, None, Arc::clone(&to) as Arc<dyn Destination>, settings).unwrap();
    for n in 0..30 {
        write(&database, n);
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(backup);
    let log: Vec<String> = to.list("db").unwrap().into_iter().filter(|key| key.contains("/log/")).collect();
    let snapshots = summary(&*to).unwrap().snapshots;
    let end = now();
    for key in [&log[log.len() - 2], &log[log.len() - 1]] {
        let path = root.path().join("backup").join(key);
        let bytes = std::fs::read(&path).unwrap();
        let mut damaged = bytes.clone();
        damaged[bytes.len() / 2] ^= 1;
        std::fs::write(&path, damaged).unwrap();
        let error = restored(&*to, Moment::Latest, root.path()).unwrap_err();
        assert!(matches!(&error, BackupError::Damaged { .. }), "{error}");
        assert_eq!(verify(&*to).unwrap().faults.len(), 1);
        std::fs::write(&path, bytes).unwrap();
    }
    assert_eq!((verify(&*to).unwrap().faults.len(), snapshots > 0), (0, true));
    std::fs::remove_file(root.path().join("backup").join(&log[log.len() - 2])).unwrap();
    let error = restored(&*to, Moment::At(end), root.path()).unwrap_err();
    assert!(matches!(&error, BackupError::Damaged { .. }), "{error}");
    assert!(!verify(&*to).unwrap().faults.is_empty());
}

/// Prints the rate of writes with and without a backup, in alternation, and the time to restore a gigabyte. Run it in a release build:
/// `cargo test --release -p svc-backup --test points_in_time -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes, and prints instead of checking"]
fn measure() {
    let root = tempfile::tempdir().unwrap();
    let to = Arc::new(Folder::new(&root.path().join("backup")));
    let mut config = StoreConfig::new(DatabaseUrl::Sqlite(root.path().join("site.db")));
    config.follow_log = true;
    let database = Database::open(&config, &SCHEMA, Arc::new(()), Tuning::default()).unwrap();
    let run = |sql: String| database.write_blocking(move |tx| tx.execute_text(&sql, &[]).map(drop)).unwrap();
    run("CREATE TABLE t (n INTEGER PRIMARY KEY, text BLOB)".to_owned());
    run("CREATE INDEX t_text ON t (substr(text, 1, 8))".to_owned());
    let start = || {
        let reader = database.log_reader().unwrap().unwrap();
        Backup::start(reader, None, Arc::clone(&to) as Arc<dyn Destination>, BackupSettings::default()).unwrap()
    };
    let next = std::sync::atomic::AtomicU64::new(0);
    let writes = |seconds: u64| {
        let (before, begun) = (next.load(Ordering::Relaxed), std::time::Instant::now());
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    while begun.elapsed() < Duration::from_secs(seconds) {
                        let n = next.fetch_add(1, Ordering::Relaxed);
                        run(format!("INSERT INTO t VALUES ({n}, CAST(hex(randomblob(1000)) AS BLOB))"));
                    }
                });
            }
        });
        (next.load(Ordering::Relaxed) - before) as f64 / begun.elapsed().as_secs_f64()
    };
    let print = |line: String| drop(std::io::Write::write_all(&mut std::io::stderr(), format!("{line}\n").as_bytes()));
    for round in 1..=5 {
        let without = writes(5);
        let backup = start();
        let with = writes(5);
        let report = backup.report();
        print(format!(
            "round {round}: {without:.0} writes/s without, {with:.0} with, ratio {:.2}; {report:?}",
            with / without
        ));
    }
    while next.load(Ordering::Relaxed) < 420_000 {
        let first = next.fetch_add(1_000, Ordering::Relaxed);
        run(format!(
            "WITH RECURSIVE c (n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM c WHERE n < {first} + 999) \
             INSERT INTO t SELECT n, CAST(hex(randomblob(1000)) AS BLOB) FROM c"
        ));
    }
    let backup = start();
    let begun = std::time::Instant::now();
    wait_until("a snapshot", || backup.report().last_snapshot.is_some_and(|time| time > 0.0));
    print(format!("a snapshot took {:.1} s", begun.elapsed().as_secs_f64()));
    writes(3);
    drop(backup);
    let begun = std::time::Instant::now();
    let restored = restore_database(&*to, Moment::Latest, &root.path().join("restored.db")).unwrap();
    print(format!("{restored:?} took {:.1} s", begun.elapsed().as_secs_f64()));
}
