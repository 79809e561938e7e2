#![doc = include_str!("../README.md")]

/// The errors of a family: those of `svc_site`, and its authorization errors, which are 401 for an anonymous caller and
/// 403 for one who is authenticated (specification, "Authorization failure status"). One function per row: name, code,
/// message.
macro_rules! family_errors {
    (use $($site:ident)::+; $($(#[$meta:meta])* $name:ident = $code:literal $message:literal;)*) => {
        pub(crate) use $($site)::+::*;

        $($(#[$meta])* pub(crate) fn $name(req: &svc_routing::Request) -> svc_schema::Error {
            svc_routing::forbidden(req, $code, $message)
        })*
    };
}

pub mod abilities;
pub mod application_passwords;
mod args;
mod avatar_fields;
mod batch_data;
pub mod block_directory;
pub mod blocks;
mod collection;
pub mod comments;
mod contexts;
mod cost;
mod cursor;
pub mod editor_settings;
mod encoded_items;
mod errors;
pub mod events;
pub mod export;
pub mod fonts;
pub mod global_styles;
pub mod icons;
pub mod images;
mod item_cache;
mod item_languages;
mod labels;
pub mod languages;
mod links;
pub mod media;
pub mod menus;
mod meta_fields;
mod mount;
pub mod navigation_fallback;
pub mod oembed;
pub mod patterns;
pub mod permalinks;
pub mod plugins;
pub mod posts;
mod preconditions;
mod preview;
pub mod preview_links;
pub mod public_site;
mod registries;
pub mod registry_family;
mod request;
pub mod resolve;
mod respond;
mod rest_setup;
pub mod rest_site;
pub mod revisions;
pub mod search;
pub mod site_health;
pub mod site_settings;
pub mod statuses;
pub mod taxonomies;
pub mod templates;
pub mod terms;
mod theme_access;
pub mod themes;
pub mod types;
pub mod url_details;
pub mod users;
pub mod view_config;
pub mod widgets;

pub use mount::{api_urls, mount, site_info};
pub use registries::settings::RegisteredSetting;
pub use request::caller;
pub use rest_setup::RestSetup;
pub use rest_site::RestSite;
pub use svc_brand::LINK_RELATION;
