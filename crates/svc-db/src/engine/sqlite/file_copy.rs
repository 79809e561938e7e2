//! Copies a database file as it is, without opening it as a database of a schema.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::connection;
use super::pool::{create_private, io};
use crate::error::{Result, StoreError};

/// How long to wait for a program that keeps others from reading. With a write-ahead log, none does.
const WAIT: Duration = Duration::from_secs(30);

/// Both files exist.
const FLAGS: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// All pages.
const ALL: i32 = -1;

/// Copies the last committed state of a database file to a new file while others read and write, and returns the size of the copy in bytes. Has
/// no time limit.
///
/// The copy has the same pages: unlike that of [`Database::backup`](crate::Database::backup), its indexes keep their order, so that a version
/// with another collation can use it. Nothing is brought up to date first. Only the owner can read the copy. It is written under
/// another name (`.unfinished`), synced and renamed, so that it is complete if it is there.
///
/// # Errors
/// If `to` exists or cannot be written, or `from` cannot be read.
pub fn copy_file(from: &Path, to: &Path) -> Result<u64> {
    if to.exists() {
        return Err(StoreError::Config(format!("{} exists already", to.display())));
    }
    let unfinished = to.with_extension("unfinished");
    remove(&unfinished)?;
    let copied = copy_pages(from, &unfinished).and_then(|()| finish(&unfinished, to).map_err(io));
    if copied.is_err() {
        let _ = std::fs::remove_file(&unfinished);
    }
    copied
}

/// Size in bytes of the last committed state of a database file: that of a [copy](copy_file).
///
/// # Errors
/// If the file cannot be read, or is no database.
pub fn file_size(path: &Path) -> Result<u64> {
    let source = open_source(path)?;
    let number = |pragma: &str| -> Result<u64> {
        let number: i64 = source.query_row(pragma, [], |row| row.get(0)).map_err(connection::error)?;
        Ok(number.unsigned_abs())
    };
    Ok(number("PRAGMA page_count")?.saturating_mul(number("PRAGMA page_size")?))
}

/// Whether the file system and the permissions let this process write a database file, and create the files that SQLite needs beside it.
#[cfg(unix)]
pub fn is_writable(path: &Path) -> bool {
    use rustix::fs::{Access, access};

    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    access(path, Access::WRITE_OK).is_ok() && access(folder, Access::WRITE_OK).is_ok()
}

/// Whether the file may be written.
#[cfg(not(unix))]
pub fn is_writable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|file| !file.permissions().readonly())
}

fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(io(error)),
        _ => Ok(()),
    }
}

/// Opens a database to read it.
fn open_source(path: &Path) -> Result<Connection> {
    // Not read-only: what a crash has left unfinished in the file is undone or completed first.
    let source = Connection::open_with_flags(path, FLAGS).map_err(connection::error)?;
    source.busy_timeout(WAIT).map_err(connection::error)?;
    // A continuous backup may follow the log.
    source.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(connection::error)?;
    Ok(source)
}

fn copy_pages(from: &Path, to: &Path) -> Result<()> {
    create_private(to);
    let source = open_source(from)?;
    let mut target = Connection::open_with_flags(to, FLAGS).map_err(connection::error)?;
    // It counts only when it is complete.
    target.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF").map_err(connection::error)?;
    let until = Instant::now() + WAIT;
    let copy = Backup::new(&source, &mut target).map_err(connection::error)?;
    loop {
        // All pages in one step are of one snapshot.
        match copy.step(ALL).map_err(connection::error)? {
            StepResult::Done => return Ok(()),
            _ if Instant::now() < until => std::thread::sleep(Duration::from_millis(50)),
            _ => return Err(StoreError::Busy),
        }
    }
}

