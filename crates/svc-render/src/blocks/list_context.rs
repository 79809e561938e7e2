//! The list of posts that a page shows.

use svc_model::Post;
use svc_text::Html;

/// One page of the list of posts at a URL.
pub struct ListContext {
    /// Posts on this page.
    pub posts: Vec<Post>,
    /// Posts per page.
    pub per_page: u64,
    /// Page number, from 1.
    pub page: u64,
    /// Number of pages.
    pub pages: u64,
    /// Number of posts on all pages.
    pub total: u64,
    /// The URL of a page of the list, by page number.
    pub page_url: Box<dyn Fn(u64) -> String>,
    /// Title of the archive; empty for the latest posts.
    pub title: Html,
    /// The search term.
    pub search_term: Option<String>,
}
