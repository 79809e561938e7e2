//! SQLite, with the `rusqlite` crate: opening, collation, errors, rows.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};
use sea_query::Value;

use super::collation::{self, LikePattern};
use super::dialect::SqliteDialect;
use crate::conn::{Cells, Conn, Done, Row, no_column};
use crate::dialect::SqlDialect;
use crate::error::{Result, StoreError};

/// Maximum number of prepared statements per connection.
const MAX_CACHED_STATEMENTS: usize = 256;

/// Minimum size of the page cache of a connection, in KiB.
const MIN_PAGE_CACHE: i64 = 256;

/// Size of a log that is kept, when it is started over.
pub(crate) const LOG_SIZE: u32 = 64 << 20;

/// Number of virtual machine instructions between checks of the deadline.
const PROGRESS_INSTRUCTIONS: i32 = 5_000;

/// Deadline of a read, in milliseconds after the connection was opened; 0 is none.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    start: Instant,
    at: Arc<AtomicU64>,
}

impl Deadline {
    fn new() -> Self {
        Deadline { start: Instant::now(), at: Arc::new(AtomicU64::new(0)) }
    }

    /// Limits statements to this duration from now.
    pub(crate) fn set(&self, time: Option<Duration>) {
        let at = time.map_or(0, |t| millis(self.start.elapsed().saturating_add(t)).max(1));
        self.at.store(at, Ordering::Relaxed);
    }

    fn passed(&self) -> bool {
        let at = self.at.load(Ordering::Relaxed);
        at != 0 && millis(self.start.elapsed()) >= at
    }
}

fn millis(t: Duration) -> u64 {
    u64::try_from(t.as_millis()).unwrap_or(u64::MAX)
}

/// A connection to an SQLite file.
#[derive(Debug)]
pub(crate) struct Sqlite {
    pub(crate) raw: Connection,
    pub(crate) deadline: Deadline,
}

/// How to open a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Creates a missing file and uses a write-ahead log. `durable` waits for the disk at each commit.
    Write {
        durable: bool,
    },
    Read,
}

impl Sqlite {
    /// Opens a file.
    pub(crate) fn open(path: &Path, mode: Mode, busy: Duration) -> Result<Self> {
        let flags = match mode {
            Mode::Write { .. } => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
            Mode::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
        };
        let mut raw = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(error)?;
        raw.busy_timeout(busy).map_err(error)?;
        // Keep plans independent of bound values. Otherwise each execution of a cached statement might prepare it
        // again.
        raw.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(error)?;
        if let Mode::Write { durable } = mode {
            if !use_log(&raw)? {
                tracing::warn!(
                    database = %path.display(),
                    "SQLite cannot use a write-ahead log here, so that reads and writes wait for each other: keep the \
                     database on a local disk"
                );
            }
            raw.pragma_update(None, "synchronous", if durable { "FULL" } else { "OFF" }).map_err(error)?;
        } else {
            raw.pragma_update(None, "query_only", true).map_err(error)?;
        }
        raw.pragma_update(None, "temp_store", "MEMORY").map_err(error)?;
        raw.set_prepared_statement_cache_capacity(MAX_CACHED_STATEMENTS);
        functions(&raw).map_err(error)?;
        let deadline = Deadline::new();
        let deadline_check = deadline.clone();
        raw.progress_handler(PROGRESS_INSTRUCTIONS, Some(move || deadline_check.passed())).map_err(error)?;
        Ok(Sqlite { raw, deadline })
    }

    /// Limits the memory for pages of the file, in bytes; the default is 2 MB. Pages that are not in it come from the memory of
    /// the operating system, at about two microseconds each.
    pub(crate) fn set_page_cache(&self, bytes: u64) -> Result<()> {
        // A negative number is an amount of memory, in KiB.
        let kib = i64::try_from(bytes >> 10).unwrap_or(i64::MAX).max(MIN_PAGE_CACHE);
        self.raw.pragma_update(None, "cache_size", -kib).map_err(error)
    }

    /// Whether the database has a write-ahead log.
    pub(crate) fn has_log(&self) -> Result<bool> {
        let mode: String = self.raw.query_row("PRAGMA journal_mode", [], |row| row.get(0)).map_err(error)?;
        Ok(mode == "wal")
    }

    /// Leaves it to the caller when the log is written to the database. Not even closing the connection does so.
    pub(crate) fn keep_log(&self) -> Result<()> {
        self.raw.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(error)?;
        let pragma = |sql: String| self.raw.query_row(&sql, [], |_| Ok(())).map_err(error);
        pragma("PRAGMA wal_autocheckpoint = 0".to_owned())?;
        // The file becomes short again when the log is started over after a large transaction.
        pragma(format!("PRAGMA journal_size_limit = {LOG_SIZE}"))
    }

