//! Settings of a server in front of a running WordPress.

use std::{net::IpAddr, str::FromStr, time::Duration};

use svc_brand::Brand;
use svc_gateway::Upstream;

use super::{ConfigError, Reader, settings, values};

/// The web server of a WordPress behind this server, and the division of requests between both.
#[derive(Clone, Debug)]
pub struct WordPress {
    /// The web server.
    pub upstream: Upstream,
    /// Server that handles reads of visitors in the REST API. WordPress handles writes, and all requests with credentials.
    pub reads: Reads,
    /// Server that handles pages for visitors, feeds and files.
    pub pages: Side,
    /// Routes that WordPress always handles. They take precedence over `svc_routes`.
    pub php_routes: Vec<RouteRule>,
    /// Routes whose reads by visitors this server always handles, if it has them.
    pub svc_routes: Vec<RouteRule>,
    /// URLs to compare per route.
    pub samples: usize,
    /// How many of a million handled reads are compared with WordPress in the background.
    pub shadow: u32,
    /// Whether the connector is used if it is installed.
    pub connector: bool,
    /// Time limit for the head of a response, and between two parts of its body.
    pub timeout: Duration,
    /// Maximum number of requests that are forwarded at the same time.
    pub connections: usize,
}

/// Server that handles reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// This server where comparisons found no difference, WordPress otherwise.
    Proven,
    /// The same side for all routes.
    All(Side),
}

/// One of the two servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// WordPress.
    Php,
    /// This server.
    Svc,
}

impl FromStr for Side {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "php" => Ok(Side::Php),
            "svc" => Ok(Side::Svc),
            _ => Err("must be php or svc".to_owned()),
        }
    }
}

impl FromStr for Reads {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "proven" => Ok(Reads::Proven),
            _ => text.parse().map(Reads::All).map_err(|_: String| "must be proven, php or svc".to_owned()),
        }
    }
}

/// Routes of a rule: a path and everything below it, for one method or all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteRule {
    method: Option<http::Method>,
    path: String,
}

impl RouteRule {
    /// Whether the rule applies to a request. A rule for `GET` applies to `HEAD` as well.
    pub fn applies_to(&self, method: &http::Method, route: &str) -> bool {
        let method = if *method == http::Method::HEAD { &http::Method::GET } else { method };
        let below = route.strip_prefix(&self.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        below && self.method.as_ref().is_none_or(|own| own == method)
    }
}

impl FromStr for RouteRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "must be a list of routes such as /wp/v2/users or `GET /wp/v2/posts`".to_owned();
        let (method, path) = match text.split_once(' ') {
            Some((method, path)) => (Some(method.parse().map_err(|_| wrong())?), path.trim()),
            None => (None, text),
        };
        if !path.starts_with('/') || path.contains([' ', '?']) {
            return Err(wrong());
        }
        Ok(RouteRule { method, path: path.trim_end_matches('/').to_owned() })
    }
}

/// Reads the settings; `None` without an upstream. `listen` is the address of this server; `is_original` is true if the
/// brand is WordPress's.
///
/// # Errors
/// On an invalid value, a setting that has no effect, or an upstream that is this server.
pub(super) fn read(
    read: &mut Reader<'_>,
    listen: &str,
    has_wp_config: bool,
    is_original: bool,
) -> Result<Option<WordPress>, ConfigError> {
    let upstream = read.optional("wordpress.upstream", |text| {
        let upstream: Upstream = text.parse().map_err(|e: svc_gateway::InvalidUpstream| e.to_string())?;
        if is_self(&upstream, listen) {
            return Err(format!("is the address of this server ({listen})"));
        }
        if !is_original {
            return Err(format!("requires the brand `{}`, whose URLs WordPress has", Brand::original().word()));
        }
        if !has_wp_config {
            return Err("requires `wp_config`: both servers must use the same database and keys".to_owned());
        }
        Ok(upstream)
    })?;
    let given = settings::SETTINGS.iter().filter(|s| s.key.starts_with("wordpress."));
    let given = given.filter_map(|s| Some((s.key, read.layers.get(s.key)?))).next();
    if let (None, Some((key, given))) = (&upstream, given) {
        return Err(ConfigError::at(&given.origin, format!("`{key}` requires `wordpress.upstream`")));
    }
    let settings = WordPressSettings {
        reads: read.required("wordpress.reads", str::parse)?,
        pages: read.required("wordpress.pages", str::parse)?,
        php_routes: read.required("wordpress.php_routes", values::list)?,
        svc_routes: read.required("wordpress.svc_routes", values::list)?,
        samples: read.required("wordpress.samples", samples)?,
        shadow: read.required("wordpress.shadow_percent", percent)?,
        connector: read.required("wordpress.connector", values::boolean)?,
        timeout: read.required("wordpress.timeout_seconds", super::seconds)?,
        connections: read.required("wordpress.connections", values::count)? as usize,
    };
    Ok(upstream.map(|upstream| WordPress {
        upstream,
        reads: settings.reads,
        pages: settings.pages,
        php_routes: settings.php_routes,
        svc_routes: settings.svc_routes,
        samples: settings.samples,
        shadow: settings.shadow,
        connector: settings.connector,
        timeout: settings.timeout,
        connections: settings.connections,
    }))
}

