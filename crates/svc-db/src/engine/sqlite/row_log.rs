//! The changed rows of a table on SQLite: those in the log of changes, which contains the writes of all programs.

use super::{collation, schema};
use crate::change_log;
use crate::error::{Result, StoreError};
use crate::handle::{Db, Tx};
use crate::row_log::{LogEntry, Logged, RowLog};
use crate::schema::LoggedTable;
use crate::version_source::SnapshotVersions;

/// The log of an SQLite file.
pub(crate) struct SqliteRowLog(pub(crate) &'static LoggedTable);

impl SqliteRowLog {
    /// Entries from a number in a direction, and whether each names its row.
    fn entries(&self, db: &mut Db, from: i64, order: &str, limit: usize) -> Result<Vec<(LogEntry, bool)>> {
        let (log, kind) = (change_log::table(db.prefix()), self.0.rows.name());
        let sql = format!(
            "SELECT seq, nonce, COALESCE(object, 0), object IS NOT NULL FROM {log} \
             WHERE kind = '{kind}' AND seq >= ? ORDER BY seq {order} LIMIT ?"
        );
        let mut entries = Vec::new();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        db.conn.query(&sql, &[from.into(), limit.into()], &mut |row| {
            let entry = LogEntry { seq: row.int(0)?, nonce: row.int(1)?, id: row.int(2)? };
            entries.push((entry, row.int(3)? != 0));
            Ok(())
        })?;
        Ok(entries)
    }
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
        if !schema::has_triggers(tx, &prefix)? {
            schema::replace_layout(tx, &prefix)?;
        }
        self.last(tx)?.ok_or_else(|| StoreError::Schema("the log of changes is empty".to_owned()))
    }

    fn read(&self, db: &mut Db, from: i64, limit: usize) -> Result<Logged> {
        let prefix = db.prefix().to_owned();
        // A transaction sees its own changes, which are logged at its end.
        if matches!(db.versions, SnapshotVersions::Unknown) || !schema::has_triggers(db, &prefix)? {
            return Ok(Logged::Nothing);
        }
        let entries = self.entries(db, from, "ASC", limit)?;
        // The rows that the index was built from include the changes of the entry that it begins with.
        let has_unknown = entries.iter().any(|(entry, is_known)| !is_known && entry.seq != from);
        let entries = entries.into_iter().map(|(entry, _)| entry).collect();
        Ok(if has_unknown { Logged::Nothing } else { Logged::Changes(entries) })
    }

    fn last(&self, db: &mut Db) -> Result<Option<LogEntry>> {
        Ok(self.entries(db, i64::MIN, "DESC", 1)?.first().map(|(entry, _)| *entry))
    }
}
