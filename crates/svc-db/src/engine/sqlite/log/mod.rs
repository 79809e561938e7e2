//! Following the write-ahead log: reading every committed page change once, without gaps, whoever writes and checkpoints.
//!
//! SQLite starts the log over once all of it is in the database. A read transaction decides when that may happen:
//!
//! - One that uses the log keeps it from being started over.
//! - One that began when all of the log was in the database keeps further changes from being written to the database. So the log can
//!   be started over, but no log with frames can be started over after that.
//!
//! A follower always has a read transaction open whose state it has read completely. What it has not read yet is therefore in the
//! log behind its position, or in a log that was started over, from the beginning. The next transaction is opened before the
//! earlier one ends.
//!
//! When what was committed is noted by the writers, before they acknowledge it (`stamps`).

mod frames;
mod gate;
mod image;
mod reader;
mod stamps;
#[cfg(test)]
mod tests;

pub use frames::LogPosition;
pub(crate) use gate::{LogGate, LogSize};
pub use image::PageImage;
pub use reader::{LogReader, NewFrames};
