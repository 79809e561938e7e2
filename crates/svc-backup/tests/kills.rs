//! Kills a process that backs up to a slow and failing destination, while others write, checkpoint, empty the log and vacuum, and compares random
//! points in time with the log of acknowledged writes.
//!
//! `SVC_BACKUP_KILLS` and `SVC_BACKUP_POINTS` set other numbers.

#![expect(clippy::unwrap_used, reason = "a failing helper fails the test")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use svc_backup::{
    Backup, BackupError, BackupSettings, Decrypting, Destination, Folder, Identities, Moment, Recipients, Result,
    restore_database, summary, verify,
};
use svc_db::schema::Schema;
use svc_db::{Database, DatabaseUrl, StoreConfig, Tuning, WriteText as _};

static SCHEMA: Schema = Schema { tables: &[], ..Schema::EMPTY };

/// Folder of the process that is killed.
const FOLDER: &str = "SVC_BACKUP_TEST_FOLDER";

/// Number of its first write, and how long it runs if it is not killed, in milliseconds.
const FIRST: &str = "SVC_BACKUP_TEST_FIRST";
const LENGTH: &str = "SVC_BACKUP_TEST_LENGTH";

/// A public key, if it encrypts the backup.
const RECIPIENT: &str = "SVC_BACKUP_TEST_RECIPIENT";

/// Numbers of writes of one process.
const PER_PROCESS: u64 = 1_000_000;

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64
}

/// A small generator of numbers, so that failures can be repeated.
fn random(seed: &mut u64, below: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % below.max(1)
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// A destination that is slow at times, and fails at times, before or after it has stored an object.
#[derive(Debug)]
struct Unreliable {
    folder: Folder,
    seed: AtomicU64,
}

impl Unreliable {
    fn pass(&self) -> Result<()> {
        let mut seed = self.seed.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        match random(&mut seed, 12) {
            0 => Err(BackupError::Destination("does not work".to_owned())),
            1 => {
                std::thread::sleep(Duration::from_millis(random(&mut seed, 300)));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl Destination for Unreliable {
    fn put(&self, key: &str, bytes: Vec<u8>) -> Result<()> {
        self.pass()?;
        self.folder.put(key, bytes)?;
        self.pass()
    }
    fn get(&self, key: &str) -> Result<Vec<u8>> {
        self.pass()?;
        self.folder.get(key)
    }
    fn list(&self, folder: &str) -> Result<Vec<String>> {
        self.pass()?;
        self.folder.list(folder)
    }
    fn folders(&self, folder: &str) -> Result<Vec<String>> {
        self.pass()?;
        self.folder.folders(folder)
    }
    fn delete(&self, key: &str) -> Result<()> {
        self.pass()?;
        self.folder.delete(key)
    }
}

fn print(line: &str) {
    // The reader may be gone.
    let _ = std::io::stdout().write_all(format!("{line}\n").as_bytes());
}

/// The process that is killed: it prints each write when it is acknowledged.
#[test]
#[ignore = "is started by the other test"]
fn process() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let (first, length) = (number(FIRST, 0), Duration::from_millis(number(LENGTH, 0)));
    let path = folder.join("site.db");
    let mut config = StoreConfig::new(DatabaseUrl::Sqlite(path.clone()));
    (config.follow_log, config.durable) = (true, false);
    let database = Database::open(&config, &SCHEMA, Arc::new(()), Tuning::default()).unwrap();
    let create = "CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, text BLOB)";
    database.write_blocking(move |tx| tx.execute_text(create, &[]).map(drop)).unwrap();
    let to = Arc::new(Unreliable { folder: Folder::new(&folder.join("backup")), seed: AtomicU64::new(first) });
    let settings = BackupSettings {
        interval: Duration::from_millis(40),
        snapshot_interval: Duration::from_millis(500),
        recipients: std::env::var(RECIPIENT).ok().map(|key| Recipients::parse(&[key]).unwrap()),
        ..BackupSettings::default()
    };
    let backup = Backup::start(database.log_reader().unwrap().unwrap(), None, to, settings).unwrap();
    let (next, begun) = (AtomicU64::new(first), Instant::now());
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (database, next) = (&database, &next);
            scope.spawn(move || {
                let mut seed = first + thread;
                while begun.elapsed() < length {
                    let (n, begun) = (next.fetch_add(1, Ordering::Relaxed), now());
                    print(&format!("begin {n} {begun}"));
                    let size = if random(&mut seed, 50) == 0 { 300_000 } else { random(&mut seed, 6_000) };
                    let sql = format!("INSERT INTO t VALUES ({n}, randomblob({size}))");
                    // Imports use a connection of their own.
                    let written = match random(&mut seed, 40) {
                        0 => database.exclusively(move |tx| tx.execute_text(&sql, &[]).map(drop)),
                        _ => database.write_blocking(move |tx| tx.execute_text(&sql, &[]).map(drop)),
                    };
                    if written.is_ok() {
                        print(&format!("write {n} {}", now()));
                    }
                    std::thread::sleep(Duration::from_millis(random(&mut seed, 8)));
                }
            });
        }
        scope.spawn(|| {
            let other = rusqlite::Connection::open(&path).unwrap();
            other.busy_timeout(Duration::from_millis(50)).unwrap();
            other.execute_batch("PRAGMA wal_autocheckpoint = 20").unwrap();
            let mut seed = first;
            while begun.elapsed() < length {
                let sql = match random(&mut seed, 12) {
                    0 => "VACUUM",
                    1 => "PRAGMA wal_checkpoint(TRUNCATE)",
                    2 => "PRAGMA wal_checkpoint(RESTART)",
                    3 | 4 => "PRAGMA wal_checkpoint(PASSIVE)",
                    5 => "DELETE FROM t WHERE n < 0",
                    _ => "INSERT INTO t SELECT MIN(n, 0) - 1, randomblob(3000) FROM (SELECT MIN(n) AS n FROM t)",
                };
                // It may be busy.
                drop(other.execute_batch(sql));
                std::thread::sleep(Duration::from_millis(random(&mut seed, 20)));
            }
        });
    });
    drop(backup);
    print("end");
}

/// A write.
#[derive(Clone, Copy, Debug)]
struct Write {
    n: u64,
    begun: u64,
    /// Later than any time if it was not acknowledged.
    acknowledged: u64,
}

fn start(folder: &Path, first: u64, length: u64, recipient: Option<&str>) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["process", "--exact", "--ignored", "--nocapture"]);
    command.envs(recipient.map(|key| (RECIPIENT, key)));
    command.env(FOLDER, folder).env(FIRST, first.to_string()).env(LENGTH, length.to_string());
    command.stdout(Stdio::piped()).spawn().unwrap()
}

