//! Finds out that nobody has written to a database, with one small read instead of a transaction.
//!
//! The header of the WAL index (<https://sqlite.org/walformat.html#walidxfmt>) contains a change counter and checksums, which
//! every commit changes before it is acknowledged. SQLite itself compares this header at the start of each transaction, after
//! it has locked the database with system calls that take ten times as long as the read.

use std::path::Path;
use std::sync::{PoisonError, RwLock};

use super::connection::Sqlite;

/// Length of the first copy of the header. It is the last part that a commit writes.
const HEADER: usize = 48;

type Header = [u8; HEADER];

/// The WAL index of a database in use.
pub(super) struct WalIndex {
    file: file::OpenFile,
    /// The header before the last look at the database.
    seen: RwLock<Option<Header>>,
}

impl WalIndex {
    /// The index of the database of `conn`; `None` if it has none, or the system is not known to show other processes' changes of
    /// mapped files to reads.
    pub(super) fn open(database: &Path, conn: &Sqlite) -> Option<Self> {
        let mode: String = conn.raw.query_row("PRAGMA journal_mode", [], |row| row.get(0)).ok()?;
        if mode != "wal" {
            return None;
        }
        // SQLite follows symbolic links, too.
        let mut path = database.canonicalize().ok()?.into_os_string();
        path.push("-shm");
        Some(WalIndex { file: file::OpenFile::open(Path::new(&path))?, seen: RwLock::new(None) })
    }

    /// Whether no transaction has been committed since the header for which [`seen`](Self::seen) was called. If not,
    /// returns the header to call it with.
    pub(super) fn check(&self) -> Result<(), Option<Header>> {
        let current = self.file.read();
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner);
        if current.is_some() && *seen == current { Ok(()) } else { Err(current) }
    }

    /// Records that the database was looked at after its header had been `header`.
    pub(super) fn seen(&self, header: Option<Header>) {
        *self.seen.write().unwrap_or_else(PoisonError::into_inner) = header;
    }
}

#[cfg(target_os = "linux")]
mod file {
    use std::fs::File;
    use std::mem::ManuallyDrop;
    use std::os::unix::fs::FileExt as _;
    use std::path::Path;

    use super::{HEADER, Header};

    /// A file that is never closed: closing any descriptor of a file releases all locks of this process on it, and with them
    /// those of SQLite's open transactions.
    pub(super) struct OpenFile(ManuallyDrop<File>);

    impl OpenFile {
        pub(super) fn open(path: &Path) -> Option<Self> {
            File::open(path).ok().map(|file| OpenFile(ManuallyDrop::new(file)))
        }

        pub(super) fn read(&self) -> Option<Header> {
            let mut header = [0; HEADER];
            self.0.read_exact_at(&mut header, 0).ok().map(|()| header)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod file {
    use std::path::Path;

    use super::Header;

    pub(super) enum OpenFile {}

    impl OpenFile {
        pub(super) fn open(_: &Path) -> Option<Self> {
            None
        }

        pub(super) fn read(&self) -> Option<Header> {
            match *self {}
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::time::Duration;

    use super::super::connection::Mode;
    use super::super::pool::temporary_path;
    use super::*;

    #[test]
    fn commits_of_other_connections_change_the_header() {
        let path = temporary_path();
        let open = |mode| Sqlite::open(&path, mode, Duration::from_secs(5)).unwrap();
        let writer = open(Mode::Write { durable: false });
        writer.raw.execute_batch("CREATE TABLE t (n); INSERT INTO t VALUES (1)").unwrap();
        let reader = open(Mode::Read);
        let index = WalIndex::open(&path, &reader).unwrap();
        let look = |after| {
            let header = index.check().expect_err(after);
            index.seen(header);
            assert_eq!(index.check(), Ok(()), "{after}");
        };
        look("the start");
        for sql in [
            "INSERT INTO t VALUES (2)",
            "UPDATE t SET n = n + 1",
            "PRAGMA wal_checkpoint(RESTART); INSERT INTO t VALUES (3)",
            "PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES (4)",
            "VACUUM",
        ] {
            writer.raw.execute_batch(sql).unwrap();
            look(sql);
        }
        writer.raw.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES (5)").unwrap();
        assert_eq!(index.check(), Ok(()), "not committed yet");
        writer.raw.execute_batch("ROLLBACK").unwrap();
        let n: i64 = reader.raw.query_row("SELECT COUNT(*) FROM t", [], |row| row.get(0)).unwrap();
        assert_eq!((n, index.check()), (4, Ok(())));
        drop((writer, reader));
        for end in ["", "-wal", "-shm"] {
            let mut name = path.clone().into_os_string();
            name.push(end);
            drop(std::fs::remove_file(name));
        }
    }
}
