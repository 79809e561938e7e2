//! How clients find the interface: its addresses, permalinks, Link headers, head links and the discovery document.
//!
//! Strings only: no database and no rows. What a link needs of a post or term is handed in as a plain struct, and a path
//! that comes in is turned into what to look up, not into what was found.

mod announce;
mod hooks;
mod incoming;
mod links;
mod lookup;
mod pattern;
mod permalinks;
mod routes;
mod site;

pub use announce::{Announcement, rsd_document};
pub use hooks::{Filters, Hooks, RouteFilter, TextFilter, UrlFilter};
pub use links::{
    AttachmentLink, AttachmentParent, InvalidTerm, PageLink, PostLink, PostTypeLinks, TaxonomyLinks, TermLink,
    needs_plain,
};
pub use lookup::{Archive, AttachmentKey, AuthorKey, DateKey, Feed, Lookup, PageKey, PostKey, TermKey, What};
pub use permalinks::Permalinks;
pub use routes::{Queried, RestBase};
pub use site::{Scheme, SiteUrls};
