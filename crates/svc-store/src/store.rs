//! The store: a handle that provides snapshots for reads and runs transactions.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use crate::config::{DatabaseUrl, StoreConfig};
use crate::db::{Db, Tx};
use crate::error::{Result, StoreError};
use crate::mysql_pool::MySqlPool;
use crate::pool::SqlitePool;
use crate::request_cache;

/// The database of a site. Cheap to clone; clones share connections and caches.
#[derive(Clone)]
pub struct Store(pub(crate) Arc<Backend>);

/// The engine that a store runs on.
pub(crate) enum Backend {
    Sqlite(SqlitePool),
    MySql(MySqlPool),
}

impl Store {
    /// Opens a database, or creates an empty one (SQLite). Tables are not created; see [`crate::schema::install`].
    ///
    /// After an unclean shutdown, an SQLite file is first checked for corruption.
    ///
    /// # Errors
    /// If the configuration is invalid, the database cannot be reached, or the file is corrupt.
    pub fn open(config: &StoreConfig) -> Result<Store> {
        config.check()?;
        match &config.url {
            DatabaseUrl::Sqlite(path) => Ok(Store(Arc::new(Backend::Sqlite(SqlitePool::open(path, config, false)?)))),
            DatabaseUrl::Temporary => {
                let path = temporary_path();
                Ok(Store(Arc::new(Backend::Sqlite(SqlitePool::open(&path, config, true)?))))
            }
            DatabaseUrl::MySql(url) => Ok(Store(Arc::new(Backend::MySql(MySqlPool::open(url, config)?)))),
        }
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
        block_in_place(|| match &*self.0 {
            Backend::Sqlite(pool) => pool.read(unlimited, f),
            Backend::MySql(pool) => pool.read(unlimited, f),
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
        let result = match &*self.0 {
            Backend::Sqlite(pool) => pool.write(f)?.await.unwrap_or_else(|_| Err(stopped().into())),
            Backend::MySql(pool) => {
                pool.refuse_nested()?;
                let store = self.clone();
                // Writers wait for their turn without occupying a thread or a connection.
                let turn = pool.turn().await?;
                let write = tokio::task::spawn_blocking(move || match &*store.0 {
                    Backend::MySql(pool) => pool.write(turn, f),
                    Backend::Sqlite(_) => Err(stopped().into()),
                });
                write.await.unwrap_or_else(|_| Err(StoreError::Other("a transaction panicked".to_owned()).into()))
            }
        };
        request_cache::invalidate(result.is_ok());
        result
    }

    /// Like [`Self::write`], for code that is not async: the command line, tests, plain threads.
    ///
    /// # Errors
    /// See [`Self::write`].
    pub fn write_blocking<T: Send + 'static>(&self, f: impl Fn(&mut Tx) -> Result<T> + Send + 'static) -> Result<T> {
        let result = match &*self.0 {
            Backend::Sqlite(pool) => {
                let receiver = pool.write(f)?;
                block_in_place(|| receiver.blocking_recv().unwrap_or_else(|_| Err(stopped())))
            }
            Backend::MySql(pool) => block_in_place(|| pool.write(pool.turn_blocking()?, f)),
        };
        request_cache::invalidate(result.is_ok());
        result
    }

    /// Runs one long transaction while other writers wait.
    pub(crate) fn exclusively<T, E: From<StoreError>>(&self, f: impl FnOnce(&mut Tx) -> Result<T, E>) -> Result<T, E> {
        match &*self.0 {
            Backend::Sqlite(pool) => pool.exclusively(f),
            Backend::MySql(pool) => pool.exclusively(f),
        }
    }

    /// A version number that changes with every commit to the database by any process. Data read after calling this is
    /// valid until the number changes. It is fast enough to call for every request (SQLite: a look at shared memory;
    /// MariaDB: one query that accesses no table). `None` if it is unknown: on other servers, for a moment after each
    /// write on MariaDB, and within a read, whose snapshot may be older. Within a request ([`request_cache`]) it is
    /// read once.
    pub fn state(&self) -> Option<i64> {
        let in_session = match &*self.0 {
            Backend::Sqlite(pool) => pool.in_session(),
            Backend::MySql(pool) => pool.in_session(),
        };
        if in_session {
            return request_cache::get::<_, Option<i64>>(&*self.0).and_then(|state| *state);
        }
        let state = request_cache::get_or_load(&*self.0, || {
            let state = match &*self.0 {
                Backend::Sqlite(pool) => pool.state().ok(),
                Backend::MySql(pool) => block_in_place(|| pool.state()),
            };
            Ok::<_, Infallible>(Arc::new(state))
        });
        state.map_or(None, |state| *state)
    }

    /// Copies a snapshot of the database to a new file while others read and write (SQLite).
    ///
    /// # Errors
    /// If the file exists or cannot be written. Other engines are not supported, because they have their own tools.
    pub fn backup(&self, to: &Path) -> Result<()> {
        match &*self.0 {
            Backend::Sqlite(pool) => pool.backup(to),
            Backend::MySql(_) => Err(StoreError::Config(
                "MySQL databases cannot be backed up here: use the server's own tools, or an export".to_owned(),
            )),
        }
    }

    /// Checks the whole database for corruption (SQLite; other engines do this themselves).
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] with the first problem found.
    pub fn check(&self) -> Result<()> {
        match &*self.0 {
            Backend::Sqlite(pool) => pool.check(),
            Backend::MySql(_) => Ok(()),
        }
    }
}

/// Runs a blocking function. On a worker of tokio's multi-threaded runtime, other tasks are moved to other threads.
fn block_in_place<T>(f: impl FnOnce() -> T) -> T {
    let on_worker = tokio::runtime::Handle::try_current()
        .is_ok_and(|h| h.runtime_flavor() == tokio::runtime::RuntimeFlavor::MultiThread);
    if on_worker { tokio::task::block_in_place(f) } else { f() }
}

fn stopped() -> StoreError {
    StoreError::Unavailable("the store is closing".to_owned())
}

/// A new path in the temporary folder.
fn temporary_path() -> std::path::PathBuf {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = Path::new("/dev/shm");
    let folder = if folder.is_dir() { folder.to_owned() } else { std::env::temp_dir() };
    folder.join(format!("svc-store-{}-{n}.db", std::process::id()))
}
