//! The store: the database of a site with its caches and its search index.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use svc_db::{
    Database, DatabaseUsage, Db, HeldSnapshot, Lease, LeaseTimes, LogReader, LoggedChange, OpenTransaction, Result,
    SnapshotPermit, StoreConfig, StoreError, Subscriber, Tx,
};
use svc_search::SearchIndexState;
use svc_versions::{Context, VersionStamp, Versions};

use crate::caches::SiteCaches;
use crate::search_indexer::{SearchIndexConfig, SearchIndexer};
use crate::tables::SCHEMA;
use crate::tuning::Tuning;

/// The database of a site. Cheap to clone; clones share connections and caches.
#[derive(Clone)]
pub struct Store {
    database: Database,
    caches: Arc<SiteCaches>,
}

impl Store {
    /// Opens a database, or creates an empty one (SQLite). Tables are not created; see [`crate::schema::install`].
    ///
    /// After an unclean shutdown, an SQLite file is first checked for corruption.
    ///
    /// # Errors
    /// If the configuration is invalid, the database cannot be reached, or the file is corrupt.
    pub fn open(config: &StoreConfig) -> Result<Store> {
        Self::open_tuned(config, svc_db::Tuning::default(), Tuning::default())
    }

    pub(crate) fn open_tuned(config: &StoreConfig, of_database: svc_db::Tuning, tuning: Tuning) -> Result<Store> {
        let caches = Arc::new(SiteCaches::new(tuning));
        let database = Database::open(config, &SCHEMA, Arc::clone(&caches) as _, of_database)?;
        Ok(Store { database, caches })
    }

    /// What the database has done since it was opened, and the state of its connections.
    pub fn usage(&self) -> DatabaseUsage {
        self.database.usage()
    }

    /// A reader of the write-ahead log, for backups ([`Database::log_reader`]).
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn log_reader(&self) -> Result<Option<LogReader>> {
        self.database.log_reader()
    }

    /// Whether the database cannot be written ([`Database::is_read_only`]).
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn is_read_only(&self) -> Result<bool> {
        self.database.is_read_only()
    }

    /// Runs `f` with a snapshot ([`Database::read`]).
    ///
    /// # Errors
    /// The errors of `f`, or [`StoreError::Busy`] if no connection becomes free in time.
    pub fn read<T>(&self, cx: &Context, f: impl FnOnce(&mut Db) -> Result<T>) -> Result<T> {
        self.database.read(cx, f)
    }

    /// Like [`Self::read`], for code that no request has called: the command line, tests, plain threads. Nothing records what it
    /// reads, so a response that depends on it must not be cached.
    ///
    /// # Errors
    /// See [`Self::read`].
    pub fn read_blocking<T>(&self, f: impl FnOnce(&mut Db) -> Result<T>) -> Result<T> {
        self.database.read_blocking(f)
    }

    /// Like [`Self::read_blocking`], without a time limit and on a connection of its own, for reading everything.
    ///
    /// # Errors
    /// See [`Self::read`].
    pub fn read_unlimited<T>(&self, f: impl FnOnce(&mut Db) -> Result<T>) -> Result<T> {
        self.database.read_unlimited(f)
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
        self.database.read_or(cx, f)
    }