/// The parsed settings, which have defaults even without an upstream.
struct WordPressSettings {
    reads: Reads,
    pages: Side,
    php_routes: Vec<RouteRule>,
    svc_routes: Vec<RouteRule>,
    samples: usize,
    shadow: u32,
    connector: bool,
    timeout: Duration,
    connections: usize,
}

fn samples(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| (1..=100).contains(n)).ok_or_else(|| "must be a number from 1 to 100".to_owned())
}

/// A percentage, in parts of a million.
fn percent(text: &str) -> Result<u32, String> {
    let percent: Option<f64> = text.parse().ok().filter(|n| (0.0..=100.0).contains(n));
    percent.map(|n| (n * 10_000.0).round() as u32).ok_or_else(|| "must be a number from 0 to 100".to_owned())
}

/// Whether a server that listens at `listen` is the upstream.
fn is_self(upstream: &Upstream, listen: &str) -> bool {
    let Some((host, port)) = listen.rsplit_once(':') else { return false };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let ip = |host: &str| match host {
        "localhost" => Some(IpAddr::from([127, 0, 0, 1])),
        _ => host.parse::<IpAddr>().ok(),
    };
    let is_same_host = match (ip(host), ip(upstream.host())) {
        (Some(own), Some(other)) => {
            own == other || own.is_unspecified() && other.is_loopback() || other.is_unspecified()
        }
        _ => host.eq_ignore_ascii_case(upstream.host()),
    };
    port.parse() == Ok(upstream.port()) && is_same_host
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upstream_that_is_this_server() {
        for (upstream, listen, same) in [
            ("http://127.0.0.1:8080", "127.0.0.1:8080", true),
            ("http://localhost:8080", "127.0.0.1:8080", true),
            ("http://127.0.0.1:8080", "0.0.0.0:8080", true),
            ("http://[::1]:8080", "[::]:8080", true),
            ("http://0.0.0.0:8080", "127.0.0.1:8080", true),
            ("http://127.0.0.1:8081", "127.0.0.1:8080", false),
            ("http://127.0.0.2:8080", "127.0.0.1:8080", false),
            ("http://php:8080", "0.0.0.0:8080", false),
            ("http://php", "PHP:80", true),
        ] {
            assert_eq!(is_self(&upstream.parse().unwrap(), listen), same, "{upstream} {listen}");
        }
    }

    #[test]
    fn rules_apply_to_routes_below_a_path() {
        for (rule, method, route, applies) in [
            ("/wp/v2/posts", "GET", "/wp/v2/posts", true),
            ("/wp/v2/posts/", "POST", "/wp/v2/posts/5", true),
            ("/wp/v2/posts", "GET", "/wp/v2/posts-x", false),
            ("GET /wp/v2", "HEAD", "/wp/v2/posts", true),
            ("GET /wp/v2", "POST", "/wp/v2/posts", false),
        ] {
            let rule: RouteRule = rule.parse().unwrap();
            assert_eq!(rule.applies_to(&method.parse().unwrap(), route), applies, "{rule:?} {method} {route}");
        }
        for wrong in ["posts", "GET posts", "G{T /a", "/a?b"] {
            assert!(wrong.parse::<RouteRule>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn shares() {
        assert_eq!((percent("0"), percent("0.5"), percent("100")), (Ok(0), Ok(5_000), Ok(1_000_000)));
        assert!(percent("-1").is_err() && percent("101").is_err() && percent("NaN").is_err() && percent("x").is_err());
    }
}
