//! SQLite: one writer, a pool of read-only connections, and WordPress's collation.

pub mod collation;

mod change_log;
pub(crate) mod connection;
mod counts;
mod dialect;
mod file_copy;
mod file_guard;
mod log;
mod other_writers;
mod pool;
mod row_log;
mod row_versions;
mod schema;
mod statistics;
mod table_manager;
mod wal_file;
mod wal_index;
mod writer;

pub(crate) use dialect::SqliteDialect;
pub use file_copy::{copy_file, file_size, is_writable};
pub use log::{LogPosition, LogReader, NewFrames, PageImage};
pub use pool::check_file;
pub(crate) use pool::{SqlitePool, temporary_path};
pub(crate) use table_manager::SqliteTables;

/// Name of the private table with the versions of indexes and private tables, without prefix.
const LAYOUT_TABLE: &str = "svc_layout";