/// Reads what a process prints, until it ends.
fn writes(child: &mut Child) -> std::thread::JoinHandle<(Vec<Write>, bool)> {
    let output = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || {
        let (mut writes, mut has_ended) = (BTreeMap::new(), false);
        for line in output.lines().map_while(|line| line.ok()) {
            has_ended |= line.ends_with("end");
            let mut words = line.split(' ');
            let (Some(what), Some(n), Some(time)) = (words.next(), words.next(), words.next()) else { continue };
            let (Ok(n), Ok(time)) = (n.parse(), time.parse()) else { continue };
            match what {
                "begin" => drop(writes.insert(n, Write { n, begun: time, acknowledged: u64::MAX })),
                "write" => writes.get_mut(&n).unwrap().acknowledged = time,
                _ => {}
            }
        }
        (writes.into_values().collect(), has_ended)
    })
}

/// The rows of the server at a moment, and the time that was reached.
fn restored(from: &dyn Destination, moment: Moment, path: &Path) -> Result<(BTreeMap<u64, ()>, u64)> {
    for end in ["", "-wal", "-shm"] {
        drop(std::fs::remove_file(format!("{}{end}", path.display())));
    }
    let reached = restore_database(from, moment, path)?.reached;
    let conn = rusqlite::Connection::open(path).unwrap();
    let mut all = conn.prepare("SELECT n FROM t WHERE n >= 0").unwrap();
    let rows = all.query_map([], |row| row.get::<_, i64>(0)).unwrap().map(|n| (n.unwrap() as u64, ())).collect();
    Ok((rows, reached))
}

