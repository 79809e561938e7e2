//! What is stored, and for how long.

use std::{str::FromStr, time::Duration};

use http::{Method, request::Parts};
use percent_encoding::percent_decode_str;
use svc_routing::RouteUrls;

/// Settings of a bridge.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The URLs of WordPress's REST API: the path of the site's home, and the prefix `wp-json`.
    pub urls: RouteUrls,
    /// Whether pages, feeds and sitemaps for visitors are stored as well.
    pub pages: bool,
    /// Time for which a response is stored at most: the bound for what cannot be seen, such as clocks and files.
    pub age: Duration,
    /// Other times, by route.
    pub ages: Vec<(RouteRule, Duration)>,
    /// Routes whose responses are never stored.
    pub never: Vec<RouteRule>,
    /// Maximum size of all stored responses, in bytes.
    pub memory: u64,
    /// How many of a million replays are compared with a new rendering.
    pub checks: u32,
    /// Maximum size of a stored body, in bytes.
    pub max_body: usize,
}

/// Routes of a rule: a path of the REST API and everything below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteRule(String);

impl RouteRule {
    /// Whether the rule applies to a route, encoded or not: some web servers decode the path for PHP. As WordPress does, this ignores case, and a line feed at
    /// the end.
    pub fn applies_to(&self, route: &str) -> bool {
        let route = percent_decode_str(route).decode_utf8_lossy().to_lowercase();
        let rest = route.trim_end_matches('\n').strip_prefix(&*self.0);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl FromStr for RouteRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.starts_with('/') || text.contains([' ', '?']) {
            return Err("must be a list of routes such as /wp/v2/users".to_owned());
        }
        Ok(RouteRule(text.trim_end_matches('/').to_lowercase()))
    }
}

/// What a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A route of the REST API.
    Api(String),
    /// A page, a feed or a sitemap.
    Page,
    /// Scripts of PHP other than the front page's, the administration area, files.
    Other,
}

impl Settings {
    /// What a request asks for.
    pub(crate) fn target(&self, parts: &Parts) -> Target {
        let query = parts.uri.query().unwrap_or_default();
        if let Some(route) = self.urls.route(parts.uri.path(), query) {
            return Target::Api(route);
        }
        // Web servers decode the path to find a file.
        let path = percent_decode_str(parts.uri.path()).decode_utf8_lossy();
        let Some(below) = path.strip_prefix(self.urls.site_path()) else { return Target::Other };
        let is_script = below.contains("/wp-admin") || below.ends_with(".php") && !below.ends_with("/index.php");
        let is_file = below.rsplit('/').next().is_some_and(|name| name.contains('.') && !name.ends_with(".xml"));
        if is_script || is_file || query.contains("rest_route") { Target::Other } else { Target::Page }
    }

    /// Why responses to such a request are never stored.
    pub(crate) fn refuses(&self, target: &Target) -> Option<&'static str> {
        match target {
            Target::Api(route) if self.never.iter().any(|rule| rule.applies_to(route)) => Some("configured"),
            Target::Api(_) => None,
            Target::Page if self.pages => None,
            Target::Page | Target::Other => Some("not the REST API"),
        }
    }

    /// The time for which a response is stored at most.
    pub(crate) fn age(&self, target: &Target) -> Duration {
        let Target::Api(route) = target else { return self.age };
        self.ages.iter().find(|(rule, _)| rule.applies_to(route)).map_or(self.age, |(_, age)| *age)
    }

    /// Whether the method is one whose responses are stored.
    pub(crate) fn is_read(method: &Method) -> bool {
        matches!(*method, Method::GET | Method::HEAD)
    }
}

#[cfg(test)]
pub(crate) fn for_tests() -> Settings {
    Settings {
        urls: RouteUrls::new("", "wp-json"),
        pages: false,
        age: Duration::from_secs(60),
        ages: Vec::new(),
        never: Vec::new(),
        memory: 1 << 20,
        checks: 0,
        max_body: 1 << 16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets() {
        let at = |home: &str| Settings { urls: RouteUrls::new(home, "wp-json"), ..for_tests() };
        for (home, target, expected) in [
            ("", "/wp-json", Target::Api("/".to_owned())),
            ("", "/wp-json/wp/v2/posts?x", Target::Api("/wp/v2/posts".to_owned())),
            ("", "/index.php/wp-json/a", Target::Api("/a".to_owned())),
            ("/blog", "/blog/wp-json/a", Target::Api("/a".to_owned())),
            ("/blog", "/wp-json/a", Target::Other),
            ("", "/?rest_route=%2Fwp%2Fv2", Target::Api("/wp/v2".to_owned())),
            ("", "/?rest%5Froute=/a", Target::Api("/a".to_owned())),
            ("", "/?rest_route=/a&rest_route=/b", Target::Api("/b".to_owned())),
            ("", "/?rest_route[]=/a", Target::Other),
            ("", "/wp-json/x%20y/", Target::Api("/x%20y".to_owned())),
            ("", "/wp%2Djson/x%20y", Target::Api("/x y".to_owned())),
            ("", "/wp-jsonp", Target::Page),
            ("", "/hello/", Target::Page),
            ("", "/sitemap.xml", Target::Page),
            ("", "/wp-admin/", Target::Other),
            ("", "/wp-login.php", Target::Other),
            ("", "/wp%2Dlogin%2Ephp", Target::Other),
            ("", "/wp-content/a.css", Target::Other),
        ] {
            let parts = http::Request::get(target).body(()).unwrap().into_parts().0;
            assert_eq!(at(home).target(&parts), expected, "{home} {target}");
        }
    }

    #[test]
    fn rules() {
        let rule: RouteRule = "/wp/v2/posts/".parse().unwrap();
        assert!(
            rule.applies_to("/wp/v2/posts")
                && rule.applies_to("/wp/v2/p%6Fsts/5")
                && rule.applies_to("/WP/v2/Posts%0A")
                && !rule.applies_to("/wp/v2/posts-x")
        );
        assert!("posts".parse::<RouteRule>().is_err() && "/a?b".parse::<RouteRule>().is_err());
        let mut settings = for_tests();
        settings.ages.push((rule.clone(), Duration::from_secs(5)));
        settings.never.push("/wp/v2/users".parse().unwrap());
        let api = |route: &str| Target::Api(route.to_owned());
        assert_eq!(settings.age(&api("/wp/v2/posts/1")), Duration::from_secs(5));
        assert_eq!(settings.age(&api("/wp/v2/pages")), Duration::from_secs(60));
        assert_eq!(settings.refuses(&api("/wp/v2/users/1")), Some("configured"));
        assert!(settings.refuses(&Target::Page).is_some() && settings.refuses(&api("/")).is_none());
    }
}
