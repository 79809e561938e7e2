//! MySQL-protocol servers: a pool of connections with one transaction per connection.
//!
//! Existing databases are not altered: no triggers, columns or private tables. Cache validity depends on the server's
//! own counters ([`super::changes`]); totals may additionally be cached for the configured time
//! ([`StoreConfig::staleness`]).

use std::ops::Deref;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use svc_versions::{Context, VersionStamp};
use tokio::sync::OwnedMutexGuard;

use super::change_log;
use super::changes::{AloneWrite, ServerChanges, ServerState};
use super::connection::{BEGIN, COMMIT, MySql, ROLL_BACK, ServerOptions};
use super::replicas::Replicas;
use super::row_log::MySqlRowLog;
use super::write_turn::{COMMIT_EACH, WriterSlot, WriterSlots, check_gate, pass_gate};
use crate::backend::Job;
use crate::backend::{Accepted, Backend, MAX_WAITING, Snapshot, WAIT_AFTER_WRITE, block_in_place, leave_runtime};
use crate::change_record::ChangeRecord;
use crate::config::StoreConfig;
use crate::engine::sqlite::LogReader;
use crate::error::{Result, StoreError};
use crate::handle::{Db, Tx};
use crate::quoted::quoted;
use crate::request;
use crate::row_log::RowLog;
use crate::rows::Rows;
use crate::session::{self, Session};
use crate::shared::Shared;
use crate::usage::{COMMITTED, PoolUsage, ROLLED_BACK, ReplicaUsage};
use crate::version_source::SnapshotVersions;

/// Maximum number of attempts to run a transaction.
const MAX_ATTEMPTS: u32 = 24;

/// Maximum pause between attempts, as a power of two of milliseconds.
const MAX_PAUSE_LOG2: u32 = 7;

/// How long the stamp is unknown after the watching connection has failed.
const WATCH_PAUSE: Duration = Duration::from_millis(500);

#[derive(Default)]
struct PoolState {
    idle: Vec<Db>,
    /// Number of connections that are open or being opened.
    n_open: usize,
    /// Number of threads that wait for a connection.
    n_waiting: usize,
}

/// The connections to one database.
pub(crate) struct MySqlPool {
    state: Mutex<PoolState>,
    freed: Condvar,
    server: ServerOptions,
    prefix: Arc<str>,
    shared: Arc<Shared>,
    max: usize,
    wait: Duration,
    read_limit: Option<Duration>,
    staleness: Duration,
    start: Instant,
    /// Slots for writers.
    writer_slots: WriterSlots,
    /// Whether the server is a node of a cluster that certifies changes at commit (Galera).
    is_cluster: bool,
    /// Change detection; `None` until the server was checked.
    changes: Option<Arc<ServerChanges>>,
    /// The changed rows, if the schema has a logged table.
    row_log: Option<Arc<MySqlRowLog>>,
    /// The replicas that some reads use.
    replicas: Option<Replicas>,
    /// The connection that watches for changes on behalf of callers that must not wait for a pooled one.
    watch: Arc<tokio::sync::Mutex<Watch>>,
}

