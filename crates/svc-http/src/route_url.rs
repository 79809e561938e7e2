//! The three URL forms of a route: path with prefix, path with `index.php` and prefix, and query variable.

use serde_json::Value;
use svc_routing::{Map, Server};

/// File name in front of the prefix on servers that cannot rewrite URLs.
const INDEX: &str = "index.php";
/// Query variable that contains a route.
const VARIABLE: &str = "rest_route";

/// Recognizes the URLs of a site's REST API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteUrls {
    /// Path of the site, without trailing slash; empty at the root of a host.
    base: String,
    /// The prefix, `svc-json`. If it is empty, all paths below `base` belong to the API.
    prefix: String,
}

impl RouteUrls {
    /// The URLs below a site's path (empty, or like `/blog`) with this prefix.
    pub fn new(base: impl Into<String>, prefix: impl Into<String>) -> Self {
        Self { base: base.into().trim_end_matches('/').to_owned(), prefix: prefix.into() }
    }

    /// The URLs of a server.
    pub fn of(server: &Server) -> Self {
        Self::new(server.site_path(), server.url_prefix())
    }

    /// The route of a request; `None` if its URL does not belong to the REST API.
    ///
    /// A non-empty query variable takes precedence over the path. Paths are not decoded, as in WordPress.
    pub fn route(&self, path: &str, query: &Map) -> Option<String> {
        if let Some(Value::String(route)) = query.get(VARIABLE).filter(|v| **v != "") {
            return Some(normalize(route));
        }
        let path = path.strip_prefix(self.base.as_str())?.strip_prefix('/')?;
        let path = path.strip_prefix(INDEX).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path);
        if self.prefix.is_empty() {
            return Some(normalize(&format!("/{path}")));
        }
        let rest = path.strip_prefix(self.prefix.as_str())?;
        (rest.is_empty() || rest.starts_with('/')).then(|| normalize(rest))
    }
}

/// A route without trailing slashes. An empty route becomes the index, `/`.
pub(crate) fn normalize(route: &str) -> String {
    let route = route.trim_end_matches('/');
    if route.is_empty() { "/".to_owned() } else { route.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_forms() {
        for (base, path, query, want) in [
            ("", "/svc-json/a/b", "", Some("/a/b")),
            ("", "/svc-json/a//b//", "", Some("/a//b")),
            ("", "/svc-json", "", Some("/")),
            ("", "/svc-json/", "", Some("/")),
            ("", "/svc-jsonx", "", None),
            ("", "/index.php/svc-json/a", "", Some("/a")),
            ("", "/index.php", "rest_route=/a/", Some("/a")),
            ("", "/any", "rest_route=a", Some("a")),
            ("", "/", "rest_route=", None),
            ("", "/", "rest_route[]=/a", None),
            ("", "/svc-json/x", "rest_route=/a", Some("/a")),
            ("", "/svc-json/%61", "", Some("/%61")),
            ("/blog", "/blog/svc-json/a", "", Some("/a")),
            ("/blog", "/svc-json/a", "", None),
        ] {
            let query = svc_php::query::parse(query.as_bytes());
            let got = RouteUrls::new(base, "svc-json").route(path, &query);
            assert_eq!(got.as_deref(), want, "{path} {query:?}");
        }
        assert_eq!(RouteUrls::new("", "").route("/a/", &Map::new()).as_deref(), Some("/a"));
    }
}
