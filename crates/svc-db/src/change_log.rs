//! The changes of all transactions as a table, which is written in the transaction itself: the record of a transaction that
//! survives the process.
//!
//! SQLite always has the table, and triggers add what other programs change. On servers it is an option
//! ([`StoreConfig::change_log`](crate::StoreConfig::change_log)), and contains the transactions of this program only.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sea_query::Value;

use crate::change_record::{ChangeRecord, Object, Operation};
use crate::conn::Row;
use crate::dialect::Dialect;
use crate::error::Result;
use crate::handle::{Db, Tx};
use crate::quoted::quoted;
use crate::rows::Rows;

/// Name of the table, without prefix.
pub(crate) const TABLE: &str = "svc_changes";

/// Name of the table with how far the consumers of the log are, without prefix.
pub(crate) const CONSUMERS: &str = "svc_consumers";

/// The row of that table with the number up to which entries were deleted.
const DELETED: &str = "#deleted";

/// The row of that table with a random number, by which the log differs from others.
const ID: &str = "#id";

/// Entries that a consumer has not handled are kept, up to this multiple of the usual number.
const MAX_BEHIND: i64 = 10;

/// Maximum number of objects of a kind that a transaction lists. Of more, an entry without an object is written.
const MAX_OBJECTS: usize = 10_000;

/// Number of entries that are written with one statement.
const BATCH: usize = 50;

/// Old entries are deleted whenever so many were added.
const PRUNE_INTERVAL: i64 = 1_024;

/// The columns that are written, and their values in a statement.
const COLUMNS: &str = "`time`, `kind`, `operation`, `object`, `name`, `object_before`, `object_after`, `caller`";
const VALUES: &str = "(?, ?, ?, ?, ?, ?, ?, ?)";

/// The values of an entry.
type Entry = [Value; 8];

/// The name of the table, quoted.
pub(crate) fn table(prefix: &str) -> String {
    quoted(&format!("{prefix}{TABLE}"))
}

/// The name of the table of consumers, quoted.
fn consumers_table(prefix: &str) -> String {
    quoted(&format!("{prefix}{CONSUMERS}"))
}

/// Creates the table of consumers if it is missing. What was deleted from the log before is not known, so all earlier entries count
/// as deleted. `name` is the type of the names.
///
/// # Errors
/// Those of the statements.
pub(crate) fn create_consumers(db: &mut Db, name: &str, end: &str) -> Result<()> {
    let prefix = Arc::clone(&db.prefix);
    if db.table_exists(&format!("{prefix}{CONSUMERS}"))? {
        return Ok(());
    }
    let (table, log) = (consumers_table(&prefix), table(&prefix));
    let sql =
        format!("CREATE TABLE IF NOT EXISTS {table} (name {name} NOT NULL PRIMARY KEY, seq bigint NOT NULL){end}");
    db.conn.execute(&sql, &[])?;
    let sql = format!("REPLACE INTO {table} (name, seq) SELECT '{DELETED}', COALESCE(MAX(seq), 0) FROM {log}");
    db.conn.execute(&sql, &[])?;
    let id = RandomState::new().hash_one(milliseconds(SystemTime::now())) >> 32;
    let sql = format!("REPLACE INTO {table} (name, seq) VALUES ('{ID}', {id})");
    db.conn.execute(&sql, &[]).map(drop)
}

/// Which entries the log has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogBounds {
    /// Entries up to this number may have been deleted: whoever has not read them has missed some.
    pub deleted: i64,
    /// The number of the last entry.
    pub last: i64,
    /// A random number of 32 bits, which stays the same as long as the log exists.
    pub id: i64,
}

impl LogBounds {
    /// Whether the log has everything after this number.
    pub fn reach(&self, after: i64) -> bool {
        (self.deleted..=self.last).contains(&after)
    }
}

impl Db {
    /// Which entries the log has; `None` if the changes are not logged.
    ///
    /// # Errors
    /// Those of the statements.
    pub fn log_bounds(&mut self) -> Result<Option<LogBounds>> {
        let prefix = Arc::clone(&self.prefix);
        // A server may have the table of a time when the changes were logged.
        if self.dialect() == Dialect::MySql && !self.shared.is_logging.load(Ordering::Relaxed) {
            return Ok(None);
        }
        if !self.table_exists(&format!("{prefix}{CONSUMERS}"))? || !self.table_exists(&format!("{prefix}{TABLE}"))? {
            return Ok(None);
        }
        let [deleted, id] = [DELETED, ID].map(|name| position(self, name));
        let (deleted, id, mut last) = (deleted?.unwrap_or_default(), id?.unwrap_or_default(), 0);
        let sql = format!("SELECT MAX(seq) FROM {}", table(&prefix));
        self.conn.query(&sql, &[], &mut |row| row.int(0).map(|seq| last = seq))?;
        Ok(Some(LogBounds { deleted, last: last.max(deleted), id }))
    }

