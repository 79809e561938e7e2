//! The handle of a database: it provides snapshots for reads and runs transactions.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use svc_traces::TARGET;
use svc_versions::{Context, VersionStamp, Versions};
use tokio::sync::oneshot::error::TryRecvError;
use tracing::Instrument as _;

use crate::backend::{Backend, block_in_place, leave_runtime};
use crate::change_log::{self, LoggedChange};
use crate::change_record::Subscriber;
use crate::config::StoreConfig;
use crate::engine::sqlite::LogReader;
use crate::engine::{self, table_manager};
use crate::error::{Result, StoreError};
use crate::handle::{Db, Tx};
use crate::loaded_rows;
use crate::open_transaction::{self, HeldSnapshot, OpenTransaction};
use crate::quoted::quoted;
use crate::request;
use crate::row_log::RowLog;
use crate::schema::{PartialIndex, Schema, Table};
use crate::session::{self, Session};
use crate::shared::{Companion, Shared};
use crate::table_manager::create_table;
use crate::tuning::Tuning;
use crate::turns::SnapshotPermit;
use crate::usage::DatabaseUsage;
use crate::write_job;

/// A database. Cheap to clone; clones share connections and caches.
#[derive(Clone)]
pub struct Database(Arc<dyn Backend>);

/// A reference to a [`Database`] that does not keep its connections open.
#[derive(Clone)]
pub struct WeakDatabase(Weak<dyn Backend>);

impl WeakDatabase {
    /// The database, if it is still in use.
    pub fn upgrade(&self) -> Option<Database> {
        self.0.upgrade().map(Database)
    }
}

impl Database {
    /// Opens a database with tables of this schema, or creates an empty one (SQLite). Tables are not created; see
    /// [`create_tables`](crate::create_missing_tables). `companion` is for what the owner of the schema shares between all
    /// connections; `Arc::new(())` is none.
    ///
    /// After an unclean shutdown, an SQLite file is first checked for corruption.
    ///
    /// # Errors
    /// If the configuration is invalid, the database cannot be reached, or the file is corrupt.
    pub fn open(
        config: &StoreConfig,
        schema: &'static Schema,
        companion: Arc<dyn Companion>,
        tuning: Tuning,
    ) -> Result<Self> {
        config.check()?;
        Ok(Database(engine::open(config, Arc::new(Shared::new(schema, companion, tuning, config.change_log)))?))
    }

