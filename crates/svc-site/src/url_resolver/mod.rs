//! What the URLs of the site's pages lead to, for the pages themselves and for clients that render pages of their own.
//!
//! [`PageResolver`] decides what a URL shows and where it redirects; [`UrlResolver`] finds single posts. Only exact paths are
//! found: no URL leads to a post with a similar slug.

mod cost;
mod old_urls;
mod page_url;
mod pages;
mod posts;
pub mod urls;

pub use cost::cost;
pub use page_url::PageUrl;
pub use pages::{List, ListSubject, PageResolver, PageTarget, Resolved};
pub use posts::UrlResolver;
