//! Attributes of shortcodes: `a=1 b="2" 'c' d`.

use indexmap::IndexMap;

use crate::markup::{is_white, skip_white};

/// The attributes of a shortcode, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes {
    named: IndexMap<String, String>,
    positional: Vec<String>,
}

impl Attributes {
    /// Parses the text between a shortcode's name and its end. Names are lowercased; of several with the same name
    /// the last takes precedence.
    ///
    /// C escapes in values are decoded. A value with an unclosed tag becomes empty. Source: `shortcode_parse_atts`.
    pub fn parse(text: &str) -> Self {
        let text = no_break_spaces(text);
        let mut all = Attributes::default();
        let mut at = skip_white(&text, 0);
        while at < text.len() {
            let end = match pair(&text, at) {
                Some((name, value, end)) => {
                    all.named.insert(name.to_ascii_lowercase(), reject_unclosed_tag(unescape(value)));
                    end
                }
                None => {
                    let (value, end) = quoted(&text, at).unwrap_or_else(|| bare(&text, at));
                    all.positional.push(reject_unclosed_tag(unescape(value)));
                    end
                }
            };
            at = skip_white(&text, end);
        }
        all
    }

    /// The value of a named attribute.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.named.get(name).map(String::as_str)
    }

    /// A positional value by index.
    pub fn at(&self, index: usize) -> Option<&str> {
        self.positional.get(index).map(String::as_str)
    }

    /// Named attributes, in order.
    pub fn named(&self) -> impl Iterator<Item = (&str, &str)> {
        self.named.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether there are no attributes.
    pub fn is_empty(&self) -> bool {
        self.named.is_empty() && self.positional.is_empty()
    }
}

/// Replaces runs of no-break and zero-width spaces by blanks.
fn no_break_spaces(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for c in text.chars() {
        let is_space = matches!(c, '\u{a0}' | '\u{200b}');
        if !is_space {
            out.push(c);
        } else if !inside {
            out.push(' ');
        }
        inside = is_space;
    }
    out
}

/// `name=value`, quoted or not: name, value and end position.
fn pair(text: &str, at: usize) -> Option<(&str, &str, usize)> {
    let rest = &text[at..];
    let len = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')).count();
    let equals = skip_white(text, at + len);
    if len == 0 || !text[equals..].starts_with('=') {
        return None;
    }
    let start = skip_white(text, equals + 1);
    let (value, end) = match quoted(text, start) {
        Some(quoted) => quoted,
        None => {
            let (value, end) = bare(text, start);
            (!value.is_empty() && !value.contains(['"', '\''])).then_some((value, end))?
        }
    };
    Some((&rest[..len], value, end))
}

/// A quoted value that is followed by white space or the end.
fn quoted(text: &str, at: usize) -> Option<(&str, usize)> {
    let quote = text.as_bytes().get(at).filter(|b| matches!(b, b'"' | b'\''))?;
    let rest = &text[at + 1..];
    let len = rest.bytes().position(|b| b == *quote)?;
    let end = at + 1 + len + 1;
    text.as_bytes().get(end).is_none_or(|b| is_white(*b)).then_some((&rest[..len], end))
}

/// Text up to the next white space.
fn bare(text: &str, at: usize) -> (&str, usize) {
    let len = text[at..].bytes().position(is_white).unwrap_or(text.len() - at);
    (&text[at..at + len], at + len)
}

/// The value, or an empty string if it has a `<` without `>`.
fn reject_unclosed_tag(value: String) -> String {
    let mut rest = value.as_str();
    while let Some(open) = rest.find('<') {
        match rest[open..].find('>') {
            Some(close) => rest = &rest[open + close + 1..],
            None => return String::new(),
        }
    }
    value
}

/// Decodes C escapes: letters, octal and hexadecimal numbers. Source: PHP's `stripcslashes`.
fn unescape(value: &str) -> String {
    if !value.contains('\\') {
        return value.to_owned();
    }
    let bytes = value.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' || at + 1 == bytes.len() {
            out.push(bytes[at]);
            at += 1;
            continue;
        }
        let digits =
            |from: usize, max: usize, is: fn(&u8) -> bool| bytes[from..].iter().take(max).take_while(|b| is(b)).count();
        let number = |from: usize, len: usize, radix: u32| {
            std::str::from_utf8(&bytes[from..from + len]).ok().and_then(|n| u32::from_str_radix(n, radix).ok())
        };
        let (byte, len) = match bytes[at + 1] {
            b'n' => (b'\n', 2),
            b't' => (b'\t', 2),
            b'r' => (b'\r', 2),
            b'a' => (7, 2),
            b'v' => (0x0B, 2),
            b'b' => (8, 2),
            b'f' => (0x0C, 2),
            b'x' if digits(at + 2, 2, u8::is_ascii_hexdigit) > 0 => {
                let n = digits(at + 2, 2, u8::is_ascii_hexdigit);
                (number(at + 2, n, 16).unwrap_or(0) as u8, 2 + n)
            }
            b'0'..=b'7' => {
                let n = digits(at + 1, 3, |b| matches!(b, b'0'..=b'7'));
                // As in PHP, only the low byte is used.
                (number(at + 1, n, 8).unwrap_or(0) as u8, 1 + n)
            }
            other => (other, 2),
        };
        out.push(byte);
        at += len;
    }
    String::from_utf8(out).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes() {
        for (text, named, positional) in [
            (" a=1 B=\"2 3\" c='4'", &[("a", "1"), ("b", "2 3"), ("c", "4")][..], &[][..]),
            (" x \"y z\" 'q'", &[], &["x", "y z", "q"]),
            (" a = 1 a=2", &[("a", "2")], &[]),
            (" a=\"1\"b", &[], &["a=\"1\"b"]),
            (" a=", &[], &["a="]),
            (" a=\"<b\" c=\"<b>\"", &[("a", ""), ("c", "<b>")], &[]),
            (" a=x\\n\\x41\\101\\\\", &[("a", "x\nAA\\")], &[]),
            ("\u{a0}\u{200b}a=1", &[("a", "1")], &[]),
            (" a=\"", &[], &["a=\""]),
            ("", &[], &[]),
        ] {
            let all = Attributes::parse(text);
            assert_eq!(all.named().collect::<Vec<_>>(), named, "{text}");
            assert_eq!(all.positional, positional, "{text}");
        }
    }
}