    /// Checks the whole file for corruption.
    pub(crate) fn check(&self) -> Result<()> {
        let report: String = self.raw.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(error)?;
        if report == "ok" { Ok(()) } else { Err(StoreError::Corrupt(report)) }
    }
}

/// Switches to a write-ahead log. Returns false if the file system does not support one.
fn use_log(raw: &Connection) -> Result<bool> {
    match raw.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0)).map_err(error) {
        Ok(mode) => Ok(mode == "wal" || raw.is_readonly(rusqlite::MAIN_DB).map_err(error)?),
        // The journal mode of a read-only file cannot be changed. Reads still work, and writes report the cause.
        Err(StoreError::ReadOnly) => Ok(true),
        Err(StoreError::Unavailable(cause) | StoreError::Other(cause)) => Err(StoreError::WriteAheadLog(cause)),
        Err(e) => Err(e),
    }
}

/// Registers the collation and a matching `LIKE`.
fn functions(raw: &Connection) -> rusqlite::Result<()> {
    raw.create_collation("PEOPLE", collation::compare)?;
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    for arguments in [2, 3] {
        // The pattern is parsed once per statement and cached together with a buffer for folded texts.
        raw.create_scalar_function("like", arguments, flags, move |ctx| {
            if ctx.get_raw(0) == ValueRef::Null || ctx.get_raw(1) == ValueRef::Null {
                return Ok(None);
            }
            let pattern = ctx.get_or_create_aux(0, |pattern| -> Result<_, rusqlite::Error> {
                let escape = if arguments == 3 { ctx.get::<String>(2)?.chars().next() } else { None };
                let pattern = text_of(pattern);
                Ok((LikePattern::new(&pattern, escape), std::sync::Mutex::new(String::new())))
            })?;
            let text = text_of(ctx.get_raw(1));
            let mut buffer = pattern.1.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            Ok(Some(pattern.0.matches(&text, &mut buffer)))
        })?;
    }
    Ok(())
}

fn text_of(value: ValueRef<'_>) -> std::borrow::Cow<'_, str> {
    match value {
        ValueRef::Text(b) | ValueRef::Blob(b) => String::from_utf8_lossy(b),
        ValueRef::Integer(n) => n.to_string().into(),
        ValueRef::Real(n) => n.to_string().into(),
        ValueRef::Null => "".into(),
    }
}

/// A sea-query value for rusqlite.
struct Param<'a>(&'a Value);

impl ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let borrowed = match self.0 {
            Value::Bool(v) => v.map(|v| ValueRef::Integer(v.into())),
            Value::TinyInt(v) => v.map(|v| ValueRef::Integer(v.into())),
            Value::SmallInt(v) => v.map(|v| ValueRef::Integer(v.into())),
            Value::Int(v) => v.map(|v| ValueRef::Integer(v.into())),
            Value::BigInt(v) => v.map(ValueRef::Integer),
            Value::TinyUnsigned(v) => v.map(|v| ValueRef::Integer(v.into())),
            Value::SmallUnsigned(v) => v.map(|v| ValueRef::Integer(v.into())),
            Value::Unsigned(v) => v.map(|v| ValueRef::Integer(v.into())),
            Value::BigUnsigned(v) => v.map(|v| ValueRef::Integer(i64::try_from(v).unwrap_or(i64::MAX))),
            Value::Float(v) => v.map(|v| ValueRef::Real(v.into())),
            Value::Double(v) => v.map(ValueRef::Real),
            Value::String(v) => v.as_deref().map(|v| ValueRef::Text(v.as_bytes())),
            // All byte strings of this store are texts. Stored as such, they compare and read as texts.
            Value::Bytes(v) => v.as_deref().map(ValueRef::Text),
            Value::Char(v) => return Ok(ToSqlOutput::from(v.map(String::from).unwrap_or_default())),
            Value::Enum(_) => None,
        };
        Ok(ToSqlOutput::Borrowed(borrowed.unwrap_or(ValueRef::Null)))
    }
}

