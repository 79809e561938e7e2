#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod access;
pub mod application_passwords;
pub mod avatars;
pub mod blocking;
pub mod caller;
pub mod comments;
pub mod error;
pub mod errors;
pub mod global_styles;
pub mod hashing;
pub mod hooked_blocks;
pub mod http_client;
pub mod image_variants;
pub mod jobs;
pub mod languages;
pub mod mail;
pub mod media;
pub mod menus;
pub mod object_state;
pub mod outage;
pub mod patterns;
pub mod permalinks;
pub mod plugin_directory_client;
pub mod plugins;
pub mod posts;
pub mod preconditions;
pub mod preview_links;
pub mod registries;
pub mod revisions;
pub mod sanitize;
pub mod schedule;
pub mod settings;
pub mod site;
pub mod sitemaps;
pub(crate) mod stored_arrays;
pub mod template_parts;
pub mod templates;
pub mod terms;
pub mod theme;
pub mod transfer;
pub mod ttl_cache;
pub mod url_resolver;
pub mod users;
pub mod visitor;
pub mod widgets;

pub use access::Access;
pub use error::{SiteError, SiteResult};
pub use http_client::{HttpClient, OutgoingUsage};
pub use registries::{
    Registries,
    meta::{MetaField, MetaRegistry},
};
pub use settings::{Settings, time_zone::TimeZone, urls};
pub use site::{
    Clock, MAX_TRANSACTION, Policies, Services, Site, SiteSetup,
    extensions::{self, Extension},
};
pub use svc_packages::plugins::Plugin;
pub use theme::ActiveTheme;
pub use ttl_cache::TtlCache;
pub use visitor::{UnlockedPosts, Visitor};
