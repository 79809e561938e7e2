//! The store itself: a handle that hands out snapshots for reading and runs transactions.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use crate::config::{DatabaseUrl, StoreConfig};
use crate::db::{Db, Tx};
use crate::error::{Result, StoreError};
use crate::mysql_pool::MySqlPool;
use crate::pool::SqlitePool;
use crate::request_cache;

/// A site's data. Cheap to clone; all clones share connections and caches.
#[derive(Clone)]
pub struct Store(pub(crate) Arc<Backend>);

/// What a store runs on.
pub(crate) enum Backend {
    Sqlite(SqlitePool),
    MySql(MySqlPool),
}

impl Store {
    /// Opens a database, or makes an empty one (SQLite). Tables are not made: see [`crate::schema::install`].
    ///
    /// After a stop that was not clean, an SQLite file is looked through for damage first.
    ///
    /// # Errors
    /// When the settings cannot be used, the database cannot be reached, or its file is damaged.
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

    /// Reads: all queries of `f` see one state of the database, on one connection.
    ///
    /// Runs in place; on a worker of tokio's multi-threaded runtime, other tasks are moved to other threads meanwhile.
    /// A read inside a read, or inside a transaction, of the same thread uses that connection and sees the same state.
    ///
    /// # Errors
    /// Those of `f`, or [`StoreError::Busy`] when no connection became free in time.
    pub fn read<T>(&self, f: impl FnOnce(&mut Db) -> Result<T>) -> Result<T> {
        self.read_or(f)
    }

    /// Like [`Self::read`], with the caller's own type of error.
    ///
    /// # Errors
    /// Those of `f`, or the store's own, converted.
    pub fn read_or<T, E: From<StoreError>>(&self, f: impl FnOnce(&mut Db) -> Result<T, E>) -> Result<T, E> {
        self.read_as(false, f)
    }

    /// [`Self::read`] without limit of time, for what reads everything.
    pub(crate) fn read_unlimited<T>(&self, f: impl FnOnce(&mut Db) -> Result<T>) -> Result<T> {
        self.read_as(true, f)
    }

    fn read_as<T, E: From<StoreError>>(
        &self,
        unlimited: bool,
        f: impl FnOnce(&mut Db) -> Result<T, E>,
    ) -> Result<T, E> {
        in_place(|| match &*self.0 {
            Backend::Sqlite(pool) => pool.read(unlimited, f),
            Backend::MySql(pool) => pool.read(unlimited, f),
        })
    }

