//! The default route families on one site.
//!
//! [`Site`] joins the store, the options and what is registered; each family is a module with a controller on it.
//! Permission is a function beside each operation; whole pages of items are loaded in a fixed number of queries and
//! rendered from memory.

/// Errors that refuse a request: 401 for an anonymous caller, 403 for one who is authenticated (specification,
/// "Authorization failure status"). One function per row: name, code, message.
macro_rules! refusals {
    ($($(#[$meta:meta])* $name:ident = $code:literal $message:literal;)*) => {
        $($(#[$meta])* pub(crate) fn $name(req: &Request) -> Error {
            svc_routing::forbidden(req, $code, $message)
        })*
    };
}

pub mod abilities;
mod access;
pub mod application_passwords;
mod avatar_fields;
mod avatars;
pub mod block_directory;
mod block_types;
mod blocking;
pub mod blocks;
pub mod comments;
mod error;
mod errors;
pub mod export;
mod extensions;
pub mod feeds;
pub mod fonts;
pub mod global_styles;
pub mod hashing;
mod html_metadata;
mod http_client;
pub mod icons;
mod labels;
pub mod media;
pub mod menus;
pub mod meta;
mod meta_fields;
mod mount;
pub mod navigation_fallback;
pub mod oembed;
pub mod page_template;
pub mod patterns;
mod permalinks;
mod plugin_directory_client;
pub mod plugins;
pub mod posts;
pub mod render;
mod render_cache;
pub mod renderer;
mod request;
mod respond;
pub mod rest_site;
pub mod revisions;
mod sanitize;
pub mod schedule;
pub mod search;
mod settings;
mod site;
pub mod site_errors;
pub mod site_health;
pub mod site_settings;
pub mod statuses;
mod stored_arrays;
pub mod taxonomies;
pub mod templates;
pub mod terms;
pub mod theme;
pub mod themes;
mod time_zone;
pub mod types;
pub mod url_details;
pub mod url_resolver;
pub mod urls;
pub mod users;
pub mod view_config;
mod visitor;
pub mod widgets;

pub use access::Access;
pub use error::{SiteError, SiteResult};
pub use extensions::Extension;
pub use http_client::HttpClient;
pub use meta::{MetaField, MetaRegistry};
pub use mount::{mount, site_info};
pub use renderer::SiteRenderer;
pub use request::{AppPassword, ClientAddress, SessionToken, caller};
pub use rest_site::{RestSite, SiteSetup};
pub use settings::Settings;
pub use site::{Clock, Site};
pub use site_settings::RegisteredSetting;
pub use svc_brand::LINK_RELATION;
pub use svc_fetch as fetch;
pub use svc_packages::plugins::Plugin;
pub use theme::ActiveTheme;
pub use time_zone::TimeZone;
pub use visitor::{OpenedPosts, Visitor};
