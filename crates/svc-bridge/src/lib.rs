#![doc = include_str!("../README.md")]

mod bridge;
pub mod changes;
pub mod feed;
mod flights;
pub mod key;
pub mod names;
pub mod record;
mod render;
mod report;
mod routes;
mod settings;
mod stored;

pub use bridge::{Bridge, CACHE_STATUS};
pub use report::{Report, RouteReport};
pub use settings::{RouteRule, Settings};
