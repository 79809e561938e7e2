//! The addresses of a site: home, interface root, and the rules for their scheme.

use crate::{Hooks, Permalinks, PostTypeLinks, TaxonomyLinks};

/// Which scheme a generated address has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scheme {
    /// That of the site, as [`SiteUrls`] stands.
    #[default]
    Site,
    /// Always `http`.
    Http,
    /// Always `https`.
    Https,
    /// None: a path from the server's root.
    Relative,
}

/// A site's addresses and everything that shapes them. Make one for plain requests and one with [`Self::over_tls`].
#[derive(Debug, Clone)]
pub struct SiteUrls {
    /// Address of the front page, without slash at the end.
    home: String,
    /// Address of the installation (log-in, administration), without slash at the end.
    site: String,
    /// Address prefix of the interface, before filters.
    prefix: String,
    /// How paths are made.
    pub permalinks: Permalinks,
    /// The page that is shown as front page, when it is a page.
    pub front_page: Option<u64>,
    /// Taxonomies whose archives have addresses.
    pub taxonomies: Vec<TaxonomyLinks>,
    /// Post types beside posts, pages and attachments that have addresses of their own.
    pub post_types: Vec<PostTypeLinks>,
    /// Extension points.
    pub hooks: Hooks,
}

impl SiteUrls {
    /// A site at `home`, with its installation at `site` and the interface under `prefix` (such as `svc-json`).
    pub fn new(home: &str, site: &str, prefix: &str, permalinks: Permalinks) -> Self {
        SiteUrls {
            home: svc_text::untrailing_slash(home).to_owned(),
            site: svc_text::untrailing_slash(site).to_owned(),
            prefix: prefix.to_owned(),
            permalinks,
            front_page: None,
            taxonomies: vec![TaxonomyLinks::category(), TaxonomyLinks::post_tag(), TaxonomyLinks::post_format()],
            post_types: Vec::new(),
            hooks: Hooks::default(),
        }
    }

    /// The same site as requests over TLS see it: every address has `https`.
    ///
    /// This serves the administration area with forced TLS too (spec, Addressing 3). As the peer does, it asks only whether
    /// the request came over TLS, not under which name.
    #[must_use]
    pub fn over_tls(&self) -> Self {
        let (home, site) = (with_scheme(&self.home, Scheme::Https), with_scheme(&self.site, Scheme::Https));
        SiteUrls { home, site, ..self.clone() }
    }

    /// An address under the front page; an empty path gives the front page without slash. Source: `home_url`.
    pub fn home_url(&self, path: &str) -> String {
        self.home_url_with(path, Scheme::Site)
    }

    /// As [`Self::home_url`], with this scheme.
    pub fn home_url_with(&self, path: &str, scheme: Scheme) -> String {
        join(&with_scheme(&self.home, scheme), path)
    }

    /// An address under the installation. Source: `site_url`.
    pub fn site_url(&self, path: &str) -> String {
        join(&self.site, path)
    }

    /// The path of the front page's address, without slashes at its ends; empty for most sites.
    pub fn home_path(&self) -> &str {
        let rest = self.home.split_once("://").map_or(&*self.home, |(_, rest)| rest);
        rest.split_once('/').map_or("", |(_, path)| path.trim_matches('/'))
    }

    /// The interface's address prefix, after filters.
    pub fn rest_prefix(&self) -> String {
        self.hooks.rest_url_prefix.iter().fold(self.prefix.clone(), |prefix, f| f(prefix))
    }

    /// The address of an interface path, in the site's scheme. Source: `rest_url`.
    pub fn rest_url(&self, path: &str) -> String {
        self.rest_url_with(path, Scheme::Site)
    }

    /// The address of an interface path: pretty, behind the index segment, or as `rest_route` (spec, Addressing).
    ///
    /// The path may carry a query; it is taken as it is, not encoded. Source: `get_rest_url`.
    pub fn rest_url_with(&self, path: &str, scheme: Scheme) -> String {
        let path = format!("/{}", path.trim_start_matches('/'));
        let url = if self.permalinks.is_pretty() {
            let root = self.permalinks.root();
            self.home_url_with(&format!("{root}{}{path}", self.rest_prefix()), scheme)
        } else {
            let home = self.home_url_with("/", scheme);
            let index = if home.ends_with("index.php") { "" } else { "index.php" };
            format!("{home}{index}?rest_route={path}")
        };
        self.hooks.rest_url.iter().fold(url, |url, f| f(url, &path, scheme))
    }