impl MySqlPool {
    /// Opens one connection to report errors at startup.
    pub(crate) fn open(url: &str, config: &StoreConfig, shared: Arc<Shared>) -> Result<Self> {
        let processors = std::thread::available_parallelism().map_or(2, usize::from);
        let max = if config.readers == 0 { (4 * processors).clamp(8, 64) } else { config.readers };
        let server = ServerOptions::of(url)?;
        let (is_unicode, tuning) = (server.is_unicode(), shared.tuning);
        let row_log = shared.schema.log.as_ref().map(|logged| Arc::new(MySqlRowLog::new(logged, is_unicode, tuning)));
        let mut pool = MySqlPool {
            state: Mutex::default(),
            freed: Condvar::new(),
            row_log,
            server,
            prefix: config.table_prefix.as_str().into(),
            shared,
            max,
            wait: config.wait_timeout,
            read_limit: config.read_timeout,
            staleness: config.staleness,
            start: Instant::now(),
            writer_slots: WriterSlots::of(max),
            is_cluster: false,
            changes: None,
            replicas: None,
            watch: Arc::default(),
        };
        if let Some(log) = &pool.row_log {
            pool.shared.subscribe(Arc::clone(log) as _);
        }
        let mut lease = PooledConnection::take(&pool, false)?;
        let db = lease.db()?;
        let changes = ServerChanges::of(db, pool.staleness);
        if config.change_log.is_some() {
            change_log::create(db)?;
            pool.shared.is_logging.store(true, Ordering::Relaxed);
        }
        let is_utf8mb3 = has_utf8mb3_columns(db)?;
        let is_cluster = is_cluster(db);
        let (urls, staleness, busy) = (&config.replicas, config.replica_staleness, &pool.server.busy);
        let replicas = Replicas::open(urls, staleness, db, busy, max, config.read_timeout)?;
        pool.shared.is_utf8mb3.store(is_utf8mb3, Ordering::Relaxed);
        drop(lease);
        pool.changes = Some(Arc::new(changes));
        pool.is_cluster = is_cluster;
        pool.replicas = replicas;
        Ok(pool)
    }

    /// Runs a job and responds to its caller.
    fn run(&self, mut job: Box<dyn Job>, _slot: WriterSlot) {
        let done = self.run_until_committed(&mut *job);
        let outcome = if matches!(done, Ok(true)) { COMMITTED } else { ROLLED_BACK };
        self.shared.counters.transactions.record(outcome);
        if let Err(e) = done {
            job.fail(e);
        }
        job.respond();
    }

    /// Runs a transaction, again if the server requests it. Transactions of all servers on the database are serialized. Returns whether
    /// it was committed.
    fn run_until_committed(&self, job: &mut dyn Job) -> Result<bool> {
        let (begun, mut tries) = (Instant::now(), 0);
        loop {
            tries += 1;
            job.reset();
            let mut lease = PooledConnection::take(self, false)?;
            let before = self.changes.as_ref().zip(lease.db.as_mut()).and_then(|(changes, db)| changes.begin_own(db));
            let own = OwnWrite(self.changes.as_deref());
            lease = lease.begin_on(BEGIN)?;
            let Some(db) = lease.db.take() else { return Err(StoreError::Busy) };
            let mut tx = Tx::new(db);
            let (committed, changes) = match pass_gate(&mut tx, self.is_cluster) {
                Ok(gate) => self.run_and_commit(job, &mut tx, gate.as_deref()),
                Err(e) => (Err(e), None),
            };
            // Nothing is stored if the gate or the commit returns this error.
            let may_retry = tx.conn.take_may_retry() || matches!(committed, Err(StoreError::Busy));
            let failed = !matches!(committed, Ok(true));
            let changes = changes.filter(|_| !failed);
            let alone = before.and_then(|before| own.end(&mut tx, before, changes.is_some()));
            lease.db = Some(tx.db);
            if failed {
                lease.end(ROLL_BACK);
            } else {
                lease.begun = false;
                self.record_write();
                if let Some(changes) = changes {
                    self.shared.publish(&self.with_steps(changes, alone));
                }
            }
            if self.is_cluster && !lease.begun {
                lease.end(COMMIT_EACH);
            }
            drop(lease);
            if !(failed && may_retry && tries < MAX_ATTEMPTS && begun.elapsed() < 2 * self.wait) {
                return committed;
            }
            std::thread::sleep(self.pause(tries));
        }
    }

