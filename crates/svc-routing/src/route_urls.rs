//! Which URLs belong to an API, and the route that each of them leads to.

use serde_json::Value;

use crate::Map;

/// File name in front of the prefix on servers that cannot rewrite URLs.
pub(crate) const INDEX: &str = "index.php";
/// Query variable that contains a route.
pub(crate) const VARIABLE: &str = "rest_route";

/// Recognizes the URLs of a site's REST API, in all three forms: `/svc-json/a`, `/index.php/svc-json/a` and `/?rest_route=/a`.
///
/// A route is the part of the path behind the prefix as the client sent it: it is not decoded, so `/svc-json/x%20y` leads to
/// `/x%20y`. Only if the prefix itself is encoded, the whole path is decoded first. A route from the query is decoded, as all
/// parameters are. Source: `WP::parse_request`, which matches the path against rewrite rules as it was sent, and then decoded.
///
/// ```
/// use svc_routing::RouteUrls;
/// let urls = RouteUrls::new("/blog", "svc-json");
/// assert_eq!(urls.route("/blog/svc-json/acme/v1/", "").as_deref(), Some("/acme/v1"));
/// assert_eq!(urls.route("/blog/", "rest_route=/acme/v1").as_deref(), Some("/acme/v1"));
/// assert_eq!(urls.route("/blog/about", ""), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteUrls {
    /// Path of the site, without trailing slash; empty at the root of a host.
    site_path: String,
    /// The prefix, `svc-json`. If it is empty, all paths below `site_path` belong to the API.
    prefix: String,
}

impl RouteUrls {
    /// The URLs below a site's path (empty, or like `/blog`) with this prefix.
    pub fn new(site_path: impl Into<String>, prefix: impl Into<String>) -> Self {
        Self { site_path: site_path.into().trim_end_matches('/').to_owned(), prefix: prefix.into() }
    }

    /// The path of the site, without trailing slash; empty at the root of a host.
    pub fn site_path(&self) -> &str {
        &self.site_path
    }

    /// The prefix of API paths below the site's path.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The route of a request's path and query string; `None` if they do not belong to the API. A non-empty `rest_route`
    /// takes precedence over the path, which must be below the site's path all the same.
    pub fn route(&self, path: &str, query: &str) -> Option<String> {
        // Most requests have their route in the path. `rest.route` and `rest+route` are the same name, as in PHP, and letters may
        // be encoded.
        if !query.contains("route") && !query.contains('%') {
            return self.route_of_path(path);
        }
        self.route_of_parsed(path, &svc_php::query::parse(query.as_bytes()))
    }

    /// [`route`](Self::route) of a parsed query.
    pub(crate) fn route_of_parsed(&self, path: &str, query: &Map) -> Option<String> {
        match query.get(VARIABLE) {
            Some(Value::String(route)) if !route.is_empty() => {
                as_sent_or_decoded(path, |path| self.below_site(path).map(|_| Self::normalize(route)))
            }
            _ => self.route_of_path(path),
        }
    }

    /// The route of a path without query.
    pub fn route_of_path(&self, path: &str) -> Option<String> {
        as_sent_or_decoded(path, |path| self.behind_prefix(path).map(Self::normalize))
    }

    /// The part of a path below the site's: empty, or with a leading slash.
    fn below_site<'a>(&self, path: &'a str) -> Option<&'a str> {
        path.strip_prefix(self.site_path.as_str()).filter(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The part of a path behind the prefix: empty, or with a leading slash.
    fn behind_prefix<'a>(&self, path: &'a str) -> Option<&'a str> {
        let below = self.below_site(path)?;
        let index = below.strip_prefix('/').and_then(|name| name.strip_prefix(INDEX));
        let below = index.filter(|rest| rest.starts_with('/')).unwrap_or(below);
        let rest = match &*self.prefix {
            "" => below,
            // Leading slashes do not matter, as in WordPress.
            prefix => below.strip_prefix('/')?.trim_start_matches('/').strip_prefix(prefix)?,
        };
        (rest.is_empty() || rest.starts_with('/')).then_some(rest)
    }

    /// A route without trailing slashes. An empty route becomes the index, `/`.
    pub fn normalize(route: &str) -> String {
        let route = route.trim_end_matches('/');
        if route.is_empty() { "/".to_owned() } else { route.to_owned() }
    }
}

