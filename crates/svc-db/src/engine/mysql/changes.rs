//! Change detection on servers that speak the MySQL protocol: whether any program has committed a write. This allows
//! caching next to other programs, in a database whose schema must not be altered.
//!
//! MariaDB's InnoDB numbers its transactions: each gets a number at its first write and another at its commit (XA
//! transactions and schema changes as well; reads get none). The highest number is visible to every account and can be
//! read without accessing a table. While it is unchanged, nothing was committed on the whole server, so that one number
//! serves all table groups.
//!
//! *The number of a commit is visible shortly before its rows.* A reader in between sees the new number and the old
//! rows. A number is therefore only used from [`Tuning::settle_time`](crate::Tuning::settle_time) after it was first seen; the gap is in-memory work of
//! microseconds. Until then, and on a server that is constantly written to, nothing is cached.
//!
//! *Numbers can restart at a lower value after a server restart*, so the server's start time is part of the version, as
//! is its name: a proxy may lead to several servers, each with its own numbers. A restart closes the connections, so
//! the start time is read once per connection, and again after a second, because the connections of a proxy may outlive
//! its servers.
//!
//! *Other storage engines do not number transactions*, so all tables must use InnoDB. This is checked once per version.
//!
//! *Writes of this process* are known: a transaction that raises the highest number by exactly two, its own, was alone.
//! Such a write invalidates what it has changed and nothing else, and caches can follow it ([`ChangeRecord::step`]). While it is in
//! progress, a number that is not yet explained means that nothing may be cached.
//!
//! *Renewals of leases* ([`Lease`](crate::Lease)) change nothing that is cached. Each renewal stores the state that its server read
//! before the transaction began. If the state is higher by two than that one, the renewal has both numbers and nothing else was
//! committed: the versions stay. Without that, a server would discard its caches whenever another one renews a lease.
//!
//! Not used for cached values: the update times in `information_schema.tables`, since a long transaction can commit unnoticed (MariaDB; for
//! the search index, [`super::ledger`] uses them), and the log position, which is reported late (MySQL). The README of the crate has what is
//! guaranteed on each server.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use svc_versions::Versions;

use crate::error::Result;
use crate::handle::Db;
use crate::lease_rows;
use crate::row_versions::RowVersions;
use crate::rows::Rows;
use crate::schema::Schema;
use crate::version_source::VersionSource;

/// The highest transaction number and the server's name. Reading one variable by name takes less than half the time of
/// listing several.
const HIGHEST_SQL: &str = "SELECT VARIABLE_VALUE, @@hostname, @@port FROM information_schema.GLOBAL_STATUS \
                       WHERE VARIABLE_NAME = 'INNODB_MAX_TRX_ID'";

/// The server's start time, in seconds since the epoch.
const START_SQL: &str = "SELECT CAST(UNIX_TIMESTAMP() - VARIABLE_VALUE AS SIGNED) FROM information_schema.GLOBAL_STATUS \
                     WHERE VARIABLE_NAME = 'UPTIME'";

/// State of a server. Equal states have the same rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerState {
    /// The highest transaction number.
    highest: i64,
    /// Start time of the server, in seconds since the epoch.
    started: i64,
    /// Name and port of the server.
    server: (String, i64),
}

impl ServerState {
    #[cfg(test)]
    pub(super) fn of_test(highest: i64) -> Self {
        ServerState { highest, started: 0, server: (String::new(), 0) }
    }

    /// The state after one transaction, if it is the only one that was assigned numbers.
    fn next(&self) -> Self {
        ServerState { highest: self.highest + 2, ..self.clone() }
    }

    /// Reads the current state; `None` if the server does not report it.
    pub(crate) fn read(db: &mut Db) -> Result<Option<Self>> {
        let known = Arc::clone(&db.server_start);
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let started = match *known {
            Some((read, started)) if read.elapsed() < db.shared.tuning.start_time_ttl => Some(started),
            _ => {
                let mut started = None;
                let _timer = db.count(START_SQL);
                db.conn.query(START_SQL, &[], &mut |row| row.int(0).map(|at| started = Some(at)))?;
                *known = started.map(|at| (Instant::now(), at));
                started
            }
        };
        drop(known);
        let Some(started) = started else { return Ok(None) };
        let mut state = None;
        let _timer = db.count(HIGHEST_SQL);
        db.conn.query(HIGHEST_SQL, &[], &mut |row| {
            state = Some(ServerState { highest: row.int(0)?, started, server: (row.text(1)?, row.int(2)?) });
            Ok(())
        })?;
        Ok(state)
    }
}

