//! Database engines. Each engine is a folder with a [`Backend`] (its connections), a [`Conn`], and its SQL dialect.

pub(crate) mod dialect;
pub(crate) mod mysql;
pub(crate) mod sqlite;
pub(crate) mod write;

use std::collections::HashMap;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sea_query::Value;

use crate::cache::SharedCaches;
use crate::config::{DatabaseUrl, StoreConfig};
use crate::db::{Db, Tx};
use crate::error::{Result, StoreError};
use dialect::Dialect;
use write::Job;

/// Maximum number of threads that wait for a connection; further reads fail with `Busy` immediately. A waiting thread
/// is not available to the async runtime, which has at most 512 replacement threads.
const MAX_WAITING: usize = 256;

/// How long a request that has committed a write waits for a connection, because it must not respond with "try again".
const WAIT_AFTER_WRITE: Duration = Duration::from_secs(30);

/// A future that is ready when a job was accepted or refused.
pub(crate) type Accepted = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// The connections to one database.
pub(crate) trait Backend: Send + Sync {
    /// The caches that all connections share.
    fn shared(&self) -> &Arc<SharedCaches>;

    /// Opens a snapshot and calls `f` once with it. `unlimited` statements have no time limit. Within a read or a
    /// transaction of this thread, `f` gets that snapshot.
    ///
    /// # Errors
    /// If no snapshot could be opened; `f` was not called then.
    fn read(&self, unlimited: bool, f: &mut dyn FnMut(&mut Db)) -> Result<()>;

    /// Runs a job in a transaction of its own or of a group of jobs. An accepted job gets a response after the commit.
    ///
    /// # Errors
    /// If the job was refused and not run.
    fn write(self: Arc<Self>, job: Box<dyn Job>) -> Accepted;

    /// Like [`Self::write`], for threads that may block.
    ///
    /// # Errors
    /// See [`Self::write`].
    fn write_blocking(&self, job: Box<dyn Job>) -> Result<()>;

    /// Runs one long transaction on a separate connection while other writers wait. `f` returns whether to commit.
    ///
    /// # Errors
    /// If the transaction could not begin, and `f` was not called, or could not be committed.
    fn exclusively(&self, f: &mut dyn FnMut(&mut Tx) -> bool) -> Result<()>;

    /// A number that changes with every commit by any process; `None` if it is unknown.
    fn state(&self) -> Option<i64>;

    /// Copies a snapshot to a new file.
    ///
    /// # Errors
    /// If the file exists or cannot be written, or if the engine does not support backups.
    fn backup(&self, to: &Path) -> Result<()>;

    /// Checks the whole database for corruption, unless the engine does this itself.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] with the first problem found.
    fn check(&self) -> Result<()>;
}

/// Opens the database of a configuration.
///
/// # Errors
/// If the database cannot be reached, or the file is corrupt.
pub(crate) fn open(config: &StoreConfig) -> Result<Arc<dyn Backend>> {
    Ok(match &config.url {
        DatabaseUrl::Sqlite(path) => Arc::new(sqlite::SqlitePool::open(path, config, false)?),
        DatabaseUrl::Temporary => Arc::new(sqlite::SqlitePool::open(&sqlite::temporary_path(), config, true)?),
        DatabaseUrl::MySql(url) => Arc::new(mysql::MySqlPool::open(url, config)?),
    })
}

/// Change counters that are read when they are needed.
pub(crate) trait ChangeCounters: Send + Sync {
    /// The counters for a snapshot that was opened after `begun`. `None` if nothing may be cached.
    ///
    /// # Errors
    /// If the database cannot be read.
    fn epochs(&self, db: &mut Db, begun: Instant) -> Result<Option<Arc<HashMap<String, i64>>>>;
}

/// Runs a blocking function. On a worker of tokio's multi-threaded runtime, other tasks are moved to other threads.
pub(crate) fn block_in_place<T>(f: impl FnOnce() -> T) -> T {
    let on_worker = tokio::runtime::Handle::try_current()
        .is_ok_and(|h| h.runtime_flavor() == tokio::runtime::RuntimeFlavor::MultiThread);
    if on_worker { tokio::task::block_in_place(f) } else { f() }
}

/// Result of a statement that returns no rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Done {
    /// Number of changed rows.
    pub(crate) rows: u64,
    /// The last id generated on this connection.
    pub(crate) last_id: i64,
}

/// A database connection. Values are always bound, never interpolated.
pub(crate) trait Conn: Send {
    /// The SQL dialect.
    fn dialect(&self) -> Dialect;
    /// Executes a query and calls `each` for every row.
    fn query(&mut self, sql: &str, params: &[Value], each: &mut dyn FnMut(&Row<'_>) -> Result<()>) -> Result<()>;
    /// Like [`Self::query`], for statements that scan a whole index: the engine plans the statement and discards the
    /// plan.
    ///
    /// When MariaDB executes a prepared statement again after another statement used the table differently, it no
    /// longer uses a covering index and scans the table: 2 s instead of 0.15 s for a million posts.
    fn query_once(&mut self, sql: &str, params: &[Value], each: &mut dyn FnMut(&Row<'_>) -> Result<()>) -> Result<()> {
        self.query(sql, params, each)
    }
    /// Executes a statement that returns no rows.
    fn execute(&mut self, sql: &str, params: &[Value]) -> Result<Done>;
    /// Returns whether the connection is unusable.
    fn broken(&self) -> bool {
        false
    }
    /// Returns whether an error since the last call permits running the transaction again.
    fn take_may_retry(&mut self) -> bool {
        false
    }
}

/// A row of a result; columns are indexed from zero.
pub struct Row<'a>(pub(crate) Cells<'a>);

/// The engines' rows.
pub(crate) enum Cells<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    MySql(&'a ::mysql::Row),
}

impl Row<'_> {
    /// An integer. Numeric texts are converted; `NULL` is 0.
    ///
    /// # Errors
    /// If the column does not exist.
    pub fn int(&self, column: usize) -> Result<i64> {
        match &self.0 {
            Cells::Sqlite(row) => sqlite::connection::int(row, column),
            Cells::MySql(row) => mysql::connection::int(row, column),
        }
    }

    /// A text. `NULL` is the empty text; invalid UTF-8 is replaced by U+FFFD.
    ///
    /// # Errors
    /// If the column does not exist.
    pub fn text(&self, column: usize) -> Result<String> {
        Ok(self.bytes(column)?.map(into_text).unwrap_or_default())
    }

    /// The bytes of a text; `None` for `NULL`.
    ///
    /// # Errors
    /// If the column does not exist.
    pub fn bytes(&self, column: usize) -> Result<Option<Vec<u8>>> {
        match &self.0 {
            Cells::Sqlite(row) => sqlite::connection::bytes(row, column),
            Cells::MySql(row) => mysql::connection::bytes(row, column),
        }
    }

    /// A date; `None` for the zero date.
    ///
    /// # Errors
    /// If the column does not exist.
    pub fn stamp(&self, column: usize) -> Result<svc_model::Stamp> {
        Ok(self.bytes(column)?.and_then(|b| std::str::from_utf8(&b).ok().and_then(crate::stamp::parse)))
    }
}

fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

/// A column that the statement does not return, which is a programming error.
pub(crate) fn no_column(column: usize) -> StoreError {
    StoreError::Other(format!("the result has no column {column}"))
}
