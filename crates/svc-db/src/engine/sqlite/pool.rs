//! SQLite: a pool of read-only connections, and the queue of the single writer.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use svc_versions::{Context, VersionStamp};

use super::connection::{self, Deadline, Mode, Sqlite};
use super::file_guard::FileGuard;
use super::log::{LogGate, LogReader};
use super::other_writers::OtherWriters;
use super::row_log::SqliteRowLog;
use super::row_versions::{ReaderVersions, VersionQueries};
use super::wal_file;
use super::wal_index::WalIndex;
use super::writer::Writer;
use super::{schema, statistics};
use crate::backend::Job;
use crate::backend::{Accepted, Backend, MAX_WAITING, Snapshot, WAIT_AFTER_WRITE};
use crate::config::StoreConfig;
use crate::conn::{Conn as _, Row};
use crate::error::{Result, StoreError};
use crate::handle::{Db, Tx};
use crate::request;
use crate::row_log::RowLog;
use crate::session::{self, Session};
use crate::shared::Shared;
use crate::usage::PoolUsage;

/// The writer's part of the page cache: one third. The readers share the rest.
const WRITER_SHARE: u64 = 3;

/// A read connection and its state.
struct PooledReader {
    db: Db,
    /// Deadline of statements on the connection.
    deadline: Deadline,
    versions: Arc<ReaderVersions>,
}

/// Idle readers, and the number of threads that wait for one.
#[derive(Default)]
struct IdleReaders {
    readers: Vec<PooledReader>,
    n_waiting: usize,
}

/// A connection that only checks whether the database has changed.
struct Watch {
    conn: Option<Sqlite>,
    /// The data version at the last check.
    seen: Option<i64>,
}

/// The connections to one SQLite file.
pub(crate) struct SqlitePool {
    idle: Mutex<IdleReaders>,
    watch: Mutex<Watch>,
    /// Serves most checks of `watch`. It is opened by the first server that watches, because its file is never closed.
    wal_index: OnceLock<Option<WalIndex>>,
    others: Arc<OtherWriters>,
    freed: Condvar,
    writer: Writer,
    wait: Duration,
    read_limit: Option<Duration>,
    path: PathBuf,
    temporary: bool,
    marker: Option<ShutdownMarker>,
    durable: bool,
    n_readers: usize,
    prefix: Arc<str>,
    shared: Arc<Shared>,
    /// If the log can be followed.
    gate: Option<Arc<LogGate>>,
}

impl SqlitePool {
    pub(crate) fn open(path: &Path, config: &StoreConfig, temporary: bool, shared: Arc<Shared>) -> Result<Self> {
        let prefix: Arc<str> = config.table_prefix.as_str().into();
        let (marker, unclean) = if temporary { (None, false) } else { ShutdownMarker::open(path) };
        let durable = config.durable && !temporary;
        create_private(path);
        let opened = open_when_free(path, Mode::Write { durable }, config.wait_timeout);
        let writer = opened.map_err(|e| read_only_folder(path).unwrap_or(e))?;
        writer.set_page_cache(config.page_cache / WRITER_SHARE)?;
        let gate = if config.follow_log {
            writer.keep_log()?;
            Some(Arc::new(LogGate::open(path, config.wait_timeout)?))
        } else {
            None
        };
        let guard = FileGuard::new(path);
        if unclean {
            tracing::warn!(database = %path.display(), "unclean shutdown detected: checking the database for corruption");
            writer.check()?;
            if let Some(n_bytes) = wal_file::unreadable(path, &writer) {
                tracing::warn!(
                    n_bytes,
                    "the end of the write-ahead log is damaged: the last writes before the shutdown may be lost"
                );
            }
        }
        // Read the schema now, so that an invalid file is reported at startup rather than by the first request.
        writer.raw.query_row("SELECT COUNT(*) FROM sqlite_master", [], |_| Ok(())).map_err(connection::error)?;
        let mut writer = Tx::new(Db::new(Box::new(writer), prefix.clone(), shared.clone()));
        match schema::upgrade(&mut writer) {
            // Lists are slower without it.
            Ok(()) | Err(StoreError::ReadOnly) => {}
            Err(e) => return Err(e),
        }
        let others = OtherWriters::new(Arc::clone(&shared.versions), shared.schema, &prefix, &mut |sql, each| {
            writer.conn.query(sql, &[], each)
        });
        let others = Arc::new(others);
        let processors = std::thread::available_parallelism().map_or(2, usize::from);
        // Servers handle requests on a thread per processor, and expensive ones on half as many; one is for the rest.
        let n_threads = processors + processors.div_ceil(2) + 1;
        let n_readers = if config.readers == 0 { n_threads } else { config.readers };
        let page_cache = (config.page_cache - config.page_cache / WRITER_SHARE) / n_readers.max(1) as u64;
        let queries = Arc::new(VersionQueries::new(&prefix));
        let mut idle = Vec::with_capacity(n_readers);
        for _ in 0..n_readers {
            let conn = open_when_free(path, Mode::Read, config.wait_timeout)?;
            conn.set_page_cache(page_cache)?;
            let deadline = conn.deadline.clone();
            let db = Db::new(Box::new(conn), prefix.clone(), shared.clone());
            idle.push(PooledReader { db, deadline, versions: ReaderVersions::new(&queries) });
        }
        Ok(SqlitePool {
            idle: Mutex::new(IdleReaders { readers: idle, n_waiting: 0 }),
            watch: Mutex::new(Watch { conn: Some(open_when_free(path, Mode::Read, config.wait_timeout)?), seen: None }),
            wal_index: OnceLock::new(),
            others: Arc::clone(&others),
            freed: Condvar::new(),
            writer: Writer::start(writer, guard, others, gate.clone()),
            gate,
            wait: config.wait_timeout,
            read_limit: config.read_timeout,
            path: path.to_owned(),
            temporary,
            marker,
            durable,
            n_readers,
            prefix,
            shared,
        })
    }

