//! The URLs of an API: how they are built. Which URLs belong to it is in `route_urls.rs`.

use std::sync::Arc;

use crate::Map;
use crate::route_urls::{INDEX, RouteUrls, VARIABLE};

/// Builds the URLs of an API. The index, `OPTIONS`, the `Link` header, `_embed` and the matching of requests all use the
/// site's implementation, so that a change of a URL has the same effect everywhere.
///
/// [`RootUrl`] is sufficient for an API whose URLs only differ in their route.
pub trait ApiUrls: Send + Sync {
    /// The URL of a path below the API root, with leading slash and without query. `/` is the root.
    fn url(&self, path: &str) -> String;
    /// The path of the site that the API belongs to, without trailing slash; empty at the root of a host.
    fn site_path(&self) -> String;
    /// The prefix of API paths below the site's path: `svc-json`. If it is empty, the API has all paths of the site.
    fn prefix(&self) -> String;
}

/// URLs that are an API root followed by the route.
///
/// ```
/// use svc_routing::{ApiUrls, RootUrl};
/// let urls = RootUrl::new("https://example.org/blog/api/");
/// assert_eq!(urls.url("/acme/v1"), "https://example.org/blog/api/acme/v1");
/// assert_eq!((urls.site_path().as_str(), urls.prefix().as_str()), ("/blog", "api"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootUrl {
    root: String,
    plain_prefix: String,
}

impl RootUrl {
    /// URLs below this root: `https://example.org/api/`, `https://example.org/index.php?rest_route=/`, or a path such as
    /// `/api/` if the host is not known.
    pub fn new(root: impl Into<String>) -> Self {
        Self { root: root.into(), plain_prefix: String::new() }
    }

    /// Sets the prefix of paths for a root whose route is in the query.
    #[must_use]
    pub fn plain_prefix(self, prefix: impl Into<String>) -> Self {
        Self { plain_prefix: prefix.into(), ..self }
    }

    /// The path of the site, without a file name `index.php`, and the prefix.
    fn site_path_and_prefix(&self) -> (&str, &str) {
        let path = path_of(&self.root).trim_end_matches('/');
        if self.root.contains('?') {
            return (path.strip_suffix(INDEX).unwrap_or(path).trim_end_matches('/'), &self.plain_prefix);
        }
        let (site, prefix) = path.rsplit_once('/').unwrap_or(("", path));
        (site.strip_suffix(INDEX).map_or(site, |site| site.trim_end_matches('/')), prefix)
    }
}

impl ApiUrls for RootUrl {
    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.root.trim_end_matches('/'))
    }

    fn site_path(&self) -> String {
        self.site_path_and_prefix().0.to_owned()
    }

    fn prefix(&self) -> String {
        self.site_path_and_prefix().1.to_owned()
    }
}

/// The path of a URL, without query.
fn path_of(url: &str) -> &str {
    let path = url.split_once("://").map_or(url, |(_, rest)| rest.find('/').map_or("", |at| &rest[at..]));
    path.split(['?', '#']).next().unwrap_or_default()
}

/// Scheme and host of a URL; empty for a path.
fn origin(url: &str) -> Option<&str> {
    if url.starts_with('/') && !url.starts_with("//") {
        return Some("");
    }
    let start = url.find("://")? + 3;
    let len = url[start..].find(['/', '?', '#']).unwrap_or(url.len() - start);
    url.get(..start + len)
}

/// The URLs of a server, with the parts that do not depend on a path.
pub(crate) struct ServerUrls {
    urls: Arc<dyn ApiUrls>,
    pub(crate) root: String,
    pub(crate) route_urls: RouteUrls,
}

impl ServerUrls {
    pub(crate) fn new(urls: Arc<dyn ApiUrls>) -> Self {
        let (root, route_urls) = (urls.url("/"), RouteUrls::new(urls.site_path(), urls.prefix()));
        Self { urls, root, route_urls }
    }

    /// The URL of a path below the API root. The path may have a query; a missing leading slash is added.
    pub(crate) fn url(&self, path: &str) -> String {
        let path = format!("/{}", path.trim_start_matches('/'));
        let Some((path, query)) = path.split_once('?') else { return self.urls.url(&path) };
        let url = self.urls.url(path);
        // On a site without URL rewriting, the URL already has a query.
        let separator = if url.contains('?') { '&' } else { '?' };
        format!("{url}{separator}{query}")
    }

    /// The route and query of a URL; `None` if it does not belong to the API, or is on another origin than the root.
    pub(crate) fn route_of(&self, url: &str) -> Option<(String, Map)> {
        if origin(url)? != origin(&self.root)? {
            return None;
        }
        let query = url.split('#').next().unwrap_or_default().split_once('?').map_or("", |(_, query)| query);
        let mut query = svc_php::query::parse(query.as_bytes());
        let route = self.route_urls.route_of_parsed(path_of(url), &query)?;
        query.shift_remove(VARIABLE);
        Some((route, query))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots() {
        for (root, site_path, prefix, url) in [
            ("https://e.org/svc-json/", "", "svc-json", "https://e.org/svc-json/a/v1"),
            (
                "https://e.org/blog/index.php/svc-json/",
                "/blog",
                "svc-json",
                "https://e.org/blog/index.php/svc-json/a/v1",
            ),
            (
                "https://e.org/blog/index.php?rest_route=/",
                "/blog",
                "p",
                "https://e.org/blog/index.php?rest_route=/a/v1",
            ),
            ("https://e.org/?rest_route=/", "", "p", "https://e.org/?rest_route=/a/v1"),
            ("https://api.e.org", "", "", "https://api.e.org/a/v1"),
            ("/api/", "", "api", "/api/a/v1"),
        ] {
            let urls = RootUrl::new(root).plain_prefix("p");
            assert_eq!((&*urls.site_path(), &*urls.prefix(), &*urls.url("/a/v1")), (site_path, prefix, url));
            let server = ServerUrls::new(Arc::new(urls));
            assert_eq!(server.route_of(url).map(|(route, _)| route).as_deref(), Some("/a/v1"), "{root}");
        }
    }

    #[test]
    fn urls_with_a_host_do_not_belong_to_a_root_without_one() {
        let urls = ServerUrls::new(Arc::new(RootUrl::new("/?rest_route=/")));
        let route = |url: &str| urls.route_of(url).map(|(route, _)| route);
        assert_eq!(route("/?rest_route=/a").as_deref(), Some("/a"));
        assert_eq!((route("//e.org/?rest_route=/a"), route("https://e.org/?rest_route=/a")), (None, None));
    }

    #[test]
    fn changed_urls_are_recognized() {
        struct Tagged(RootUrl);
        impl ApiUrls for Tagged {
            fn url(&self, path: &str) -> String {
                format!("{}?v=1", self.0.url(path))
            }

            fn site_path(&self) -> String {
                self.0.site_path()
            }

            fn prefix(&self) -> String {
                self.0.prefix()
            }
        }
        let urls = ServerUrls::new(Arc::new(Tagged(RootUrl::new("https://e.org/api/"))));
        assert_eq!(urls.url("a?x=2"), "https://e.org/api/a?v=1&x=2");
        let (route, query) = urls.route_of("https://e.org/api/a?v=1&x=2").unwrap();
        assert_eq!((route.as_str(), query["x"].as_str()), ("/a", Some("2")));
        assert!(urls.route_of("https://e.org/apis/a").is_none() && urls.route_of("/api/a").is_none());
    }
}
