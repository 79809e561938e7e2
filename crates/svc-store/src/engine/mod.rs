//! Database engines behind a common connection trait.

pub(crate) mod mysql;
pub(crate) mod sqlite;

use sea_query::Value;

use crate::dialect::Dialect;
use crate::error::{Result, StoreError};

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
            Cells::Sqlite(row) => sqlite::int(row, column),
            Cells::MySql(row) => mysql::int(row, column),
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
            Cells::Sqlite(row) => sqlite::bytes(row, column),
            Cells::MySql(row) => mysql::bytes(row, column),
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
