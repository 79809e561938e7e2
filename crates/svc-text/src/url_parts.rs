//! Splits URLs into their components, like PHP's `parse_url`.

/// Components of a URL. A component that is present may be empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UrlParts {
    /// Scheme, without the colon.
    pub scheme: Option<String>,
    /// User name: the text before `@`, up to the first colon.
    pub user: Option<String>,
    /// Password: the text after that colon.
    pub pass: Option<String>,
    /// Host name or IP address; an IPv6 address in brackets.
    pub host: Option<String>,
    /// Port.
    pub port: Option<u16>,
    /// Path, with its leading slash if it has one.
    pub path: Option<String>,
    /// Query, without `?`.
    pub query: Option<String>,
    /// Fragment, without `#`.
    pub fragment: Option<String>,
}

/// The rest of a URL after its scheme.
enum AfterScheme<'a> {
    /// Starts with the path.
    Path(&'a str),
    /// Starts with the host.
    Host(&'a str),
}

/// Splits a URL. `None` if PHP's `parse_url` rejects it. Control characters become `_`.
pub fn parse_url(url: &str) -> Option<UrlParts> {
    let mut parts = UrlParts::default();
    let start = match url.find(':') {
        Some(0) => after_port(url, 0, &mut parts)?,
        Some(colon) => after_scheme(url, colon, &mut parts)?,
        None => after_slashes(url),
    };
    let rest = match start {
        AfterScheme::Path(rest) => rest,
        AfterScheme::Host(rest) => {
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            authority(&rest[..end], &mut parts)?;
            if end == rest.len() {
                return Some(parts);
            }
            &rest[end..]
        }
    };
    path(rest, &mut parts);
    Some(parts)
}

/// [`parse_url`], except that a URL that starts with `/` is always relative, so that its path or query may have
/// colons. Source: `wp_parse_url`.
pub fn parse_url_relative(url: &str) -> Option<UrlParts> {
    if url.starts_with("//") {
        let parts = parse_url(&format!("placeholder:{url}"))?;
        return Some(UrlParts { scheme: None, ..parts });
    }
    if url.starts_with('/') {
        let parts = parse_url(&format!("placeholder://placeholder{url}"))?;
        return Some(UrlParts { scheme: None, host: None, ..parts });
    }
    parse_url(url)
}

fn after_slashes(url: &str) -> AfterScheme<'_> {
    url.strip_prefix("//").map_or(AfterScheme::Path(url), AfterScheme::Host)
}

/// The first colon is not the first character: it ends a scheme, or a host before its port.
fn after_scheme<'a>(url: &'a str, colon: usize, parts: &mut UrlParts) -> Option<AfterScheme<'a>> {
    let (scheme, rest) = (&url[..colon], &url[colon + 1..]);
    if !scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'.' | b'-')) {
        let before_query = colon < url.find(['?', '#']).unwrap_or(url.len());
        return if !rest.is_empty() && before_query { after_port(url, colon, parts) } else { Some(after_slashes(url)) };
    }
    if rest.is_empty() {
        parts.scheme = Some(scheme.to_owned());
        // Only a scheme: as in PHP, there is no path.
        return Some(AfterScheme::Path(""));
    }
    if !rest.starts_with('/') {
        let digits = rest.bytes().take(6).take_while(u8::is_ascii_digit).count();
        if digits < 6 && (digits == rest.len() || rest.as_bytes()[digits] == b'/') {
            return after_port(url, colon, parts);
        }
        parts.scheme = Some(scheme.to_owned());
        return Some(AfterScheme::Path(rest));
    }
    parts.scheme = Some(scheme.to_owned());
    let Some(host) = rest.strip_prefix("//") else { return Some(AfterScheme::Path(rest)) };
    if scheme.eq_ignore_ascii_case("file") && host.starts_with('/') {
        // With a drive letter after the slashes, the path starts with the letter.
        let drive = host.as_bytes().get(2) == Some(&b':');
        return Some(AfterScheme::Path(if drive { &host[1..] } else { host }));
    }
    Some(AfterScheme::Host(host))
}

