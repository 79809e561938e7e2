//! Sitemaps as XML.

use askama::Template;
use svc_site::sitemaps::{Sitemap, SitemapEntry};

use crate::respond::Page;

#[derive(Template)]
#[template(path = "sitemap.xml")]
struct SitemapXml {
    is_index: bool,
    entries: Vec<SitemapEntry>,
}

/// The XML document.
pub(crate) fn page(sitemap: Sitemap) -> Page {
    let Sitemap { is_index, entries } = sitemap;
    Page::xml(&SitemapXml { is_index, entries })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_escaped() {
        let entries = vec![SitemapEntry { url: "http://a.b/?x=1&y=<".to_owned(), modified: String::new() }];
        let xml = SitemapXml { is_index: false, entries }.render().unwrap();
        assert!(xml.contains("<loc>http://a.b/?x=1&#38;y=&#60;</loc>"), "{xml}");
    }
}
