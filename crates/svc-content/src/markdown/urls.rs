//! The destinations of links and images.

use std::fmt::Write as _;

/// Schemes of links. Others may run code, or are of no use to who reads text.
const SCHEMES: [&str; 3] = ["http", "https", "mailto"];

/// A URL as the destination of a link in Markdown; `None` if it is empty or has another scheme.
///
/// Characters that are no part of a URL are percent-encoded, so that the destination ends where the URL does.
pub(super) fn destination(url: &str) -> Option<String> {
    // As browsers do: white space around a URL, and tabs and line breaks in it, are no part of it.
    let url = url.trim_matches(|c: char| c <= ' ').replace(['\t', '\n', '\r'], "");
    if url.is_empty() || !is_allowed(&url) {
        return None;
    }
    let mut out = String::with_capacity(url.len());
    for (at, c) in url.char_indices() {
        match c {
            '<' | '>' | '"' | '\\' | '`' | '|' | '{' | '}' | '^' => encode(c, &mut out),
            c if c.is_whitespace() || c.is_control() => encode(c, &mut out),
            '(' | ')' | '[' | ']' | '*' | '_' | '~' => out.extend(['\\', c]),
            '&' if is_reference(url.get(at + 1..).unwrap_or_default()) => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
    Some(out)
}

/// Whether a URL is relative or has an allowed scheme.
fn is_allowed(url: &str) -> bool {
    let before_path = url.split(['/', '?', '#']).next().unwrap_or_default();
    match before_path.split_once(':') {
        Some((scheme, _)) => SCHEMES.iter().any(|allowed| allowed.eq_ignore_ascii_case(scheme)),
        None => true,
    }
}

/// Whether Markdown may read the text after `&` as the rest of a character reference.
fn is_reference(text: &str) -> bool {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '#').unwrap_or(text.len());
    end > 0 && text.get(end..).is_some_and(|rest| rest.starts_with(';'))
}

fn encode(c: char, out: &mut String) {
    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
        // Writing to a String cannot fail.
        let _ = write!(out, "%{byte:02X}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations() {
        for (url, expected) in [
            ("https://example.org/a?b=1&c=2#d", Some("https://example.org/a?b=1&c=2#d")),
            (" HTTP://example.org/\n", Some("HTTP://example.org/")),
            ("mailto:a@example.org", Some("mailto:a@example.org")),
            ("/a/b", Some("/a/b")),
            ("//example.org/", Some("//example.org/")),
            ("#a", Some("#a")),
            ("a/b:c", Some("a/b:c")),
            ("/a(b)", Some("/a\\(b\\)")),
            ("/a b<c>\"d\"|e`f\\g", Some("/a%20b%3Cc%3E%22d%22%7Ce%60f%5Cg")),
            ("/?a&copy;b&#58;c&d", Some("/?a&amp;copy;b&amp;#58;c&d")),
            ("javascript&colon;alert(1)", Some("javascript&amp;colon;alert\\(1\\)")),
            ("/a\u{a0}b\u{2028}", Some("/a%C2%A0b%E2%80%A8")),
            ("", None),
            (" \t", None),
            ("javascript:alert(1)", None),
            ("java\nscript:alert(1)", None),
            ("\u{1}javascript:alert(1)", None),
            ("data:text/html,x", None),
            ("file:///etc/passwd", None),
            (":x", None),
        ] {
            assert_eq!(destination(url).as_deref(), expected, "{url}");
        }
    }
}