    fn take(&self, cx: &Context) -> Result<PooledReader> {
        let has_written = request::has_written(cx);
        let until = Instant::now() + if has_written { WAIT_AFTER_WRITE.max(self.wait) } else { self.wait };
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(reader) = idle.readers.pop() {
                return Ok(reader);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || idle.n_waiting >= MAX_WAITING && !has_written {
                return Err(StoreError::Busy);
            }
            idle.n_waiting += 1;
            idle = self.freed.wait_timeout(idle, left).unwrap_or_else(PoisonError::into_inner).0;
            idle.n_waiting -= 1;
        }
    }
}

impl Backend for SqlitePool {
    fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    fn waiting_writes(&self) -> usize {
        self.shared.counters.queued.load(Ordering::Relaxed)
    }

    fn pool(&self) -> PoolUsage {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let in_use = self.n_readers.saturating_sub(idle.readers.len());
        PoolUsage { max: self.n_readers, in_use, waiting: idle.n_waiting }
    }

    fn wal_bytes(&self) -> Option<u64> {
        let mut name = self.path.clone().into_os_string();
        name.push("-wal");
        std::fs::metadata(name).ok().map(|wal| wal.len())
    }

    fn log_reader(&self) -> Result<Option<LogReader>> {
        self.gate.as_ref().map(|gate| LogReader::new(&self.path, Arc::clone(gate), self.wait)).transpose()
    }

    fn is_read_only(&self) -> Result<bool> {
        // The file must not be opened: closing it would release the locks of all connections of this process.
        #[cfg(unix)]
        match rustix::fs::access(&self.path, rustix::fs::Access::WRITE_OK) {
            Err(rustix::io::Errno::ROFS | rustix::io::Errno::ACCESS) => return Ok(true),
            Err(e) => return Err(StoreError::Unavailable(format!("{}: {e}", self.path.display()))),
            Ok(()) => {}
        }
        Ok(false)
    }

    fn row_log(&self) -> Option<Arc<dyn RowLog>> {
        self.shared.schema.log.as_ref().map(|logged| Arc::new(SqliteRowLog(logged)) as Arc<dyn RowLog>)
    }

    fn snapshot(self: Arc<Self>, cx: &Context, unlimited: bool) -> Result<Box<dyn Snapshot>> {
        let mut reader = self.take(cx)?;
        let limit = self.read_limit.filter(|_| !unlimited);
        reader.deadline.set(limit);
        let begun = reader.begin();
        // From here on, the reader returns to the pool in any case.
        let snapshot = SqliteSnapshot { db: reader.db.handle(), pool: self, reader: Some(reader), limit };
        begun.map(|()| Box::new(snapshot) as Box<dyn Snapshot>)
    }

    fn write(self: Arc<Self>, cx: &Context, job: Box<dyn Job>) -> Accepted {
        Box::pin(std::future::ready(session::before_write(cx, &self.shared).and_then(|()| self.writer.send(job))))
    }

    fn write_blocking(self: Arc<Self>, job: Box<dyn Job>) -> Result<()> {
        self.writer.send(job)
    }

