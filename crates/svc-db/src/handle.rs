//! Database handles that query functions take: a connection with an open snapshot ([`Db`]) or an open transaction
//! ([`Tx`]).

use std::any::Any;
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError, atomic::Ordering};
use std::time::Instant;

use sea_query::{Alias, DynIden, InsertStatement, IntoIden as _, SelectStatement, Value};
use svc_versions::{Context, Key};

use crate::change_log;
use crate::change_record::{ChangeRecord, Operation};
use crate::conn::{Conn, Done, Row, SharedConnection};
use crate::dialect::{Build as _, Change, Dialect, SqlDialect};
use crate::error::{Result, StoreError};
use crate::rows::Rows;
use crate::schema::Schema;
use crate::shared::{Companion, Shared};
use crate::usage::Timer;
use crate::version_source::SnapshotVersions;

/// Maximum number of values bound to one statement. SQLite allows 32,766.
pub(crate) const MAX_VALUES: usize = 32_000;

/// The characters that the text columns of a database can store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// All of Unicode.
    Full,
    /// The Basic Multilingual Plane (`utf8mb3`).
    Basic,
}

/// Cache key of a statement's text: its name and the length of its list.
type StatementKey = (&'static str, usize);

/// A connection on which all statements see the same snapshot.
pub struct Db {
    /// The context that reads.
    pub(crate) cx: Context,
    pub(crate) conn: SharedConnection,
    sql: &'static dyn SqlDialect,
    pub(crate) prefix: Arc<str>,
    pub(crate) shared: Arc<Shared>,
    /// Cached SQL texts that do not depend on values, shared by all handles on the connection.
    texts: Arc<Mutex<HashMap<StatementKey, Arc<str>>>>,
    /// Versions of rows as of this snapshot.
    pub(crate) versions: SnapshotVersions,
    /// Start time of the connection's server in seconds since the epoch, and when it was read (MariaDB), shared by all
    /// handles on the connection.
    pub(crate) server_start: Arc<Mutex<Option<(Instant, i64)>>>,
    /// Whether totals may be from another snapshot.
    pub(crate) may_be_stale: bool,
    /// A time before this snapshot was opened, on servers. `None` in transactions.
    pub(crate) begun: Option<Instant>,
}

impl Db {
    pub(crate) fn new(conn: Box<dyn Conn>, prefix: Arc<str>, shared: Arc<Shared>) -> Self {
        Db {
            cx: shared.no_context.clone(),
            sql: conn.sql(),
            conn: SharedConnection::new(conn),
            prefix,
            shared,
            texts: Arc::default(),
            versions: SnapshotVersions::default(),
            server_start: Arc::default(),
            may_be_stale: false,
            begun: None,
        }
    }

    /// Another handle on the same connection and snapshot, for nested reads. It has no context.
    pub(crate) fn handle(&self) -> Db {
        Db {
            cx: self.shared.no_context.clone(),
            conn: self.conn.clone(),
            sql: self.sql,
            prefix: self.prefix.clone(),
            shared: self.shared.clone(),
            texts: self.texts.clone(),
            versions: self.versions.clone(),
            server_start: Arc::clone(&self.server_start),
            may_be_stale: self.may_be_stale,
            begun: self.begun,
        }
    }

    /// The context that reads: it has recorded what was read, and further reads with it see this snapshot or transaction.
    pub fn cx(&self) -> &Context {
        &self.cx
    }

    /// Calls `read`, of which the caller records the dependencies itself.
    ///
    /// A statement that names a table depends on all of its rows ([`table`](Self::table)). Whoever knows better, such as a list that depends on
    /// the posts of a type, or items that depend on one row each, would otherwise be invalidated by every write.
    pub fn recorded_by_caller<T>(&mut self, read: impl FnOnce(&mut Db) -> T) -> T {
        let unrecorded = self.cx.without_recordings();
        let cx = std::mem::replace(&mut self.cx, unrecorded);
        let value = read(self);
        self.cx = cx;
        value
    }

    /// The SQL dialect.
    pub fn dialect(&self) -> Dialect {
        self.sql.dialect()
    }

    /// The SQL of the engine.
    pub fn sql(&self) -> &'static dyn SqlDialect {
        self.sql
    }

    /// The characters that the text columns can store.
    pub fn charset(&self) -> Charset {
        if self.shared.is_utf8mb3.load(Ordering::Relaxed) { Charset::Basic } else { Charset::Full }
    }

    /// Prefix of table names (`wp_`).
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The schema that the database was opened with.
    pub(crate) fn schema(&self) -> &'static Schema {
        self.shared.schema
    }

    /// What the owner of the schema passed to [`Database::open`](crate::Database::open), if it has this type.
    pub fn companion<T: Companion>(&self) -> Option<Arc<T>> {
        let companion: Arc<dyn Any + Send + Sync> = Arc::clone(&self.shared.companion) as _;
        companion.downcast().ok()
    }

    /// Returns whether totals may be from another snapshot.
    pub fn may_be_stale(&self) -> bool {
        self.may_be_stale
    }

    /// Number of statements executed since the database was opened, for metrics and tests of query counts.
    pub fn statement_count(&self) -> u64 {
        self.shared.statements.load(Ordering::Relaxed)
    }

    /// Counts a statement before it is executed. Its time ends when the result is dropped.
    pub(crate) fn count(&self, sql: &str) -> Timer<'_> {
        if let Some(observe) = self.shared.tuning.on_statement {
            observe(self.dialect(), &self.prefix, sql);
        }
        tracing::trace!(target: "svc_store::statement", engine = ?self.dialect(), prefix = &*self.prefix, sql);
        self.shared.statements.fetch_add(1, Ordering::Relaxed);
        self.shared.counters.statement(self.dialect(), sql, self.cx.get())
    }

    /// The full name of a table. A statement with this name depends on the whole table, unless it is
    /// [cached](Self::cached).
    pub fn table(&self, name: &str) -> DynIden {
        self.shared.schema.rows_of(name).for_each(|rows| rows.depend_on_all(&self.cx));
        Alias::new(format!("{}{name}", self.prefix)).into_iden()
    }

    /// Executes a query and calls `each` for every row.
    ///
    /// # Errors
    /// Those of the statement and of `each`.
    pub fn select(&mut self, statement: &SelectStatement, mut each: impl FnMut(&Row<'_>) -> Result<()>) -> Result<()> {
        let (sql, values) = statement.text(self.sql);
        if values.0.len() > MAX_VALUES {
            return Err(StoreError::TooMany);
        }
        let _timer = self.count(&sql);
        self.conn.query(&sql, &values.0, &mut each)
    }

    /// Executes a query and returns the first row.
    ///
    /// # Errors
    /// Those of the statement and of `read`.
    pub fn first<T>(
        &mut self,
        statement: &SelectStatement,
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut found = None;
        self.select(statement, |row| {
            if found.is_none() {
                found = Some(read(row)?);
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Executes a query and returns all rows.
    ///
    /// # Errors
    /// Those of the statement and of `read`.
    pub fn all<T>(
        &mut self,
        statement: &SelectStatement,
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut found = Vec::new();
        self.select(statement, |row| {
            found.push(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Like [`Self::all`], for aggregates over a whole index: the engine does not keep the plan of the statement.
    ///
    /// # Errors
    /// Those of the statement and of `read`.
    pub fn all_once<T>(
        &mut self,
        statement: &SelectStatement,
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let (sql, values) = statement.text(self.sql);
        let _timer = self.count(&sql);
        let mut found = Vec::new();
        self.conn.query_once(&sql, &values.0, &mut |row| {
            found.push(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Executes a statement whose text is cached. `build` receives the table names and must bind placeholders in the
    /// order of `values`. The caller records what the result depends on.
    ///
    /// # Errors
    /// Those of the statement and of `each`.
    pub fn cached(
        &mut self,
        shape: StatementKey,
        values: &[Value],
        build: impl FnOnce(&Db) -> SelectStatement,
        mut each: impl FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        let texts = self.texts.clone();
        let known = texts.lock().unwrap_or_else(PoisonError::into_inner).get(&shape).cloned();
        let sql = known.unwrap_or_else(|| {
            let text: Arc<str> = self.recorded_by_caller(|db| build(db)).text(self.sql).0.into();
            texts.lock().unwrap_or_else(PoisonError::into_inner).insert(shape, text.clone());
            text
        });
        let _timer = self.count(&sql);
        self.conn.query(&sql, values, &mut each)
    }

    /// Like [`Self::cached`], for a list of ids. The list is padded to a few lengths and split into chunks of about a
    /// thousand, so that few statements are prepared. The result depends on `rows` of these ids.
    ///
    /// # Errors
    /// Those of the statements and of `each`.
    pub fn cached_list(
        &mut self,
        name: &'static str,
        rows: &[Rows],
        ids: &[i64],
        build: impl Fn(&Db, Vec<i64>) -> SelectStatement,
        mut each: impl FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids.dedup();
        rows.iter().for_each(|rows| rows.depend_on(&self.cx, ids.iter().copied()));
        for piece in ids.chunks(MAX_LIST) {
            let padded = pad(piece);
            let values: Vec<Value> = padded.iter().map(|id| (*id).into()).collect();
            self.cached((name, padded.len()), &values, |db| build(db, padded.clone()), &mut each)?;
        }
        Ok(())
    }

    /// Returns whether a table with this full name exists.
    ///
    /// # Errors
    /// Those of the statement.
    pub fn table_exists(&mut self, name: &str) -> Result<bool> {
        let sql = self.sql.table_exists();
        let mut found = false;
        self.conn.query(sql, &[name.into()], &mut |_| {
            found = true;
            Ok(())
        })?;
        Ok(found)
    }

    /// Size of the database in bytes, as far as the engine reports it.
    ///
    /// # Errors
    /// Those of the statement.
    pub fn size(&mut self) -> Result<u64> {
        let sql = self.sql.database_size();
        let mut size = 0;
        self.conn.query(sql, &[], &mut |row| {
            size = row.int(0)?;
            Ok(())
        })?;
        Ok(u64::try_from(size).unwrap_or_default())
    }
}

/// Maximum list length per statement of [`Db::cached_list`].
const MAX_LIST: usize = 1_024;

/// Pads a list to one of a few lengths by repeating the last id.
pub fn pad(ids: &[i64]) -> Vec<i64> {
    let mut ids = ids.to_vec();
    if let Some(last) = ids.last().copied() {
        ids.resize(ids.len().next_power_of_two(), last);
    }
    ids
}

/// A transaction, which can read like [`Db`] and write.
pub struct Tx {
    pub(crate) db: Db,
    changes: ChangeRecord,
    /// Called before the next statement that changes rows.
    pub(crate) before_write: Option<fn(&mut Tx) -> Result<()>>,
    /// Whether the records of several transactions are logged together, at their commit.
    pub(crate) logs_at_commit: bool,
}

impl Deref for Tx {
    type Target = Db;
    fn deref(&self) -> &Db {
        &self.db
    }
}

impl DerefMut for Tx {
    fn deref_mut(&mut self) -> &mut Db {
        &mut self.db
    }
}

impl Tx {
    /// The transaction that is open on this connection.
    pub(crate) fn new(db: Db) -> Self {
        Tx { db, changes: ChangeRecord::default(), before_write: None, logs_at_commit: false }
    }

    /// Executes a statement that changes unknown rows of this table, whose name is without prefix. Not public, so that the owner of
    /// the schema names the rows ([`change_rows`](Self::change_rows)).
    ///
    /// # Errors
    /// Those of the statement.
    pub(crate) fn execute(&mut self, table: &str, statement: &impl Change) -> Result<Done> {
        let (sql, values) = statement.text(self.sql);
        let done = self.execute_counted(&sql, &values.0)?;
        if done.rows > 0 {
            for rows in self.shared.schema.rows_of(table) {
                self.forget_loaded(rows, None);
                self.changes.add_unknown(rows);
            }
        }
        Ok(done)
    }

    /// Executes a statement that changes nothing but `rows` of these objects.
    ///
    /// # Errors
    /// Those of the statement.
    pub fn change_rows<C: Change>(&mut self, statement: &C, rows: Rows, ids: &[i64]) -> Result<Done> {
        let (sql, values) = statement.text(self.sql);
        let done = self.execute_counted(&sql, &values.0)?;
        if done.rows > 0 {
            self.record_as(C::OPERATION, rows, ids);
        }
        Ok(done)
    }

    /// Executes a statement that changes nothing but `rows` of the object with this name.
    ///
    /// # Errors
    /// Those of the statement.
    pub fn change_named(
        &mut self,
        statement: &impl Change,
        operation: Operation,
        rows: Rows,
        name: &str,
    ) -> Result<Done> {
        let (sql, values) = statement.text(self.sql);
        let done = self.execute_counted(&sql, &values.0)?;
        if done.rows > 0 {
            self.forget_loaded(rows, None);
            self.changes.add_named(rows, &[name], operation);
        }
        Ok(done)
    }

    /// Executes a statement that inserts one row, and returns its generated id.
    ///
    /// # Errors
    /// Those of the statement.
    pub fn insert_row(&mut self, statement: &InsertStatement, rows: Rows) -> Result<i64> {
        let (sql, values) = statement.text(self.sql);
        let id = self.execute_counted(&sql, &values.0)?.last_id;
        self.record_as(Operation::Insert, rows, &[id]);
        Ok(id)
    }

    /// Records that the statements so far have changed `rows` of these objects.
    pub fn record(&mut self, rows: Rows, ids: &[i64]) {
        self.record_as(Operation::Update, rows, ids);
    }

    fn record_as(&mut self, operation: Operation, rows: Rows, ids: &[i64]) {
        self.forget_loaded(rows, Some(ids));
        self.changes.add(rows, ids, operation);
    }

    /// Invalidates what depends on `rows` of these objects without recording a change of theirs: it is recorded as one of other
    /// rows.
    pub fn invalidate(&mut self, rows: Rows, ids: &[i64]) {
        self.forget_loaded(rows, Some(ids));
        self.changes.add_keys(rows.changed(ids));
    }

    fn execute_counted(&mut self, sql: &str, values: &[Value]) -> Result<Done> {
        if values.len() > MAX_VALUES {
            return Err(StoreError::TooMany);
        }
        self.begin_write()?;
        let _timer = self.count(sql);
        self.conn.execute(sql, values)
    }

    fn begin_write(&mut self) -> Result<()> {
        self.before_write.take().map_or(Ok(()), |before_write| before_write(self))
    }

    /// Marks more keys as changed than those of the rows.
    pub fn mark_changed(&mut self, keys: impl IntoIterator<Item = Key>) {
        self.changes.add_keys(keys);
    }

    /// Facts that the owner of the schema adds to the record of the transaction.
    pub fn facts<T: Any + Default + Send + Sync>(&mut self) -> &mut T {
        self.changes.facts_mut()
    }

    /// Completes the record at the end of the transaction, and logs it unless the writer does that for several transactions.
    pub(crate) fn complete_record(&mut self) -> Result<()> {
        let mut changes = self.take_changes();
        changes.complete(&self.db.cx);
        let is_logged = !self.logs_at_commit && !changes.is_empty() && self.shared.is_logging.load(Ordering::Relaxed);
        let logged = if is_logged { change_log::append(self, std::slice::from_ref(&changes)) } else { Ok(()) };
        self.changes = changes;
        logged
    }

    /// Takes what the transaction has changed so far.
    pub(crate) fn take_changes(&mut self) -> ChangeRecord {
        std::mem::take(&mut self.changes)
    }

    /// Executes a statement without values.
    pub(crate) fn run(&mut self, sql: &str) -> Result<()> {
        self.conn.execute(sql, &[]).map(drop)
    }
}

/// Reads with statements that are texts, which are not counted and of which no dependencies are recorded. For imports,
/// exports and the like; a trait, so that crates that do not depend on this one cannot call it.
pub trait ReadText {
    /// Executes a query and calls `each` for every row.
    ///
    /// # Errors
    /// Those of the statement and of `each`.
    fn query_text(&mut self, sql: &str, values: &[Value], each: &mut dyn FnMut(&Row<'_>) -> Result<()>) -> Result<()>;
}

impl ReadText for Db {
    fn query_text(&mut self, sql: &str, values: &[Value], each: &mut dyn FnMut(&Row<'_>) -> Result<()>) -> Result<()> {
        self.conn.query(sql, values, each)
    }
}

/// Writes with statements that are texts, as [`ReadText`] reads. All rows of the schema are recorded as changed.
pub trait WriteText {
    /// Executes a statement that returns no rows.
    ///
    /// # Errors
    /// Those of the statement.
    fn execute_text(&mut self, sql: &str, values: &[Value]) -> Result<Done>;
}

impl WriteText for Tx {
    fn execute_text(&mut self, sql: &str, values: &[Value]) -> Result<Done> {
        for rows in self.shared.schema.all_rows() {
            self.forget_loaded(rows, None);
            self.changes.add_unknown(rows);
        }
        self.begin_write()?;
        self.conn.execute(sql, values)
    }
}

#[cfg(test)]
mod tests {
    use super::pad;

    #[test]
    fn lists_are_padded_to_few_lengths() {
        assert_eq!(pad(&[]), [] as [i64; 0]);
        assert_eq!(pad(&[7]), [7]);
        assert_eq!(pad(&[1, 2, 3]), [1, 2, 3, 3]);
        assert_eq!(pad(&(0..1000).collect::<Vec<_>>()).len(), 1024);
    }
}
