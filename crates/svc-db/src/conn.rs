//! A connection to a database, and the rows that it returns.

use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use chrono::NaiveDateTime;
use sea_query::Value;

use crate::dialect::SqlDialect;
use crate::error::{Result, StoreError};
use crate::stamp;

/// Result of a statement that returns no rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Number of changed rows.
    pub rows: u64,
    /// The last id generated on this connection.
    pub last_id: i64,
}

/// A database connection. Values are always bound, never interpolated.
pub(crate) trait Conn: Send {
    /// The SQL of the engine.
    fn sql(&self) -> &'static dyn SqlDialect;
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
    /// Limits the time of all statements from now on, on engines whose connections have no limit for each statement.
    fn limit_statements(&mut self, _time: Option<Duration>) {}
    /// Returns whether the connection is unusable.
    fn broken(&self) -> bool {
        false
    }
    /// Returns whether an error since the last call permits running the transaction again.
    fn take_may_retry(&mut self) -> bool {
        false
    }
}

/// The cells of an engine's row.
pub(crate) trait Cells {
    /// An integer. Numeric texts are converted; `NULL` is 0.
    fn int(&self, column: usize) -> Result<i64>;
    /// The bytes of a text; `None` for `NULL`.
    fn bytes(&self, column: usize) -> Result<Option<Vec<u8>>>;
}

/// A row of a result; columns are indexed from zero.
pub struct Row<'a>(pub(crate) &'a dyn Cells);

impl Row<'_> {
    /// An integer. Numeric texts are converted; `NULL` is 0.
    ///
    /// # Errors
    /// If the column does not exist.
    pub fn int(&self, column: usize) -> Result<i64> {
        self.0.int(column)
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
        self.0.bytes(column)
    }

    /// A date; `None` for the zero date.
    ///
    /// # Errors
    /// If the column does not exist.
    pub fn stamp(&self, column: usize) -> Result<Option<NaiveDateTime>> {
        Ok(self.bytes(column)?.and_then(|b| std::str::from_utf8(&b).ok().and_then(stamp::parse)))
    }
}

fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

/// A column that the statement does not return, which is a programming error.
pub(crate) fn no_column(column: usize) -> StoreError {
    StoreError::Other(format!("the result has no column {column}"))
}

/// A connection shared by several handles of one thread.
#[derive(Clone)]
pub(crate) struct SharedConnection(Arc<Mutex<Box<dyn Conn>>>);

impl SharedConnection {
    pub(crate) fn new(conn: Box<dyn Conn>) -> Self {
        SharedConnection(Arc::new(Mutex::new(conn)))
    }

    /// Locks the connection. This fails only while a statement is running: if a function queries again for each row
    /// that it reads, it would wait for itself.
    fn lock(&self) -> Result<MutexGuard<'_, Box<dyn Conn>>> {
        match self.0.try_lock() {
            Ok(conn) => Ok(conn),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(StoreError::Other(
                "a statement was started while the rows of another one were being read".to_owned(),
            )),
        }
    }

    /// [`Conn::query`].
    pub(crate) fn query(
        &self,
        sql: &str,
        params: &[Value],
        each: &mut dyn FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        self.lock()?.query(sql, params, each)
    }

    /// [`Conn::query_once`].
    pub(crate) fn query_once(
        &self,
        sql: &str,
        params: &[Value],
        each: &mut dyn FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        self.lock()?.query_once(sql, params, each)
    }

    /// [`Conn::execute`].
    pub(crate) fn execute(&self, sql: &str, params: &[Value]) -> Result<Done> {
        self.lock()?.execute(sql, params)
    }

    /// [`Conn::limit_statements`].
    pub(crate) fn limit_statements(&self, time: Option<Duration>) {
        if let Ok(mut conn) = self.lock() {
            conn.limit_statements(time);
        }
    }

    /// [`Conn::broken`].
    pub(crate) fn broken(&self) -> bool {
        self.lock().is_ok_and(|conn| conn.broken())
    }

    /// [`Conn::take_may_retry`].
    pub(crate) fn take_may_retry(&self) -> bool {
        self.lock().is_ok_and(|mut conn| conn.take_may_retry())
    }
}
