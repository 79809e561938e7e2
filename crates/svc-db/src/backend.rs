//! The connections of an engine.

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use svc_versions::{Context, VersionStamp};

use crate::engine::sqlite::LogReader;
use crate::error::{Result, StoreError};
use crate::handle::{Db, Tx};
use crate::row_log::RowLog;
use crate::shared::Shared;
use crate::usage::{PoolUsage, ReplicaUsage};

/// Maximum number of threads that wait for a connection; further reads fail with `Busy` immediately.
pub(crate) const MAX_WAITING: usize = 256;

/// How long a request that has committed a write waits for a connection, because it must not respond with "try again".
pub(crate) const WAIT_AFTER_WRITE: Duration = Duration::from_secs(30);

/// A write transaction, with the caller that waits for its outcome.
pub(crate) trait Job: Send {
    /// Runs the transaction and returns whether to commit its changes.
    fn run(&mut self, tx: &mut Tx) -> bool;
    /// Records that the transaction cannot be run or committed.
    fn fail(&mut self, why: StoreError);
    /// Discards the outcome of an attempt that was rolled back.
    fn reset(&mut self);
    /// Sends the outcome to the caller.
    fn respond(self: Box<Self>);
}

/// A future that is ready when a job was accepted or refused.
pub(crate) type Accepted = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// An open snapshot of the database. When it is dropped, it ends and its connection becomes free.
pub(crate) trait Snapshot: Send {
    /// The connection.
    fn db(&mut self) -> &mut Db;
    /// Restarts the time limit of reads.
    fn renew(&mut self);
}

/// The connections to one database.
pub(crate) trait Backend: Send + Sync {
    /// The caches that all connections share.
    fn shared(&self) -> &Arc<Shared>;

    /// Opens a snapshot. `unlimited` statements have no time limit.
    ///
    /// # Errors
    /// If no connection becomes free in time, or the database is unavailable.
    fn snapshot(self: Arc<Self>, cx: &Context, unlimited: bool) -> Result<Box<dyn Snapshot>>;

    /// Runs a job in a transaction of its own or of a group of jobs. An accepted job gets a response after the commit.
    ///
    /// # Errors
    /// If the job was refused and not run.
    fn write(self: Arc<Self>, cx: &Context, job: Box<dyn Job>) -> Accepted;

    /// Like [`Self::write`], for threads that may block.
    ///
    /// # Errors
    /// See [`Self::write`].
    fn write_blocking(self: Arc<Self>, job: Box<dyn Job>) -> Result<()>;

    /// Runs one long transaction on a separate connection while other writers wait. `f` returns whether to commit.
    ///
    /// # Errors
    /// If the transaction could not begin, and `f` was not called, or could not be committed.
    fn exclusively(&self, f: &mut dyn FnMut(&mut Tx) -> bool) -> Result<()>;

    /// The current time of the versions, after invalidating what other programs have changed. `None` if that is unknown.
    fn stamp(&self, cx: &Context) -> Option<VersionStamp>;

    /// [`Self::stamp`] without blocking, on a connection of its own. Simultaneous calls share a query.
    fn watched_stamp(self: Arc<Self>) -> Pin<Box<dyn Future<Output = Option<VersionStamp>> + Send>>;

    /// Write transactions that wait for their turn.
    fn waiting_writes(&self) -> usize;

    /// The state of the connections.
    fn pool(&self) -> PoolUsage;

    /// Size of the write-ahead log in bytes, if the engine has one in a file.
    fn wal_bytes(&self) -> Option<u64>;

    /// The state of each replica.
    fn replicas(&self) -> Vec<ReplicaUsage> {
        Vec::new()
    }

    /// A reader of the write-ahead log; `None` if the engine has none in a file, or it is not [followed](crate::StoreConfig::follow_log).
    ///
    /// # Errors
    /// If the database cannot be read.
    fn log_reader(&self) -> Result<Option<LogReader>>;

    /// Whether the file or the server refuses writes.
    ///
    /// # Errors
    /// If it cannot be asked.
    fn is_read_only(&self) -> Result<bool>;

    /// The log of changed rows, if the schema has a logged table.
    fn row_log(&self) -> Option<Arc<dyn RowLog>>;

    /// Copies a snapshot to a new file.
    ///
    /// # Errors
    /// If the file exists or cannot be written, or if the engine does not support backups.
    fn backup(&self, to: &Path) -> Result<()>;

    /// Checks the whole database for corruption, unless the engine does this itself.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`](crate::StoreError::Corrupt) with the first problem found.
    fn check(&self) -> Result<()>;
}

/// Runs a blocking function. On a worker of tokio's multi-threaded runtime, other tasks are moved to other threads, unless
/// the context [may block](Context::may_block).
pub(crate) fn block_in_place<T>(cx: &Context, f: impl FnOnce() -> T) -> T {
    if cx.may_block() { f() } else { leave_runtime(f) }
}

/// Like [`block_in_place`], for functions that tokio does not permit on its workers.
pub(crate) fn leave_runtime<T>(f: impl FnOnce() -> T) -> T {
    let on_worker = tokio::runtime::Handle::try_current()
        .is_ok_and(|h| h.runtime_flavor() == tokio::runtime::RuntimeFlavor::MultiThread);
    if on_worker { tokio::task::block_in_place(f) } else { f() }
}
