//! Sanitizes identifiers: keys, user names, CSS classes, MIME types, locales, colours, kebab case.

use std::sync::LazyLock;

use fancy_regex::Regex;

use crate::{
    accents::remove_accents,
    tags::strip_all_tags,
    trim::{collapse, trim},
};

fn retain_chars(text: &str, is_allowed: impl Fn(char) -> bool) -> String {
    text.chars().filter(|c| is_allowed(*c)).collect()
}

/// Lowercases a key and removes everything except ASCII letters, digits, `_` and `-`. Source: `sanitize_key`.
pub fn sanitize_key(key: &str) -> String {
    retain_chars(&key.to_ascii_lowercase(), |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// A CSS class name; `fallback`, sanitized, if nothing is left. Source: `sanitize_html_class`.
pub fn sanitize_html_class(class: &str, fallback: &str) -> String {
    let clean =
        |text: &str| retain_chars(&without_escapes(text), |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let class = clean(class);
    if class.is_empty() { clean(fallback) } else { class }
}

/// Removes characters that MIME types do not have. Source: `sanitize_mime_type`.
pub fn sanitize_mime_type(mime: &str) -> String {
    retain_chars(mime, |c| c.is_ascii_alphanumeric() || "-+*./".contains(c))
}

/// Removes characters that locale names do not have. Source: `sanitize_locale_name`.
pub fn sanitize_locale_name(locale: &str) -> String {
    retain_chars(locale, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// The colour, unchanged, if it is empty or `#` with 3 or 6 hexadecimal digits. Source: `sanitize_hex_color`.
pub fn sanitize_hex_color(color: &str) -> Option<&str> {
    let digits = |d: &str| matches!(d.len(), 3 | 6) && d.bytes().all(|b| b.is_ascii_hexdigit());
    (color.is_empty() || color.strip_prefix('#').is_some_and(digits)).then_some(color)
}

/// Removes tags, accents, percent escapes and character references from a user name; `strict` keeps only `A-Za-z0-9
/// _.-@`.
///
/// Source: `sanitize_user`.
pub fn sanitize_user(name: &str, strict: bool) -> String {
    let plain = remove_accents(&strip_all_tags(name, false), "en_US");
    let mut plain = remove_entities(&without_escapes(&plain));
    if strict {
        plain = retain_chars(&plain, |c| c.is_ascii_alphanumeric() || " _.-@".contains(c));
    }
    collapse(trim(&plain), is_pattern_space, ' ')
}

/// Whether a user name is unchanged by strict sanitizing. `0` is invalid, since PHP treats it as empty. Source:
/// `validate_username`.
pub fn validate_username(name: &str) -> bool {
    !matches!(name, "" | "0") && sanitize_user(name, true) == name
}

/// White space as matched by regular expressions: includes form feed, but not NUL.
pub(crate) fn is_pattern_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0B' | '\x0C')
}

/// Removes percent escapes in a single pass.
fn without_escapes(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let (mut copied, mut at) = (0, 0);
    while let Some(i) = text[at..].find('%') {
        let start = at + i;
        at = start + 1;
        if bytes.get(at..at + 2).is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit)) {
            out.push_str(&text[copied..start]);
            at += 2;
            copied = at;
        }
    }
    out.push_str(&text[copied..]);
    out
}

/// Removes `&`, the next `;` on the same line and the text between them, if any, whether or not that is a reference.
pub(crate) fn remove_entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let last = line.rfind(';').unwrap_or(0);
        let (mut copied, mut at) = (0, 0);
        while let Some(i) = line[at..].find('&') {
            let start = at + i;
            let inside = start + 1 + line[start + 1..].chars().next().map_or(0, char::len_utf8);
            // There is no semicolon left, so no part of the line is searched twice.
            if inside > last {
                break;
            }
            out.push_str(&line[copied..start]);
            at = line[inside..].find(';').map_or(line.len(), |i| inside + i + 1);
            copied = at;
        }
        out.push_str(&line[copied..]);
    }
    out
}

