#![doc = include_str!("../README.md")]

mod atomic;
mod cache;
mod context;
mod dependencies;
#[cfg(all(test, shuttle))]
mod models;
mod transport;
mod versions;

pub use cache::{Usage, VersionedCache};
pub use context::Context;
pub use dependencies::Dependencies;
pub use transport::{ByTls, Transport};
pub use versions::{Change, Key, MAX_MEMBER, Stamp, Versions};