/// What `find` returns for a path as it was sent or else for the decoded path.
fn as_sent_or_decoded(path: &str, find: impl Fn(&str) -> Option<String>) -> Option<String> {
    find(path).or_else(|| path.contains('%').then(|| find(&svc_php::query::urldecode(path))).flatten())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Registry, SiteInfo};

    /// Path and query, and the route at a site without path.
    const URLS: [(&str, Option<&str>); 32] = [
        ("/svc-json/a/b", Some("/a/b")),
        ("/svc-json/a//b//", Some("/a//b")),
        ("/svc-json//a", Some("//a")),
        ("//svc-json/a", Some("/a")),
        ("/index.php//svc-json/a", Some("/a")),
        ("/svc-json", Some("/")),
        ("/svc-json/", Some("/")),
        ("/svc-json?x=1", Some("/")),
        ("/svc-jsonx", None),
        ("/svc-json.php", None),
        ("/SVC-JSON/a", None),
        ("/", None),
        ("/about/svc-json/a", None),
        ("/index.php/svc-json/a", Some("/a")),
        ("/index.php/svc-json/x%20y", Some("/x%20y")),
        ("/index.php", None),
        ("/index.phpx/svc-json/a", None),
        ("/index.php?rest_route=/a/", Some("/a")),
        ("/any?rest_route=a", Some("a")),
        ("/?rest_route=", None),
        ("/?rest_route[]=/a", None),
        ("/?rest%5Froute=/a", Some("/a")),
        ("/?a=1&rest.route=/a", Some("/a")),
        ("/?rest+route=/a", Some("/a")),
        ("/?rest_route=/a&rest_route=/b", Some("/b")),
        ("/?rest_route=%2Fx%20y+z", Some("/x y z")),
        ("/svc-json/x?rest_route=/a", Some("/a")),
        // The route is not decoded, unless nothing else would make it a URL of the API.
        ("/svc-json/x%20y", Some("/x%20y")),
        ("/svc-json/%61+b", Some("/%61+b")),
        ("/svc-json%2Fa", Some("/a")),
        ("/%73vc-json/x%20y+z", Some("/x y z")),
        ("/svc%2Djson%zz", None),
    ];

    #[test]
    fn a_request_and_a_link_to_its_url_lead_to_the_same_route() {
        for (root, base) in [("https://e.org/svc-json/", ""), ("https://e.org/blog/index.php?rest_route=/", "/blog")] {
            let server = Registry::for_site(SiteInfo::new(svc_brand::Brand::default(), root)).build();
            for (url, route) in URLS {
                let url = format!("{base}{url}");
                let (path, query) = url.split_once('?').unwrap_or((&url, ""));
                assert_eq!(server.route_urls().route(path, query).as_deref(), route, "a request for {url}");
                let link = server.route_of(&format!("https://e.org{url}#fragment"));
                assert_eq!(link.as_ref().map(|(route, _)| &**route), route, "a link to {url} below {root}");
                assert!(server.route_of(&format!("https://other.example{url}")).is_none());
            }
        }
    }

    #[test]
    fn urls_outside_of_the_site_do_not_belong_to_its_api() {
        let urls = RouteUrls::new("/blog/", "svc-json");
        for (path, query, route) in [
            ("/blog", "rest_route=/a", Some("/a")),
            ("/bl%6Fg/", "rest_route=/a", Some("/a")),
            ("/", "rest_route=/a", None),
            ("/blogs", "rest_route=/a", None),
            ("/svc-json/a", "", None),
            ("/blogsvc-json/a", "", None),
        ] {
            assert_eq!(urls.route(path, query).as_deref(), route, "{path}?{query}");
        }
    }

    #[test]
    fn an_api_without_prefix_has_all_paths() {
        let urls = RouteUrls::new("", "");
        for (path, route) in [("/a/", "/a"), ("/", "/"), ("/index.php/a", "/a"), ("/index.phpx", "/index.phpx")] {
            assert_eq!(urls.route_of_path(path).as_deref(), Some(route), "{path}");
        }
    }
}