/// The first colon may precede a port: `host:80/…`.
fn after_port<'a>(url: &'a str, colon: usize, parts: &mut UrlParts) -> Option<AfterScheme<'a>> {
    let rest = &url[colon + 1..];
    let digits = rest.bytes().take(6).take_while(u8::is_ascii_digit).count();
    if (1..6).contains(&digits) && (digits == rest.len() || rest.as_bytes()[digits] == b'/') {
        parts.port = Some(rest[..digits].parse().ok()?);
        return Some(AfterScheme::Host(url.strip_prefix("//").unwrap_or(url)));
    }
    if rest.is_empty() {
        return None;
    }
    Some(after_slashes(url))
}

/// `user:pass@host:port`.
fn authority(text: &str, parts: &mut UrlParts) -> Option<()> {
    let host = match text.rsplit_once('@') {
        Some((userinfo, host)) => {
            match userinfo.split_once(':') {
                Some((user, pass)) => (parts.user, parts.pass) = (Some(printable(user)), Some(printable(pass))),
                None => parts.user = Some(printable(userinfo)),
            }
            host
        }
        None => text,
    };
    let host = if host.starts_with('[') && host.ends_with(']') {
        host
    } else {
        match host.rsplit_once(':') {
            Some((name, port)) => {
                // A port that was already parsed (`host:80/`) is not parsed again; port 0 does not count.
                if parts.port.unwrap_or(0) == 0 && !port.is_empty() {
                    parts.port = Some(leading_number(port)?);
                }
                name
            }
            None => host,
        }
    };
    if host.is_empty() {
        return None;
    }
    parts.host = Some(printable(host));
    Some(())
}

/// The leading number of a port, as `strtol` parses it. A port has at most five bytes.
fn leading_number(port: &str) -> Option<u16> {
    if port.len() > 5 {
        return None;
    }
    let text = port.trim_start_matches([' ', '\t', '\n', '\r', '\x0B', '\x0C']);
    let text = text.strip_prefix('+').unwrap_or(text);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text[..digits].parse().ok()
}

/// `path?query#fragment`.
fn path(rest: &str, parts: &mut UrlParts) {
    let (before, fragment) = rest.split_once('#').map_or((rest, None), |(b, f)| (b, Some(f)));
    let (path, query) = before.split_once('?').map_or((before, None), |(p, q)| (p, Some(q)));
    parts.fragment = fragment.map(printable);
    parts.query = query.map(printable);
    let only_scheme = rest.is_empty() && parts.scheme.is_some();
    if !only_scheme && (!path.is_empty() || rest.is_empty()) {
        parts.path = Some(printable(path));
    }
}

fn printable(part: &str) -> String {
    part.chars().map(|c| if c.is_ascii_control() { '_' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format_parts(url: &str) -> String {
        let Some(p) = parse_url(url) else { return "none".to_owned() };
        let part = |name: &str, v: &Option<String>| v.as_ref().map(|v| format!("{name}={v}"));
        [
            part("scheme", &p.scheme),
            part("host", &p.host),
            p.port.map(|n| format!("port={n}")),
            part("user", &p.user),
            part("pass", &p.pass),
            part("path", &p.path),
            part("query", &p.query),
            part("fragment", &p.fragment),
        ]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
    }

    #[test]
    fn parts() {
        for (url, expected) in [
            (
                "http://u:p@example.org:8080/a?b#c",
                "scheme=http host=example.org port=8080 user=u pass=p path=/a query=b fragment=c",
            ),
            ("//example.org/x:y", "host=example.org path=/x:y"),
            ("mailto:a@b.co", "scheme=mailto path=a@b.co"),
            ("example.org:80/x", "host=example.org port=80 path=/x"),
            ("http://[::1]:80/", "scheme=http host=[::1] port=80 path=/"),
            ("http:///x", "none"),
            ("http://a:99999/", "none"),
            ("", "path="),
            ("?x=:1", "query=x=:1"),
        ] {
            assert_eq!(format_parts(url), expected, "{url}");
        }
    }
}
