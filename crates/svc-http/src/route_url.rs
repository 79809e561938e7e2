//! The three shapes of address: prefix path, prefix path after an index segment, and the query variable.

use serde_json::Value;
use svc_routing::{Map, Server};

/// The file that stands before the prefix on servers without rewriting.
const INDEX: &str = "index.php";
/// The query variable that carries a route.
const VARIABLE: &str = "rest_route";

/// Where requests of the interface are found on a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteUrls {
    /// Path of the site, without a slash at its end: empty at the root of a host.
    base: String,
    /// The prefix, `svc-json`.
    prefix: String,
}

impl RouteUrls {
    /// Addresses under a site's path (empty, or like `/blog`) with this prefix.
    pub fn new(base: impl Into<String>, prefix: impl Into<String>) -> Self {
        Self { base: base.into().trim_end_matches('/').to_owned(), prefix: prefix.into() }
    }

    /// The addresses of a server, from the address of its root.
    pub fn of(server: &Server) -> Self {
        let root = server.site().rest_url.as_str();
        let path = root.split_once("://").map_or(root, |(_, rest)| rest.find('/').map_or("", |at| &rest[at..]));
        let path = path.split('?').next().unwrap_or_default().trim_end_matches('/');
        let path = path.strip_suffix(server.url_prefix()).unwrap_or(path).trim_end_matches('/');
        let path = path.strip_suffix(INDEX).unwrap_or(path);
        Self::new(path, server.url_prefix())
    }

    /// The route that a request asks for; `None` when it is not one of the interface.
    ///
    /// A non-empty query variable wins over the path. Paths are not decoded, as the peer does not.
    pub fn route(&self, path: &str, query: &Map) -> Option<String> {
        if let Some(Value::String(route)) = query.get(VARIABLE).filter(|v| **v != "") {
            return Some(normalize(route));
        }
        let path = path.strip_prefix(self.base.as_str())?.strip_prefix('/')?;
        let path = path.strip_prefix(INDEX).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path);
        let rest = path.strip_prefix(self.prefix.as_str())?;
        (rest.is_empty() || rest.starts_with('/')).then(|| normalize(rest))
    }
}

/// A route without slashes at its end; one of nothing else is the index.
pub(crate) fn normalize(route: &str) -> String {
    let route = route.trim_end_matches('/');
    if route.is_empty() { "/".to_owned() } else { route.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_address() {
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
    }
}
