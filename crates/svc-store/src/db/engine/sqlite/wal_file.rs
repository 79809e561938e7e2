//! Finds out that a write-ahead log is damaged (<https://sqlite.org/fileformat2.html#walformat>).
//!
//! SQLite reads a log up to the first frame whose checksum is wrong and ignores the rest without a word: usually the rest is from
//! an earlier use of the file, or of a transaction that was not committed. What is neither was damaged.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::connection::Sqlite;

/// Length of the file's header, and of the header of a frame.
const FILE_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// Number of earlier uses of the file whose frames are recognized.
const EARLIER_USES: u32 = 1 << 16;

/// Number of bytes at the end of the log of `database` that are damaged; `None` if there are none. Call it before anything is
/// written on `conn`, which has read the log.
pub(super) fn unreadable(database: &Path, conn: &Sqlite) -> Option<u64> {
    let mut path = database.as_os_str().to_owned();
    path.push("-wal");
    let mut file = File::open(Path::new(&path)).ok()?;
    let length = file.metadata().ok()?.len();
    let mut header = [0; FILE_HEADER];
    if length < FILE_HEADER as u64 {
        return None;
    }
    file.read_exact(&mut header).ok()?;
    // Frames that SQLite has read. A checkpoint changes the database, not the log.
    let n_frames: i64 = conn.raw.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(1)).ok()?;
    let n_frames = u64::try_from(n_frames).ok()?;
    if !has_magic(&header) {
        return Some(length);
    }
    let frame = u64::from(number(&header, 8)) + FRAME_HEADER as u64;
    let salts = (number(&header, 16), number(&header, 20));
    let mut at = FILE_HEADER as u64 + n_frames * frame;
    let rest = at;
    while at + frame <= length {
        let mut head = [0; FRAME_HEADER];
        file.seek(SeekFrom::Start(at)).ok()?;
        file.read_exact(&mut head).ok()?;
        let own = (number(&head, 8), number(&head, 12));
        // The first salt is incremented with each use. A frame with a size of the database ends a transaction.
        let is_earlier = (1..=EARLIER_USES).contains(&salts.0.wrapping_sub(own.0));
        let is_uncommitted = own == salts && number(&head, 4) == 0;
        if !is_earlier && !is_uncommitted {
            return Some(length - rest);
        }
        at += frame;
    }
    None
}

fn has_magic(header: &[u8]) -> bool {
    matches!(number(header, 0), 0x377f_0682 | 0x377f_0683)
}

/// A big-endian number.
fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::connection::Mode;
    use super::*;

    /// Makes a database with a log as a killed server leaves it, changes the log, and opens a copy.
    #[track_caller]
    fn check(before: &str, change: impl Fn(&mut Vec<u8>), is_damaged: bool) {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join("a.db"), folder.path().join("b.db"));
        let open = |path: &Path| Sqlite::open(path, Mode::Write { durable: false }, Duration::from_secs(1)).unwrap();
        let writer = open(&path);
        writer.raw.execute_batch("PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (n)").unwrap();
        writer.raw.execute_batch(before).unwrap();
        for n in 0..20 {
            writer.raw.execute("INSERT INTO t VALUES (?)", [n]).unwrap();
        }
        std::fs::copy(&path, &copy).unwrap();
        let mut log = std::fs::read(folder.path().join("a.db-wal")).unwrap();
        change(&mut log);
        std::fs::write(folder.path().join("b.db-wal"), log).unwrap();
        let opened = open(&copy);
        drop(opened.raw.query_row("SELECT COUNT(*) FROM t", [], |row| row.get::<_, i64>(0)));
        assert_eq!(unreadable(&copy, &opened).is_some(), is_damaged);
    }

    #[test]
    fn damage_is_told_from_what_sqlite_leaves_behind() {
        check("", |_| (), false);
        check("", Vec::clear, false);
        // An earlier, longer use of the file.
        let earlier = "INSERT INTO t VALUES (zeroblob(400000)); PRAGMA wal_checkpoint(RESTART)";
        check(earlier, |_| (), false);
        // A transaction that was being written.
        check("", |log| log.truncate(log.len() - 100), false);
        check("", |log| log[FILE_HEADER + 5 * (FRAME_HEADER + 4096) + 100] ^= 1, true);
        let second_half = |log: &mut Vec<u8>| {
            let half = log.len() / 2;
            log[half..].iter_mut().enumerate().for_each(|(n, byte)| *byte = (n * 7919 % 251) as u8);
        };
        check("", second_half, true);
        check("", |log| log[0] = 0, true);
    }
}
