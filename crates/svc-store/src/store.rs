//! The store: a handle that provides snapshots for reads and runs transactions.

use std::path::Path;
use std::sync::{Arc, Weak};

use svc_search::SearchIndexState;
use svc_versions::{Stamp, Versions};
use tokio::sync::oneshot::error::TryRecvError;

use crate::config::StoreConfig;
use crate::db::backend::{Backend, block_in_place, leave_runtime};
use crate::db::session::{self, Session};
use crate::db::{Db, Logged, PostLog, SharedCaches, Tx, engine, write_job};
use crate::error::{Result, StoreError};
use crate::request_cache;
use crate::search_indexer::{SearchIndexConfig, SearchIndexer};

/// The database of a site. Cheap to clone; clones share connections and caches.
#[derive(Clone)]
pub struct Store(Arc<dyn Backend>);

impl Store {
    /// Opens a database, or creates an empty one (SQLite). Tables are not created; see [`crate::schema::install`].
    ///
    /// After an unclean shutdown, an SQLite file is first checked for corruption.
    ///
    /// # Errors
    /// If the configuration is invalid, the database cannot be reached, or the file is corrupt.
    pub fn open(config: &StoreConfig) -> Result<Store> {
        config.check()?;
        Ok(Store(engine::open(config)?))
    }

    /// Runs `f` with a snapshot: all its queries see the same state of the database, on one connection.
    ///
    /// Blocks the current thread; on a worker of tokio's multi-threaded runtime, other tasks are moved to other
    /// threads. A read nested in a read or transaction on the same thread uses the same connection and sees the same
    /// state.
    ///
    /// # Errors
    /// The errors of `f`, or [`StoreError::Busy`] if no connection becomes free in time.
    pub fn read<T>(&self, f: impl FnOnce(&mut Db) -> Result<T>) -> Result<T> {
        self.read_or(f)
    }

    /// Like [`Self::read`], with the caller's error type.
    ///
    /// # Errors
    /// The errors of `f`, or those of the store, converted.
    pub fn read_or<T, E: From<StoreError>>(&self, f: impl FnOnce(&mut Db) -> Result<T, E>) -> Result<T, E> {
        self.read_as(false, f)
    }

    /// Like [`Self::read`], without a time limit, for reading everything.
    pub(crate) fn read_unlimited<T>(&self, f: impl FnOnce(&mut Db) -> Result<T>) -> Result<T> {
        self.read_as(true, f)
    }

