//! A private table that lists changed posts, for the search index. Triggers fill it, so that it contains the writes of
//! all programs.

use super::collation;
use crate::db::{Db, Logged, PostLog, Tx};
use crate::error::{Result, StoreError};
use crate::tables::quoted;
use svc_search::Change;

/// Name of the table, without prefix.
const TABLE: &str = "svc_search_log";

/// The events that are logged.
const EVENTS: [&str; 3] = ["insert", "update", "delete"];

/// The columns that the search index contains.
const COLUMNS: [&str; 8] =
    ["ID", "post_title", "post_excerpt", "post_content", "post_type", "post_status", "post_password", "post_date"];

/// The log of an SQLite file.
pub(crate) struct SqlitePostLog;

fn table(prefix: &str) -> String {
    format!("{prefix}{TABLE}")
}

fn trigger(prefix: &str, event: &str) -> String {
    format!("{prefix}svc_search_{event}")
}

/// The statement that creates the trigger of an event.
fn create_trigger(prefix: &str, event: &str) -> String {
    let log = quoted(&table(prefix));
    // Revisions are not indexed.
    let is_indexed = |row: &str| format!("{row}.post_type <> 'revision'");
    let insert = |row: &str| format!("INSERT INTO {log} (id) VALUES ({row}.ID)");
    let (when, what) = match event {
        "insert" => (is_indexed("NEW"), insert("NEW")),
        "delete" => (is_indexed("OLD"), insert("OLD")),
        _ => {
            let differs = |c: &str| format!("(OLD.{c} COLLATE BINARY) IS NOT (NEW.{c} COLLATE BINARY)");
            let differs = COLUMNS.map(differs).join(" OR ");
            let when = format!("({} OR {}) AND ({differs})", is_indexed("OLD"), is_indexed("NEW"));
            (when, format!("{}; INSERT INTO {log} (id) SELECT OLD.ID WHERE OLD.ID <> NEW.ID", insert("NEW")))
        }
    };
    let (name, posts) = (quoted(&trigger(prefix, event)), quoted(&format!("{prefix}posts")));
    format!("CREATE TRIGGER IF NOT EXISTS {name} AFTER {event} ON {posts} WHEN {when} BEGIN {what}; END")
}

/// Returns whether the snapshot has a log that is complete.
fn is_installed(db: &mut Db) -> Result<bool> {
    let prefix = db.prefix().to_owned();
    let names = EVENTS.map(|event| trigger(&prefix, event).into());
    let posts = format!("{prefix}posts").into();
    let [a, b, c] = names;
    let mut n = 0;
    // A table that was dropped and created again by another program has no triggers.
    let sql = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger' AND name IN (?, ?, ?) AND tbl_name = ?";
    db.conn.query(sql, &[a, b, c, posts], &mut |row| {
        n = row.int(0)?;
        Ok(())
    })?;
    Ok(n == EVENTS.len() as i64 && db.table_exists(&table(&prefix))?)
}

impl PostLog for SqlitePostLog {
    fn open(&self, _: &mut Db, _: &dyn Fn() -> Result<()>) -> Result<bool> {
        Ok(true)
    }

    fn folding(&self) -> String {
        format!("sqlite {}, {:?}", collation::VERSION, unicode_normalization::UNICODE_VERSION)
    }

    fn fold(&self, text: &str, out: &mut String) {
        collation::fold(text, out);
    }

    fn begin(&self, tx: &mut Tx) -> Result<Change> {
        let prefix = tx.prefix().to_owned();
        let log = quoted(&table(&prefix));
        // Indexes of other processes continue with a log that is complete.
        if !is_installed(tx)? {
            remove(tx, &prefix)?;
            // The log must contain all changes after the mark, so the triggers come first.
            tx.run(&format!(
                "CREATE TABLE {log} (seq INTEGER PRIMARY KEY AUTOINCREMENT, id INTEGER NOT NULL, \
                 nonce INTEGER NOT NULL DEFAULT (random()))"
            ))?;
            for event in EVENTS {
                tx.run(&create_trigger(&prefix, event))?;
            }
        }
        tx.run(&format!("INSERT INTO {log} (id) VALUES (0)"))?;
        self.last(tx)?.ok_or_else(|| StoreError::Schema("the log of changed posts is empty".to_owned()))
    }

    fn remove(&self, tx: &mut Tx) -> Result<()> {
        let prefix = tx.prefix().to_owned();
        remove(tx, &prefix)
    }

    fn read(&self, db: &mut Db, from: i64, limit: usize) -> Result<Logged> {
        if !is_installed(db)? {
            return Ok(Logged::Nothing);
        }
        let log = quoted(&table(db.prefix()));
        let sql = format!("SELECT seq, nonce, id FROM {log} WHERE seq >= ? ORDER BY seq LIMIT ?");
        let mut changes = Vec::new();
        db.conn.query(&sql, &[from.into(), i64::try_from(limit).unwrap_or(i64::MAX).into()], &mut |row| {
            changes.push(Change { seq: row.int(0)?, nonce: row.int(1)?, id: row.int(2)? });
            Ok(())
        })?;
        Ok(Logged::Changes(changes))
    }

    fn last(&self, db: &mut Db) -> Result<Option<Change>> {
        let log = quoted(&table(db.prefix()));
        let mut last = None;
        db.conn.query(&format!("SELECT seq, nonce, id FROM {log} ORDER BY seq DESC LIMIT 1"), &[], &mut |row| {
            last = Some(Change { seq: row.int(0)?, nonce: row.int(1)?, id: row.int(2)? });
            Ok(())
        })?;
        Ok(last)
    }

    fn trim(&self, tx: &mut Tx, before: i64) -> Result<()> {
        let log = quoted(&table(tx.prefix()));
        tx.conn.execute(&format!("DELETE FROM {log} WHERE seq < ?"), &[before.into()]).map(drop)
    }
}

/// Removes the log of the tables with this prefix, so that an index built with it is not used any more.
pub(super) fn remove(tx: &mut Tx, prefix: &str) -> Result<()> {
    for event in EVENTS {
        tx.run(&format!("DROP TRIGGER IF EXISTS {}", quoted(&trigger(prefix, event))))?;
    }
    tx.run(&format!("DROP TABLE IF EXISTS {}", quoted(&table(prefix))))
}
