//! Types of settings, and their parsers.

use std::{net::IpAddr, str::FromStr, time::Duration};

use svc_login::WrongPassword;
use tracing_subscriber::{EnvFilter, filter::LevelFilter};

use super::suggest::did_you_mean;

/// Maximum width and height of images on demand, in pixels: that of the REST API.
const MAX_IMAGE_LENGTH: u32 = 4_096;

/// Maximum number of listed sizes.
const MAX_IMAGE_SIZES: usize = 64;

/// Whether the site is one on a developer's machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Environment {
    /// Application passwords are accepted without TLS.
    Local,
    /// Application passwords require TLS.
    Production,
}

impl FromStr for Environment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "local" => Ok(Environment::Local),
            "production" => Ok(Environment::Production),
            _ => Err("must be local or production".to_owned()),
        }
    }
}

/// Parses the response to a wrong application password.
///
/// # Errors
/// The text is not one of the values.
pub(super) fn wrong_password(text: &str) -> Result<WrongPassword, String> {
    match text {
        "error" => Ok(WrongPassword::Error),
        "anonymous" => Ok(WrongPassword::Anonymous),
        _ => Err("must be error or anonymous".to_owned()),
    }
}

/// Parses the URL of a page for previews. Its placeholders become parts of a path or query.
///
/// # Errors
/// It is no HTTP URL, or it has no place for the token.
pub(super) fn preview_url(text: &str) -> Result<String, String> {
    let filled = text.replace("{token}", "t").replace("{id}", "1").replace("{type}", "post");
    let is_http = text.starts_with("https://") || text.starts_with("http://");
    let host = text.split('/').nth(2).unwrap_or_default();
    if !is_http
        || host.is_empty()
        || host.contains('{')
        || filled.contains(['{', '}'])
        || filled.parse::<http::Uri>().is_err()
    {
        return Err("must be an http or https URL; {token}, {id} and {type} may be in its path and query".to_owned());
    }
    if !text.contains("{token}") {
        return Err("must contain {token}".to_owned());
    }
    Ok(text.to_owned())
}

impl Environment {
    /// The name in settings and in the REST API.
    pub fn name(self) -> &'static str {
        match self {
            Environment::Local => "local",
            Environment::Production => "production",
        }
    }
}

impl std::fmt::Display for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Log format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Human-readable lines.
    Text,
    /// One JSON object per line.
    Json,
}

impl FromStr for LogFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(LogFormat::Text),
            "json" => Ok(LogFormat::Json),
            _ => Err("must be text or json".to_owned()),
        }
    }
}

/// The URL of a site: scheme, host, port and path, without a trailing slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteUrl(String);

impl SiteUrl {
    /// The URL as text: `https://example.org/blog`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the scheme is `https`.
    pub fn is_tls(&self) -> bool {
        self.0.starts_with("https://")
    }

    /// The path: empty, or `/blog`.
    pub fn path(&self) -> &str {
        let after = self.0.find("://").map_or(0, |i| i + 3);
        self.0[after..].find('/').map_or("", |i| &self.0[after + i..])
    }

    /// Host and port, as in the `Host` header.
    pub fn authority(&self) -> &str {
        let after = self.0.find("://").map_or(0, |i| i + 3);
        self.0[after..].split('/').next().unwrap_or_default()
    }

    /// The host, without port and without the brackets of an IPv6 address.
    pub fn host(&self) -> &str {
        let authority = self.authority();
        match authority.strip_prefix('[') {
            Some(v6) => v6.split(']').next().unwrap_or_default(),
            None => authority.split(':').next().unwrap_or_default(),
        }
    }

    /// The port, if the URL has one.
    pub fn port(&self) -> Option<u16> {
        self.authority().rsplit_once(':')?.1.parse().ok()
    }

    /// Whether the host is this machine.
    pub fn is_loopback(&self) -> bool {
        let host = self.host();
        host == "localhost" || host.ends_with(".localhost") || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
    }
}