    fn read_as<T, E: From<StoreError>>(
        &self,
        unlimited: bool,
        f: impl FnOnce(&mut Db) -> Result<T, E>,
    ) -> Result<T, E> {
        let shared = self.0.shared();
        block_in_place(|| {
            let f = match session::read_open(shared, f) {
                Ok(done) => return done,
                Err(f) => f,
            };
            let is_held = session::is_in_scope() && !unlimited;
            if is_held {
                // The stamp first: the snapshot is then at least as new.
                self.stamp();
            }
            let mut snapshot = Arc::clone(&self.0).snapshot(unlimited)?;
            if is_held {
                session::hold(snapshot);
                return session::read_open(shared, f).unwrap_or_else(|_| Err(StoreError::Busy.into()));
            }
            let _session = Session::open(snapshot.db());
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
    pub async fn write<T: Send + 'static>(&self, f: impl Fn(&mut Tx) -> Result<T> + Send + 'static) -> Result<T> {
        self.write_or(f).await
    }

    /// Like [`Self::write`], with the caller's error type.
    ///
    /// # Errors
    /// The errors of `f`, after which nothing is changed, or those of the store, converted.
    pub async fn write_or<T: Send + 'static, E: From<StoreError> + Send + 'static>(
        &self,
        f: impl Fn(&mut Tx) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let (job, receiver) = write_job::job(f);
        Arc::clone(&self.0).write(job).await?;
        let result = receiver.await.unwrap_or_else(|_| Err(stopped().into()));
        request_cache::invalidate(result.is_ok());
        result
    }

    /// Like [`Self::write`], for code that is not async: the command line, tests, plain threads.
    ///
    /// # Errors
    /// See [`Self::write`].
    pub fn write_blocking<T: Send + 'static>(&self, f: impl Fn(&mut Tx) -> Result<T> + Send + 'static) -> Result<T> {
        let (job, mut receiver) = write_job::job(f);
        Arc::clone(&self.0).write_blocking(job)?;
        let result = match receiver.try_recv() {
            Ok(result) => result,
            Err(TryRecvError::Empty) => leave_runtime(|| receiver.blocking_recv().unwrap_or_else(|_| Err(stopped()))),
            Err(TryRecvError::Closed) => Err(stopped()),
        };
        request_cache::invalidate(result.is_ok());
        result
    }

    /// Runs one long transaction while other writers wait.
    pub(crate) fn exclusively<T, E: From<StoreError>>(&self, f: impl FnOnce(&mut Tx) -> Result<T, E>) -> Result<T, E> {
        let (mut f, mut outcome) = (Some(f), None);
        self.0.exclusively(&mut |tx| {
            outcome = f.take().map(|f| f(tx));
            matches!(outcome, Some(Ok(_)))
        })?;
        outcome.unwrap_or_else(|| Err(StoreError::Busy.into()))
    }

    /// When data last changed. Reads record what they depend on, writes mark what they change, and what other programs
    /// change is noticed by [`Self::stamp`].
    pub fn versions(&self) -> &Arc<Versions> {
        &self.0.shared().versions
    }

    /// The time for values that are computed from data read after this call. Within a request ([`request_cache`]), this is
    /// the time of its first read, until it writes.
    ///
    /// It is fast enough to call for every request (SQLite: a look at shared memory; MariaDB: one query that accesses no
    /// table). `None` if nothing may be cached: on other servers, shortly after another program has written on MariaDB, and
    /// within a read whose snapshot may be older.
    pub fn stamp(&self) -> Option<Stamp> {
        if let Some(stamp) = svc_versions::current_stamp() {
            return Some(stamp);
        }
        if session::is_open(self.0.shared()) {
            return None;
        }
        let stamp = self.0.stamp();
        svc_versions::renew_stamp(stamp);
        stamp
    }

    /// The current time, without blocking the thread and without waiting for a connection of the pool. Simultaneous calls
    /// share a query.
    pub fn watched_stamp(&self) -> impl Future<Output = Option<Stamp>> + Send + use<> {
        Arc::clone(&self.0).watched_stamp()
    }

    /// Builds a search index in the background, keeps it current and uses it for searches, until the result is dropped.
    /// `None` on engines without one: there, and while the index is incomplete, searches read all posts.
    pub fn start_search_index(&self, config: SearchIndexConfig) -> Option<SearchIndexer> {
        SearchIndexer::start(self, config)
    }

    /// The state of the search index.
    pub fn search_index_state(&self) -> SearchIndexState {
        self.0.shared().search.index.state()
    }

    /// Removes what [`Self::start_search_index`] has added to the database. Call it if the site is served without an index.
    ///
    /// # Errors
    /// Those of a write.
    pub fn remove_search_log(&self) -> Result<()> {
        let log = self.0.post_log();
        let logged = self.read_unlimited(|db| log.read(db, i64::MAX, 1))?;
        if logged == Logged::Nothing {
            return Ok(());
        }
        self.write_blocking(move |tx| log.remove(tx))
    }

    /// The log of changed posts.
    pub(crate) fn post_log(&self) -> Arc<dyn PostLog> {
        self.0.post_log()
    }

    /// The store of a backend.
    pub(crate) fn of(backend: Arc<dyn Backend>) -> Self {
        Store(backend)
    }

    /// A reference that does not keep the connections open.
    pub(crate) fn downgrade(&self) -> Weak<dyn Backend> {
        Arc::downgrade(&self.0)
    }

    /// The caches that all connections share.
    pub(crate) fn shared(&self) -> Arc<SharedCaches> {
        self.0.shared().clone()
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
