//! The versions of all rows in a snapshot: the numbers of the last changes of their kinds in the log.
//!
//! A reader knows them as of an earlier snapshot, and reads only what was logged since.

use std::sync::{Arc, MutexGuard, PoisonError};

use sea_query::Value;

use super::{LAYOUT_TABLE, schema};
use crate::change_log;
use crate::error::Result;
use crate::handle::Db;
use crate::quoted::quoted;
use crate::row_versions::{KnownVersions, RowVersions};

/// The queries for versions.
pub(super) struct VersionQueries {
    /// The version of the layout, without a kind, and the last change of each kind.
    all: String,
    /// The version of the layout, without a kind, and all changes from a number on.
    since: String,
}

impl VersionQueries {
    pub(super) fn new(prefix: &str) -> Self {
        let (log, layout) = (change_log::table(prefix), quoted(&format!("{prefix}{LAYOUT_TABLE}")));
        let layout = format!("SELECT n, NULL FROM {layout} WHERE name = '{}'", schema::LAYOUT);
        VersionQueries {
            all: format!("{layout} UNION ALL SELECT MAX(seq), kind FROM {log} GROUP BY kind"),
            since: format!("{layout} UNION ALL SELECT seq, kind FROM {log} WHERE seq >= ?"),
        }
    }

    /// The versions in the snapshot of a reader that knows earlier ones. `None` in a database without a log.
    pub(super) fn read(&self, db: &mut Db, known: Option<KnownVersions>) -> Option<KnownVersions> {
        // What another reader has read may be newer than this snapshot, unlike what this reader has.
        let others = latest(db).clone();
        let current = self.current(db, [others, known].into_iter().flatten()).ok()?;
        let mut latest = latest(db);
        if latest.as_ref().is_none_or(|latest| latest.last < current.last) {
            *latest = Some(current.clone());
        }
        drop(latest);
        Some(current)
    }

    /// Reads what was logged since the first of these that are of an earlier snapshot, or everything.
    fn current(&self, db: &mut Db, earlier: impl Iterator<Item = KnownVersions>) -> Result<KnownVersions> {
        for earlier in earlier {
            let last = earlier.last;
            let mut is_found = false;
            let current = add(db, &self.since, &[last.into()], earlier, |seq| is_found |= seq == last)?;
            // The last change of all is never deleted from the log. If it is missing, the snapshot does not have it yet, or the
            // database is another one.
            if is_found {
                return Ok(current);
            }
        }
        let of = db.schema().all_rows().iter().map(|rows| (rows.name(), 0)).collect();
        let nothing = KnownVersions { last: 0, versions: Arc::new(RowVersions { layout: Some(0), of }) };
        add(db, &self.all, &[], nothing, |_| ())
    }
}

/// The latest versions that any reader has read.
fn latest(db: &Db) -> MutexGuard<'_, Option<KnownVersions>> {
    db.shared.known_versions.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds the changes that a query returns.
fn add(
    db: &Db,
    sql: &str,
    values: &[Value],
    mut known: KnownVersions,
    mut each: impl FnMut(i64),
) -> Result<KnownVersions> {
    let versions = Arc::make_mut(&mut known.versions);
    db.conn.query(sql, values, &mut |row| {
        let (number, kind) = (row.int(0)?, row.bytes(1)?);
        let Some(kind) = kind else {
            versions.layout = Some(number);
            return Ok(());
        };
        each(number);
        known.last = known.last.max(number);
        if let Some(version) = std::str::from_utf8(&kind).ok().and_then(|kind| versions.of.get_mut(kind)) {
            *version = number.max(*version);
        }
        Ok(())
    })?;
    Ok(known)
}
