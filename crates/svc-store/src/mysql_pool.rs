//! MySQL-protocol servers: a pool of connections with one transaction per connection.
//!
//! Existing databases are not altered: no triggers, columns or private tables. Cache validity depends on the server's
//! own counters ([`crate::mysql_changes`]); totals may additionally be cached for the configured time
//! ([`StoreConfig::staleness`]).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::cache::SharedCaches;
use crate::config::StoreConfig;
use crate::db::{Db, Tx};
use crate::engine::mysql::{MySql, ServerOptions};
use crate::error::{Result, StoreError};
use crate::mysql_changes::Changes;
use crate::pool::{MAX_WAITING, WAIT_AFTER_WRITE};
use crate::request_cache;
use crate::schema;
use crate::session::{self, Session};
use crate::write_turn::{WriterSlot, WriterSlots, pass_gate};

/// Maximum number of attempts to run a transaction.
const MAX_ATTEMPTS: u32 = 24;

/// Maximum pause between attempts, as a power of two of milliseconds.
const MAX_PAUSE_LOG2: u32 = 7;

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
    shared: Arc<SharedCaches>,
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
    changes: Option<Arc<Changes>>,
}

impl MySqlPool {
    /// Opens one connection to report errors at startup.
    pub(crate) fn open(url: &str, config: &StoreConfig) -> Result<Self> {
        let processors = std::thread::available_parallelism().map_or(2, usize::from);
        let max = if config.readers == 0 { (4 * processors).clamp(8, 64) } else { config.readers };
        let mut pool = MySqlPool {
            state: Mutex::default(),
            freed: Condvar::new(),
            server: ServerOptions::of(url)?,
            prefix: config.table_prefix.as_str().into(),
            shared: Arc::new(SharedCaches::new()),
            max,
            wait: config.wait,
            read_limit: config.read_limit,
            staleness: config.staleness,
            start: Instant::now(),
            writer_slots: WriterSlots::of(max),
            is_cluster: false,
            changes: None,
        };
        let mut lease = pool.take()?;
        let db = lease.db()?;
        let changes = Changes::of(db, pool.staleness);
        let is_utf8mb3 = has_utf8mb3_columns(db)?;
        let is_cluster = is_cluster(db);
        pool.shared.is_utf8mb3.store(is_utf8mb3, Ordering::Relaxed);
        drop(lease);
        pool.changes = Some(Arc::new(changes));
        pool.is_cluster = is_cluster;
        Ok(pool)
    }

    pub(crate) fn read<T, E: From<StoreError>>(
        &self,
        unlimited: bool,
        f: impl FnOnce(&mut Db) -> Result<T, E>,
    ) -> Result<T, E> {
        const BEGIN: &str = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY";
        if let Some(mut db) = session::current(&self.shared) {
            return f(&mut db);
        }
        if unlimited {
            let mut db = self.connect(None)?;
            db.conn.execute(BEGIN, &[])?;
            let _session = Session::open(&db);
            return f(&mut db);
        }
        let begun = Instant::now();
        let mut lease = self.begin(BEGIN)?;
        let db = lease.db()?;
        db.changes = self.changes.clone().map(|changes| (changes, begun));
        db.may_be_stale = !self.staleness.is_zero();
        let session = Session::open(db);
        let result = f(db);
        drop(session);
        (db.epochs, db.changes) = (None, None);
        lease.end("COMMIT");
        result
    }

    /// The version of the database, different for each state. Does not wait for a connection, because callers can do
    /// without.
    pub(crate) fn state(&self) -> Option<i64> {
        let begun = Instant::now();
        let db = self.state.lock().unwrap_or_else(PoisonError::into_inner).idle.pop()?;
        let mut lease = PooledConnection { pool: self, db: Some(db), fresh: false, begun: false };
        self.changes.as_ref()?.version(lease.db().ok()?, begun).ok()?
    }

    /// Returns whether this thread has an open snapshot or transaction.
    pub(crate) fn in_session(&self) -> bool {
        session::is_open(&self.shared)
    }

    /// Fails if this thread has an open snapshot or transaction.
    pub(crate) fn refuse_nested(&self) -> Result<()> {
        session::refuse_nested(&self.shared)
    }

    /// Waits until a writer may use a connection.
    pub(crate) async fn turn(&self) -> Result<WriterSlot> {
        self.writer_slots.turn().await
    }

    /// Like [`Self::turn`], for threads that may block.
    pub(crate) fn turn_blocking(&self) -> Result<WriterSlot> {
        session::refuse_nested(&self.shared)?;
        self.writer_slots.turn_blocking()
    }