/// The words that lodash's `kebabCase` (MIT) finds; WordPress names style presets by it.
static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let upper = r"[A-Z\u{c0}-\u{d6}\u{d8}-\u{de}]";
    let lower = r"[a-z\u{df}-\u{f6}\u{f8}-\u{ff}]";
    let gap = r"[\u{00}-\u{2f}\u{3a}-\u{40}\u{5b}-\u{60}\u{7b}-\u{bf}\u{2000}-\u{206f}\s]";
    let misc = r"[^\u{00}-\u{bf}\u{2000}-\u{206f}\s\u{2700}-\u{27bf}A-Za-z\u{c0}-\u{d6}\u{d8}-\u{f6}\u{f8}-\u{ff}]";
    let (mixed_lower, mixed_upper) = (format!("(?:{lower}|{misc})"), format!("(?:{upper}|{misc})"));
    let pattern = [
        format!("{upper}?{lower}+(?={gap}|{upper}|$)"),
        format!("{mixed_upper}+(?={gap}|{upper}{mixed_lower}|$)"),
        format!("{upper}?{mixed_lower}+"),
        format!("{upper}+"),
        r"[0-9]*(?:1ST|2ND|3RD|(?![123])[0-9]TH)(?=\b|[a-z_])".to_owned(),
        r"[0-9]*(?:1st|2nd|3rd|(?![123])[0-9]th)(?=\b|[A-Z_])".to_owned(),
        "[0-9]+".to_owned(),
        r"[\u{2700}-\u{27bf}]".to_owned(),
    ]
    .join("|");
    Regex::new(&pattern).ok()
});

/// Maximum length of the text that [`kebab_case`] converts, in bytes. Names of presets are short.
const MAX_KEBAB: usize = 1024;

/// Joins words by dashes and lowercases ASCII letters: `white2nd_color` becomes `white-2nd-color`.
///
/// Only the first 1024 bytes are used. Source: `_wp_to_kebab_case`.
pub fn kebab_case(text: &str) -> String {
    let end = (0..=MAX_KEBAB.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    let bare = text[..end].replace('\'', "");
    let Some(words) = &*WORDS else { return bare };
    let words: Vec<String> =
        words.find_iter(&bare).map_while(Result::ok).map(|m| m.as_str().to_ascii_lowercase()).collect();
    words.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alphabets() {
        assert_eq!(sanitize_key("Foo Bar_é-9"), "foobar_-9");
        assert_eq!(sanitize_html_class("a%41 b", "x"), "ab");
        assert_eq!(sanitize_html_class("é", "f b"), "fb");
        assert_eq!(sanitize_mime_type("image/jp g;"), "image/jpg");
        assert_eq!(sanitize_locale_name("fr_FR/../"), "fr_FR");
        assert_eq!(sanitize_hex_color("#aBc"), Some("#aBc"));
        assert_eq!(sanitize_hex_color("#abc\n"), None);
    }

    #[test]
    fn users() {
        for (name, loose, strict) in [
            ("Jean <b>é</b>  %41&amp;x", "Jean e x", "Jean e x"),
            ("a!b@c.d", "a!b@c.d", "ab@c.d"),
            ("&;x;y&z", "y&z", "yz"),
            ("a&\nb;", "a& b;", "ab"),
        ] {
            assert_eq!(sanitize_user(name, false), loose, "{name}");
            let got = sanitize_user(name, true);
            assert_eq!(got, strict, "{name}");
        }
        assert!(validate_username("jean.e") && !validate_username("jean!") && !validate_username("0"));
    }

    #[test]
    fn words() {
        for (text, expected) in [
            ("white2nd", "white-2nd"),
            ("HTMLParser", "html-parser"),
            ("WHITEtoWHITE", "whit-eto-white"),
            ("1st2nd3RD", "1-st-2-nd-3rd"),
            ("it's 日本", "its-日本"),
            ("a×b x²y a’b", "a×b-x-y-a-b"),
        ] {
            assert_eq!(kebab_case(text), expected, "{text}");
        }
    }
}
