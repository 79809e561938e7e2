//! SQLite: one writer, a pool of read-only connections, and WordPress's collation.

pub(crate) mod collation;
pub(crate) mod connection;
mod file_guard;
mod pool;
mod writer;

pub(crate) use pool::{SqlitePool, temporary_path};
