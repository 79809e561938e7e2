//! Sanitizes URLs for storing and escapes them for HTML.

use crate::{
    Html,
    entities::normalize_entities,
    protocol::{ALLOWED_PROTOCOLS, bad_protocol},
    slashes::untrailing_slash,
    tags::starts_with_ignore_case,
    trim::{remove_percent_triples, trim_start},
    url_parts::parse_url_relative,
};

/// Sanitizes a URL for storing and redirects. Empty if its scheme is not allowed.
///
/// `http://` is added to a URL without a scheme, unless it is relative. Source: `sanitize_url`.
pub fn sanitize_url(url: &str) -> String {
    sanitize_url_with(url, ALLOWED_PROTOCOLS)
}

/// [`sanitize_url`] with a list of allowed schemes. If `https` is the first of them, it is the scheme that is added.
pub fn sanitize_url_with(url: &str, protocols: &[&str]) -> String {
    sanitize(url, protocols, false)
}

/// Sanitizes a URL for an HTML attribute: as [`sanitize_url`], with ampersands and apostrophes as references.
///
/// Source: `esc_url`.
pub fn esc_url(url: &str) -> Html {
    esc_url_with(url, ALLOWED_PROTOCOLS)
}

/// [`esc_url`] with a list of allowed schemes.
pub fn esc_url_with(url: &str, protocols: &[&str]) -> Html {
    Html::escaped(sanitize(url, protocols, true))
}

fn is_url_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || !c.is_ascii() || "-~+_.?#=!&;,/:%@$|*'()[]".contains(c)
}

fn sanitize(url: &str, protocols: &[&str], for_html: bool) -> String {
    let mut url: String = trim_start(url).replace(' ', "%20").chars().filter(|c| is_url_char(*c)).collect();
    if url.is_empty() {
        return url;
    }
    if !starts_with_ignore_case(url.as_bytes(), b"mailto:") {
        url = without_line_ends(&url);
    }
    url = url.replace(";//", "://");
    if !url.contains(':') && !url.starts_with(['/', '#', '?']) && !begins_with_php_file(&url) {
        url.insert_str(0, if protocols.first() == Some(&"https") { "https://" } else { "http://" });
    }
    if for_html {
        url = normalize_entities(&url).replace("&amp;", "&#038;").replace('\'', "&#039;");
    }
    if url.contains(['[', ']']) {
        url = encode_brackets(&url);
    }
    if url.starts_with('/') {
        return url;
    }
    let sanitized = bad_protocol(&url, protocols);
    if sanitized.eq_ignore_ascii_case(&url) { sanitized } else { String::new() }
}

/// Removes encoded line breaks, including those that a removal creates.
pub(crate) fn without_line_ends(url: &str) -> String {
    remove_percent_triples(url, |x, y| x == b'0' && matches!(y, b'd' | b'a' | b'D' | b'A')).0
}

/// Whether the URL starts with `name.php`: a relative URL, which needs no scheme.
fn begins_with_php_file(url: &str) -> bool {
    let name = url.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'-').count();
    name > 0 && starts_with_ignore_case(&url.as_bytes()[name..], b".php")
}

/// Encodes square brackets after the host. In the host they mark an IPv6 address.
fn encode_brackets(url: &str) -> String {
    let mut front = String::new();
    let parts = parse_url_relative(url).unwrap_or_default();
    match &parts.scheme {
        Some(scheme) => front = format!("{scheme}://"),
        None if url.starts_with('/') => front.push_str("//"),
        None => {}
    }
    let (user, pass) = (&parts.user, &parts.pass);
    front.extend(user.as_deref());
    if let Some(pass) = pass {
        front.push(':');
        front.push_str(pass);
    }
    if user.is_some() || pass.is_some() {
        front.push('@');
    }
    front.extend(parts.host.as_deref());
    if let Some(port) = parts.port {
        front.push_str(&format!(":{port}"));
    }
    // As in WordPress, every occurrence of the front is removed, and every occurrence of the rest is replaced.
    let dirty = if front.is_empty() { url.to_owned() } else { url.replace(&front, "") };
    if dirty.is_empty() {
        return url.to_owned();
    }
    url.replace(&dirty, &dirty.replace('[', "%5B").replace(']', "%5D"))
}

