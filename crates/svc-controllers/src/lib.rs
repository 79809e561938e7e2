//! The default route families on one site.
//!
//! [`Site`] joins the store, the options and what is registered; each family is a module with a controller on it.
//! Permission is a function beside each operation; whole pages of items are loaded in a fixed number of queries and
//! rendered from memory.

pub mod abilities;
mod access;
mod addresses;
pub mod application_passwords;
mod avatars;
pub mod block_directory;
mod blocking;
pub mod blocks;
pub mod comments;
mod directory;
mod errors;
pub mod export;
mod extensions;
mod fail;
pub mod feeds;
pub mod fonts;
pub mod global_styles;
pub mod hashing;
mod head;
pub mod icons;
mod labels;
pub mod lookup;
pub mod media;
pub mod menus;
pub mod meta;
mod mount;
pub mod navigation_fallback;
pub mod oembed;
mod outgoing;
pub mod page;
pub mod patterns;
pub mod plugins;
pub mod posts;
pub mod render;
mod rendered;
mod respond;
pub mod revisions;
pub mod schedule;
pub mod search;
mod settings;
mod site;
pub mod site_health;
pub mod site_settings;
pub mod statuses;
mod stored_arrays;
pub mod taxonomies;
pub mod templates;
pub mod terms;
pub mod theme;
pub mod themes;
pub mod types;
pub mod url_details;
pub mod urls;
pub mod users;
pub mod view_config;
pub mod widgets;
mod zone;

pub use access::{Access, AppPassword, ClientAddress, SessionToken, caller};
pub use extensions::Extension;
pub use fail::{Fail, Stored};
pub use meta::{MetaField, MetaRegistry};
pub use mount::{mount, site_info};
pub use outgoing::Outgoing;
pub use settings::Settings;
pub use site::{Clock, Site};
pub use site_settings::RegisteredSetting;
pub use svc_brand::LINK_RELATION;
pub use svc_fetch as fetch;
pub use svc_packages::plugins::Plugin;
pub use theme::ActiveTheme;
pub use zone::Zone;
