//! The command line.

mod content;
mod output;