    /// The interface route that a request is for, if it is one: out of its path (percent-encoded) or its `rest_route`
    /// parameter, which wins. `/` is the index (spec, Addressing 4 and 5).
    pub fn rest_route(&self, path: &str, rest_route: Option<&str>) -> Option<String> {
        let route = match rest_route {
            Some(route) => route.to_owned(),
            None if self.permalinks.is_pretty() => self.rest_route_of_path(path)?,
            None => return None,
        };
        if route.is_empty() {
            return None;
        }
        let route = svc_text::untrailing_slash(&route);
        Some(if route.is_empty() { "/".to_owned() } else { route.to_owned() })
    }

    fn rest_route_of_path(&self, path: &str) -> Option<String> {
        let path = self.own_path(path);
        let path = path.strip_prefix("index.php/").unwrap_or(path);
        let rest = path.strip_prefix(&*self.rest_prefix())?;
        match rest.strip_prefix('/') {
            Some(route) => Some(format!("/{}", decode(route))),
            None if rest.is_empty() => Some("/".to_owned()),
            None => None,
        }
    }

    /// A path of a request without the front page's own path and without slashes before it.
    pub(crate) fn own_path<'a>(&self, path: &'a str) -> &'a str {
        let path = path.trim_start_matches('/');
        let home = self.home_path();
        match path.get(..home.len()) {
            Some(start) if !home.is_empty() && start.eq_ignore_ascii_case(home) => {
                let rest = &path[home.len()..];
                // `/blogger` is not under `/blog`.
                if rest.is_empty() || rest.starts_with('/') { rest.trim_start_matches('/') } else { path }
            }
            _ => path,
        }
    }
}

/// A path's or query's text: escapes decoded, `+` for a space; what is not UTF-8 becomes the replacement character.
pub(crate) fn decode(text: &str) -> String {
    let spaced = text.replace('+', " ");
    percent_encoding::percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}

fn join(base: &str, path: &str) -> String {
    if path.is_empty() { base.to_owned() } else { format!("{base}/{}", path.trim_start_matches('/')) }
}

fn with_scheme(url: &str, scheme: Scheme) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    match scheme {
        Scheme::Site => url.to_owned(),
        Scheme::Http => format!("http://{rest}"),
        Scheme::Https => format!("https://{rest}"),
        Scheme::Relative => rest.find('/').map_or_else(String::new, |i| rest[i..].to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn site(home: &str, structure: &str) -> SiteUrls {
        SiteUrls::new(home, home, "svc-json", Permalinks::new(structure))
    }

    #[test]
    fn addresses_of_the_interface() {
        for (home, structure, path, scheme, expected) in [
            ("http://a.b", "/%postname%/", "", Scheme::Site, "http://a.b/svc-json/"),
            ("http://a.b", "/%postname%/", "//x/v1", Scheme::Https, "https://a.b/svc-json/x/v1"),
            ("http://a.b/sub/", "/%postname%/", "x?y", Scheme::Relative, "/sub/svc-json/x?y"),
            ("http://a.b", "/index.php/%postname%", "/x", Scheme::Site, "http://a.b/index.php/svc-json/x"),
            ("http://a.b", "", "x", Scheme::Site, "http://a.b/index.php?rest_route=/x"),
            ("http://a.b", "", "", Scheme::Relative, "/index.php?rest_route=/"),
        ] {
            assert_eq!(site(home, structure).rest_url_with(path, scheme), expected);
        }
        assert_eq!(site("http://a.b", "").over_tls().home_url("x"), "https://a.b/x");
    }

    #[test]
    fn routes_of_requests() {
        let pretty = site("http://a.b/blog", "/%postname%/");
        for (path, parameter, expected) in [
            ("/blog/svc-json", None, Some("/")),
            ("/blog/svc-json/", None, Some("/")),
            ("/blog/svc-json/x/v1/", None, Some("/x/v1")),
            ("/blog/index.php/svc-json/x%20y", None, Some("/x y")),
            ("/blog/svc-jsonx", None, None),
            ("/blogger/svc-json", None, None),
            ("/blog/hello", Some("/x/v1/"), Some("/x/v1")),
            ("/blog/", Some("/"), Some("/")),
            ("/blog/", Some(""), None),
        ] {
            assert_eq!(pretty.rest_route(path, parameter).as_deref(), expected, "{path} {parameter:?}");
        }
        let plain = site("http://a.b", "");
        assert_eq!(plain.rest_route("/svc-json/x", None), None);
        assert_eq!(plain.rest_route("/index.php", Some("/x")).as_deref(), Some("/x"));
    }

    #[test]
    fn filters_change_prefix_and_address() {
        let mut site = site("http://a.b", "/%postname%/");
        site.hooks.rest_url_prefix.add(10, Arc::new(|_| "api".to_owned()));
        site.hooks.rest_url.add(10, Arc::new(|url, path, _| format!("{url}#{path}")));
        assert_eq!(site.rest_url("x"), "http://a.b/api/x#/x");
        assert_eq!(site.rest_route("/api/x", None).as_deref(), Some("/x"));
    }
}
