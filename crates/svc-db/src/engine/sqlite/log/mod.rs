//! Following the write-ahead log: reading every committed page change once, without gaps, whoever writes and checkpoints.
//!
//! SQLite starts the log over once all of it is in the database. A read transaction decides when that may happen:
//!
//! - One that uses the log keeps it from being started over.
//! - One that began when all of the log was in the database keeps further changes from being written to the database, so that the
//!   log can be started over once, before any change that is not in the new one.
//!
//! A follower always has a read transaction open whose state it has read completely. What it has not read yet is therefore in the
//! log behind its position, or in a log that was started over once, from the beginning. The next transaction is opened
//! before the earlier one ends.

mod frames;
mod gate;
mod image;
mod reader;
#[cfg(test)]
mod tests;

pub use frames::LogPosition;
pub(crate) use gate::{LogGate, LogSize};
pub use image::PageImage;
pub use reader::{LogReader, NewFrames};
