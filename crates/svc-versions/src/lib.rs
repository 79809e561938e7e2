#![doc = include_str!("../README.md")]

mod cache;
mod context;
mod dependencies;
mod flights;
#[cfg(all(test, feature = "models"))]
mod models;
mod single_flight_cache;
mod sync;
mod transport;
mod versions;

pub use cache::{Usage, VersionedCache};
pub use context::{Context, Freshness};
pub use dependencies::Dependencies;
pub use flights::{Flight, Flights, Follower, Leader};
pub use single_flight_cache::{Making, SingleFlightCache};
pub use transport::{ByTls, Transport};
pub use versions::{Change, Key, MAX_MEMBER, VersionStamp, Versions};
