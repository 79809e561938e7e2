//! A follower has everything that was committed, whoever writes, checkpoints and starts the log over.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::*;
use crate::engine::sqlite::connection::{Mode, Sqlite};

const WAIT: Duration = Duration::from_secs(10);

fn open(path: &Path) -> Sqlite {
    Sqlite::open(path, Mode::Write { durable: false }, WAIT).unwrap()
}

/// The writer of a server.
struct Server {
    conn: Sqlite,
    gate: Arc<LogGate>,
    size: LogSize,
}

impl Server {
    fn start(path: &Path) -> Self {
        let conn = open(path);
        conn.keep_log().unwrap();
        let gate = Arc::new(LogGate::open(path, WAIT).unwrap());
        conn.raw.execute_batch("CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, text TEXT)").unwrap();
        Server { conn, gate, size: LogSize::default() }
    }

    fn write(&mut self, sql: &str) {
        let Server { conn, gate, size } = self;
        conn.raw.execute_batch(sql).unwrap();
        let n_frames = gate.committed();
        gate.tend(size, n_frames, || drop(conn.raw.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))));
    }

    fn follow(&self, path: &Path) -> LogReader {
        LogReader::new(path, Arc::clone(&self.gate), WAIT).unwrap()
    }
}

/// What a follower has stored.
#[derive(Default)]
struct Copy {
    pages: HashMap<u32, Vec<u8>>,
    n_pages: u32,
    n_images: usize,
}

impl Copy {
    /// Continues after a position.
    fn resume(&mut self, reader: &mut LogReader, at: &LogPosition) {
        let frames = reader.resume(at).unwrap().expect("nothing is missing");
        self.apply(reader, &frames);
    }

    fn apply(&mut self, reader: &mut LogReader, frames: &NewFrames) {
        assert!(frames.stamps().is_sorted_by_key(|(_, time)| *time));
        assert_eq!(frames.stamps().last().map_or(0, |(n, _)| *n), frames.len());
        for (i, (page, n_pages)) in frames.pages(0..frames.len()).enumerate() {
            let mut content = Vec::new();
            frames.content(i, &mut content).unwrap();
            self.pages.insert(page, content);
            self.n_pages = if n_pages > 0 { n_pages } else { self.n_pages };
        }
        reader.confirm(frames);
    }

    /// Reads everything that is new.
    fn update(&mut self, reader: &mut LogReader) {
        let mut for_image = false;
        loop {
            match reader.read(for_image).unwrap() {
                Some(mut frames) if for_image => {
                    let image = reader.image(&mut frames).unwrap().unwrap();
                    reader.confirm(&frames);
                    self.n_pages = image.n_pages();
                    self.n_images += 1;
                    let bytes = image.read(1, self.n_pages).unwrap();
                    let pages = bytes.chunks(image.page_size() as usize).map(<[u8]>::to_vec);
                    self.pages = (1..).zip(pages).collect();
                    return;
                }
                Some(frames) => return self.apply(reader, &frames),
                None => {
                    reader.start().unwrap();
                    for_image = true;
                }
            }
        }
    }

    /// The numbers in the table.
    fn numbers(&self, folder: &Path) -> Vec<i64> {
        let path = folder.join("copy.db");
        let pages = (1..=self.n_pages).flat_map(|page| self.pages[&page].clone());
        std::fs::write(&path, pages.collect::<Vec<u8>>()).unwrap();
        crate::check_file(&path).unwrap();
        numbers(&open(&path))
    }
}

fn numbers(conn: &Sqlite) -> Vec<i64> {
    let mut all = conn.raw.prepare("SELECT n FROM t ORDER BY n").unwrap();
    all.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// A folder with a database that a server uses, and a reader of its log.
fn followed() -> (tempfile::TempDir, PathBuf, Server, LogReader) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let server = Server::start(&path);
    let reader = server.follow(&path);
    (folder, path, server, reader)
}

#[test]
fn a_follower_has_what_was_committed() {
    let (folder, path, mut server, mut reader) = followed();
    let mut copy = Copy::default();
    copy.update(&mut reader);
    assert_eq!((copy.numbers(folder.path()), copy.n_images), (vec![], 1));
    server.write("INSERT INTO t VALUES (1, 'a')");
    server.write("BEGIN; INSERT INTO t VALUES (2, zeroblob(20000)); INSERT INTO t VALUES (3, 'c'); COMMIT");
    copy.update(&mut reader);
    assert_eq!(copy.numbers(folder.path()), [1, 2, 3]);
    // Other programs write to the database from the log, and start it over or empty it.
    let other = open(&path);
    for (n, mode) in ["PASSIVE", "FULL", "RESTART", "TRUNCATE", "PASSIVE"].iter().enumerate() {
        let checkpoint = || drop(other.raw.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(())));
        checkpoint();
        copy.update(&mut reader);
        checkpoint();
        server.write(&format!("INSERT INTO t VALUES ({}, 'd')", 10 + n));
        checkpoint();
        copy.update(&mut reader);
        assert_eq!(copy.numbers(folder.path()), numbers(&other), "{mode}");
    }
    server.write("DELETE FROM t WHERE n > 1; VACUUM");
    copy.update(&mut reader);
    assert_eq!(copy.numbers(folder.path()), [1]);
    assert_eq!(copy.n_images, 1, "nothing was lost");
}