impl FromStr for SiteUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "must be a URL like https://example.org or http://127.0.0.1:8080/folder".to_owned();
        let url: http::Uri = text.parse().map_err(|_| wrong())?;
        let (scheme, authority) = (url.scheme_str().unwrap_or_default(), url.authority().ok_or_else(wrong)?);
        if !matches!(scheme, "http" | "https") || authority.as_str().contains('@') || authority.host().is_empty() {
            return Err(wrong());
        }
        if url.query().is_some() || text.contains(['#', '"', '<', '>', '\'', '\\']) {
            return Err(wrong());
        }
        Ok(SiteUrl(text.trim_end_matches('/').to_owned()))
    }
}

/// A comma-separated list.
pub(super) fn list<T: FromStr<Err = String>>(text: &str) -> Result<Vec<T>, String> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::parse).collect()
}

/// A comma-separated list of origins: scheme, host and port.
pub(super) fn origins(text: &str) -> Result<Vec<String>, String> {
    let all = texts(text)?;
    let is_origin =
        |origin: &String| origin.parse::<SiteUrl>().is_ok_and(|url| url.path().is_empty() && url.as_str() == origin);
    match all.iter().find(|origin| !is_origin(origin)) {
        Some(origin) => {
            Err(format!("must be a list of origins such as https://front.example, without a path: `{origin}`"))
        }
        None => Ok(all),
    }
}

/// A comma-separated list of headers. A part without a colon belongs to the value before it.
pub(super) fn headers(text: &str) -> Result<Vec<String>, String> {
    let mut all: Vec<String> = Vec::new();
    for part in text.split(',').filter(|part| !part.trim().is_empty()) {
        let is_header = part.split_once(':').is_some_and(|(name, _)| name.trim().parse::<http::HeaderName>().is_ok());
        match all.last_mut().filter(|_| !is_header) {
            Some(last) => last.push_str(&format!(",{part}")),
            None => all.push(part.trim().to_owned()),
        }
    }
    Ok(all)
}

/// The name of a header that says something about a response, but nothing about how to transfer or store it.
pub(super) fn header_name(text: &str) -> Result<http::HeaderName, String> {
    let name: http::HeaderName = text.parse().map_err(|_| "must be the name of a header".to_owned())?;
    let standard = ["cache-control", "content-", "set-cookie", "vary", "etag", "link", "location", "access-control-"];
    let is_standard = standard.iter().any(|start| name.as_str().starts_with(start));
    if is_standard { Err("must be the name of a header for tags, such as xkey".to_owned()) } else { Ok(name) }
}

/// A comma-separated list of texts.
pub(super) fn texts(text: &str) -> Result<Vec<String>, String> {
    Ok(text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect())
}

/// A comma-separated list of sizes of images: a width, or a width and a height with an `x` in between. The height is 0 without one.
pub(super) fn image_sizes(text: &str) -> Result<Vec<(u32, u32)>, String> {
    let length = |text: &str| text.parse::<u32>().ok().filter(|n| (1..=MAX_IMAGE_LENGTH).contains(n));
    let size = |part: String| {
        let size = match part.split_once('x') {
            Some((width, height)) => length(width).zip(length(height)),
            None => length(&part).map(|width| (width, 0)),
        };
        size.ok_or_else(|| {
            format!("must be a list of widths such as 640, and of sizes such as 1200x630, up to {MAX_IMAGE_LENGTH}: `{part}`")
        })
    };
    let sizes: Vec<_> = texts(text)?.into_iter().map(size).collect::<Result<_, _>>()?;
    if sizes.len() > MAX_IMAGE_SIZES {
        return Err(format!("must be at most {MAX_IMAGE_SIZES} sizes"));
    }
    Ok(sizes)
}

