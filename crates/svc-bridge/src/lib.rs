#![doc = include_str!("../README.md")]

mod bridge;
pub mod changes;
pub mod connector;
mod exposed;
pub mod feed;
mod flights;
pub mod key;
#[cfg(all(test, shuttle))]
mod models;
pub mod names;
mod persisted;
pub mod record;
mod render;
mod report;
mod routes;
mod settings;
mod stored;
pub mod tolerance;
mod watch;

pub use bridge::{Bridge, CACHE_STATUS};
pub use exposed::exposed_pages;
pub use report::{Report, RouteReport};
pub use settings::{RouteRule, Settings};
pub use watch::{Sources, Watch, report_file};
