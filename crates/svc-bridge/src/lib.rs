#![doc = include_str!("../README.md")]

mod access_log;
mod bridge;
pub mod changes;
mod code;
pub mod connector;
mod exposed;
pub mod feed;
mod findings;
pub mod key;
mod lookup;
#[cfg(all(test, feature = "models"))]
mod models;
pub mod names;
mod persisted;
mod reads;
pub mod record;
mod render;
mod report;
mod routes;
pub mod rows;
mod settings;
mod sql;
mod stored;
mod time;
pub mod tolerance;
mod watch;

pub use access_log::LoggedRead;
pub use bridge::{Bridge, CACHE_STATUS};
pub use code::Code;
pub use exposed::exposed_pages;
pub use findings::Findings;
pub use report::{Report, RouteReport};
pub use settings::{RouteRule, Settings};
pub use watch::{Sources, Watch, report_file};