    /// Runs a job and commits it. Returns whether it was committed, and what it has changed, if anything. The changed keys are
    /// invalid from before the new data can be read.
    fn run_and_commit(&self, job: &mut dyn Job, tx: &mut Tx, gate: Option<&str>) -> (Result<bool>, Option<Changed>) {
        // The gate changes an option that nothing depends on.
        tx.take_changes();
        let commit = job.run(tx);
        let changes = tx.take_changes();
        if !commit {
            return (Ok(false), None);
        }
        if let Some(error) = gate.and_then(|gate| check_gate(tx, gate).err()) {
            return (Err(error), None);
        }
        let versions = &self.shared.versions;
        let rows = self.shared.schema.all_rows().into_iter();
        let before = rows.filter_map(|rows| Some((rows, rows.version(versions)?))).collect();
        let change = versions.change(changes.keys().iter().copied());
        // If the connection breaks here, the outcome of the commit is unknown and the write is not acknowledged.
        let timer = self.shared.counters.commit();
        let done = tx.conn.execute(COMMIT, &[]).map(|_| true);
        drop(timer);
        change.end();
        (done, (!changes.is_empty()).then_some(Changed { record: changes, before }))
    }

    /// The record of a transaction, for subscribers. `alone` has the states around it if no other was in between.
    fn with_steps(&self, changed: Changed, alone: Option<(ServerState, ServerState)>) -> ChangeRecord {
        let Changed { mut record, before } = changed;
        if alone.is_some() {
            record.set_steps(before, &self.shared.versions);
            *record.facts_mut() = AloneWrite(alone);
        }
        record
    }

    /// A pause that grows with the attempts. Half of it is random, so that two conflicting transactions do not conflict
    /// again.
    fn pause(&self, tries: u32) -> Duration {
        let longest = 1_000_u64 << tries.min(MAX_PAUSE_LOG2);
        let chance = u64::from(self.start.elapsed().subsec_nanos()) % longest;
        Duration::from_micros((longest + chance) / 2)
    }

    /// Logs that all rows may have changed, if changes are logged.
    fn log_unknown(&self, tx: &mut Tx) -> Result<()> {
        let prefix = Arc::clone(&self.prefix);
        let kinds = if self.shared.is_logging.load(Ordering::Relaxed) { tx.schema().all_rows() } else { Vec::new() };
        crate::change_log::append_unknown(tx, &prefix, &kinds)
    }

    /// Looks at the database on this connection: invalidates what others have changed, and returns the stamp for values that are
    /// computed from snapshots that begin after the call. `None` if nothing may be cached.
    fn look(&self, db: &mut Db, begun: Instant) -> Result<Option<VersionStamp>> {
        let Some(changes) = &self.changes else { return Ok(None) };
        // Before the state and the position of the replicas, which must not be older.
        let stamp = self.shared.versions.stamp();
        let Some(replicas) = &self.replicas else { return Ok(changes.is_stable(db, begun)?.then_some(stamp)) };
        let (is_stable, versions) = changes.look(db, begun)?;
        let stamp = is_stable.then_some(stamp);
        replicas.looked(db, stamp, versions);
        Ok(stamp)
    }

    fn record_write(&self) {
        if let Some(changes) = &self.changes {
            changes.record_write();
        }
    }

    fn connect(&self, limit: Option<Duration>) -> Result<Db> {
        let conn = MySql::open(&self.server, limit, self.wait)?;
        Ok(Db::new(Box::new(conn), self.prefix.clone(), self.shared.clone()))
    }
}

impl Backend for MySqlPool {
    fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    fn snapshot(self: Arc<Self>, cx: &Context, unlimited: bool) -> Result<Box<dyn Snapshot>> {
        const SNAPSHOT: &str = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY";
        if unlimited {
            let mut db = self.connect(None)?;
            db.begun = Some(Instant::now());
            db.conn.execute(SNAPSHOT, &[])?;
            return Ok(Box::new(OwnConnection(db)));
        }
        let has_written = request::has_written(cx);
        if !has_written
            && let Some(replicas) = &self.replicas
            && let Some(snapshot) = replicas.snapshot(cx, self.pool().in_use)
        {
            return Ok(snapshot);
        }
        let begun = Instant::now();
        let mut lease = PooledConnection::begin(self, has_written, SNAPSHOT)?;
        // The pooled handle stays without the versions of this snapshot.
        let mut db = lease.db()?.handle();
        db.begun = Some(begun);
        if let Some(changes) = &lease.pool.changes {
            db.versions = SnapshotVersions::of(Arc::clone(changes) as _, begun);
        }
        db.may_be_stale = !lease.pool.staleness.is_zero();
        Ok(Box::new(MySqlSnapshot { db, lease }))
    }

