#![doc = include_str!("../README.md")]

mod address;
mod checks;
mod families;
mod history;
mod listener;
mod pages;
mod report;
mod sources;

pub use address::MonitoringAddress;
pub use checks::{Checks, free_bytes};
pub use families::{Families, Metrics, Source};
pub use history::{RecordHistory, SERIES};
pub use listener::{MonitoringError, MonitoringListener};
pub use pages::{CountedPages, PageCounts};
#[cfg(feature = "wordpress")]
pub use sources::FrontUsage;
pub use sources::{CacheUsages, Process, SiteUsage};
