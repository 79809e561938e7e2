//! Removes URL schemes that are not allowed.

use crate::trim::trim;

/// Schemes that stored URLs may have. Source: `wp_allowed_protocols`.
pub const ALLOWED_PROTOCOLS: &[&str] = &[
    "http", "https", "ftp", "ftps", "mailto", "news", "irc", "irc6", "ircs", "gopher", "nntp", "feed", "telnet", "mms",
    "rtsp", "sms", "svn", "tel", "fax", "xmpp", "webcal", "urn",
];

/// How many schemes are removed before the URL is rejected.
const MAX_ROUNDS: usize = 6;

/// Removes schemes that are not allowed from the start of a URL. Empty if the URL has too many of them.
///
/// Encoded colons also end a scheme. The scheme is compared, and returned, in lowercase and without white space.
/// Source: `wp_kses_bad_protocol`.
pub fn bad_protocol(url: &str, allowed: &[&str]) -> String {
    let mut url = remove_nulls(url);
    // The common case: no other scheme can follow.
    if ["http", "https"]
        .iter()
        .any(|s| allowed.contains(s) && url.strip_prefix(s).is_some_and(|r| r.starts_with("://")))
    {
        return url;
    }
    for _ in 0..MAX_ROUNDS {
        let next = without_scheme(&url, allowed, 1);
        if next == url {
            return next;
        }
        url = next;
    }
    String::new()
}

/// Removes control characters except tab, line feed and carriage return, and `\0` (backslashes followed by zeros),
/// which some software reads as NUL. Source: `wp_kses_no_null`.
pub fn remove_nulls(text: &str) -> String {
    // Only ASCII characters are removed, so the rest is valid UTF-8.
    String::from_utf8(without_nulls(text.as_bytes())).unwrap_or_default()
}

/// Removes control characters, and backslashes followed by zeros.
fn without_nulls(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    // The start of the run of backslashes at the end of `out`.
    let mut run: Option<usize> = None;
    let mut dropping = false;
    for b in bytes.iter().copied().filter(|b| !matches!(b, 0..=8 | 0x0B | 0x0C | 0x0E..=0x1F)) {
        if b == b'0' && dropping {
            continue;
        }
        dropping = false;
        match (b, run) {
            (b'0', Some(start)) => {
                out.truncate(start);
                (run, dropping) = (None, true);
                continue;
            }
            (b'\\', None) => run = Some(out.len()),
            (b'\\', Some(_)) => {}
            _ => run = None,
        }
        out.push(b);
    }
    out
}

/// Removes one scheme. `feed:` may precede another scheme, at most twice.
fn without_scheme(url: &str, allowed: &[&str], depth: u8) -> String {
    let url = close_colon_references(url);
    let Some((scheme, rest)) = split_at_colon(&url) else { return url };
    if scheme.contains("/?") {
        return url;
    }
    let rest = trim(rest);
    let scheme = allowed_scheme(scheme, allowed);
    if scheme == "feed:" {
        if depth > 2 {
            return String::new();
        }
        let rest = without_scheme(rest, allowed, depth + 1);
        return if rest.is_empty() { rest } else { format!("{scheme}{rest}") };
    }
    format!("{scheme}{rest}")
}

/// Adds the missing semicolon to `&#58` and `&#x3a`.
fn close_colon_references(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    let mut at = 0;
    while let Some(i) = url[at..].find("&#") {
        let start = at + i;
        let (len, hex) = colon_reference(&url[start..]).unwrap_or((2, false));
        out.push_str(&url[at..start + len]);
        at = start + len;
        let next = url.as_bytes().get(at).copied();
        let continues = next.is_some_and(|b| b == b';' || b.is_ascii_digit() || (hex && b.is_ascii_hexdigit()));
        if len > 2 && !continues {
            out.push(';');
        }
    }
    out.push_str(&url[at..]);
    out
}

