//! The two engines behind one small trait: run a statement, hand out its rows.

pub(crate) mod mysql;
pub(crate) mod sqlite;

use sea_query::Value;

use crate::dialect::Dialect;
use crate::error::{Result, StoreError};

/// What a statement that returns no rows did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Done {
    /// Rows changed.
    pub(crate) rows: u64,
    /// The id that the engine handed out last on this connection.
    pub(crate) last_id: i64,
}

/// A connection to a database. Values are always bound, never written into a statement.
pub(crate) trait Conn: Send {
    /// The engine's way of writing statements.
    fn dialect(&self) -> Dialect;
    /// Runs a statement and calls `each` for every row.
    fn query(&mut self, sql: &str, params: &[Value], each: &mut dyn FnMut(&Row<'_>) -> Result<()>) -> Result<()>;
    /// [`Self::query`] for what walks a whole index: the engine plans it for this once, and forgets it.
    ///
    /// A prepared statement of MariaDB that is run again, after another one used the same table in another way, no longer
    /// finds all it needs in the index, and walks the table instead: at a million posts 2 s in place of 0.15 s.
    fn query_once(&mut self, sql: &str, params: &[Value], each: &mut dyn FnMut(&Row<'_>) -> Result<()>) -> Result<()> {
        self.query(sql, params, each)
    }
    /// Runs a statement that returns no rows.
    fn execute(&mut self, sql: &str, params: &[Value]) -> Result<Done>;
    /// Whether the connection is of no more use.
    fn broken(&self) -> bool {
        false
    }
    /// Whether, since this was last asked, an error said that the transaction may be run again.
    fn take_again(&mut self) -> bool {
        false
    }
}

/// A row of an answer; columns are counted from zero.
pub struct Row<'a>(pub(crate) Cells<'a>);

/// The engines' rows.
pub(crate) enum Cells<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    MySql(&'a ::mysql::Row),
}

impl Row<'_> {
    /// A whole number; texts that are numbers count, `NULL` is zero.
    ///
    /// # Errors
    /// When the column does not exist.
    pub fn int(&self, column: usize) -> Result<i64> {
        match &self.0 {
            Cells::Sqlite(row) => sqlite::int(row, column),
            Cells::MySql(row) => mysql::int(row, column),
        }
    }

    /// A text; `NULL` is the empty text. Bytes that are not UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// When the column does not exist.
    pub fn text(&self, column: usize) -> Result<String> {
        Ok(self.bytes(column)?.map(into_text).unwrap_or_default())
    }

    /// The bytes of a text; `None` for `NULL`.
    ///
    /// # Errors
    /// When the column does not exist.
    pub fn bytes(&self, column: usize) -> Result<Option<Vec<u8>>> {
        match &self.0 {
            Cells::Sqlite(row) => sqlite::bytes(row, column),
            Cells::MySql(row) => mysql::bytes(row, column),
        }
    }

    /// A date; the zero date is `None`.
    ///
    /// # Errors
    /// When the column does not exist.
    pub fn stamp(&self, column: usize) -> Result<svc_model::Stamp> {
        Ok(self.bytes(column)?.and_then(|b| std::str::from_utf8(&b).ok().and_then(crate::stamp::parse)))
    }
}

fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

/// A column that the statement does not have: a mistake of the caller.
pub(crate) fn no_column(column: usize) -> StoreError {
    StoreError::Other(format!("the answer has no column {column}"))
}