    /// What all connections share.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        self.0.shared()
    }

    /// Runs `f` with a snapshot: all its queries see the same state of the database, on one connection.
    ///
    /// Blocks the current thread; on a worker of tokio's multi-threaded runtime, other tasks are moved to other
    /// threads. A read nested in a read or transaction of the same context uses the same connection and sees the same
    /// state.
    ///
    /// # Errors
    /// The errors of `f`, or [`StoreError::Busy`] if no connection becomes free in time.
    pub fn read<T>(&self, cx: &Context, f: impl FnOnce(&mut Db) -> Result<T>) -> Result<T> {
        self.read_or(cx, f)
    }

    /// Like [`Self::read`], with the caller's error type.
    ///
    /// # Errors
    /// The errors of `f`, or those of the store, converted.
    pub fn read_or<T, E: From<StoreError>>(
        &self,
        cx: &Context,
        f: impl FnOnce(&mut Db) -> Result<T, E>,
    ) -> Result<T, E> {
        self.read_as(cx, false, f)
    }

    /// Like [`Self::read`], for code that no request has called: the command line, tests, plain threads. Nothing records what it
    /// reads, so a response that depends on it must not be cached.
    ///
    /// # Errors
    /// See [`Self::read`].
    pub fn read_blocking<T>(&self, f: impl FnOnce(&mut Db) -> Result<T>) -> Result<T> {
        self.read(&Context::background(), f)
    }

    /// Like [`Self::read_blocking`], without a time limit and on a connection of its own, for reading everything.
    ///
    /// # Errors
    /// See [`Self::read`].
    pub fn read_unlimited<T>(&self, f: impl FnOnce(&mut Db) -> Result<T>) -> Result<T> {
        self.read_as(&Context::background(), true, f)
    }

    fn read_as<T, E: From<StoreError>>(
        &self,
        cx: &Context,
        unlimited: bool,
        f: impl FnOnce(&mut Db) -> Result<T, E>,
    ) -> Result<T, E> {
        let shared = self.0.shared();
        block_in_place(cx, || {
            let f = match session::read_open(cx, shared, f) {
                Ok(done) => return done,
                Err(f) => f,
            };
            let is_held = cx.is_request() && !unlimited;
            if is_held {
                // The stamp first: the snapshot is then at least as new.
                self.stamp(cx);
            }
            let mut snapshot = Arc::clone(&self.0).snapshot(cx, unlimited)?;
            if is_held {
                snapshot = match session::hold(cx, snapshot) {
                    Ok(()) => {
                        return session::read_open(cx, shared, f).unwrap_or_else(|_| Err(StoreError::Busy.into()));
                    }
                    Err(snapshot) => snapshot,
                };
            }
            let _session = Session::open(cx, snapshot.db());
            f(snapshot.db())
        })
    }

    /// Runs `f` in a transaction, which is committed durably as a whole or not at all.
    ///
    /// Transactions are serialized on every engine, and across all servers on one database: rows that `f` reads are not
    /// changed by others before `f` is committed. To read, change and write back a value, read it within `f`.
    ///
    /// `f` may run more than once (if the database requests a retry), so it must have no effects outside the database.
    /// Returns after the commit.
    ///
    /// # Errors
    /// The errors of `f`, after which nothing is changed; [`StoreError::Busy`] if too many writes are waiting;
    /// [`StoreError::Nested`] within a read or another write.
    pub async fn write<T: Send + 'static>(
        &self,
        cx: &Context,
        f: impl Fn(&mut Tx) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.write_or(cx, f).await
    }

    /// Like [`Self::write`], with the caller's error type.
    ///
    /// # Errors
    /// The errors of `f`, after which nothing is changed, or those of the store, converted.
    pub async fn write_or<T: Send + 'static, E: From<StoreError> + Send + 'static>(
        &self,
        cx: &Context,
        f: impl Fn(&mut Tx) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        self.write_traced(cx, f).instrument(tracing::info_span!(target: TARGET, "transaction")).await
    }

    async fn write_traced<T: Send + 'static, E: From<StoreError> + Send + 'static>(
        &self,
        cx: &Context,
        f: impl Fn(&mut Tx) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let transaction = cx.detached();
        if let Some(whole) = open_transaction::of(cx, self.0.shared())? {
            let (part, receiver) = write_job::part(transaction.clone(), f);
            whole.run(part)?;
            let result = receiver.await.unwrap_or_else(|_| Err(StoreError::RolledBack.into()));
            request::after_write(cx, false);
            loaded_rows::after_write(cx, &transaction, result.is_ok());
            return result;
        }
        let (job, receiver) = write_job::job(transaction.clone(), f);
        Arc::clone(&self.0).write(cx, job).await?;
        let result = receiver.await.unwrap_or_else(|_| Err(stopped().into()));
        request::after_write(cx, result.is_ok());
        loaded_rows::after_write(cx, &transaction, result.is_ok());
        result
    }

    /// Opens a transaction that everything that is read and written with this context is a part of, until it is committed or
    /// rolled back. Other writers wait, so it ends after `limit` at the latest. Each of the parts runs once, unlike the function of a
    /// [write](Self::write); the first that fails ends the transaction.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if too many writes or transactions like this are waiting, or too many of the caller;
    /// [`StoreError::Nested`] within a read or a transaction.
    pub async fn begin(&self, cx: &Context, limit: Duration) -> Result<OpenTransaction> {
        OpenTransaction::begin(Arc::clone(&self.0), cx, limit).await
    }

    /// Awaits something that must only happen once what was written with this context is committed, such as the deletion of a file:
    /// after the commit of the [open transaction](Self::begin), or now if there is none.
    pub async fn after_commit(&self, cx: &Context, effect: impl Future<Output = ()> + Send + 'static) {
        open_transaction::after_commit(cx, self.0.shared(), effect).await;
    }

    /// Waits until a snapshot may be kept ([`Self::hold_snapshot`]): at most half of the connections are.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if that takes too long.
    pub async fn snapshot_permit(&self) -> Result<SnapshotPermit> {
        SnapshotPermit::wait(&self.0.shared().turns, self.0.pool().max).await
    }

    /// Keeps the snapshot of the context's reads while the request waits, too: they all see one state until the returned value is
    /// dropped, or something is written with the context. Keep it shortly, because it occupies a connection.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if no connection becomes free in time.
    pub fn hold_snapshot(&self, cx: &Context) -> Result<HeldSnapshot> {
        let shared = self.0.shared();
        block_in_place(cx, || {
            let kept = session::keep(cx, shared, || {
                // The stamp first: the snapshot is then at least as new.
                self.stamp(cx);
                Arc::clone(&self.0).snapshot(cx, false)
            })?;
            Ok(HeldSnapshot::new(kept))
        })
    }

    /// Like [`Self::write`], for code that no request has called: the command line, tests, plain threads. Within a transaction
    /// it fails with [`StoreError::Nested`] or [`StoreError::Busy`].
    ///
    /// # Errors
    /// See [`Self::write`].
    pub fn write_blocking<T: Send + 'static>(&self, f: impl Fn(&mut Tx) -> Result<T> + Send + 'static) -> Result<T> {
        let (job, mut receiver) = write_job::job(Context::background(), f);
        Arc::clone(&self.0).write_blocking(job)?;
        match receiver.try_recv() {
            Ok(result) => result,
            Err(TryRecvError::Empty) => leave_runtime(|| receiver.blocking_recv().unwrap_or_else(|_| Err(stopped()))),
            Err(TryRecvError::Closed) => Err(stopped()),
        }
    }

    /// The changes after a number, or the last ones, at most `limit`, in the order of the commits. `None` if the database has no
    /// log.
    ///
    /// # Errors
    /// Those of the statement.
    pub fn logged_changes(&self, cx: &Context, after: Option<i64>, limit: u32) -> Result<Option<Vec<LoggedChange>>> {
        self.read(cx, |db| {
            let name = format!("{}{}", db.prefix(), change_log::TABLE);
            if db.table_exists(&name)? { change_log::read(db, after, limit).map(Some) } else { Ok(None) }
        })
    }

    /// Runs one long transaction while other writers wait.
    ///
    /// # Errors
    /// The errors of `f`, or those of the database, converted.
    pub fn exclusively<T, E: From<StoreError>>(&self, f: impl FnOnce(&mut Tx) -> Result<T, E>) -> Result<T, E> {
        let (mut f, mut outcome) = (Some(f), None);
        self.0.exclusively(&mut |tx| {
            outcome = f.take().map(|f| f(tx));
            matches!(outcome, Some(Ok(_)))
        })?;
        outcome.unwrap_or_else(|| Err(StoreError::Busy.into()))
    }

    /// Creates a table that is not part of the schema, if it is missing: it is neither exported nor imported, and what changes in it
    /// is not logged. On a server the account must be allowed to create tables.
    ///
    /// # Errors
    /// Those of the statements.
    pub fn create_own_table(&self, table: &'static Table) -> Result<()> {
        if self.read_blocking(|db| db.table_exists(&format!("{}{}", db.prefix(), table.name)))? {
            return Ok(());
        }
        self.write_blocking(move |tx| create_table(tx, table).map(drop))
    }

    /// Creates the missing of these indexes of a table, and drops others whose names begin with `start`. Returns `false` if the engine
    /// has no partial indexes.
    ///
    /// # Errors
    /// Those of the statements.
    pub fn set_partial_indexes(
        &self,
        table: &'static str,
        start: &'static str,
        wanted: Vec<PartialIndex>,
    ) -> Result<bool> {
        let names = |db: &mut Db| table_manager(db.dialect()).partial_indexes(db, table, start);
        let Some(found) = self.read_blocking(names)? else { return Ok(false) };
        let is_wanted = |name: &String| wanted.iter().any(|index| index.name == *name);
        if found.len() == wanted.len() && found.iter().all(is_wanted) {
            return Ok(true);
        }
        self.write_blocking(move |tx| {
            let (manager, prefix) = (table_manager(tx.dialect()), tx.prefix().to_owned());
            let found = manager.partial_indexes(tx, table, start)?.unwrap_or_default();
            for name in found.iter().filter(|name| !wanted.iter().any(|index| index.name == **name)) {
                tx.run(&format!("DROP INDEX {}", quoted(&format!("{prefix}{name}"))))?;
            }
            for index in wanted.iter().filter(|index| !found.contains(&index.name)) {
                tracing::info!(index = index.name, "creating an index");
                tx.run(&manager.create_partial_index(&prefix, table, index))?;
            }
            Ok(true)
        })
    }

    /// When data last changed. Reads record what they depend on, writes mark what they change, and what other programs
    /// change is noticed by [`Self::stamp`].
    pub fn versions(&self) -> &Arc<Versions> {
        &self.0.shared().versions
    }

    /// The time for values that are computed from data read after this call. Within a request, this is the time of its first
    /// read, until it writes.
    ///
    /// It is fast enough to call for every request (SQLite: a look at shared memory; MariaDB: one query that accesses no
    /// table). `None` if nothing may be cached: on other servers, shortly after another program has written on MariaDB, and
    /// within a read whose snapshot may be older.
    pub fn stamp(&self, cx: &Context) -> Option<VersionStamp> {
        if let Some(stamp) = cx.stamp() {
            return Some(stamp);
        }
        if session::is_open(cx, self.0.shared()) {
            return None;
        }
        let stamp = self.0.stamp(cx);
        cx.renew_stamp(stamp);
        stamp
    }

    /// The current time, without blocking the thread and without waiting for a connection of the pool. Simultaneous calls
    /// share a query.
    pub fn watched_stamp(&self) -> impl Future<Output = Option<VersionStamp>> + Send + use<> {
        Arc::clone(&self.0).watched_stamp()
    }

    /// The log of changed rows, if the schema has a logged table.
    pub fn row_log(&self) -> Option<Arc<dyn RowLog>> {
        self.0.row_log()
    }

    /// Adds a subscriber of the changes of this process. It is told after those that were added before it.
    pub fn subscribe(&self, subscriber: Arc<dyn Subscriber>) {
        self.0.shared().subscribe(subscriber);
    }

    /// Number of statements executed since the database was opened.
    pub fn statement_count(&self) -> u64 {
        self.0.shared().statements.load(Ordering::Relaxed)
    }

    /// What was done since the database was opened, and the state of its connections.
    pub fn usage(&self) -> DatabaseUsage {
        let counters = &self.0.shared().counters;
        DatabaseUsage {
            statements: counters.statements(),
            transactions: counters.transactions.report(),
            commits: counters.commits.report(),
            waiting_writes: self.0.waiting_writes(),
            pool: self.0.pool(),
            wal_bytes: self.0.wal_bytes(),
            replicas: self.0.replicas(),
        }
    }

    /// A reader of the write-ahead log, for backups. There must be at most one at a time. `None` if the engine has no such log, or
    /// the configuration does not [follow](StoreConfig::follow_log) it.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn log_reader(&self) -> Result<Option<LogReader>> {
        self.0.log_reader()
    }

    /// Whether writes fail because of how the database is set up: a file or file system that cannot be written, or a server that is
    /// read-only, such as a replica.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn is_read_only(&self) -> Result<bool> {
        self.0.is_read_only()
    }

    /// A reference that does not keep the connections open.
    pub fn downgrade(&self) -> WeakDatabase {
        WeakDatabase(Arc::downgrade(&self.0))
    }

    /// Copies a snapshot of the database to a new file while others read and write (SQLite).
    ///
    /// # Errors
    /// If the file exists or cannot be written. Other engines are not supported, because they have their own tools.
    pub fn backup(&self, to: &Path) -> Result<()> {
        self.0.backup(to)
    }

    /// Checks the whole database for corruption (SQLite; other engines do this themselves).
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] with the first problem found.
    pub fn check(&self) -> Result<()> {
        self.0.check()
    }
}

fn stopped() -> StoreError {
    StoreError::Unavailable("the store is closing".to_owned())
}
