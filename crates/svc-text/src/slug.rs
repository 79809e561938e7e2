//! Slugs: the names of posts, terms and users in URLs.

use crate::{accents::remove_accents, names::remove_entities, tags::strip_tags};

/// Maximum length of a slug, in bytes. Percent-encoded characters are not split.
const MAX_SLUG: usize = 200;

/// Makes a slug from a title, in the locale `en_US`: `Café & Crème` becomes `cafe-creme`. May return an empty string.
///
/// Source: `sanitize_title`.
pub fn sanitize_title(title: &str) -> String {
    sanitize_title_for_locale(title, "en_US")
}

/// [`sanitize_title`] with the accents of another locale.
pub fn sanitize_title_for_locale(title: &str, locale: &str) -> String {
    sanitize_title_with_dashes(&remove_accents(title, locale), true)
}

/// Replacements of percent-encoded characters and of references that are made for saving.
#[rustfmt::skip]
const SAVE_REPLACEMENTS: &[(&str, &[&str])] = &[
    // No-break space, no-break hyphen, dashes.
    ("-", &["%c2%a0", "%e2%80%91", "%e2%80%93", "%e2%80%94", "&nbsp;", "&#160;", "&#8209;", "&ndash;", "&#8211;",
            "&mdash;", "&#8212;", "/"]),
    // Soft hyphen, inverted marks, angle and curly quotes, bullet, signs, ellipsis, standalone accents, invisible
    // marks.
    ("", &["%c2%ad", "%c2%a1", "%c2%bf", "%c2%ab", "%c2%bb", "%e2%80%b9", "%e2%80%ba", "%e2%80%98", "%e2%80%99",
           "%e2%80%9a", "%e2%80%9b", "%e2%80%9c", "%e2%80%9d", "%e2%80%9e", "%e2%80%9f", "%e2%80%a2", "%c2%a9",
           "%c2%ae", "%c2%b0", "%e2%80%a6", "%e2%84%a2", "%c2%b4", "%cb%8a", "%cc%80", "%cc%81", "%cc%84", "%cc%8c",
           "%cd%81", "%e2%80%8b", "%e2%80%8c", "%e2%80%8d", "%e2%80%8e", "%e2%80%8f", "%e2%80%aa", "%e2%80%ab",
           "%e2%80%ac", "%e2%80%ad", "%e2%80%ae", "%ef%bb%bf", "%ef%bf%bc"]),
    // Spaces of other widths, line and paragraph separators.
    ("-", &["%e2%80%80", "%e2%80%81", "%e2%80%82", "%e2%80%83", "%e2%80%84", "%e2%80%85", "%e2%80%86", "%e2%80%87",
            "%e2%80%88", "%e2%80%89", "%e2%80%8a", "%e2%80%a8", "%e2%80%a9", "%e2%80%af"]),
    ("x", &["%c3%97"]),
];

/// Lowercase letters, digits, `_` and single dashes; other characters are percent-encoded; at most 200 bytes.
///
/// `for_saving` also replaces typographic marks by dashes or removes them. Source: `sanitize_title_with_dashes`.
pub fn sanitize_title_with_dashes(title: &str, for_saving: bool) -> String {
    if is_slug(title) { title.to_owned() } else { with_dashes(title, for_saving) }
}

/// [`sanitize_title_with_dashes`] of any text.
fn with_dashes(title: &str, for_saving: bool) -> String {
    let bare = strip_tags(title);
    let lower: String = remove_lone_percent_signs(&bare).chars().flat_map(char::to_lowercase).collect();
    // The encoded text is short by now, so many passes over it are cheap.
    let mut slug = utf8_uri_encode(&lower, MAX_SLUG);
    if for_saving {
        for (by, forms) in SAVE_REPLACEMENTS {
            for form in *forms {
                if slug.contains(form) {
                    slug = slug.replace(form, by);
                }
            }
        }
    }
    let mut out = String::with_capacity(slug.len());
    for c in remove_entities(&slug).chars() {
        let c = if matches!(c, '.' | ' ') { '-' } else { c };
        match c {
            '-' if out.ends_with('-') => {}
            '%' | '_' | '-' | 'a'..='z' | '0'..='9' => out.push(c),
            _ => {}
        }
    }
    out.trim_matches('-').to_owned()
}

/// Whether a text is a slug that nothing changes: most texts are, such as the names of statuses.
fn is_slug(text: &str) -> bool {
    text.len() <= MAX_SLUG
        && text.bytes().all(|byte| matches!(byte, b'_' | b'-' | b'a'..=b'z' | b'0'..=b'9'))
        && !text.starts_with('-')
        && !text.ends_with('-')
        && !text.contains("--")
}

/// Removes every `%` that starts no escape.
///
/// WordPress temporarily writes escapes as two digits between three dashes, so such a sequence in a title becomes an
/// escape, also when it overlaps an escape written that way.
fn remove_lone_percent_signs(text: &str) -> String {
    let hidden = replace_around_hex(text, "%", "", "---", "---").replace('%', "");
    replace_around_hex(&hidden, "---", "---", "%", "")
}

/// Finds two hexadecimal digits between `before` and `after`, and replaces these delimiters by `open` and `close`,
/// from left to right.
fn replace_around_hex(text: &str, before: &str, after: &str, open: &str, close: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut copied, mut at) = (0, 0);
    while let Some(i) = text[at..].find(before) {
        let start = at + i;
        let digits = start + before.len();
        let fits = text.get(digits..digits + 2).is_some_and(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        if fits && text[digits + 2..].starts_with(after) {
            out.push_str(&text[copied..start]);
            out.push_str(open);
            out.push_str(&text[digits..digits + 2]);
            out.push_str(close);
            at = digits + 2 + after.len();
            copied = at;
        } else {
            at = start + 1;
        }
    }
    out.push_str(&text[copied..]);
    out
}

