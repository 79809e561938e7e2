#![doc = include_str!("../README.md")]
// The layers, lowest first:
//
// 1. `schema`, `rows`, `change_record`, `dialect`, `conn`, `shared`: descriptions, what a transaction has changed, an engine's SQL,
//    a connection and its rows, the caches of a database. `usage`: its counters.
// 2. `handle`, `caching`, `loaded_rows`, `change_log`: `Db` (a connection with a snapshot), `Tx` (a transaction), their cached
//    reads, what was loaded already, and the table of changes.
// 3. `backend`, `table_manager`, `row_log`: the traits of an engine for its connections, tables and changed rows.
// 4. `session`, `request`, `write_job`, `open_transaction`: the open snapshots and transactions of a context, what a request keeps,
//    a write as an object, and a transaction of several writes.
// 5. `engine`: a folder for each engine. `database` is what callers open, `lease` what one of several servers holds, `process` how it sees that another one has ended.

mod backend;
mod caching;
mod change_log;
mod change_record;
mod config;
mod conn;
mod database;
mod dialect;
mod engine;
mod error;
mod handle;
mod lease;
mod lease_rows;
mod loaded_rows;
mod open_transaction;
mod process;
mod quoted;
mod request;
mod row_log;
mod row_versions;
mod rows;
mod session;
mod shared;
mod table_manager;
mod tuning;
mod turns;
mod usage;
mod version_source;
mod write_job;

pub mod schema;
pub mod stamp;

pub use change_log::{LogBounds, LoggedChange};
pub use change_record::{ChangeRecord, Object, Operation, Subscriber, VersionStep};
pub use config::{DatabaseUrl, StoreConfig};
pub use conn::{Done, Row};
pub use database::{Database, WeakDatabase};
pub use dialect::{Build, Change, Dialect, SqlDialect};
pub use engine::mysql::connection::mysql_options;
pub use engine::sqlite::{
    LogPosition, LogReader, NewFrames, PageImage, check_file, collation, copy_file, file_size, is_writable,
};
pub use engine::{sql, table_manager};
pub use error::{Result, StoreError};
pub use handle::{Charset, Db, ReadText, Tx, WriteText, pad};
pub use lease::{Lease, LeaseTimes};
pub use open_transaction::{HeldSnapshot, OpenTransaction};
pub use quoted::quoted;
pub use request::get_or_load;
pub use row_log::{IndexedRows, LogEntry, LogState, Logged, RowLog, parse_digest};
pub use rows::{Part, Rows};
pub use shared::{Companion, Description};
pub use table_manager::{
    Complete, STAGING_PREFIX, StagedTable, StagedTables, TableManager, create_missing_tables, create_staging_table,
};
pub use tuning::{OnStatement, Tuning};
pub use turns::SnapshotPermit;
pub use usage::{DatabaseUsage, PoolUsage, ReplicaUsage};