#[test]
fn writes_and_checkpoints_of_others_leave_no_gap() {
    let (folder, path, mut server, mut reader) = followed();
    let (stop, mut copy) = (AtomicBool::new(false), Copy::default());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..500 {
                server.write(&format!("INSERT INTO t VALUES ({n}, hex(randomblob({})))", n * 6));
            }
            stop.store(true, Ordering::Relaxed);
        });
        scope.spawn(|| {
            let other = Sqlite::open(&path, Mode::Write { durable: false }, Duration::ZERO).unwrap();
            other.raw.execute_batch("PRAGMA wal_autocheckpoint = 5").unwrap();
            let mut n = 1_000_000;
            while !stop.load(Ordering::Relaxed) {
                drop(other.raw.execute_batch(&format!("INSERT INTO t VALUES ({n}, 'other')")));
                n += 1;
                // The server gets its turn.
                std::thread::sleep(Duration::from_millis(1));
                if n % 5 == 0 {
                    let mode = ["PASSIVE", "RESTART", "TRUNCATE"][n / 5 % 3];
                    drop(other.raw.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(())));
                }
            }
        });
        while !stop.load(Ordering::Relaxed) {
            copy.update(&mut reader);
            reader.wait(Duration::from_millis(3));
        }
    });
    copy.update(&mut reader);
    assert_eq!(copy.numbers(folder.path()), numbers(&open(&path)));
    // What happens last is seen from the last position, not from a new image.
    let mut copy = Copy::default();
    reader.release();
    copy.update(&mut reader);
    let conn = open(&path);
    for n in 2_000_000..2_000_200 {
        conn.raw.execute(&format!("INSERT INTO t VALUES ({n}, hex(randomblob(3000)))"), []).unwrap();
        if n % 7 == 0 {
            copy.update(&mut reader);
        }
    }
    copy.update(&mut reader);
    assert_eq!(copy.numbers(folder.path()), numbers(&conn));
    assert_eq!(copy.n_images, 1);
}

#[test]
fn an_image_stays_as_it_was_while_others_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut server = Server::start(&path);
    for n in 0..500 {
        server.write(&format!("INSERT INTO t VALUES ({n}, hex(randomblob(500)))"));
    }
    let mut reader = server.follow(&path);
    for round in 0..3 {
        reader.start().unwrap();
        let mut frames = reader.read(true).unwrap().unwrap();
        let image = reader.image(&mut frames).unwrap().unwrap();
        reader.confirm(&frames);
        let before = numbers(&server.conn);
        let mut copy = Copy { n_pages: image.n_pages(), ..Copy::default() };
        for page in 1..=image.n_pages() {
            copy.pages.insert(page, image.read(page, 1).unwrap());
            if page % 4 == 0 {
                server.write(&format!("UPDATE t SET text = hex(randomblob(500)) WHERE n % 5 = {}", page % 5));
                server.write(&format!("INSERT INTO t VALUES ({}, 'new')", 1_000 + round * 1_000 + page));
                let frames = reader.read(false).unwrap().unwrap();
                reader.confirm(&frames);
                drop(server.conn.raw.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())));
            }
        }
        assert_eq!(copy.numbers(folder.path()), before, "round {round}");
    }
}

#[test]
fn continues_after_a_stop_only_if_nothing_is_missing() {
    let (folder, path, mut server, mut reader) = followed();
    let mut copy = Copy::default();
    copy.update(&mut reader);
    server.write("INSERT INTO t VALUES (1, 'a')");
    copy.update(&mut reader);
    let at = reader.position();
    server.write("INSERT INTO t VALUES (2, 'b')");
    drop((reader, server));
    // The log stays when the server stops.
    let mut server = Server::start(&path);
    server.write("INSERT INTO t VALUES (3, 'c')");
    let mut reader = server.follow(&path);
    copy.resume(&mut reader, &at);
    copy.update(&mut reader);
    assert_eq!((copy.numbers(folder.path()), copy.n_images), (vec![1, 2, 3], 1));
    // A position that the log does not have: frames were lost, or others were written in their place.
    let mut other = reader.position();
    other.checksum[0] ^= 1;
    assert!(reader.resume(&other).unwrap().is_none());
    other = LogPosition { frame: reader.position().frame + 1, ..reader.position() };
    assert!(reader.resume(&other).unwrap().is_none());
    let at = reader.position();
    drop((reader, server));
    // Another program was the last to close the database, so that the log is gone.
    open(&path).raw.execute_batch("INSERT INTO t VALUES (4, 'd')").unwrap();
    let server = Server::start(&path);
    assert!(server.follow(&path).resume(&at).unwrap().is_none());
}