/// The length of `&#0*58` or `&#x0*3a` at the start of the text, without the semicolon, and whether it is
/// hexadecimal.
fn colon_reference(text: &str) -> Option<(usize, bool)> {
    let body = text.strip_prefix("&#")?;
    let hex = matches!(body.as_bytes().first(), Some(b'x' | b'X'));
    let digits = &body[usize::from(hex)..];
    let tail = digits.trim_start_matches('0');
    let expected = if hex { "3a" } else { "58" };
    tail.get(..2).is_some_and(|d| d.eq_ignore_ascii_case(expected)).then(|| (text.len() - tail.len() + 2, hex))
}

/// Splits at the first colon, plain or encoded.
fn split_at_colon(url: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    while let Some(i) = url[at..].find([':', '&']) {
        let start = at + i;
        let rest = &url[start..];
        let len = if rest.starts_with(':') {
            Some(1)
        } else if rest.get(..7).is_some_and(|r| r.eq_ignore_ascii_case("&colon;")) {
            Some(7)
        } else {
            colon_reference(rest).filter(|(len, _)| rest.as_bytes().get(*len) == Some(&b';')).map(|(len, _)| len + 1)
        };
        if let Some(len) = len {
            return Some((&url[..start], &rest[len..]));
        }
        at = start + 1;
    }
    None
}

/// The decoded scheme in lowercase with its colon if it is allowed; empty otherwise.
fn allowed_scheme(scheme: &str, allowed: &[&str]) -> String {
    // Vertical tabs are white space here, too.
    let mut decoded = decode_numbers(scheme);
    decoded.retain(|b| !b.is_ascii_whitespace() && *b != 0x0B);
    let decoded = without_nulls(&decoded).to_ascii_lowercase();
    match allowed.iter().find(|a| a.as_bytes().eq_ignore_ascii_case(&decoded)) {
        Some(scheme) => format!("{}:", scheme.to_ascii_lowercase()),
        None => String::new(),
    }
}

/// Decodes numeric references to the low byte of their number, like PHP's `chr`.
fn decode_numbers(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(i) = text[at..].find("&#") {
        let start = at + i;
        out.extend_from_slice(&text.as_bytes()[at..start]);
        let body = &text[start + 2..];
        let hex = matches!(body.as_bytes().first(), Some(b'x' | b'X'));
        let digits = &body[usize::from(hex)..];
        let radix = if hex { 16 } else { 10 };
        let n = digits.bytes().take_while(|b| char::from(*b).is_digit(radix)).count();
        if n > 0 && digits.as_bytes().get(n) == Some(&b';') {
            let low = digits[..n]
                .chars()
                .fold(0u32, |sum, c| sum.wrapping_mul(radix).wrapping_add(c.to_digit(radix).unwrap_or(0)));
            out.push((low & 0xFF) as u8);
            at = start + 2 + usize::from(hex) + n + 1;
        } else {
            out.extend_from_slice(b"&#");
            at = start + 2;
        }
    }
    out.extend_from_slice(&text.as_bytes()[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes() {
        for (url, expected) in [
            ("http://example.org/", "http://example.org/"),
            ("HTTP://example.org/", "http://example.org/"),
            ("javascript:alert(1)", "alert(1)"),
            ("java\0script:alert(1)", "alert(1)"),
            ("javascript&#58;alert(1)", "alert(1)"),
            ("javascript&#0058alert(1)", "alert(1)"),
            ("javascript&#x3Aalert(1)", "javascript&#x3Aalert(1)"),
            ("javascript&#x3A alert(1)", "alert(1)"),
            ("&#104;ttp:x", "http:x"),
            ("http://a&#58b", "http://a&#58b"),
            ("HTTP://a&#58b", "http://a&#58;b"),
            ("java\\\\00script:x", "x"),
            ("a\\0\\b\\0", "a\\b"),
            ("feed:http:x", "feed:http:x"),
            ("a/?b:c", "a/?b:c"),
            ("a:b:c:d:e:f:g:h", ""),
        ] {
            assert_eq!(bad_protocol(url, ALLOWED_PROTOCOLS), expected, "{url}");
        }
    }

    #[test]
    fn nulls() {
        assert_eq!(remove_nulls("a\0b\\\\00c\t\x0B\r\n\\1"), "abc\t\r\n\\1");
    }
}
