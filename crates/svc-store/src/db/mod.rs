//! Connections to the database. Nothing here depends on a resource (options, posts, …). The layers, lowest first:
//!
//! 1. [`dialect`], [`conn`], [`shared_caches`]: an engine's SQL, a connection and its rows, the caches of a store.
//! 2. [`handle`], [`caching`]: [`Db`] (a connection with a snapshot), [`Tx`] (a transaction), and their cached reads.
//! 3. [`backend`], [`table_manager`], [`post_log`]: the traits of an engine for its connections, tables and changed posts.
//! 4. [`session`], [`write_job`]: the open snapshots and transactions of a thread, and a write as an object.
//! 5. [`engine`]: a folder for each engine.

pub(crate) mod backend;
mod caching;
mod change_summary;
pub(crate) mod conn;
mod dialect;
pub(crate) mod engine;
mod handle;
mod plain_totals;
mod post_log;
pub(crate) mod session;
mod shared_caches;
pub(crate) mod table_manager;
pub(crate) mod write_job;

pub use backend::may_block;
pub use conn::Row;
pub use dialect::Dialect;
pub use handle::{Db, Tx};
pub use shared_caches::{Options, TableGroup};

pub(crate) use change_summary::ChangeSummary;
pub(crate) use dialect::{Build, SqlDialect};
pub(crate) use engine::mysql::connection::mysql_options;
#[cfg(test)]
pub(crate) use handle::HAS_RANDOM_STATEMENTS;
pub(crate) use handle::{ChangeCounters, Charset, MAX_VALUES, pad};
pub(crate) use post_log::{LogState, Logged, PostLog, parse_digest};
pub(crate) use shared_caches::SharedCaches;
