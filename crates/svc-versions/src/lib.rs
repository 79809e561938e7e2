#![doc = include_str!("../README.md")]

mod atomic;
mod cache;
mod dependencies;
#[cfg(all(test, shuttle))]
mod models;
mod recording;
mod transport;
mod versions;

pub use cache::{Usage, VersionedCache};
pub use dependencies::Dependencies;
pub use recording::{
    Scope, capture, current_stamp, depends_on, depends_on_request, expires_in, never, record, renew_stamp, scope,
    unrecorded,
};
pub use transport::{ByTls, Transport, call_with_transport, current_transport, with_transport};
pub use versions::{Change, Key, Stamp, Versions};