    /// The entries of the log after a number, at most `limit`, in the order of the commits. The log must exist.
    ///
    /// # Errors
    /// Those of the statement.
    pub fn logged_after(&mut self, after: i64, limit: u32) -> Result<Vec<LoggedChange>> {
        read(self, Some(after), limit)
    }

    /// The number of the last entry that a consumer has handled; `None` if there is no such consumer.
    ///
    /// # Errors
    /// Those of the statements.
    pub fn consumer_position(&mut self, consumer: &str) -> Result<Option<i64>> {
        let name = format!("{}{CONSUMERS}", self.prefix);
        if self.table_exists(&name)? { position(self, consumer) } else { Ok(None) }
    }
}

fn position(db: &mut Db, name: &str) -> Result<Option<i64>> {
    let sql = format!("SELECT seq FROM {} WHERE name = ?", consumers_table(&db.prefix));
    let mut found = None;
    db.conn.query(&sql, &[name.into()], &mut |row| row.int(0).map(|seq| found = Some(seq)))?;
    Ok(found)
}

impl Tx {
    /// Records that a consumer has handled the entries of the log up to this number. Later ones are kept for it, unless it falls far
    /// behind; see [`Db::log_bounds`]. This is not a change that is logged.
    ///
    /// # Errors
    /// Those of the statement.
    pub fn set_consumer_position(&mut self, consumer: &str, seq: i64) -> Result<()> {
        let sql = format!("REPLACE INTO {} (name, seq) VALUES (?, ?)", consumers_table(&self.prefix));
        self.conn.execute(&sql, &[consumer.into(), seq.into()]).map(drop)
    }

    /// Removes a consumer, so that nothing is kept for it any more.
    ///
    /// # Errors
    /// Those of the statement.
    pub fn remove_consumer(&mut self, consumer: &str) -> Result<()> {
        let sql = format!("DELETE FROM {} WHERE name = ?", consumers_table(&self.prefix));
        self.conn.execute(&sql, &[consumer.into()]).map(drop)
    }
}

/// An entry of the log: what a transaction has changed of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoggedChange {
    /// Ascends in the order of the commits.
    pub seq: i64,
    /// When the transaction ended.
    pub time: SystemTime,
    /// The name of the rows ([`Rows::name`]).
    pub kind: String,
    /// What was done to them.
    pub operation: Operation,
    /// What they belong to. `None` if any rows of this kind may have changed.
    pub object: Option<Object>,
    /// How the owner of the schema describes the object before the transaction ([`Companion::describe`](crate::Companion::describe)).
    /// `None` if it did not exist, or is not described.
    pub before: Option<String>,
    /// How it describes the object after the transaction. `None` if it does not exist, or is not described.
    pub after: Option<String>,
    /// The id of the user whose request made the change; `None` for anonymous requests, the command line, jobs and other programs.
    pub caller: Option<i64>,
}

/// Writes records.
///
/// # Errors
/// Those of the statements.
pub(crate) fn append(tx: &mut Tx, records: &[ChangeRecord]) -> Result<()> {
    let entries: Vec<_> = records.iter().flat_map(|changes| entries(tx, changes)).collect();
    write(tx, &entries)
}

/// The values of the entries of a record.
fn entries(tx: &Tx, changes: &ChangeRecord) -> Vec<Entry> {
    let time = milliseconds(changes.time());
    let mut entries: Vec<Entry> = Vec::new();
    // Rows of tables that are not part of the schema are of no interest to its readers.
    for rows in changes.kinds().filter(|rows| tx.shared.schema.has(*rows)) {
        let mut entry = |operation: Operation, object: Option<&Object>, before: Option<&str>, after: Option<&str>| {
            let (id, name) = match object {
                Some(Object::Id(id)) => (Some(*id), None),
                Some(Object::Name(name)) => (None, Some(name.as_str())),
                None => (None, None),
            };
            let (kind, operation) = (rows.name().into(), operation.name().into());
            let (before, after) = (before.into(), after.into());
            entries.push([
                time.into(),
                kind,
                operation,
                id.into(),
                name.into(),
                before,
                after,
                changes.caller().into(),
            ]);
        };
        let are_objects = tx.schema().are_objects(rows);
        match changes.objects(rows) {
            Some(objects) if (1..=MAX_OBJECTS).contains(&changes.n_objects(rows)) => {
                let descriptions = tx.shared.companion.describe(changes, rows);
                for (object, operation) in objects {
                    // An object of which one of several rows is inserted or deleted is updated.
                    let operation = if are_objects { operation } else { Operation::Update };
                    let description = match object {
                        Object::Id(id) => descriptions.get(id),
                        Object::Name(_) => None,
                    };
                    let before = description.and_then(|d| d.before.as_deref());
                    entry(operation, Some(object), before, description.and_then(|d| d.after.as_deref()));
                }
            }
            _ => entry(Operation::Update, None, None, None),
        }
    }
    entries
}

