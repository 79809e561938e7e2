#![doc = include_str!("../README.md")]

mod hooks;
mod links;
mod lookup;
mod pattern;
mod permalinks;
mod resolve;
mod routes;
mod scheme;
mod site;
mod type_links;

pub use hooks::{Filters, HookedUrl, RouteFilter, SizesFilter, TextFilter, UrlFilter, UrlHooks};
pub use links::{AttachmentLink, AttachmentParent, InvalidTerm, PageLink, PostLink, TermLink, needs_plain};
pub use lookup::{Archive, AttachmentKey, AuthorKey, DateKey, Feed, Lookup, LookupTarget, PageKey, PostKey, TermKey};
pub use permalinks::Permalinks;
pub use routes::RestBase;
pub use scheme::UrlScheme;
pub use site::SiteUrls;
pub use type_links::{PostTypeLinks, TaxonomyLinks};