    fn exclusively(&self, f: &mut dyn FnMut(&mut Tx) -> bool) -> Result<()> {
        let conn = Sqlite::open(&self.path, Mode::Write { durable: self.durable }, self.wait)?;
        conn.raw.pragma_update(None, "cache_size", -128_000).map_err(connection::error)?;
        if self.gate.is_some() {
            conn.keep_log()?;
        }
        let mut tx = Tx::new(Db::new(Box::new(conn), self.prefix.clone(), self.shared.clone()));
        tx.run("BEGIN IMMEDIATE")?;
        let _session = Session::open(&Context::background(), &mut tx);
        let commit = f(&mut tx);
        let done = if commit { tx.run("COMMIT") } else { Ok(()) };
        self.shared.versions.change_all();
        if !commit || done.is_err() {
            let _ = tx.run("ROLLBACK");
        } else {
            statistics::update(&mut tx, statistics::Tables::All);
            // A log that is followed was not read yet.
            if self.gate.is_none() {
                // A failure only affects speed.
                let _ = tx.conn.query("PRAGMA wal_checkpoint(TRUNCATE)", &[], &mut |_| Ok(()));
            }
        }
        if let Some(gate) = &self.gate {
            gate.committed();
        }
        done
    }

    fn stamp(&self, _: &Context) -> Option<VersionStamp> {
        let index = self.wal_index.get().and_then(Option::as_ref);
        let mut header = None;
        if let Some(index) = index {
            match index.check() {
                Ok(()) => return Some(self.shared.versions.stamp()),
                Err(current) => header = current,
            }
        }
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        let Watch { conn, seen } = &mut *watch;
        let conn = conn.as_mut()?;
        // A look at shared memory.
        let version = data_version(|sql, each| conn.query(sql, &[], each)).ok()?;
        if *seen != Some(version) {
            self.others.look(&mut |sql, each| conn.query(sql, &[], each));
            *seen = Some(version);
        }
        if let Some(index) = index {
            index.seen(header);
        }
        Some(self.shared.versions.stamp())
    }

    fn watched_stamp(self: Arc<Self>) -> Pin<Box<dyn Future<Output = Option<VersionStamp>> + Send>> {
        self.wal_index.get_or_init(|| {
            let watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
            WalIndex::open(&self.path, watch.conn.as_ref()?)
        });
        Box::pin(std::future::ready(self.stamp(&self.shared.no_context)))
    }

    fn backup(&self, to: &Path) -> Result<()> {
        if to.exists() {
            return Err(StoreError::Config(format!("{} exists already", to.display())));
        }
        // Write to another name first, so that an incomplete backup is not mistaken for a complete one.
        let unfinished = to.with_extension("unfinished");
        let from = Sqlite::open(&self.path, Mode::Read, self.wait)?;
        // `VACUUM INTO` needs this setting. The connection still cannot write to the database: it was opened read-only.
        from.raw.pragma_update(None, "query_only", false).map_err(connection::error)?;
        create_private(&unfinished);
        let copied = from.raw.execute("VACUUM INTO ?1", [unfinished.to_string_lossy()]).map_err(connection::error);
        let done = copied.and_then(|_| {
            File::open(&unfinished)
                .and_then(|f| f.sync_all())
                .and_then(|()| std::fs::rename(&unfinished, to))
                .map_err(io)
        });
        if done.is_err() {
            let _ = std::fs::remove_file(&unfinished);
        }
        done
    }

    fn check(&self) -> Result<()> {
        Sqlite::open(&self.path, Mode::Read, self.wait)?.check()
    }
}

/// Checks that a closed file is an intact database, with all its indexes.
///
/// # Errors
/// [`StoreError::Corrupt`] with the first problem found, or if the file cannot be opened.
pub fn check_file(path: &Path) -> Result<()> {
    let conn = Sqlite::open(path, Mode::Write { durable: true }, Duration::from_secs(5))?;
    let report: String =
        conn.raw.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).map_err(connection::error)?;
    if report == "ok" { Ok(()) } else { Err(StoreError::Corrupt(report)) }
}

/// A new path in the temporary folder.
pub(crate) fn temporary_path() -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = Path::new("/dev/shm");
    let folder = if folder.is_dir() { folder.to_owned() } else { std::env::temp_dir() };
    folder.join(format!("svc-db-{}-{n}.db", std::process::id()))
}

/// Creates a missing database file with access for its owner only, because it contains password hashes. The files that
/// SQLite creates next to it inherit its mode. If it cannot be created, opening it reports the error.
pub(super) fn create_private(path: &Path) {
    let _ = svc_files::private().create_new(true).open(path);
}

/// A snapshot on a reader of the pool.
struct SqliteSnapshot {
    /// A second handle on the connection.
    db: Db,
    pool: Arc<SqlitePool>,
    /// Present until it is dropped.
    reader: Option<PooledReader>,
    limit: Option<Duration>,
}

impl Snapshot for SqliteSnapshot {
    fn db(&mut self) -> &mut Db {
        &mut self.db
    }