    /// Runs a transaction, again if the server requests it. Transactions of all servers on the database are serialized.
    pub(crate) fn write<T, E: From<StoreError>>(
        &self,
        _turn: WriterSlot,
        f: impl Fn(&mut Tx) -> Result<T, E>,
    ) -> Result<T, E> {
        session::refuse_nested(&self.shared)?;
        let (begun, mut tries) = (Instant::now(), 0);
        loop {
            tries += 1;
            let mut lease = self.begin("START TRANSACTION")?;
            let Some(db) = lease.db.take() else { return Err(StoreError::Busy.into()) };
            let mut tx = Tx(db);
            let session = Session::open(&tx);
            // As on SQLite, a panic affects only its caller and fails the write.
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                pass_gate(&mut tx, self.is_cluster)?;
                f(&mut tx)
            }));
            let outcome =
                outcome.unwrap_or_else(|_| Err(StoreError::Other("a transaction panicked".to_owned()).into()));
            drop(session);
            let done = match outcome {
                // If the connection breaks here, the outcome of the commit is unknown and the write is not
                // acknowledged.
                Ok(value) => tx.conn.execute("COMMIT", &[]).map(|_| value).map_err(E::from),
                Err(e) => Err(e),
            };
            let may_retry = tx.conn.take_may_retry();
            let failed = done.is_err();
            lease.db = Some(tx.0);
            if failed {
                lease.end("ROLLBACK");
            } else {
                lease.begun = false;
                self.record_write();
            }
            drop(lease);
            if !(failed && may_retry && tries < MAX_ATTEMPTS && begun.elapsed() < 2 * self.wait) {
                return done;
            }
            std::thread::sleep(self.pause(tries));
        }
    }

    /// A pause that grows with the attempts. Half of it is random, so that two conflicting transactions do not conflict
    /// again.
    fn pause(&self, tries: u32) -> Duration {
        let longest = 1_000_u64 << tries.min(MAX_PAUSE_LOG2);
        let chance = u64::from(self.start.elapsed().subsec_nanos()) % longest;
        Duration::from_micros((longest + chance) / 2)
    }

    pub(crate) fn exclusively<T, E: From<StoreError>>(&self, f: impl FnOnce(&mut Tx) -> Result<T, E>) -> Result<T, E> {
        session::refuse_nested(&self.shared)?;
        let mut tx = Tx(self.connect(None)?);
        tx.run("START TRANSACTION")?;
        let session = Session::open(&tx);
        let done = f(&mut tx).and_then(|done| {
            tx.run("COMMIT")?;
            Ok(done)
        });
        drop(session);
        if done.is_err() {
            let _ = tx.run("ROLLBACK");
        } else {
            // The server updates its statistics some ten seconds later and plans lists poorly until then. A failure is
            // harmless.
            let prefix = tx.prefix().to_owned();
            for table in schema::TABLES {
                let name = schema::quoted(&format!("{prefix}{}", table.name));
                let _ = tx.conn.query(&format!("ANALYZE TABLE {name}"), &[], &mut |_| Ok(()));
            }
        }
        self.record_write();
        done
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

    /// A connection with an open transaction. Connections that the server has closed are replaced.
    fn begin(&self, begin: &str) -> Result<PooledConnection<'_>> {
        loop {
            let mut lease = self.take()?;
            let fresh = lease.fresh;
            match lease.db()?.conn.execute(begin, &[]) {
                Ok(_) => {
                    lease.begun = true;
                    return Ok(lease);
                }
                Err(e) if fresh || !lease.db()?.conn.broken() => return Err(e),
                Err(_) => {}
            }
        }
    }

    fn take(&self) -> Result<PooledConnection<'_>> {
        let has_written = request_cache::has_written();
        let until = Instant::now() + if has_written { WAIT_AFTER_WRITE.max(self.wait) } else { self.wait };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(db) = state.idle.pop() {
                return Ok(PooledConnection { pool: self, db: Some(db), fresh: false, begun: false });
            }
            if state.n_open < self.max {
                state.n_open += 1;
                drop(state);
                // From here on, the lease returns the slot in any case.
                let mut lease = PooledConnection { pool: self, db: None, fresh: true, begun: false };
                lease.db = Some(self.connect(self.read_limit)?);
                return Ok(lease);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || state.n_waiting >= MAX_WAITING && !has_written {
                return Err(StoreError::Busy);
            }
            state.n_waiting += 1;
            state = self.freed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            state.n_waiting -= 1;
        }
    }
}

/// Returns whether the columns of posts use an encoding with at most three bytes per character, as on sites created
/// before 2015.
fn has_utf8mb3_columns(db: &mut Db) -> Result<bool> {
    const SQL: &str = "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? \
                       AND COLUMN_NAME = 'post_content' AND CHARACTER_SET_NAME IN ('utf8', 'utf8mb3')";
    let mut n = 0;
    let table = format!("{}posts", db.prefix());
    db.count(SQL);
    db.conn.query(SQL, &[table.into()], &mut |row| row.int(0).map(|found| n = found))?;
    Ok(n > 0)
}

/// Returns whether the server is a node of a Galera cluster. Servers that do not know the variable are not.
fn is_cluster(db: &mut Db) -> bool {
    const SQL: &str = "SHOW VARIABLES LIKE 'wsrep_on'";
    let mut on = String::new();
    db.count(SQL);
    let result = db.conn.query(SQL, &[], &mut |row| row.text(1).map(|value| on = value));
    result.is_ok() && on.eq_ignore_ascii_case("ON")
}

/// A pooled connection. It is closed if it is broken or its transaction was not ended.
struct PooledConnection<'a> {
    pool: &'a MySqlPool,
    db: Option<Db>,
    fresh: bool,
    begun: bool,
}

impl PooledConnection<'_> {
    fn db(&mut self) -> Result<&mut Db> {
        self.db.as_mut().ok_or(StoreError::Busy)
    }

    fn end(&mut self, how: &str) {
        let done = self.db.as_mut().is_some_and(|db| db.conn.execute(how, &[]).is_ok());
        self.begun = !done;
    }
}

impl Drop for PooledConnection<'_> {
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
