//! Settings of a server in front of a running WordPress.

use std::{net::IpAddr, path::PathBuf, time::Duration};

use svc_brand::Brand;
use svc_bridge::RouteRule;
use svc_gateway::{SiteFolder, Upstream};

use super::{ConfigError, Reader, settings, values};

/// The WordPress behind this server, and how its responses are replayed.
#[derive(Clone, Debug)]
pub struct WordPress {
    /// Its web server or php-fpm.
    pub upstream: Upstream,
    /// Folder of `index.php`; `None` for that of `wp-config.php`. Only php-fpm needs it.
    pub root: Option<PathBuf>,
    /// Folders outside of the root with files of the site.
    pub folders: Vec<SiteFolder>,
    /// Whether pages, feeds and sitemaps are replayed to visitors as well.
    pub pages: bool,
    /// Time for which a response is replayed at most.
    pub max_age: Duration,
    /// Other times, by route.
    pub route_ages: Vec<(RouteRule, Duration)>,
    /// Routes whose responses are never replayed.
    pub php_routes: Vec<RouteRule>,
    /// Maximum size of all stored responses, in bytes.
    pub memory: u64,
    /// How many of a million replays are compared with a new rendering.
    pub checks: u32,
    /// Whether the connector is used if it is installed.
    pub connector: bool,
    /// Time limit for the head of a response, and between two parts of its body.
    pub timeout: Duration,
    /// Maximum number of requests that are forwarded at the same time.
    pub connections: usize,
}

/// A route with a time in seconds: `/acme/v1/weather=10`.
fn route_age(text: &str) -> Result<(RouteRule, Duration), String> {
    let wrong = || "must be a list of routes with seconds, such as /acme/v1/weather=10".to_owned();
    let (route, seconds) = text.rsplit_once('=').ok_or_else(wrong)?;
    let seconds: u64 = seconds.parse().ok().filter(|n| *n <= 86_400).ok_or_else(wrong)?;
    Ok((route.parse().map_err(|_: String| wrong())?, Duration::from_secs(seconds)))
}

fn route_ages(text: &str) -> Result<Vec<(RouteRule, Duration)>, String> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(route_age).collect()
}

/// The absolute path of a folder.
fn root(text: &str) -> Result<PathBuf, String> {
    let root = PathBuf::from(text);
    if root.is_absolute() { Ok(root) } else { Err("must be an absolute path like /var/www/site".to_owned()) }
}

fn folders(text: &str) -> Result<Vec<SiteFolder>, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| part.parse().map_err(|error: svc_gateway::InvalidFolder| error.to_string())).collect()
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
    // Their values are checked even without an upstream.
    let root = read.optional("wordpress.root", root)?;
    let folders = read.required("wordpress.files", folders)?;
    let pages = read.required("wordpress.pages", values::boolean)?;
    let max_age = read.required("wordpress.max_age_seconds", super::seconds)?;
    let route_ages = read.required("wordpress.route_ages", route_ages)?;
    let php_routes = read.required("wordpress.php_routes", values::list)?;
    let memory = read.required("wordpress.memory", values::size)?;
    let checks = read.required("wordpress.check_percent", percent)?;
    let connector = read.required("wordpress.connector", values::boolean)?;
    let timeout = read.required("wordpress.timeout_seconds", super::seconds)?;
    let connections = read.required("wordpress.connections", values::count)? as usize;
    Ok(upstream.map(|upstream| WordPress {
        upstream,
        root,
        folders,
        pages,
        max_age,
        route_ages,
        php_routes,
        memory,
        checks,
        connector,
        timeout,
        connections,
    }))
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
    fn ages_of_routes() {
        let (rule, age) = route_age("/a/v1=10").unwrap();
        assert!(rule.applies_to("/a/v1/x") && age == Duration::from_secs(10));
        for wrong in ["/a/v1", "/a/v1=x", "a=1", "/a=99999999"] {
            assert!(route_age(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn shares() {
        assert_eq!((percent("0"), percent("0.5"), percent("100")), (Ok(0), Ok(5_000), Ok(1_000_000)));
        assert!(percent("-1").is_err() && percent("101").is_err() && percent("NaN").is_err() && percent("x").is_err());
    }
}
