//! What is stored, and what is not lost when several clients write at once: in process, on SQLite and on a private MariaDB.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside of test functions")]

#[path = "../harness/mod.rs"]
mod harness;

mod engines;
mod races;
mod stored_text;