/// Writes entries, and deletes old ones from time to time.
fn write(tx: &mut Tx, entries: &[Entry]) -> Result<()> {
    let log = table(&tx.prefix);
    let mut last = None;
    for batch in entries.chunks(BATCH) {
        let sql = format!("INSERT INTO {log} ({COLUMNS}) VALUES {}", vec![VALUES; batch.len()].join(", "));
        let done = tx.conn.execute(&sql, &batch.concat())?;
        // The id of the last row on SQLite, of the first row on servers: near enough for when to prune.
        last = Some(done.last_id);
    }
    let Some(last) = last else { return Ok(()) };
    let shared = Arc::clone(&tx.shared);
    if last - shared.pruned_at.load(Ordering::Relaxed) < PRUNE_INTERVAL {
        return Ok(());
    }
    // If this transaction is rolled back, the old entries stay for another interval.
    shared.pruned_at.store(last, Ordering::Relaxed);
    prune(tx, last, shared.max_logged)
}

/// Deletes old entries, except those that a consumer has not handled. On SQLite the last of each kind stays, because it is the
/// version of the rows.
fn prune(tx: &mut Tx, last: i64, max_logged: i64) -> Result<()> {
    let name = format!("{}{CONSUMERS}", tx.prefix);
    // Another program may have dropped it.
    if !tx.table_exists(&name)? {
        return Ok(());
    }
    let sql = format!("SELECT MIN(seq), COUNT(*) FROM {} WHERE name NOT IN ('{DELETED}', '{ID}')", quoted(&name));
    let mut handled = i64::MAX;
    tx.conn.query(&sql, &[], &mut |row| {
        if row.int(1)? > 0 {
            handled = row.int(0)?;
        }
        Ok(())
    })?;
    let to = (last - max_logged).min(handled.max(last.saturating_sub(max_logged.saturating_mul(MAX_BEHIND))));
    if to <= position(tx, DELETED)?.unwrap_or_default() {
        return Ok(());
    }
    // Of a kind that has changed since its version was read, the last entry is not deleted now.
    let known = tx.shared.known_versions.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let known = known.filter(|known| known.last >= to).map(|known| known.last_of_kinds().join(", "));
    let kept = tx.sql().kept_changes(&tx.prefix).map(|query| format!(" AND seq NOT IN ({})", known.unwrap_or(query)));
    let sql = format!("DELETE FROM {} WHERE seq <= ?{}", table(&tx.prefix), kept.unwrap_or_default());
    tx.conn.execute(&sql, &[to.into()])?;
    tx.set_consumer_position(DELETED, to)
}

/// The entries after a number, or the last ones, at most `limit`, in the order of the commits.
///
/// # Errors
/// Those of the statements.
pub(crate) fn read(db: &mut Db, after: Option<i64>, limit: u32) -> Result<Vec<LoggedChange>> {
    let (order, is_last) = if after.is_some() { ("ASC", false) } else { ("DESC", true) };
    let log = table(&db.prefix);
    let sql = format!("SELECT seq, {COLUMNS} FROM {log} WHERE seq > ? ORDER BY seq {order} LIMIT ?");
    let mut changes = Vec::new();
    db.conn.query(&sql, &[after.unwrap_or_default().into(), limit.into()], &mut |row| {
        changes.push(entry(row)?);
        Ok(())
    })?;
    if is_last {
        changes.reverse();
    }
    Ok(changes)
}

fn entry(row: &Row<'_>) -> Result<LoggedChange> {
    let text = |column| -> Result<Option<String>> {
        Ok(row.bytes(column)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    };
    let operations = [Operation::Insert, Operation::Update, Operation::Delete];
    let operation = row.text(3)?;
    // Integers that are `NULL` are read as zero, which no object has.
    let object = match (row.int(4)?, text(5)?) {
        (_, Some(name)) => Some(Object::Name(name)),
        (0, None) => None,
        (id, None) => Some(Object::Id(id)),
    };
    Ok(LoggedChange {
        seq: row.int(0)?,
        time: UNIX_EPOCH + Duration::from_millis(u64::try_from(row.int(1)?).unwrap_or_default()),
        kind: row.text(2)?,
        operation: operations.into_iter().find(|o| o.name() == operation).unwrap_or(Operation::Update),
        object,
        before: text(6)?,
        after: text(7)?,
        caller: Some(row.int(8)?).filter(|id| *id != 0),
    })
}

/// Milliseconds since the epoch.
fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Writes that any rows of these kinds may have changed.
///
/// # Errors
/// Those of the statements.
pub(crate) fn append_unknown(tx: &mut Tx, prefix: &str, kinds: &[Rows]) -> Result<()> {
    let (log, time) = (table(prefix), milliseconds(SystemTime::now()));
    let sql = format!("INSERT INTO {log} (time, kind, operation) VALUES (?, ?, 'update')");
    kinds.iter().try_for_each(|rows| tx.conn.execute(&sql, &[time.into(), rows.name().into()]).map(drop))
}