fn finish(unfinished: &Path, to: &Path) -> std::io::Result<u64> {
    let file = File::open(unfinished)?;
    file.sync_all()?;
    std::fs::rename(unfinished, to)?;
    svc_files::sync_folder(to.parent().unwrap_or(Path::new("")))?;
    Ok(file.metadata()?.len())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::check_file;
    use crate::engine::sqlite::connection::{Mode, Sqlite};

    fn open(path: &Path) -> Sqlite {
        Sqlite::open(path, Mode::Write { durable: false }, Duration::from_secs(5)).unwrap()
    }

    fn count(path: &Path) -> i64 {
        open(path).raw.query_row("SELECT COUNT(*) FROM t", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn a_copy_has_one_state_of_a_database_that_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join("a.db"), folder.path().join("copy.sqlite"));
        let writer = open(&path);
        writer
            .raw
            .execute_batch("CREATE TABLE t (n INTEGER, text TEXT COLLATE PEOPLE); CREATE INDEX t_text ON t (text)")
            .unwrap();
        // Both rows of a transaction, or none.
        let pair = "BEGIN; INSERT INTO t VALUES (1, hex(randomblob(500))); INSERT INTO t VALUES (2, 'é'); COMMIT";
        (0..200).for_each(|_| writer.raw.execute_batch(pair).unwrap());
        let ends = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let writer = open(&path);
                for _ in (0..5_000).take_while(|_| !ends.load(Ordering::Relaxed)) {
                    writer.raw.execute_batch(pair).unwrap();
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            for _ in 0..10 {
                let before = count(&path);
                let bytes = copy_file(&path, &copy).unwrap();
                assert_eq!(bytes, std::fs::metadata(&copy).unwrap().len());
                let copied = count(&copy);
                assert!(copied >= before && copied % 2 == 0, "{before} {copied}");
                check_file(&copy).unwrap();
                assert!(!copy.with_extension("unfinished").exists());
                ["", "-wal", "-shm"]
                    .iter()
                    .for_each(|end| drop(std::fs::remove_file(format!("{}{end}", copy.display()))));
            }
            ends.store(true, Ordering::Relaxed);
        });
        assert!(copy_file(&path, &path).is_err(), "it exists");
        check_file(&path).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_reads_a_copy() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join("a.db"), folder.path().join("copy.sqlite"));
        open(&path).raw.execute_batch("CREATE TABLE t (n INTEGER)").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        // What was left by a copy that was interrupted.
        std::fs::write(copy.with_extension("unfinished"), "half").unwrap();
        std::fs::set_permissions(copy.with_extension("unfinished"), std::fs::Permissions::from_mode(0o644)).unwrap();
        copy_file(&path, &copy).unwrap();
        assert_eq!(std::fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn the_log_of_the_original_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join("a.db"), folder.path().join("copy.sqlite"));
        let writer = open(&path);
        writer.keep_log().unwrap();
        writer.raw.execute_batch("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1)").unwrap();
        drop(writer);
        let log = std::fs::read(folder.path().join("a.db-wal")).unwrap();
        assert!(!log.is_empty());
        let size = file_size(&path).unwrap();
        assert!(size > std::fs::metadata(&path).unwrap().len(), "the log has more pages");
        assert_eq!(copy_file(&path, &copy).unwrap(), size);
        assert_eq!(std::fs::read(folder.path().join("a.db-wal")).unwrap(), log);
        assert_eq!(count(&copy), 1);
    }

    #[test]
    fn what_is_no_database_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join("a.db"), folder.path().join("copy.sqlite"));
        std::fs::write(&path, "no database, but long enough to be looked at. ".repeat(100)).unwrap();
        let error = copy_file(&path, &copy).unwrap_err();
        assert!(matches!(error, StoreError::Corrupt(_)), "{error}");
        assert!(matches!(file_size(&path), Err(StoreError::Corrupt(_))));
        assert!(!copy.exists() && !copy.with_extension("unfinished").exists());
        assert!(copy_file(&folder.path().join("missing"), &copy).is_err() && !folder.path().join("missing").exists());
    }
}
