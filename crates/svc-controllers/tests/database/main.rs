//! Stored values and concurrent writes, in process, on SQLite and on a private MariaDB.

#![expect(clippy::unwrap_used, reason = "test helpers outside of test functions")]

#[path = "../harness/mod.rs"]
mod harness;

mod engines;
mod races;
mod stored_text;
