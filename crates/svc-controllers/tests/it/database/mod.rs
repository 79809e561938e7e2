//! Stored values and concurrent writes, in process, on SQLite and on a private MariaDB.

pub(crate) mod engines;
mod races;
mod stored_text;