    fn renew(&mut self) {
        if let Some(reader) = &self.reader {
            reader.deadline.set(self.limit);
        }
    }
}

impl Drop for SqliteSnapshot {
    fn drop(&mut self) {
        if let Some(mut reader) = self.reader.take() {
            reader.deadline.set(None);
            reader.end();
            self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).readers.push(reader);
            self.pool.freed.notify_one();
        }
    }
}

impl PooledReader {
    /// Opens a snapshot: the data version is the first that is read.
    fn begin(&mut self) -> Result<()> {
        self.db.conn.execute("BEGIN", &[])?;
        match data_version(|sql, each| self.db.conn.query(sql, &[], each)) {
            Ok(version) => {
                self.db.versions = self.versions.of_snapshot(version);
                Ok(())
            }
            Err(e) => {
                self.end();
                Err(e)
            }
        }
    }

    /// Ends the snapshot. A failure needs no handling: the next `BEGIN` would report it.
    fn end(&mut self) {
        if self.db.conn.execute("COMMIT", &[]).is_err() {
            let _ = self.db.conn.execute("ROLLBACK", &[]);
        }
    }
}

/// Opens a connection and retries while the file is busy: while another process creates the file or its log, the engine
/// reports it as busy without waiting.
fn open_when_free(path: &Path, mode: Mode, wait: Duration) -> Result<Sqlite> {
    let until = Instant::now() + wait;
    loop {
        match Sqlite::open(path, mode, wait) {
            Err(StoreError::Busy) if Instant::now() < until => std::thread::sleep(Duration::from_millis(10)),
            opened => return opened,
        }
    }
}

/// The reason why a file cannot be opened, if it is that its folder is read-only.
fn read_only_folder(path: &Path) -> Option<StoreError> {
    let folder = path.parent()?;
    let probe = folder.join(format!(".svc-{}.tmp", std::process::id()));
    match std::fs::File::create_new(&probe) {
        Ok(_) => {
            let _removed = std::fs::remove_file(probe);
            None
        }
        Err(e) if matches!(e.kind(), ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied) => {
            Some(StoreError::ReadOnlyFolder(folder.display().to_string()))
        }
        Err(_) => None,
    }
}

/// A number that changes on this connection with each commit by another connection.
fn data_version(query: impl FnOnce(&str, &mut dyn FnMut(&Row<'_>) -> Result<()>) -> Result<()>) -> Result<i64> {
    let mut version = 0;
    query("PRAGMA data_version", &mut |row| {
        version = row.int(0)?;
        Ok(())
    })?;
    Ok(version)
}

impl Drop for SqlitePool {
    fn drop(&mut self) {
        // Close the writer last: the last connection checkpoints the log into the file, which a reader cannot do.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).readers.clear();
        self.watch.lock().unwrap_or_else(PoisonError::into_inner).conn = None;
        self.writer.stop();
        if let Some(marker) = &mut self.marker {
            marker.close();
        }
        if self.temporary {
            for end in ["", "-wal", "-shm"] {
                let mut name = self.path.clone().into_os_string();
                name.push(end);
                let _ = std::fs::remove_file(name);
            }
        }
    }
}

pub(super) fn io(e: std::io::Error) -> StoreError {
    match e.kind() {
        std::io::ErrorKind::StorageFull => StoreError::Full,
        std::io::ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly,
        _ => StoreError::Other(e.to_string()),
    }
}

/// A marker file next to the database that records whether the database was closed cleanly.
///
/// Every process that uses the database holds a shared lock on the file, which the operating system releases when the
/// process ends. A process that gets the exclusive lock is alone, and a marker that then contains `open` was left
/// behind by a process that died.
struct ShutdownMarker {
    file: File,
}

impl ShutdownMarker {
    /// Opens the marker and returns whether the last shutdown was unclean. Without a marker (in a read-only folder)
    /// this is unknown, but nothing can be written either.
    fn open(database: &Path) -> (Option<Self>, bool) {
        let mut name = database.to_owned().into_os_string();
        name.push(".running");
        let Ok(mut file) = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(name) else {
            return (None, false);
        };
        let mut unclean = false;
        if file.try_lock().is_ok() {
            let mut text = String::new();
            unclean = file.read_to_string(&mut text).is_ok() && text.trim() == "open";
            let _ = rewrite(&mut file, "open\n");
        }
        let _ = file.unlock();
        let _ = file.try_lock_shared();
        (Some(ShutdownMarker { file }), unclean)
    }

    fn close(&mut self) {
        let _ = self.file.unlock();
        if self.file.try_lock().is_ok() {
            let _ = rewrite(&mut self.file, "closed\n");
        }
    }
}

fn rewrite(file: &mut File, text: &str) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