#[test]
fn a_log_that_is_followed_stays_short_under_load() {
    let (folder, _path, mut server, mut reader) = followed();
    let stop = AtomicBool::new(false);
    let (mut largest, mut copy) = (0, Copy::default());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..2_000 {
                // More than twenty frames each: 40,000 of them.
                server.write(&format!("INSERT INTO t VALUES ({n}, randomblob(80000))"));
            }
            stop.store(true, Ordering::Relaxed);
        });
        while !stop.load(Ordering::Relaxed) {
            copy.update(&mut reader);
            reader.set_keeping_up(true);
            largest = largest.max(reader.log_bytes());
            reader.wait(Duration::from_millis(50));
        }
    });
    copy.update(&mut reader);
    assert_eq!(copy.n_images, 1, "nothing was lost");
    assert_eq!(copy.numbers(folder.path()).len(), 2_000);
    assert!(largest < 100 << 20, "{largest} bytes");
}

#[test]
fn a_log_that_is_started_over_after_a_stop_is_read_before() {
    let (folder, path, mut server, mut reader) = followed();
    let mut copy = Copy::default();
    copy.update(&mut reader);
    let at = reader.position();
    drop(reader);
    server.write("INSERT INTO t VALUES (1, randomblob(20000))");
    // All of the log is in the database, as after a check of it, so that the next write starts the log over.
    drop(server.conn.raw.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())));
    let mut reader = server.follow(&path);
    let frames = reader.resume(&at).unwrap().expect("nothing is missing");
    server.write("INSERT INTO t VALUES (2, randomblob(20000))");
    copy.apply(&mut reader, &frames);
    copy.update(&mut reader);
    assert_eq!((copy.numbers(folder.path()), copy.n_images), (vec![1, 2], 1));
}

#[test]
fn continues_after_a_stop_in_a_log_that_was_started_over_when_it_was_read() {
    let (folder, path, mut server, mut reader) = followed();
    let mut copy = Copy::default();
    copy.update(&mut reader);
    server.write("INSERT INTO t VALUES (1, 'a')");
    copy.update(&mut reader);
    drop(server.conn.raw.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())));
    copy.update(&mut reader);
    let at = reader.position();
    server.write("INSERT INTO t VALUES (2, 'b')");
    let written = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    assert_ne!(server.gate.stamp().unwrap().at.salts, at.salts, "the log was started over");
    drop((reader, server));
    std::thread::sleep(Duration::from_millis(20));
    let server = Server::start(&path);
    let mut reader = server.follow(&path);
    let frames = reader.resume(&at).unwrap().expect("nothing is missing");
    assert!(u128::from(frames.stamps()[0].1) <= written, "the time is that of the earlier process");
    copy.apply(&mut reader, &frames);
    assert_eq!((copy.numbers(folder.path()), copy.n_images), (vec![1, 2], 1));
    // Nobody follows the log, so that it is not known what was in it before it was started over.
    let at = reader.position();
    drop(reader);
    for n in 3..5 {
        server.conn.raw.execute_batch(&format!("INSERT INTO t VALUES ({n}, 'c')")).unwrap();
        server.gate.committed();
        drop(server.conn.raw.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
    }
    server.conn.raw.execute_batch("INSERT INTO t VALUES (5, 'd')").unwrap();
    server.gate.committed();
    assert!(server.follow(&path).resume(&at).unwrap().is_none());
}

#[test]
fn a_long_log_is_kept_until_it_is_followed() {
    let (folder, path, mut server, mut reader) = followed();
    let mut copy = Copy::default();
    copy.update(&mut reader);
    // More than the length at which writes wait for the follower, which does not read it.
    for n in 0..6 {
        server.write(&format!("INSERT INTO t VALUES ({n}, randomblob(8000000))"));
    }
    let at = reader.position();
    drop((reader, server));
    let mut server = Server::start(&path);
    // What a server writes before it follows the log.
    for n in 10..20 {
        server.write(&format!("INSERT INTO t VALUES ({n}, 'a')"));
        drop(server.conn.raw.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())));
    }
    let mut reader = server.follow(&path);
    copy.resume(&mut reader, &at);
    assert_eq!((copy.numbers(folder.path()).len(), copy.n_images), (16, 1));
}

#[test]
fn the_time_of_an_image_is_not_later_than_what_is_missing_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut server = Server::start(&path);
    server.write("INSERT INTO t VALUES (1, '')");
    let mut reader = server.follow(&path);
    reader.start().unwrap();
    for has_frames in [false, true] {
        if has_frames {
            server.write("INSERT INTO t (text) VALUES ('in it')");
        }
        let mut frames = reader.read(true).unwrap().unwrap();
        assert_eq!(frames.is_empty(), !has_frames);
        std::thread::sleep(Duration::from_millis(2));
        server.write("INSERT INTO t (text) VALUES ('after it')");
        let image = reader.image(&mut frames).unwrap();
        reader.confirm(&frames);
        drop(image);
        let later = reader.read(false).unwrap().unwrap();
        let missing = later.stamps().first().unwrap().1;
        assert!(frames.time() < missing, "{} {missing}", frames.time());
        assert!(frames.stamps().iter().all(|(_, time)| *time <= frames.time()));
        reader.confirm(&later);
    }
}