impl fmt::Display for ServerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, port) = &self.server;
        write!(f, "{} {} {name}:{port}", self.highest, self.started)
    }
}

/// The states around a write of this process that was alone. A fact in its record.
#[derive(Debug, Default)]
pub(super) struct AloneWrite(pub(super) Option<(ServerState, ServerState)>);

/// The last observed state.
struct ObservedState {
    state: ServerState,
    since: Instant,
    /// When the last write of this process was known to be committed. Snapshots that began earlier may lack it.
    own_ended: Option<Instant>,
    /// Whether the server numbers the changes of all tables; `None` until checked.
    covers_all_tables: Option<bool>,
    /// Whether a transaction of this process is in progress.
    own_in_progress: bool,
}

/// Change detection for a server.
pub(crate) struct ServerChanges {
    /// Whether the server reports its transaction number.
    is_supported: bool,
    last_seen: Mutex<Option<ObservedState>>,
    /// Configured maximum age of totals.
    staleness: Duration,
    settle_time: Duration,
    schema: &'static Schema,
    start: Instant,
    /// Number of writes by this process.
    n_writes: AtomicI64,
    /// The versions to change.
    versions: Arc<Versions>,
}

impl ServerChanges {
    /// Checks whether the server reports its transaction number.
    pub(crate) fn of(db: &mut Db, staleness: Duration) -> Self {
        let versions = Arc::clone(&db.shared.versions);
        ServerChanges {
            is_supported: matches!(ServerState::read(db), Ok(Some(_))),
            last_seen: Mutex::new(None),
            staleness,
            settle_time: db.shared.tuning.settle_time,
            schema: db.schema(),
            start: Instant::now(),
            n_writes: AtomicI64::new(0),
            versions,
        }
    }

    /// Records a write by this process.
    pub(crate) fn record_write(&self) {
        self.n_writes.fetch_add(1, Ordering::Release);
    }

    /// Begins a transaction of this process, of which there is one at a time. Call it before the transaction begins.
    pub(crate) fn begin_own(&self, db: &mut Db) -> Option<ServerState> {
        if !self.is_supported {
            return None;
        }
        let before = ServerState::read(db).ok().flatten();
        if let Some(last_seen) = self.lock().as_mut() {
            last_seen.own_in_progress = true;
        }
        before
    }

    /// Ends the transaction of this process that began at `before`. Returns the states around it if it has committed changes and no other
    /// transaction was in between.
    pub(super) fn end_own(
        &self,
        db: &mut Db,
        before: ServerState,
        has_changed: bool,
    ) -> Option<(ServerState, ServerState)> {
        let after = if has_changed { ServerState::read(db).ok().flatten() } else { None };
        let mut last_seen = self.lock();
        if let Some(last_seen) = last_seen.as_mut() {
            last_seen.own_in_progress = false;
        }
        let after = after.filter(|after| *after == before.next())?;
        if let Some(last_seen) = last_seen.as_mut()
            && last_seen.state == before
        {
            last_seen.state = after.clone();
            last_seen.own_ended = Some(Instant::now());
        }
        Some((before, after))
    }

    /// Ends the transaction of this process whose outcome is unknown.
    pub(crate) fn abandon_own(&self) {
        if let Some(last_seen) = self.lock().as_mut() {
            last_seen.own_in_progress = false;
        }
    }

    /// The current staleness interval combined with the number of writes by this process, if totals may be stale.
    fn step(&self) -> Option<i64> {
        let step = Some(self.staleness.as_millis()).filter(|step| *step > 0)?;
        let time = i64::try_from(self.start.elapsed().as_millis() / step).unwrap_or(i64::MAX);
        Some(time.wrapping_mul(1_000_003).wrapping_add(self.n_writes.load(Ordering::Acquire)))
    }