/// Sanitizes a URL for a `Location` header: removes line breaks and invalid characters, and encodes spaces and
/// non-ASCII characters.
///
/// Source: `wp_sanitize_redirect`.
pub fn sanitize_redirect(location: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(location.len());
    for b in location.bytes() {
        if b == b' ' || !b.is_ascii() {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{b:02X}");
        } else if b.is_ascii_alphanumeric() || b"-~+_.?#=&;,/:%!*[]()@".contains(&b) {
            out.push(char::from(b));
        }
    }
    without_line_ends(&out)
}

/// Sanitizes a list of URLs separated by white space, to one URL per line. URLs other than `http` and `https` are
/// removed.
///
/// Source: `sanitize_trackback_urls`.
pub fn sanitize_trackback_urls(urls: &str) -> String {
    let http =
        |url: &&str| ["http://", "https://"].iter().any(|s| starts_with_ignore_case(url.as_bytes(), s.as_bytes()));
    let sanitized: Vec<String> = urls.split(['\r', '\n', '\t', ' ']).filter(http).map(sanitize_url).collect();
    sanitized.join("\n")
}

/// A URL as a label: without scheme and `www.`, truncated to `max` bytes with an ellipsis. Source: `url_shorten`.
pub fn url_shorten(url: &str, max: usize) -> String {
    let bare = url.replace("https://", "").replace("http://", "").replace("www.", "");
    let bare = untrailing_slash(&bare);
    if bare.len() <= max {
        return bare.to_owned();
    }
    let end = (0..=max.saturating_sub(3)).rev().find(|i| bare.is_char_boundary(*i)).unwrap_or(0);
    format!("{}&hellip;", &bare[..end])
}

/// The path, query and fragment of a URL: `http://example.org/a?b` becomes `/a?b`. Source: `wp_make_link_relative`.
pub fn make_link_relative(url: &str) -> &str {
    let scheme =
        [&b"http:"[..], b"https:"].iter().find(|s| starts_with_ignore_case(url.as_bytes(), s)).map_or(0, |s| s.len());
    match url[scheme..].strip_prefix("//") {
        Some(rest) if !rest.is_empty() && !rest.starts_with('/') => rest.find('/').map_or("", |i| &rest[i..]),
        _ => url,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        for (url, raw, html) in [
            ("", "", ""),
            (" example.org/a b", "http://example.org/a%20b", "http://example.org/a%20b"),
            ("/a?b&c='d'", "/a?b&c='d'", "/a?b&#038;c=&#039;d&#039;"),
            ("javascript:alert(1)", "", ""),
            ("http://[::1]/a[b]", "http://[::1]/a%5Bb%5D", "http://[::1]/a%5Bb%5D"),
            ("http://a/%0%0ddx\\<>\"", "http://a/x", "http://a/x"),
            ("mailto:a@b.co?body=x%0dy", "mailto:a@b.co?body=x%0dy", "mailto:a@b.co?body=x%0dy"),
            ("index.php?x[]=1", "index.php?x%5B%5D=1", "index.php?x%5B%5D=1"),
            ("http;//a", "http://a", "http://a"),
        ] {
            assert_eq!(sanitize_url(url), raw, "{url}");
            assert_eq!(esc_url(url), html, "{url}");
        }
        assert_eq!(sanitize_url_with("example.org", &["https"]), "https://example.org");
        assert_eq!(sanitize_url_with("ftp://example.org", &["https"]), "");
    }

    #[test]
    fn redirects() {
        assert_eq!(sanitize_redirect("/a b\r\nX: é'|%0%0d%0ad"), "/a%20bX:%20%C3%A9");
        assert_eq!(sanitize_redirect("http://[::1]/?a[]=1"), "http://[::1]/?a[]=1");
    }

    #[test]
    fn lists_labels_and_relative_urls() {
        assert_eq!(sanitize_trackback_urls(" http://a.b\r\nftp://c HTTPS://d "), "http://a.b\nhttps://d");
        assert_eq!(url_shorten("http://www.example.org/", 35), "example.org");
        assert_eq!(url_shorten(&"é".repeat(40), 35), format!("{}&hellip;", "é".repeat(16)));
        for (url, expected) in [("HTTPS://x.y/z", "/z"), ("//x.y", ""), ("http:///a", "http:///a"), ("/a", "/a")] {
            assert_eq!(make_link_relative(url), expected, "{url}");
        }
    }
}