/// Percent-encodes non-ASCII characters in lowercase hexadecimal, and stops before the result exceeds `max` bytes (0:
/// no limit). Source: `utf8_uri_encode`.
pub fn utf8_uri_encode(text: &str, max: usize) -> String {
    encode_bytes(text.as_bytes(), max, false)
}

/// [`utf8_uri_encode`] for bytes; incomplete sequences are omitted.
fn encode_bytes(bytes: &[u8], max: usize, ascii_too: bool) -> String {
    use std::fmt::Write as _;
    let fits = |len: usize, more: usize| max == 0 || len + more <= max;
    let mut out = String::with_capacity(bytes.len());
    let mut sequence: Vec<u8> = Vec::with_capacity(4);
    let mut sequence_length = 1;
    for b in bytes {
        if *b < 0x80 {
            let plain = !ascii_too || b.is_ascii_alphanumeric() || b"-_.~".contains(b);
            if !fits(out.len(), if plain { 1 } else { 3 }) {
                break;
            }
            // Writing to a String cannot fail.
            let _ = if plain { write!(out, "{}", char::from(*b)) } else { write!(out, "%{b:02X}") };
            continue;
        }
        if sequence.is_empty() {
            sequence_length = match b {
                0..0xE0 => 2,
                0xE0..0xF0 => 3,
                _ => 4,
            };
        }
        sequence.push(*b);
        if !fits(out.len(), 3 * sequence_length) {
            break;
        }
        if sequence.len() == sequence_length {
            for b in sequence.drain(..) {
                let _ = write!(out, "%{b:02x}");
            }
        }
    }
    out
}

/// Truncates a slug to `max` bytes, to make room for a suffix. Percent-encoded characters are not split; trailing
/// dashes are removed.
///
/// Source: `_truncate_post_slug`, except that unencoded characters are not split.
pub fn truncate_post_slug(slug: &str, max: usize) -> String {
    let cut = truncate_post_slug_bytes(slug, max);
    let whole = match std::str::from_utf8(&cut) {
        Ok(all) => all.len(),
        Err(e) => e.valid_up_to(),
    };
    String::from_utf8_lossy(&cut[..whole]).trim_end_matches('-').to_owned()
}

/// [`truncate_post_slug`] with exactly the bytes of WordPress: unencoded characters may be split.
pub fn truncate_post_slug_bytes(slug: &str, max: usize) -> Vec<u8> {
    let mut out = if slug.len() <= max {
        slug.as_bytes().to_vec()
    } else {
        let decoded = url_decode(slug);
        if decoded == slug.as_bytes() {
            slug.as_bytes()[..max].to_vec()
        } else {
            encode_bytes(&decoded, max, true).into_bytes()
        }
    };
    while out.last() == Some(&b'-') {
        out.pop();
    }
    out
}

/// PHP's `urldecode`: decodes escapes, and `+` as a space.
pub(crate) fn url_decode(text: &str) -> Vec<u8> {
    percent_encoding::percent_decode_str(&text.replace('+', " ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles() {
        for (title, slug, with_dashes) in [
            ("Café & <b>Crème</b>", "cafe-creme", "caf%c3%a9-cr%c3%a8me"),
            ("a—b / c.d", "a-b-c-d", "a%e2%80%94b-c-d"),
            ("50% %41 ---42---", "50-%41-%42", "50-%41-%42"),
            ("---e9%41-", "%e941", "%e941"),
            ("&amp; &;x;y", "y", "y"),
            ("ΑΣ İ", "%ce%b1%cf%83-i", "%ce%b1%cf%83-i%cc%87"),
            ("2×4", "2x4", "2%c3%974"),
            ("  -_- ", "_", "_"),
        ] {
            assert_eq!(sanitize_title(title), slug, "{title}");
            assert_eq!(sanitize_title_with_dashes(title, false), with_dashes, "{title}");
        }
        assert_eq!(sanitize_title(&"日".repeat(100)).len(), 198);
    }

    #[test]
    fn slugs_are_unchanged() {
        const CHARACTERS: [&str; 5] = ["", "a", "9", "_", "-"];
        let longer = |texts: Vec<String>| -> Vec<String> {
            texts.iter().flat_map(|text| CHARACTERS.map(|character| format!("{text}{character}"))).collect()
        };
        let texts = (0..5).fold(vec![String::new()], |texts, _| longer(texts));
        assert!(texts.iter().any(|text| is_slug(text)) && texts.iter().any(|text| !is_slug(text)));
        for text in texts.iter().filter(|text| is_slug(text)) {
            assert_eq!([true, false].map(|for_saving| with_dashes(text, for_saving)), [text.as_str(); 2]);
        }
    }

    #[test]
    fn cuts() {
        assert_eq!(truncate_post_slug("abc-def", 4), "abc");
        assert_eq!(truncate_post_slug("%c3%a9%c3%a9", 7), "%c3%a9");
        assert_eq!(truncate_post_slug("ééé", 5), "éé");
        assert_eq!(truncate_post_slug_bytes("ééé", 5), b"\xC3\xA9\xC3\xA9\xC3");
        assert_eq!(utf8_uri_encode("aé", 6), "a");
    }
}
