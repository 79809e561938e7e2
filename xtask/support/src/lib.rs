//! What the tasks of `cargo xtask` share. It depends on no crate of the site, so that checks such as `fmt` are built quickly.

pub mod block_editor;
mod commands;
pub mod gateway;
pub mod server;
pub mod tasks;

pub use commands::{cargo, cargo_here, root, run, say, target};