    fn write(self: Arc<Self>, cx: &Context, job: Box<dyn Job>) -> Accepted {
        let refused = session::before_write(cx, &self.shared);
        Box::pin(async move {
            refused?;
            // Writers wait for their turn without occupying a thread or a connection.
            let slot = self.writer_slots.turn().await?;
            // If the thread is lost, the job is dropped and its caller gets an error.
            let _ = tokio::task::spawn_blocking(move || self.run(job, slot)).await;
            Ok(())
        })
    }

    fn write_blocking(self: Arc<Self>, job: Box<dyn Job>) -> Result<()> {
        leave_runtime(|| {
            let slot = self.writer_slots.turn_blocking()?;
            self.run(job, slot);
            Ok(())
        })
    }

    fn exclusively(&self, f: &mut dyn FnMut(&mut Tx) -> bool) -> Result<()> {
        let mut tx = Tx::new(self.connect(None)?);
        tx.run(BEGIN)?;
        let session = Session::open(&Context::background(), &mut tx);
        let commit = f(&mut tx);
        let logged = if commit { self.log_unknown(&mut tx) } else { Ok(()) };
        let done = logged.and_then(|()| if commit { tx.run(COMMIT) } else { Ok(()) });
        drop(session);
        if !commit || done.is_err() {
            let _ = tx.run(ROLL_BACK);
        } else {
            // The server updates its statistics some ten seconds later and plans lists poorly until then. A failure is
            // harmless.
            let prefix = tx.prefix().to_owned();
            for table in tx.schema().tables {
                let name = quoted(&format!("{prefix}{}", table.name));
                let _ = tx.conn.query(&format!("ANALYZE TABLE {name}"), &[], &mut |_| Ok(()));
            }
        }
        self.record_write();
        self.shared.versions.change_all();
        done
    }

    fn stamp(&self, cx: &Context) -> Option<VersionStamp> {
        block_in_place(cx, || {
            let begun = Instant::now();
            // Do not wait for a connection, because callers can do without.
            let db = self.state.lock().unwrap_or_else(PoisonError::into_inner).idle.pop()?;
            let mut lease =
                PooledConnection { pool: self, db: Some(db), is_patient: false, fresh: false, begun: false };
            self.look(lease.db().ok()?, begun).ok()?
        })
    }

    fn watched_stamp(self: Arc<Self>) -> Pin<Box<dyn Future<Output = Option<VersionStamp>> + Send>> {
        Box::pin(async move {
            let arrived = Instant::now();
            let watch = Arc::clone(&self.watch).lock_owned().await;
            match watch.answer(arrived) {
                Some(stamp) => stamp,
                None => tokio::task::spawn_blocking(move || watch_again(&self, watch)).await.ok()?,
            }
        })
    }

    fn waiting_writes(&self) -> usize {
        self.writer_slots.n_waiting()
    }

    fn pool(&self) -> PoolUsage {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        PoolUsage { max: self.max, in_use: state.n_open.saturating_sub(state.idle.len()), waiting: state.n_waiting }
    }

    fn wal_bytes(&self) -> Option<u64> {
        None
    }

    fn replicas(&self) -> Vec<ReplicaUsage> {
        self.replicas.as_ref().map(Replicas::usage).unwrap_or_default()
    }

    fn log_reader(&self) -> Result<Option<LogReader>> {
        Ok(None)
    }

