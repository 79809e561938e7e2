#![doc = include_str!("../README.md")]

mod body;
pub mod compare;
mod failure;
mod headers;
mod proxy;

pub use body::{Body, BoxError, boxed, empty};
pub use failure::{ErrorFormat, Failure};
pub use headers::Origin;
pub use proxy::{InvalidUpstream, Limits, Proxy, Upstream};