/// When each generation began, and when its first complete snapshot was taken.
fn generations(from: &Folder) -> Vec<(u64, Option<u64>)> {
    let time = |key: &String| key.split_once("/complete")?.0.rsplit('-').next()?.parse().ok();
    let read = |name: &String| {
        let begun = name.split('-').next().unwrap().parse().unwrap();
        (begun, from.list(&format!("db/{name}")).unwrap().iter().filter_map(time).min())
    };
    from.folders("db").unwrap().iter().map(read).collect()
}

#[test]
fn every_point_in_time_is_right_after_kills() {
    check(None);
}

/// The processes have only the public key.
#[cfg(feature = "age")]
#[test]
fn every_point_in_time_of_an_encrypted_backup_is_right_after_kills() {
    use age::secrecy::ExposeSecret as _;

    let root = tempfile::tempdir().unwrap();
    let identity = age::x25519::Identity::generate();
    let file = root.path().join("key");
    std::fs::write(&file, identity.to_string().expose_secret()).unwrap();
    check(Some((&identity.to_public().to_string(), Identities::read(&file).unwrap())));
}

fn check(key: Option<(&str, Identities)>) {
    let root = tempfile::tempdir().unwrap();
    let to = Folder::new(&root.path().join("backup"));
    let (recipient, identities) = key.unzip();
    let (n_kills, n_points) = (number("SVC_BACKUP_KILLS", 4), number("SVC_BACKUP_POINTS", 20));
    let mut seed = number("SVC_BACKUP_SEED", now());
    let (mut all, mut started): (Vec<Write>, Vec<u64>) = (Vec::new(), Vec::new());
    for round in 0..=n_kills {
        let is_last = round == n_kills;
        started.push(now());
        let mut child = start(root.path(), round * PER_PROCESS, if is_last { 1_500 } else { 60_000 }, recipient);
        let reader = writes(&mut child);
        // The first one has time for a snapshot.
        if round == 0 {
            let begun = Instant::now();
            while summary(&to).unwrap().snapshots == 0 {
                assert!(begun.elapsed() < Duration::from_secs(60), "no snapshot");
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        if !is_last {
            std::thread::sleep(Duration::from_millis(200 + random(&mut seed, 1_500)));
            child.kill().unwrap();
        }
        let status = child.wait().unwrap();
        let (writes, has_ended) = reader.join().unwrap();
        assert_eq!((status.success(), has_ended), (is_last, is_last));
        all.extend(writes);
    }
    let found = summary(&to).unwrap();
    // A process that was killed when its log had just been emptied cannot continue the generation. Its moments begin with a snapshot.
    // The earlier one has everything that was acknowledged before that process started.
    let (mut new, mut begun) = (Vec::new(), None);
    for (begin, snapshot) in &generations(&to)[1..] {
        let begun: &mut Option<u64> = &mut begun;
        let first = *begun.get_or_insert(*begin);
        if let Some(time) = snapshot {
            new.push((*started.iter().rfind(|started| **started < first).unwrap(), *time));
            *begun = None;
        }
    }
    assert_eq!(found.encrypted_snapshots, if recipient.is_some() { found.snapshots } else { 0 });
    let stored: Arc<dyn Destination> = Arc::new(Folder::new(&root.path().join("backup")));
    let from = match identities {
        Some(identities) => Arc::new(Decrypting::new(stored, identities)),
        None => stored,
    };
    let (begin, end) = (found.first.unwrap(), now());
    let path = root.path().join("restored.db");
    for point in 0..=n_points {
        let time = begin + random(&mut seed, end - begin);
        let (time, moment) = if point == n_points { (u64::MAX, Moment::Latest) } else { (time, Moment::At(time)) };
        let (rows, reached) = restored(&*from, moment, &path).unwrap();
        assert!(reached <= time);
        let needed_until = new.iter().find(|(from, to)| (*from..*to).contains(&time)).map_or(time, |(from, _)| *from);
        for write in &all {
            let is_there = rows.contains_key(&write.n);
            let is_needed = write.acknowledged <= needed_until && write.acknowledged != u64::MAX;
            assert!(is_there || !is_needed, "{write:?} is not there at {time}, reached {reached}: {found:?}");
            assert!(!is_there || write.begun <= time, "{write:?} is there at {time}");
        }
    }
    let verified = verify(&*from).unwrap();
    assert!(verified.faults.is_empty(), "{:?}", verified.faults);
    print(&format!("{n_kills} kills, {} writes, {n_points} points: right; {found:?}", all.len()));
}
