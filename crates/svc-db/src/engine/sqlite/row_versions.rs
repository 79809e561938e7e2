//! The versions of all rows in a snapshot: the numbers of the last changes of their kinds in the log.
//!
//! A reader knows them as of an earlier snapshot, and reads only what was logged since.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use sea_query::Value;

use super::{LAYOUT_TABLE, schema};
use crate::change_log;
use crate::error::Result;
use crate::handle::Db;
use crate::quoted::quoted;
use crate::row_versions::{KnownVersions, RowVersions};
use crate::version_source::{SnapshotVersions, VersionSource};

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

/// The versions in the snapshots of a connection.
pub(super) struct ReaderVersions {
    queries: Arc<VersionQueries>,
    state: Mutex<ReaderState>,
}

#[derive(Default)]
struct ReaderState {
    /// The engine's number of the open snapshot, which is the same as long as nobody writes.
    data_version: Option<i64>,
    /// The versions of this snapshot, or of an earlier one.
    known: Option<KnownVersions>,
    /// Whether the versions of this snapshot were read.
    is_read: bool,
}

impl ReaderVersions {
    pub(super) fn new(queries: &Arc<VersionQueries>) -> Arc<Self> {
        Arc::new(ReaderVersions { queries: Arc::clone(queries), state: Mutex::default() })
    }

    /// Those of a snapshot that was opened.
    pub(super) fn of_snapshot(self: &Arc<Self>, data_version: i64) -> SnapshotVersions {
        let mut state = self.lock();
        if state.data_version != Some(data_version) {
            state.data_version = Some(data_version);
            state.is_read = false;
        }
        match &state.known {
            Some(known) if state.is_read => SnapshotVersions::Read(Arc::clone(&known.versions)),
            None if state.is_read => SnapshotVersions::Unknown,
            _ => SnapshotVersions::of(Arc::clone(self) as _, Instant::now()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, ReaderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl VersionSource for ReaderVersions {
    fn versions(&self, db: &mut Db, _: Instant) -> Result<Option<Arc<RowVersions>>> {
        let mut state = self.lock();
        if !state.is_read {
            state.known = self.queries.read(db, state.known.take());
            state.is_read = true;
        }
        Ok(state.known.as_ref().map(|known| Arc::clone(&known.versions)))
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
