#![doc = include_str!("../README.md")]

mod body;
mod failure;
mod fastcgi;
mod files;
mod headers;
mod http_client;
mod options;
mod proxy;
mod upstream;

pub use body::{Body, BoxError, boxed, empty};
pub use failure::{ErrorFormat, Failure};
pub use headers::{Origin, remove_unforwarded};
pub use options::{InvalidFolder, Options, ProxyLimits, Site, SiteFolder};
pub use proxy::{Proxy, Turn};
pub use upstream::{InvalidUpstream, Upstream};
