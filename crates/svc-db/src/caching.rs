//! Cached reads: totals of lists.
//!
//! Cache entries are keyed by the versions of rows as of the reader's snapshot ([`crate::version_source`]). An entry is therefore never
//! older than the snapshot, whichever process wrote.

use std::time::{Duration, Instant};

use sea_query::{Expr, SelectStatement, Value};

use crate::dialect::Build as _;
use crate::error::{Result, StoreError};
use crate::handle::{Db, MAX_VALUES};
use crate::row_versions::RowVersions;
use crate::rows::Rows;

/// Maximum age of totals that only influence the choice of a query plan.
const APPROXIMATE_TTL: Duration = Duration::from_mins(1);

impl Db {
    /// A number that changes with these rows, as of this snapshot, whichever process writes. Data that is derived from the rows
    /// may be cached while the version is unchanged. `None` if nothing may be cached, for example in a write transaction.
    pub fn version(&mut self, rows: Rows) -> Option<i64> {
        self.row_versions()?.of.get(rows.name()).copied()
    }

    /// The versions of all rows, which are read when they are first needed.
    fn row_versions(&mut self) -> Option<&RowVersions> {
        let versions = std::mem::take(&mut self.versions);
        self.versions = versions.read(self);
        self.versions.get()
    }

    /// Returns whether the indexes and counts of the schema that only SQLite has can be used: there, outside of write
    /// transactions.
    pub fn has_counts(&mut self) -> bool {
        let version = self.shared.schema.layout.version;
        self.row_versions().and_then(|versions| versions.layout) == Some(version)
    }

    /// The number of rows that a statement without columns selects, cached while these rows are unchanged.
    ///
    /// # Errors
    /// Those of the statement.
    pub fn total(&mut self, rows: &[Rows], filtered: &SelectStatement) -> Result<u64> {
        let count = Count::of(self, filtered)?;
        let versions: Option<Vec<i64>> = rows.iter().map(|rows| self.version(*rows)).collect();
        let Some(versions) = versions else { return count.run(self) };
        let key = format!("{versions:?}{}", count.key());
        if let Some(total) = self.shared.totals.get(&key) {
            return Ok(total);
        }
        let total = count.run(self)?;
        self.shared.totals.insert(key, total);
        Ok(total)
    }

    /// An approximate number of rows of a statement without columns, for the choice of a query plan. It may be a minute
    /// old.
    ///
    /// # Errors
    /// Those of the statement.
    pub fn approximate_total(&mut self, filtered: &SelectStatement) -> Result<u64> {
        let count = Count::of(self, filtered)?;
        let key = count.key();
        if let Some((counted, total)) = self.shared.approximate.get(&key)
            && counted.elapsed() < APPROXIMATE_TTL
        {
            return Ok(total);
        }
        let total = count.run(self)?;
        self.shared.approximate.insert(key, (Instant::now(), total));
        Ok(total)
    }
}

/// A statement that counts rows.
struct Count {
    sql: String,
    values: Vec<Value>,
}

impl Count {
    fn of(db: &Db, filtered: &SelectStatement) -> Result<Self> {
        let mut counting = filtered.clone();
        counting.expr(Expr::cust("COUNT(*)"));
        let (sql, values) = counting.text(db.sql());
        if values.0.len() > MAX_VALUES {
            return Err(StoreError::TooMany);
        }
        Ok(Count { sql, values: values.0 })
    }

    /// Identifies the statement with its values.
    fn key(&self) -> String {
        format!("{}{:?}", self.sql, self.values)
    }

    fn run(&self, db: &mut Db) -> Result<u64> {
        let mut n = 0;
        let _timer = db.count(&self.sql);
        db.conn.query_once(&self.sql, &self.values, &mut |row| {
            n = u64::try_from(row.int(0)?).unwrap_or(0);
            Ok(())
        })?;
        Ok(n)
    }
}