/// A size in bytes: a number, or one followed by KB, MB or GB (powers of 1024).
pub(super) fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let factor = match unit.trim().to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "K" | "KB" => 1 << 10,
        "M" | "MB" => 1 << 20,
        "G" | "GB" => 1 << 30,
        _ => 0_u64,
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|n| n.checked_mul(factor))
        .filter(|n| *n > 0)
        .ok_or_else(|| "must be a size such as 500KB, 64MB or 1GB".to_owned())
}

/// A time, such as `500ms` or `2s`, from a millisecond to an hour.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let (number, ms) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(number), _) => (number, 1),
        (None, Some(number)) => (number, 1_000),
        (None, None) => ("", 0),
    };
    let ms =
        number.trim().parse::<u64>().ok().and_then(|n| n.checked_mul(ms)).filter(|ms| (1..=3_600_000).contains(ms));
    ms.map(Duration::from_millis).ok_or_else(|| "must be a time such as 500ms or 2s".to_owned())
}

/// A time: a number followed by ms, s, m, h or d.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let milliseconds = match unit.trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => 0_u64,
    };
    let time = number.parse::<u64>().ok().and_then(|n| n.checked_mul(milliseconds)).filter(|n| *n > 0);
    time.map(Duration::from_millis).ok_or_else(|| "must be a time such as 500ms, 1s, 30m, 12h or 7d".to_owned())
}

/// A number from 1 to a million.
pub(super) fn count(text: &str) -> Result<u64, String> {
    text.parse()
        .ok()
        .filter(|n| (1..=1_000_000).contains(n))
        .ok_or_else(|| "must be a number from 1 to 1000000".to_owned())
}

/// A maximum number; `None` for `all`.
pub(super) fn all_or_count(text: &str) -> Result<Option<u64>, String> {
    match text {
        "all" => Ok(None),
        "0" => Ok(Some(0)),
        _ => count(text).map(Some).map_err(|_| "must be all, or a number from 0 to 1000000".to_owned()),
    }
}

/// A boolean.
pub(super) fn boolean(text: &str) -> Result<bool, String> {
    match text {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" | "" => Ok(false),
        _ => Err("must be true or false".to_owned()),
    }
}

/// A table prefix: letters, digits and underscores, since it becomes part of SQL statements.
pub(super) fn table_prefix(text: &str) -> Result<String, String> {
    let fits = text.len() <= 40 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if fits { Ok(text.to_owned()) } else { Err("must be at most 40 letters, digits and underscores".to_owned()) }
}

/// A socket address, a host name with a port, or a port of the loopback address.
pub(super) fn listen(text: &str) -> Result<String, String> {
    if text.parse::<u16>().is_ok() {
        return Ok(format!("127.0.0.1:{text}"));
    }
    let named = text.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    if named {
        Ok(text.to_owned())
    } else {
        Err("must be like 127.0.0.1:8080, [::1]:8080, localhost:0 or 8080".to_owned())
    }
}

/// A log filter: a level, or a list of levels of modules. A single unknown word would otherwise be a module name, which disables
/// all other lines.
pub(super) fn log_filter(text: &str) -> Result<String, String> {
    // The parser takes an empty text for a level.
    let is_level = |word: &str| !word.is_empty() && word.parse::<LevelFilter>().is_ok();
    let unknown = text.split(',').map(str::trim).find(|part| !part.contains(['=', '[', ':']) && !is_level(part));
    if let Some(part) = unknown {
        let levels = "must be error, warn, info, debug, trace or off, or a filter such as svc_http=debug,warn";
        let known = ["error", "warn", "info", "debug", "trace", "off"];
        return Err(format!("{levels}; `{part}` is neither{}", did_you_mean(part, known)));
    }
    EnvFilter::try_new(text).map(|_| text.to_owned()).map_err(|e| e.to_string())
}