    /// Writes: the whole of `f` happens, durably, or none of it.
    ///
    /// Transactions take turns, on every engine and for all servers on one database: what `f` reads is not changed by another
    /// one before `f` is committed. So a value that is read, changed and written back must be read within `f`.
    ///
    /// `f` may be run more than once (when the database asks for the transaction again), so it must have no other
    /// effects than those on the database. Returns after the commit.
    ///
    /// # Errors
    /// Those of `f`, after which nothing is changed; [`StoreError::Busy`] when too many writes wait already;
    /// [`StoreError::Nested`] inside of a read or another write.
    pub async fn write<T: Send + 'static>(&self, f: impl Fn(&mut Tx) -> Result<T> + Send + 'static) -> Result<T> {
        self.write_or(f).await
    }

    /// Like [`Self::write`], with the caller's own type of error.
    ///
    /// # Errors
    /// Those of `f`, after which nothing is changed; or the store's own, converted.
    pub async fn write_or<T: Send + 'static, E: From<StoreError> + Send + 'static>(
        &self,
        f: impl Fn(&mut Tx) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let written = match &*self.0 {
            Backend::Sqlite(pool) => pool.write(f)?.await.unwrap_or_else(|_| Err(stopped().into())),
            Backend::MySql(pool) => {
                pool.refuse_nested()?;
                let store = self.clone();
                // Writers wait for their turn without a thread and without a connection.
                let turn = pool.turn().await?;
                let write = tokio::task::spawn_blocking(move || match &*store.0 {
                    Backend::MySql(pool) => pool.write(turn, f),
                    Backend::Sqlite(_) => Err(stopped().into()),
                });
                write.await.unwrap_or_else(|_| Err(StoreError::Other("a transaction panicked".to_owned()).into()))
            }
        };
        request_cache::invalidate(written.is_ok());
        written
    }

    /// [`Self::write`] for code that is not async: the command line, tests, plain threads.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn write_blocking<T: Send + 'static>(&self, f: impl Fn(&mut Tx) -> Result<T> + Send + 'static) -> Result<T> {
        let written = match &*self.0 {
            Backend::Sqlite(pool) => {
                let answer = pool.write(f)?;
                in_place(|| answer.blocking_recv().unwrap_or_else(|_| Err(stopped())))
            }
            Backend::MySql(pool) => in_place(|| pool.write(pool.turn_blocking()?, f)),
        };
        request_cache::invalidate(written.is_ok());
        written
    }

    /// Runs one long transaction that other writers wait for.
    pub(crate) fn exclusively<T, E: From<StoreError>>(&self, f: impl FnOnce(&mut Tx) -> Result<T, E>) -> Result<T, E> {
        match &*self.0 {
            Backend::Sqlite(pool) => pool.exclusively(f),
            Backend::MySql(pool) => pool.exclusively(f),
        }
    }

    /// A number that changes whenever something is committed to the database, in this process or another: what was read
    /// after it was told may be used as long as it stays the same. Quick enough to be asked for every request (SQLite:
    /// a look at shared memory; MariaDB: one question, about no table). `None` when it cannot be told, as on other
    /// servers, for a moment after each write to a MariaDB, and inside of a read, whose snapshot may be older. Within one
    /// request ([`request_cache`]) it is read once.
    pub fn state(&self) -> Option<i64> {
        let in_session = match &*self.0 {
            Backend::Sqlite(pool) => pool.in_session(),
            Backend::MySql(pool) => pool.in_session(),
        };
        if in_session {
            return request_cache::get::<_, Option<i64>>(&*self.0).and_then(|state| *state);
        }
        let told = request_cache::get_or_load(&*self.0, || {
            let state = match &*self.0 {
                Backend::Sqlite(pool) => pool.state().ok(),
                Backend::MySql(pool) => in_place(|| pool.state()),
            };
            Ok::<_, Infallible>(Arc::new(state))
        });
        told.map_or(None, |state| *state)
    }

    /// Copies the database, as of one moment, into a new file, while others read and write (SQLite).
    ///
    /// # Errors
    /// When the file exists already or cannot be written, and on other engines, whose own tools do this.
    pub fn backup(&self, to: &Path) -> Result<()> {
        match &*self.0 {
            Backend::Sqlite(pool) => pool.backup(to),
            Backend::MySql(_) => {
                Err(StoreError::Config("a MySQL database is backed up with its own tools, or exported".to_owned()))
            }
        }
    }

    /// Looks through the whole database for damage (SQLite; elsewhere the server does it).
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] with the first damage found.
    pub fn check(&self) -> Result<()> {
        match &*self.0 {
            Backend::Sqlite(pool) => pool.check(),
            Backend::MySql(_) => Ok(()),
        }
    }
}

/// Runs what blocks; on a worker of tokio's multi-threaded runtime, other tasks are moved to other threads meanwhile.
fn in_place<T>(f: impl FnOnce() -> T) -> T {
    let on_worker = tokio::runtime::Handle::try_current()
        .is_ok_and(|h| h.runtime_flavor() == tokio::runtime::RuntimeFlavor::MultiThread);
    if on_worker { tokio::task::block_in_place(f) } else { f() }
}

fn stopped() -> StoreError {
    StoreError::Unavailable("the store is closing".to_owned())
}

/// A file of its own in the temporary folder.
fn temporary_path() -> std::path::PathBuf {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = Path::new("/dev/shm");
    let folder = if folder.is_dir() { folder.to_owned() } else { std::env::temp_dir() };
    folder.join(format!("svc-store-{}-{n}.db", std::process::id()))
}