    /// Whether values that were computed from a snapshot that began after `begun` may be cached, and the versions of its rows. Those of
    /// totals can be known although nothing else may be cached.
    pub(super) fn look(&self, db: &mut Db, begun: Instant) -> Result<(bool, Option<Arc<RowVersions>>)> {
        // Before the state: rows that change after it was read have another version than this one.
        let versions: Vec<_> =
            self.schema.all_rows().iter().map(|rows| (*rows, rows.version(&self.versions))).collect();
        let is_stable = self.is_stable(db, begun)?;
        let version_of = |rows: Rows, version: Option<i64>| {
            let version = version.filter(|_| is_stable);
            if self.schema.exact.contains(&rows) { version } else { self.step().or(version) }
        };
        let version_of = |(rows, version): (Rows, _)| Some((rows.name(), version_of(rows, version)?));
        let of: HashMap<_, _> = versions.into_iter().filter_map(version_of).collect();
        Ok((is_stable, (!of.is_empty()).then(|| Arc::new(RowVersions { layout: None, of }))))
    }

    /// Whether values that were computed from a snapshot that began after `begun` may be cached.
    pub(crate) fn is_stable(&self, db: &mut Db, begun: Instant) -> Result<bool> {
        if !self.is_supported {
            return Ok(false);
        }
        let Some(state) = ServerState::read(db)? else { return Ok(false) };
        if db.shared.has_leases.load(Ordering::Relaxed) {
            self.follow_renewal(db, &state)?;
        }
        let Some(covers_all_tables) = self.settled(&state, begun) else { return Ok(false) };
        if let Some(covers_all_tables) = covers_all_tables {
            return Ok(covers_all_tables);
        }
        let covers_all_tables = all_numbered(db)?;
        if let Some(last_seen) = self.lock().as_mut().filter(|seen| seen.state == state) {
            last_seen.covers_all_tables = Some(covers_all_tables);
        }
        Ok(covers_all_tables)
    }

    /// Goes over to this state if nothing but a lease was changed since the last one.
    fn follow_renewal(&self, db: &mut Db, state: &ServerState) -> Result<()> {
        let last = self.lock().as_ref().filter(|seen| !seen.own_in_progress).map(|seen| seen.state.clone());
        let Some(last) = last.filter(|last| last.next() == *state) else { return Ok(()) };
        // In a snapshot from before the renewal, the row has an earlier state.
        if lease_rows::is_renewed_after(db, &last.to_string())?
            && let Some(last_seen) = self.lock().as_mut().filter(|seen| !seen.own_in_progress && seen.state == last)
        {
            last_seen.state = state.clone();
        }
        Ok(())
    }

    /// Records a state. If it was stable for long enough before `begun`, returns whether it covers all tables, or `None` if that was not
    /// checked.
    #[expect(clippy::option_option, reason = "not settled, and settled but not checked, are different answers")]
    fn settled(&self, state: &ServerState, begun: Instant) -> Option<Option<bool>> {
        let now = Instant::now();
        let mut last_seen = self.lock();
        match &*last_seen {
            Some(last_seen) if last_seen.state == *state => {
                let is_settled = begun.saturating_duration_since(last_seen.since) >= self.settle_time;
                let has_own = last_seen.own_ended.is_none_or(|ended| ended <= begun);
                (is_settled && has_own).then_some(last_seen.covers_all_tables)
            }
            // It is recorded when the transaction has ended.
            Some(last_seen) if last_seen.own_in_progress => None,
            // A state that reappears (two transactions alternating) is treated as a new one.
            _ => {
                *last_seen = Some(ObservedState {
                    state: state.clone(),
                    since: now,
                    own_ended: None,
                    covers_all_tables: None,
                    own_in_progress: false,
                });
                self.versions.change_all();
                None
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<ObservedState>> {
        self.last_seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl VersionSource for ServerChanges {
    fn versions(&self, db: &mut Db, begun: Instant) -> Result<Option<Arc<RowVersions>>> {
        self.look(db, begun).map(|(_, versions)| versions)
    }
}

/// Returns whether all tables of the schema exist and use an engine that numbers its transactions.
fn all_numbered(db: &mut Db) -> Result<bool> {
    let tables = db.schema().tables.iter();
    let names: Vec<sea_query::Value> = tables.map(|t| format!("{}{}", db.prefix, t.name).into()).collect();
    let sql = format!(
        "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ({}) \
         AND ENGINE = 'InnoDB'",
        vec!["?"; names.len()].join(", ")
    );
    let mut n = 0;
    let _timer = db.count(&sql);
    db.conn.query(&sql, &names, &mut |row| row.int(0).map(|count| n = count))?;
    Ok(usize::try_from(n).is_ok_and(|n| n == names.len()))
}