/// The URL of a database with the password replaced by asterisks.
pub(super) fn without_password(url: &str) -> String {
    let Some(start) = url.find("://").map(|i| i + 3) else { return url.to_owned() };
    // The last `@`, so that a password that should have been encoded is hidden as well.
    let Some(end) = url.rfind('@').filter(|end| *end > start) else { return url.to_owned() };
    let user = url[start..end].split(':').next().unwrap_or_default();
    if user.len() == end - start { url.to_owned() } else { format!("{}{user}:***{}", &url[..start], &url[end..]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [("1", Some(1)), ("2KB", Some(2048)), ("64 MB", Some(64 << 20)), ("1g", Some(1 << 30))] {
            assert_eq!(size(text).ok(), bytes, "{text}");
        }
        for text in ["", "0", "MB", "-1", "1.5MB", "99999999999999GB", "5 apples"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_of_images() {
        assert_eq!(image_sizes("320, 1200x630,,4096x1"), Ok(vec![(320, 0), (1200, 630), (4096, 1)]));
        assert_eq!(image_sizes(""), Ok(Vec::new()));
        for text in ["0", "4097", "320x", "x320", "320x0", "320X200", "320*200", "-1", "1e2", "320 640", "320x200x1"] {
            assert!(image_sizes(text).unwrap_err().ends_with(&format!("`{text}`")), "{text}");
        }
        assert!(image_sizes(&"1,".repeat(65)).is_err() && image_sizes(&"1,".repeat(64)).is_ok());
    }

    #[test]
    fn durations() {
        for (text, seconds) in [("500ms", 0.5), ("1s", 1.0), ("30m", 1_800.0), ("12 h", 43_200.0), ("7d", 604_800.0)] {
            assert_eq!(duration(text).map(|time| time.as_secs_f64()), Ok(seconds), "{text}");
        }
        for text in ["", "1", "0s", "d", "1w", "1.5h", "99999999999999999d"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn site_addresses() {
        let url: SiteUrl = "https://[::1]:8443/blog/".parse().unwrap();
        assert_eq!((url.as_str(), url.path(), url.host()), ("https://[::1]:8443/blog", "/blog", "::1"));
        assert!(url.is_tls() && url.is_loopback());
        let url: SiteUrl = "http://example.org".parse().unwrap();
        assert_eq!((url.path(), url.host(), url.is_loopback()), ("", "example.org", false));
        for text in ["", "example.org", "ftp://x", "http://", "http://a?b", "http://u@h", "http://a\"b", "http://a#b"] {
            assert!(text.parse::<SiteUrl>().is_err(), "{text}");
        }
    }

    #[test]
    fn small_kinds() {
        assert!(count("0").is_err() && count("x").is_err() && count("12") == Ok(12));
        assert!(boolean("yes") == Ok(true) && boolean("0") == Ok(false) && boolean("maybe").is_err());
        assert!(table_prefix("my_1").is_ok() && table_prefix("a;b").is_err() && table_prefix("").is_ok());
        assert!(
            listen("[::1]:0").is_ok()
                && listen("8080") == Ok("127.0.0.1:8080".to_owned())
                && listen("80800").is_err()
                && listen(":80").is_err()
        );
    }

    #[test]
    fn log_filters() {
        for text in ["info", "WARN", "off", "svc_http=debug,warn", "svc_http::lanes", "[request{id=1}]=trace"] {
            assert_eq!(log_filter(text).as_deref(), Ok(text));
        }
        for text in ["bogus", "info,bogus", "svc_http=loud", ""] {
            assert!(log_filter(text).is_err(), "{text}");
        }
        assert!(log_filter("warning").unwrap_err().ends_with("`warning` is neither; did you mean `warn`?"));
    }

    #[test]
    fn only_the_password_of_a_database_is_hidden() {
        for (url, shown) in [
            ("mysql://me:p%40w@db:3306/site?tls=true", "mysql://me:***@db:3306/site?tls=true"),
            ("mysql://me:p/w@x@db/site", "mysql://me:***@db/site"),
            ("mysql://me@db/site", "mysql://me@db/site"),
            ("mysql://db:3306/site", "mysql://db:3306/site"),
            ("sqlite:/data/site.db", "sqlite:/data/site.db"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
