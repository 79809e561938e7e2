//! The default route families on one site.
//!
//! [`Site`] joins the store, the options and what is registered; each family is a module with a controller on it.
//! Permission is a function beside each operation; whole pages of items are loaded in a fixed number of queries and
//! rendered from memory.

mod access;
mod addresses;
pub mod application_passwords;
mod avatars;
pub mod comments;
mod errors;
mod fail;
pub mod global_styles;
mod labels;
pub mod meta;
mod mount;
pub mod navigation_fallback;
pub mod patterns;
pub mod posts;
pub mod render;
mod respond;
pub mod revisions;
pub mod schedule;
pub mod search;
mod settings;
mod site;
pub mod site_settings;
pub mod statuses;
pub mod taxonomies;
pub mod templates;
pub mod terms;
pub mod theme;
pub mod themes;
pub mod types;
pub mod urls;
pub mod users;
mod zone;

pub use access::{Access, AppPassword, ClientAddress, SessionToken, caller};
pub use fail::{Fail, Stored};
pub use meta::{MetaField, MetaRegistry};
pub use mount::{mount, site_info};
pub use settings::Settings;
pub use site::{Clock, Site};
pub use site_settings::RegisteredSetting;
pub use svc_discovery::LINK_RELATION;
pub use theme::ActiveTheme;
pub use zone::Zone;