impl Conn for Sqlite {
    fn sql(&self) -> &'static dyn SqlDialect {
        &SqliteDialect
    }

    fn limit_statements(&mut self, time: Option<Duration>) {
        self.deadline.set(time);
    }

    fn query(&mut self, sql: &str, params: &[Value], each: &mut dyn FnMut(&Row<'_>) -> Result<()>) -> Result<()> {
        let mut statement = self.raw.prepare_cached(sql).map_err(error)?;
        let mut rows = statement.query(rusqlite::params_from_iter(params.iter().map(Param))).map_err(error)?;
        while let Some(row) = rows.next().map_err(error)? {
            each(&Row(row))?;
        }
        Ok(())
    }

    fn execute(&mut self, sql: &str, params: &[Value]) -> Result<Done> {
        let mut statement = self.raw.prepare_cached(sql).map_err(error)?;
        let rows = statement.execute(rusqlite::params_from_iter(params.iter().map(Param))).map_err(error)?;
        Ok(Done { rows: rows as u64, last_id: self.raw.last_insert_rowid() })
    }
}

impl Cells for rusqlite::Row<'_> {
    fn int(&self, column: usize) -> Result<i64> {
        Ok(match self.get_ref(column).map_err(|_| no_column(column))? {
            ValueRef::Integer(n) => n,
            ValueRef::Real(n) => n as i64,
            ValueRef::Text(b) | ValueRef::Blob(b) => {
                std::str::from_utf8(b).ok().and_then(|t| t.trim().parse().ok()).unwrap_or(0)
            }
            ValueRef::Null => 0,
        })
    }

    fn bytes(&self, column: usize) -> Result<Option<Vec<u8>>> {
        Ok(match self.get_ref(column).map_err(|_| no_column(column))? {
            ValueRef::Text(b) | ValueRef::Blob(b) => Some(b.to_vec()),
            ValueRef::Integer(n) => Some(n.to_string().into_bytes()),
            ValueRef::Real(n) => Some(n.to_string().into_bytes()),
            ValueRef::Null => None,
        })
    }
}

/// Converts an error of SQLite.
pub(crate) fn error(e: rusqlite::Error) -> StoreError {
    let rusqlite::Error::SqliteFailure(failure, message) = &e else {
        return StoreError::Other(e.to_string());
    };
    let message = message.clone().unwrap_or_else(|| failure.to_string());
    match failure.code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::Busy,
        ErrorCode::OperationInterrupted => StoreError::Deadline,
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => StoreError::Corrupt(message),
        ErrorCode::ReadOnly => StoreError::ReadOnly,
        ErrorCode::DiskFull => StoreError::Full,
        ErrorCode::CannotOpen | ErrorCode::PermissionDenied => StoreError::Unavailable(message),
        ErrorCode::ConstraintViolation if message.starts_with("UNIQUE") => StoreError::Duplicate(message),
        _ if message.starts_with("no such table") || message.starts_with("no such column") => {
            StoreError::Schema(message)
        }
        _ => StoreError::Other(message),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn a_log_that_cannot_be_used_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let open = || Sqlite::open(&path, Mode::Write { durable: false }, Duration::from_secs(1));
        open().unwrap().raw.execute_batch("CREATE TABLE t (n)").unwrap();
        // As files that another user owns.
        let log = folder.path().join("a.db-wal");
        std::fs::create_dir(&log).unwrap();
        let error = open().err().unwrap();
        assert!(matches!(error, StoreError::WriteAheadLog(_)) && !error.is_temporary(), "{error}");
        assert!(error.to_string().contains("-wal"), "{error}");
        std::fs::remove_dir(&log).unwrap();
        open().unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn a_file_system_without_shared_memory_is_recognized() {
        let folder = tempfile::tempdir().unwrap();
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let open = |vfs: &str| Connection::open_with_flags_and_vfs(folder.path().join(vfs), flags, vfs).unwrap();
        assert!(use_log(&open("unix")).unwrap());
        assert!(!use_log(&open("unix-dotfile")).unwrap());
    }

    #[test]
    fn cached_statements_are_not_prepared_again() {
        let folder = tempfile::tempdir().unwrap();
        let mode = Mode::Write { durable: false };
        let mut conn = Sqlite::open(&folder.path().join("a.db"), mode, Duration::from_secs(1)).unwrap();
        let rows = "INSERT INTO t SELECT value, value % 7 FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14]')";
        let made = format!("CREATE TABLE t (a INTEGER, b INTEGER); CREATE INDEX t_a ON t (a, b); {rows}; ANALYZE;");
        conn.raw.execute_batch(&made).unwrap();
        let sql = "SELECT b FROM t WHERE a > ? AND a IN (?, ?) ORDER BY a";
        for n in 0..5_i64 {
            conn.query(sql, &[n.into(), (n + 1).into(), (n + 2).into()], &mut |_| Ok(())).unwrap();
        }
        let statement = conn.raw.prepare_cached(sql).unwrap();
        assert_eq!(statement.get_status(StatementStatus::Run), 5);
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }
}