    /// Runs `f` in a transaction, which is committed durably as a whole or not at all ([`Database::write`]). `f` may run
    /// more than once.
    ///
    /// # Errors
    /// The errors of `f`, after which nothing is changed; [`StoreError::Busy`] if too many writes are waiting;
    /// [`StoreError::Nested`] within a read or another write.
    pub async fn write<T: Send + 'static>(
        &self,
        cx: &Context,
        f: impl Fn(&mut Tx) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.database.write(cx, f).await
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
        self.database.write_or(cx, f).await
    }

    /// Opens a transaction that everything that is read and written with this context is a part of ([`Database::begin`]).
    ///
    /// # Errors
    /// [`StoreError::Busy`] if too many writes are waiting; [`StoreError::Nested`] within a read or a transaction.
    pub async fn begin(&self, cx: &Context, limit: Duration) -> Result<OpenTransaction> {
        self.database.begin(cx, limit).await
    }

    /// Awaits something that must only happen once what was written with this context is committed ([`Database::after_commit`]).
    pub async fn after_commit(&self, cx: &Context, effect: impl Future<Output = ()> + Send + 'static) {
        self.database.after_commit(cx, effect).await;
    }

    /// Waits until a snapshot may be kept ([`Database::snapshot_permit`]).
    ///
    /// # Errors
    /// [`StoreError::Busy`] if that takes too long.
    pub async fn snapshot_permit(&self) -> Result<SnapshotPermit> {
        self.database.snapshot_permit().await
    }

    /// Keeps the snapshot of the context's reads while the request waits, too ([`Database::hold_snapshot`]).
    ///
    /// # Errors
    /// [`StoreError::Busy`] if no connection becomes free in time.
    pub fn hold_snapshot(&self, cx: &Context) -> Result<HeldSnapshot> {
        self.database.hold_snapshot(cx)
    }

    /// Like [`Self::write`], for code that no request has called: the command line, tests, plain threads.
    ///
    /// # Errors
    /// See [`Self::write`].
    pub fn write_blocking<T: Send + 'static>(&self, f: impl Fn(&mut Tx) -> Result<T> + Send + 'static) -> Result<T> {
        self.database.write_blocking(f)
    }

    /// The claim of this process to a lease that one of several servers holds; `None` on SQLite ([`Lease::new`]).
    ///
    /// # Errors
    /// If the table of leases cannot be created.
    pub fn lease(&self, name: &'static str, label: &str, times: LeaseTimes) -> Result<Option<Lease>> {
        Lease::new(&self.database, name, label, times)
    }

    /// Creates a table that is not one of a site's, if it is missing ([`Database::create_own_table`]).
    ///
    /// # Errors
    /// Those of the statements.
    pub fn create_own_table(&self, table: &'static svc_db::schema::Table) -> Result<()> {
        self.database.create_own_table(table)
    }

    /// Creates the missing of these indexes of a table, and drops others whose names begin with `start`
    /// ([`Database::set_partial_indexes`]).
    pub(crate) fn set_partial_indexes(
        &self,
        table: &'static str,
        start: &'static str,
        wanted: Vec<svc_db::schema::PartialIndex>,
    ) -> Result<bool> {
        self.database.set_partial_indexes(table, start, wanted)
    }

    /// The changes after a number, or the last ones, at most `limit`, in the order of the commits. `None` if the database has no
    /// log ([`Database::logged_changes`]).
    ///
    /// # Errors
    /// Those of a read.
    pub fn logged_changes(&self, cx: &Context, after: Option<i64>, limit: u32) -> Result<Option<Vec<LoggedChange>>> {
        self.database.logged_changes(cx, after, limit)
    }

    /// Adds a subscriber of the changes of this process ([`Database::subscribe`]).
    pub fn subscribe(&self, subscriber: Arc<dyn Subscriber>) {
        self.database.subscribe(subscriber);
    }

    /// When data last changed. Reads record what they depend on, writes mark what they change, and what other programs
    /// change is noticed by [`Self::stamp`].
    pub fn versions(&self) -> &Arc<Versions> {
        self.database.versions()
    }

    /// The time for values that are computed from data read after this call, after invalidating what other programs have
    /// changed. `None` if nothing may be cached. See [`Database::stamp`].
    pub fn stamp(&self, cx: &Context) -> Option<VersionStamp> {
        self.database.stamp(cx)
    }

    /// The current time, without blocking the thread and without waiting for a connection of the pool. Simultaneous calls
    /// share a query.
    pub fn watched_stamp(&self) -> impl Future<Output = Option<VersionStamp>> + Send + use<> {
        self.database.watched_stamp()
    }

    /// Builds a search index in the background, keeps it current and uses it for searches, until the result is dropped.
    /// `None` on engines without one: there, and while the index is incomplete, searches read all posts.
    pub fn start_search_index(&self, config: SearchIndexConfig) -> Option<SearchIndexer> {
        SearchIndexer::start(&self.database, &self.caches, config)
    }

    /// The state of the search index.
    pub fn search_index_state(&self) -> SearchIndexState {
        self.caches.search.index.state()
    }

    /// The database, without the caches of a site.
    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// What all connections share.
    #[cfg(test)]
    pub(crate) fn caches(&self) -> &SiteCaches {
        &self.caches
    }

    /// Copies a snapshot of the database to a new file while others read and write (SQLite).
    ///
    /// # Errors
    /// If the file exists or cannot be written. Other engines are not supported, because they have their own tools.
    pub fn backup(&self, to: &Path) -> Result<()> {
        self.database.backup(to)
    }

    /// Checks the whole database for corruption (SQLite; other engines do this themselves).
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] with the first problem found.
    pub fn check(&self) -> Result<()> {
        self.database.check()
    }
}