    fn is_read_only(&self) -> Result<bool> {
        const SQL: &str = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', 'innodb_read_only')";
        let mut is_read_only = false;
        let mut lease = PooledConnection::take(self, false)?.begin_on("START TRANSACTION READ ONLY")?;
        let asked = lease.db()?.conn.query(SQL, &[], &mut |row| {
            is_read_only |= !matches!(row.text(1)?.as_str(), "OFF" | "0" | "NO");
            Ok(())
        });
        lease.end(COMMIT);
        asked.map(|()| is_read_only)
    }

    fn row_log(&self) -> Option<Arc<dyn RowLog>> {
        self.row_log.clone().map(|log| log as Arc<dyn RowLog>)
    }

    fn backup(&self, _: &Path) -> Result<()> {
        Err(StoreError::Config(
            "MySQL databases cannot be backed up here: use the server's own tools, or an export".to_owned(),
        ))
    }

    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// Returns whether the texts use an encoding with at most three bytes per character, as in WordPress's databases from
/// before 2015.
fn has_utf8mb3_columns(db: &mut Db) -> Result<bool> {
    let Some(of) = db.schema().charset_of else { return Ok(false) };
    let sql = format!(
        "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? \
         AND COLUMN_NAME = '{}' AND CHARACTER_SET_NAME IN ('utf8', 'utf8mb3')",
        of.column
    );
    let mut n = 0;
    let table = format!("{}{}", db.prefix(), of.table);
    let _timer = db.count(&sql);
    db.conn.query(&sql, &[table.into()], &mut |row| row.int(0).map(|found| n = found))?;
    Ok(n > 0)
}

/// Returns whether the server is a node of a Galera cluster. Servers that do not know the variable are not.
fn is_cluster(db: &mut Db) -> bool {
    const SQL: &str = "SHOW VARIABLES LIKE 'wsrep_on'";
    let mut on = String::new();
    let _timer = db.count(SQL);
    let result = db.conn.query(SQL, &[], &mut |row| row.text(1).map(|value| on = value));
    result.is_ok() && on.eq_ignore_ascii_case("ON")
}

/// A connection of the pool `P`. It is closed if it is broken or its transaction was not ended.
struct PooledConnection<P: Deref<Target = MySqlPool>> {
    pool: P,
    db: Option<Db>,
    /// Whether the caller waits longer for a connection, because it must not respond with "try again".
    is_patient: bool,
    fresh: bool,
    begun: bool,
}

impl<P: Deref<Target = MySqlPool>> PooledConnection<P> {
    /// A connection with an open transaction. Connections that the server has closed are replaced.
    fn begin(pool: P, is_patient: bool, begin: &str) -> Result<Self>
    where
        P: Clone,
    {
        Self::take(pool, is_patient)?.begin_on(begin)
    }

    /// Opens a transaction on this connection, or on another one if the server has closed it.
    fn begin_on(mut self, begin: &str) -> Result<Self>
    where
        P: Clone,
    {
        loop {
            let fresh = self.fresh;
            match self.db()?.conn.execute(begin, &[]) {
                Ok(_) => {
                    self.begun = true;
                    return Ok(self);
                }
                Err(e) if fresh || !self.db()?.conn.broken() => return Err(e),
                Err(_) => {
                    let (pool, is_patient) = (self.pool.clone(), self.is_patient);
                    // Its place in the pool is free first.
                    drop(self);
                    self = Self::take(pool, is_patient)?;
                }
            }
        }
    }

    fn take(pool: P, is_patient: bool) -> Result<Self> {
        let until = Instant::now() + if is_patient { WAIT_AFTER_WRITE.max(pool.wait) } else { pool.wait };
        let mut state = pool.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(db) = state.idle.pop() {
                drop(state);
                return Ok(PooledConnection { pool, db: Some(db), is_patient, fresh: false, begun: false });
            }
            if state.n_open < pool.max {
                state.n_open += 1;
                drop(state);
                // From here on, the lease returns the slot in any case.
                let mut lease = PooledConnection { pool, db: None, is_patient, fresh: true, begun: false };
                lease.db = Some(lease.pool.connect(lease.pool.read_limit)?);
                return Ok(lease);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || state.n_waiting >= MAX_WAITING && !is_patient {
                return Err(StoreError::Busy);
            }
            state.n_waiting += 1;
            state = pool.freed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            state.n_waiting -= 1;
        }
    }

