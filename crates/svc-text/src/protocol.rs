//! Which address schemes are allowed, and taking others away.

use crate::trim::trim;

/// Schemes that a stored address may have. Source: `wp_allowed_protocols`.
pub const ALLOWED_PROTOCOLS: &[&str] = &[
    "http", "https", "ftp", "ftps", "mailto", "news", "irc", "irc6", "ircs", "gopher", "nntp", "feed", "telnet", "mms",
    "rtsp", "sms", "svn", "tel", "fax", "xmpp", "webcal", "urn",
];

/// How often a scheme is taken away before the address is given up.
const MAX_ROUNDS: usize = 6;

/// The address without schemes that are not allowed; empty when there is no end of them.
///
/// A colon counts in its encoded forms too, and the scheme is judged without white space and in small letters, which is
/// also how it is written. Source: `wp_kses_bad_protocol`.
pub fn bad_protocol(address: &str, allowed: &[&str]) -> String {
    let mut now = remove_nulls(address);
    // The common case; what follows such a beginning can be no scheme.
    if ["http", "https"]
        .iter()
        .any(|s| allowed.contains(s) && now.strip_prefix(s).is_some_and(|r| r.starts_with("://")))
    {
        return now;
    }
    for _ in 0..MAX_ROUNDS {
        let next = without_scheme(&now, allowed, 1);
        if next == now {
            return next;
        }
        now = next;
    }
    String::new()
}

/// Text without control characters other than tab, line feed and carriage return, and without `\0`: zeros after
/// backslashes, both gone, as some read them as NUL. Source: `wp_kses_no_null`.
pub fn remove_nulls(text: &str) -> String {
    // Only whole ASCII characters are dropped.
    String::from_utf8(without_nulls(text.as_bytes())).unwrap_or_default()
}

/// Drops control characters, and backslashes before zeros, which some take for NUL.
fn without_nulls(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    // Where the run of backslashes began that `out` ends with.
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

/// One round; `feed:` may stand before another scheme, at most twice.
fn without_scheme(address: &str, allowed: &[&str], depth: u8) -> String {
    let address = close_colon_references(address);
    let Some((scheme, rest)) = split_at_colon(&address) else { return address };
    if scheme.contains("/?") {
        return address;
    }
    let rest = trim(rest);
    let scheme = judge(scheme, allowed);
    if scheme == "feed:" {
        if depth > 2 {
            return String::new();
        }
        let rest = without_scheme(rest, allowed, depth + 1);
        return if rest.is_empty() { rest } else { format!("{scheme}{rest}") };
    }
    format!("{scheme}{rest}")
}

/// Puts the semicolon to `&#58` and `&#x3a` that lack it.
fn close_colon_references(address: &str) -> String {
    let mut out = String::with_capacity(address.len());
    let mut at = 0;
    while let Some(i) = address[at..].find("&#") {
        let start = at + i;
        let (len, hex) = colon_reference(&address[start..]).unwrap_or((2, false));
        out.push_str(&address[at..start + len]);
        at = start + len;
        let next = address.as_bytes().get(at).copied();
        let goes_on = next.is_some_and(|b| b == b';' || b.is_ascii_digit() || (hex && b.is_ascii_hexdigit()));
        if len > 2 && !goes_on {
            out.push(';');
        }
    }
    out.push_str(&address[at..]);
    out
}

/// Length of `&#0*58` or `&#x0*3a` that the text begins with, without semicolon, and whether it is hexadecimal.
fn colon_reference(text: &str) -> Option<(usize, bool)> {
    let body = text.strip_prefix("&#")?;
    let hex = matches!(body.as_bytes().first(), Some(b'x' | b'X'));
    let digits = &body[usize::from(hex)..];
    let tail = digits.trim_start_matches('0');
    let wanted = if hex { "3a" } else { "58" };
    tail.get(..2).is_some_and(|d| d.eq_ignore_ascii_case(wanted)).then(|| (text.len() - tail.len() + 2, hex))
}

/// Splits at the first colon, plain or encoded.
fn split_at_colon(address: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    while let Some(i) = address[at..].find([':', '&']) {
        let start = at + i;
        let rest = &address[start..];
        let len = if rest.starts_with(':') {
            Some(1)
        } else if rest.get(..7).is_some_and(|r| r.eq_ignore_ascii_case("&colon;")) {
            Some(7)
        } else {
            colon_reference(rest).filter(|(len, _)| rest.as_bytes().get(*len) == Some(&b';')).map(|(len, _)| len + 1)
        };
        if let Some(len) = len {
            return Some((&address[..start], &rest[len..]));
        }
        at = start + 1;
    }
    None
}

/// The scheme with its colon, decoded and in small letters, when it is allowed; else nothing.
fn judge(scheme: &str, allowed: &[&str]) -> String {
    // A vertical tab counts as white space here too.
    let mut decoded = decode_numbers(scheme);
    decoded.retain(|b| !b.is_ascii_whitespace() && *b != 0x0B);
    let decoded = without_nulls(&decoded).to_ascii_lowercase();
    match allowed.iter().find(|a| a.as_bytes().eq_ignore_ascii_case(&decoded)) {
        Some(scheme) => format!("{}:", scheme.to_ascii_lowercase()),
        None => String::new(),
    }
}

/// Numeric references become the byte of their number's low eight bits, as PHP's `chr` gives it.
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
        for (address, expected) in [
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
            assert_eq!(bad_protocol(address, ALLOWED_PROTOCOLS), expected, "{address}");
        }
    }

    #[test]
    fn nulls() {
        assert_eq!(remove_nulls("a\0b\\\\00c\t\x0B\r\n\\1"), "abc\t\r\n\\1");
    }
}
