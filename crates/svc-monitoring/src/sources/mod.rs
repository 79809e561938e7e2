//! Where metrics come from. Each module writes those of one source.

mod backup;
mod checks;
#[cfg(feature = "wordpress")]
mod front;
mod process;
mod requests;
mod site;

#[cfg(feature = "wordpress")]
pub use front::FrontUsage;
pub use process::Process;
pub(crate) use process::system;
pub use site::{CacheUsages, SiteUsage};
