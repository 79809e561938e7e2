//! A private table that lists the changed rows of a table. Triggers fill it, so that it contains the writes of
//! all programs.

use super::collation;
use crate::error::{Result, StoreError};
use crate::handle::{Db, Tx};
use crate::quoted::quoted;
use crate::row_log::{LogEntry, Logged, RowLog};
use crate::schema::LoggedTable;

/// The events that are logged.
const EVENTS: [&str; 3] = ["insert", "update", "delete"];

/// The log of an SQLite file.
pub(crate) struct SqliteRowLog(pub(crate) &'static LoggedTable);

fn table(logged: &LoggedTable, prefix: &str) -> String {
    format!("{prefix}{}_log", logged.name)
}

fn trigger(logged: &LoggedTable, prefix: &str, event: &str) -> String {
    format!("{prefix}{}_{event}", logged.name)
}

/// The statement that creates the trigger of an event.
fn create_trigger(logged: &LoggedTable, prefix: &str, event: &str) -> String {
    let log = quoted(&table(logged, prefix));
    let LoggedTable { id, except: (column, value), columns, .. } = logged;
    let is_indexed = |row: &str| format!("{row}.{column} <> '{value}'");
    let insert = |row: &str| format!("INSERT INTO {log} (id) VALUES ({row}.{id})");
    let (when, what) = match event {
        "insert" => (is_indexed("NEW"), insert("NEW")),
        "delete" => (is_indexed("OLD"), insert("OLD")),
        _ => {
            let differs = |c: &&str| format!("(OLD.{c} COLLATE BINARY) IS NOT (NEW.{c} COLLATE BINARY)");
            let differs = columns.iter().map(differs).collect::<Vec<_>>().join(" OR ");
            let when = format!("({} OR {}) AND ({differs})", is_indexed("OLD"), is_indexed("NEW"));
            (when, format!("{}; INSERT INTO {log} (id) SELECT OLD.{id} WHERE OLD.{id} <> NEW.{id}", insert("NEW")))
        }
    };
    let (name, of) = (quoted(&trigger(logged, prefix, event)), quoted(&format!("{prefix}{}", logged.table)));
    format!("CREATE TRIGGER IF NOT EXISTS {name} AFTER {event} ON {of} WHEN {when} BEGIN {what}; END")
}

/// Returns whether the snapshot has a log that is complete.
fn is_installed(logged: &LoggedTable, db: &mut Db) -> Result<bool> {
    let prefix = db.prefix().to_owned();
    let names = EVENTS.map(|event| trigger(logged, &prefix, event).into());
    let of = format!("{prefix}{}", logged.table).into();
    let [a, b, c] = names;
    let mut n = 0;
    // A table that was dropped and created again by another program has no triggers.
    let sql = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger' AND name IN (?, ?, ?) AND tbl_name = ?";
    db.conn.query(sql, &[a, b, c, of], &mut |row| {
        n = row.int(0)?;
        Ok(())
    })?;
    Ok(n == EVENTS.len() as i64 && db.table_exists(&table(logged, &prefix))?)
}

impl RowLog for SqliteRowLog {
    fn open(&self, _: &mut Db, _: &dyn Fn() -> Result<()>) -> Result<bool> {
        Ok(true)
    }

    fn folding(&self) -> String {
        format!("sqlite {}, {:?}", collation::VERSION, unicode_normalization::UNICODE_VERSION)
    }

    fn fold(&self, text: &str, out: &mut String) {
        collation::fold(text, out);
    }

    fn begin(&self, tx: &mut Tx) -> Result<LogEntry> {
        let prefix = tx.prefix().to_owned();
        let log = quoted(&table(self.0, &prefix));
        // Indexes of other processes continue with a log that is complete.
        if !is_installed(self.0, tx)? {
            remove(tx, self.0, &prefix)?;
            // The log must contain all changes after the mark, so the triggers come first.
            tx.run(&format!(
                "CREATE TABLE {log} (seq INTEGER PRIMARY KEY AUTOINCREMENT, id INTEGER NOT NULL, \
                 nonce INTEGER NOT NULL DEFAULT (random()))"
            ))?;
            for event in EVENTS {
                tx.run(&create_trigger(self.0, &prefix, event))?;
            }
        }
        tx.run(&format!("INSERT INTO {log} (id) VALUES (0)"))?;
        self.last(tx)?.ok_or_else(|| StoreError::Schema("the log of changed rows is empty".to_owned()))
    }

    fn remove(&self, tx: &mut Tx) -> Result<()> {
        let prefix = tx.prefix().to_owned();
        remove(tx, self.0, &prefix)
    }

    fn read(&self, db: &mut Db, from: i64, limit: usize) -> Result<Logged> {
        if !is_installed(self.0, db)? {
            return Ok(Logged::Nothing);
        }
        let log = quoted(&table(self.0, db.prefix()));
        let sql = format!("SELECT seq, nonce, id FROM {log} WHERE seq >= ? ORDER BY seq LIMIT ?");
        let mut changes = Vec::new();
        db.conn.query(&sql, &[from.into(), i64::try_from(limit).unwrap_or(i64::MAX).into()], &mut |row| {
            changes.push(LogEntry { seq: row.int(0)?, nonce: row.int(1)?, id: row.int(2)? });
            Ok(())
        })?;
        Ok(Logged::Changes(changes))
    }

    fn last(&self, db: &mut Db) -> Result<Option<LogEntry>> {
        let log = quoted(&table(self.0, db.prefix()));
        let mut last = None;
        db.conn.query(&format!("SELECT seq, nonce, id FROM {log} ORDER BY seq DESC LIMIT 1"), &[], &mut |row| {
            last = Some(LogEntry { seq: row.int(0)?, nonce: row.int(1)?, id: row.int(2)? });
            Ok(())
        })?;
        Ok(last)
    }

    fn trim(&self, tx: &mut Tx, before: i64) -> Result<()> {
        let log = quoted(&table(self.0, tx.prefix()));
        tx.conn.execute(&format!("DELETE FROM {log} WHERE seq < ?"), &[before.into()]).map(drop)
    }
}

/// Removes the log of the tables with this prefix, so that an index built with it is not used any more.
pub(super) fn remove(tx: &mut Tx, logged: &LoggedTable, prefix: &str) -> Result<()> {
    for event in EVENTS {
        tx.run(&format!("DROP TRIGGER IF EXISTS {}", quoted(&trigger(logged, prefix, event))))?;
    }
    tx.run(&format!("DROP TABLE IF EXISTS {}", quoted(&table(logged, prefix))))
}
