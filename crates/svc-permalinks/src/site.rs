//! The base URLs of a site: home, installation and API root, and the rules for their scheme.

use crate::{HookedUrl, Permalinks, PostTypeLinks, TaxonomyLinks, UrlHooks, UrlScheme};

/// The URLs of a site and all settings that shape them. Use one instance for plain HTTP requests and the one from
/// [`Self::over_tls`] for the others.
#[derive(Debug, Clone)]
pub struct SiteUrls {
    /// URL of the front page, without trailing slash.
    home: String,
    /// URL of the installation (login, administration), without trailing slash.
    site: String,
    /// URL prefix of the API, before filters.
    prefix: String,
    /// Whether all URLs have the scheme `https`.
    is_tls: bool,
    /// The permalink settings.
    pub permalinks: Permalinks,
    /// Id of the page that is shown as the front page, if any.
    pub front_page: Option<u64>,
    /// Taxonomies whose archives have URLs.
    pub taxonomies: Vec<TaxonomyLinks>,
    /// Post types other than posts, pages and attachments that have URLs of their own.
    pub post_types: Vec<PostTypeLinks>,
    /// Extension points.
    pub hooks: UrlHooks,
}

impl SiteUrls {
    /// A site at `home`, with its installation at `site` and the API below `prefix` (such as `svc-json`).
    pub fn new(home: &str, site: &str, prefix: &str, permalinks: Permalinks) -> Self {
        SiteUrls {
            home: svc_text::untrailing_slash(home).to_owned(),
            site: svc_text::untrailing_slash(site).to_owned(),
            prefix: prefix.to_owned(),
            is_tls: false,
            permalinks,
            front_page: None,
            taxonomies: vec![TaxonomyLinks::category(), TaxonomyLinks::post_tag(), TaxonomyLinks::post_format()],
            post_types: Vec::new(),
            hooks: UrlHooks::default(),
        }
    }

    /// The same site for requests over TLS: every URL has the scheme `https`.
    ///
    /// Also used for the administration area if TLS is enforced (specification, "Addressing" 3). Like WordPress, this
    /// depends only on whether the request uses TLS, not on its host name.
    #[must_use]
    pub fn over_tls(&self) -> Self {
        let (home, site) = (UrlScheme::Https.apply(&self.home), UrlScheme::Https.apply(&self.site));
        SiteUrls { home, site, is_tls: true, ..self.clone() }
    }

    /// A URL whose address comes from elsewhere, such as a file's, in the scheme of this site's requests: `https` over TLS, and
    /// unchanged otherwise. Source: `wp_get_attachment_url`.
    pub fn with_scheme(&self, url: &str) -> String {
        if self.is_tls { UrlScheme::Https.apply(url) } else { url.to_owned() }
    }

    /// A URL below the front page. An empty path returns the front page's URL without trailing slash. Source:
    /// `home_url`.
    pub fn home_url(&self, path: &str) -> String {
        self.home_url_with(path, UrlScheme::Site)
    }

    /// As [`Self::home_url`], with an explicit scheme.
    pub fn home_url_with(&self, path: &str, scheme: UrlScheme) -> String {
        join(&scheme.apply(&self.home), path)
    }

    /// A URL below the installation. Source: `site_url`.
    pub fn site_url(&self, path: &str) -> String {
        join(&self.site, path)
    }

    /// The path of the front page's URL, without leading and trailing slashes; empty for most sites.
    pub fn home_path(&self) -> &str {
        let rest = self.home.split_once("://").map_or(&*self.home, |(_, rest)| rest);
        rest.split_once('/').map_or("", |(_, path)| path.trim_matches('/'))
    }

    /// The API's URL prefix, after filters.
    pub fn rest_prefix(&self) -> String {
        self.hooks.rest_url_prefix.iter().fold(self.prefix.clone(), |prefix, f| f(prefix))
    }

    /// The URL of an API path, in the site's scheme. Source: `rest_url`.
    pub fn rest_url(&self, path: &str) -> String {
        self.rest_url_with(path, UrlScheme::Site)
    }

    /// The URL of an API path: a pretty path, one behind `index.php`, or a `rest_route` parameter (specification,
    /// "Addressing").
    ///
    /// The path may contain a query. It is not encoded. Source: `get_rest_url`.
    pub fn rest_url_with(&self, path: &str, scheme: UrlScheme) -> String {
        let path = format!("/{}", path.trim_start_matches('/'));
        let url = if self.permalinks.is_pretty() {
            let root = self.permalinks.root();
            self.home_url_with(&format!("{root}{}{path}", self.rest_prefix()), scheme)
        } else {
            let home = self.home_url_with("/", scheme);
            let index = if home.ends_with("index.php") { "" } else { "index.php" };
            format!("{home}{index}?rest_route={path}")
        };
        let parts = HookedUrl { path: &path, blog_id: 1, scheme };
        self.hooks.rest_url.iter().fold(url, |url, f| f(url, &parts))
    }

    /// The path of a request, relative to the front page, without leading slashes.
    pub(crate) fn strip_home<'a>(&self, path: &'a str) -> &'a str {
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

/// Decodes percent escapes and `+` for a space. Invalid UTF-8 becomes the replacement character.
pub(crate) fn decode(text: &str) -> String {
    let spaced = text.replace('+', " ");
    percent_encoding::percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}

fn join(base: &str, path: &str) -> String {
    if path.is_empty() { base.to_owned() } else { format!("{base}/{}", path.trim_start_matches('/')) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn site(home: &str, structure: &str) -> SiteUrls {
        SiteUrls::new(home, home, "svc-json", Permalinks::new(structure))
    }

    #[test]
    fn api_urls() {
        for (home, structure, path, scheme, expected) in [
            ("http://a.b", "/%postname%/", "", UrlScheme::Site, "http://a.b/svc-json/"),
            ("http://a.b", "/%postname%/", "//x/v1", UrlScheme::Https, "https://a.b/svc-json/x/v1"),
            ("http://a.b/sub/", "/%postname%/", "x?y", UrlScheme::Relative, "/sub/svc-json/x?y"),
            ("http://a.b", "/index.php/%postname%", "/x", UrlScheme::Site, "http://a.b/index.php/svc-json/x"),
            ("http://a.b", "", "x", UrlScheme::Site, "http://a.b/index.php?rest_route=/x"),
            ("http://a.b", "", "", UrlScheme::Relative, "/index.php?rest_route=/"),
        ] {
            assert_eq!(site(home, structure).rest_url_with(path, scheme), expected);
        }
        let plain = site("http://a.b", "");
        assert_eq!(plain.over_tls().home_url("x"), "https://a.b/x");
        assert_eq!(plain.with_scheme("http://c.d/x"), "http://c.d/x");
        assert_eq!(plain.over_tls().with_scheme("http://c.d/x"), "https://c.d/x");
    }

    #[test]
    fn filters_change_prefix_and_url() {
        let mut site = site("http://a.b", "/%postname%/");
        site.hooks.rest_url_prefix.add(10, Arc::new(|_| "api".to_owned()));
        site.hooks.rest_url.add(10, Arc::new(|url, parts| format!("{url}#{}@{}", parts.path, parts.blog_id)));
        assert_eq!(site.rest_url("x"), "http://a.b/api/x#/x@1");
    }
}
