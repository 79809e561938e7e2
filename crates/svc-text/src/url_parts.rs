//! An address in its parts, cut where PHP's `parse_url` cuts.

/// Parts of an address; a part that is present may be empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UrlParts {
    /// Without colon.
    pub scheme: Option<String>,
    /// Before `@`, up to the first colon.
    pub user: Option<String>,
    /// After that colon.
    pub pass: Option<String>,
    /// Name or address; an IPv6 address in its brackets.
    pub host: Option<String>,
    /// Decimal.
    pub port: Option<u16>,
    /// With leading slash when there is one.
    pub path: Option<String>,
    /// After `?`.
    pub query: Option<String>,
    /// After `#`.
    pub fragment: Option<String>,
}

/// What the text before the first colon proved to be.
enum Start<'a> {
    /// Nothing before the path.
    Path(&'a str),
    /// Host, path and so on.
    Host(&'a str),
}

/// Cuts an address; `None` where PHP's `parse_url` says it is none. Control characters become `_`.
pub fn parse_url(url: &str) -> Option<UrlParts> {
    let mut parts = UrlParts::default();
    let start = match url.find(':') {
        Some(0) => after_port(url, 0, &mut parts)?,
        Some(colon) => after_scheme(url, colon, &mut parts)?,
        None => after_slashes(url),
    };
    let rest = match start {
        Start::Path(rest) => rest,
        Start::Host(rest) => {
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

/// As [`parse_url`], but an address that begins with `/` is always read as relative, so that colons in its path or
/// query do no harm. Source: `wp_parse_url`.
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

fn after_slashes(url: &str) -> Start<'_> {
    url.strip_prefix("//").map_or(Start::Path(url), Start::Host)
}

/// The first colon is not the first character: a scheme, or a host and its port.
fn after_scheme<'a>(url: &'a str, colon: usize, parts: &mut UrlParts) -> Option<Start<'a>> {
    let (scheme, rest) = (&url[..colon], &url[colon + 1..]);
    if !scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'.' | b'-')) {
        let before_query = colon < url.find(['?', '#']).unwrap_or(url.len());
        return if !rest.is_empty() && before_query { after_port(url, colon, parts) } else { Some(after_slashes(url)) };
    }
    if rest.is_empty() {
        parts.scheme = Some(scheme.to_owned());
        // Only a scheme: PHP gives no path either.
        return Some(Start::Path(""));
    }
    if !rest.starts_with('/') {
        let digits = rest.bytes().take(6).take_while(u8::is_ascii_digit).count();
        if digits < 6 && (digits == rest.len() || rest.as_bytes()[digits] == b'/') {
            return after_port(url, colon, parts);
        }
        parts.scheme = Some(scheme.to_owned());
        return Some(Start::Path(rest));
    }
    parts.scheme = Some(scheme.to_owned());
    let Some(host) = rest.strip_prefix("//") else { return Some(Start::Path(rest)) };
    if scheme.eq_ignore_ascii_case("file") && host.starts_with('/') {
        // A drive letter after the slashes: the path begins with the letter.
        let drive = host.as_bytes().get(2) == Some(&b':');
        return Some(Start::Path(if drive { &host[1..] } else { host }));
    }
    Some(Start::Host(host))
}

/// The first colon may be that of a port: `host:80/…`.
fn after_port<'a>(url: &'a str, colon: usize, parts: &mut UrlParts) -> Option<Start<'a>> {
    let rest = &url[colon + 1..];
    let digits = rest.bytes().take(6).take_while(u8::is_ascii_digit).count();
    if (1..6).contains(&digits) && (digits == rest.len() || rest.as_bytes()[digits] == b'/') {
        parts.port = Some(rest[..digits].parse().ok()?);
        return Some(Start::Host(url.strip_prefix("//").unwrap_or(url)));
    }
    if rest.is_empty() {
        return None;
    }
    Some(after_slashes(url))
}

/// `user:pass@host:port`.
fn authority(text: &str, parts: &mut UrlParts) -> Option<()> {
    let host = match text.rsplit_once('@') {
        Some((login, host)) => {
            match login.split_once(':') {
                Some((user, pass)) => (parts.user, parts.pass) = (Some(printable(user)), Some(printable(pass))),
                None => parts.user = Some(printable(login)),
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
                // A port found before (`host:80/`) is not read again; 0 counts as none.
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

/// The number a port begins with, as `strtol` reads it; at most five bytes are a port.
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

    fn shown(url: &str) -> String {
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
            assert_eq!(shown(url), expected, "{url}");
        }
    }
}