    fn db(&mut self) -> Result<&mut Db> {
        self.db.as_mut().ok_or(StoreError::Busy)
    }

    fn end(&mut self, how: &str) {
        let done = self.db.as_mut().is_some_and(|db| db.conn.execute(how, &[]).is_ok());
        self.begun = !done;
    }
}

impl<P: Deref<Target = MySqlPool>> Drop for PooledConnection<P> {
    fn drop(&mut self) {
        let mut state = self.pool.state.lock().unwrap_or_else(PoisonError::into_inner);
        match self.db.take() {
            Some(db) if !self.begun && !db.conn.broken() => state.idle.push(db),
            _ => state.n_open -= 1,
        }
        drop(state);
        self.pool.freed.notify_one();
    }
}

/// A snapshot on a connection of the pool.
struct MySqlSnapshot {
    /// A second handle on the connection.
    db: Db,
    lease: PooledConnection<Arc<MySqlPool>>,
}

impl Snapshot for MySqlSnapshot {
    fn db(&mut self) -> &mut Db {
        &mut self.db
    }

    /// The server limits each statement.
    fn renew(&mut self) {}
}

impl Drop for MySqlSnapshot {
    fn drop(&mut self) {
        self.lease.end(COMMIT);
    }
}

/// The connection that watches for changes, and what it has last seen.
#[derive(Default)]
struct Watch {
    conn: Option<Db>,
    /// The time before the last query, and its result.
    seen: Option<(Instant, Option<VersionStamp>)>,
    /// When a connection last failed.
    failed: Option<Instant>,
}

impl Watch {
    /// The stamp for a caller that arrived at this time, if no query is needed for it.
    fn answer(&self, arrived: Instant) -> Option<Option<VersionStamp>> {
        if self.failed.is_some_and(|at| at.elapsed() < WATCH_PAUSE) {
            return Some(None);
        }
        self.seen.filter(|(begun, _)| *begun >= arrived).map(|(_, stamp)| stamp)
    }
}

/// Looks for changes again.
fn watch_again(pool: &MySqlPool, mut watch: OwnedMutexGuard<Watch>) -> Option<VersionStamp> {
    let begun = Instant::now();
    let conn = match watch.conn.take() {
        Some(conn) => Ok(conn),
        None => pool.connect(pool.read_limit),
    };
    let read = conn.and_then(|mut conn| pool.look(&mut conn, begun).map(|stamp| (conn, stamp)));
    let Ok((conn, stamp)) = read else {
        // The server closed the connection, or is away.
        watch.failed = Some(Instant::now());
        return None;
    };
    watch.failed = None;
    watch.conn = Some(conn);
    watch.seen = Some((begun, stamp));
    stamp
}

/// What a transaction has committed.
struct Changed {
    record: ChangeRecord,
    /// The versions of all rows before.
    before: Vec<(Rows, i64)>,
}

/// A write of this process in progress. If it fails on the way, it ends when this is dropped.
struct OwnWrite<'c>(Option<&'c ServerChanges>);

impl OwnWrite<'_> {
    /// [`ServerChanges::end_own`].
    fn end(mut self, tx: &mut Tx, before: ServerState, has_changed: bool) -> Option<(ServerState, ServerState)> {
        self.0.take()?.end_own(tx, before, has_changed)
    }
}

impl Drop for OwnWrite<'_> {
    fn drop(&mut self) {
        if let Some(changes) = self.0 {
            changes.abandon_own();
        }
    }
}

/// A snapshot on a connection of its own, which is closed at the end.
struct OwnConnection(Db);

impl Snapshot for OwnConnection {
    fn db(&mut self) -> &mut Db {
        &mut self.0
    }

    fn renew(&mut self) {}
}
