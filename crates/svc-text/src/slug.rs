//! Slugs: names of posts, terms and users in addresses.

use crate::{accents::remove_accents, names::remove_entities, tags::strip_tags};

/// Longest slug, in bytes. A percent-encoded character is not cut.
const MAX_SLUG: usize = 200;

/// A slug out of a title, in the locale `en_US`: `Café & Crème` gives `cafe-creme`. May be empty.
///
/// Source: `sanitize_title`.
pub fn sanitize_title(title: &str) -> String {
    sanitize_title_in(title, "en_US")
}

/// As [`sanitize_title`], accents written as in the site's locale.
pub fn sanitize_title_in(title: &str, locale: &str) -> String {
    sanitize_title_with_dashes(&remove_accents(title, locale), true)
}

/// What saving makes of characters, in their percent-encoded forms, and of some references.
#[rustfmt::skip]
const ON_SAVE: &[(&str, &[&str])] = &[
    // No-break space, no-break hyphen, dashes.
    ("-", &["%c2%a0", "%e2%80%91", "%e2%80%93", "%e2%80%94", "&nbsp;", "&#160;", "&#8209;", "&ndash;", "&#8211;",
            "&mdash;", "&#8212;", "/"]),
    // Soft hyphen, inverted marks, angle and curly quotes, bullet, signs, ellipsis, accents that stand alone, marks that
    // cannot be seen.
    ("", &["%c2%ad", "%c2%a1", "%c2%bf", "%c2%ab", "%c2%bb", "%e2%80%b9", "%e2%80%ba", "%e2%80%98", "%e2%80%99",
           "%e2%80%9a", "%e2%80%9b", "%e2%80%9c", "%e2%80%9d", "%e2%80%9e", "%e2%80%9f", "%e2%80%a2", "%c2%a9",
           "%c2%ae", "%c2%b0", "%e2%80%a6", "%e2%84%a2", "%c2%b4", "%cb%8a", "%cc%80", "%cc%81", "%cc%84", "%cc%8c",
           "%cd%81", "%e2%80%8b", "%e2%80%8c", "%e2%80%8d", "%e2%80%8e", "%e2%80%8f", "%e2%80%aa", "%e2%80%ab",
           "%e2%80%ac", "%e2%80%ad", "%e2%80%ae", "%ef%bb%bf", "%ef%bf%bc"]),
    // Spaces of other widths, line and paragraph ends.
    ("-", &["%e2%80%80", "%e2%80%81", "%e2%80%82", "%e2%80%83", "%e2%80%84", "%e2%80%85", "%e2%80%86", "%e2%80%87",
            "%e2%80%88", "%e2%80%89", "%e2%80%8a", "%e2%80%a8", "%e2%80%a9", "%e2%80%af"]),
    ("x", &["%c3%97"]),
];

/// Small letters, digits, `_` and single dashes; other characters percent-encoded; at most 200 bytes.
///
/// `for_saving` also turns typographic marks into dashes or nothing. Source: `sanitize_title_with_dashes`.
pub fn sanitize_title_with_dashes(title: &str, for_saving: bool) -> String {
    let bare = strip_tags(title);
    let lower: String = only_whole_escapes(&bare).chars().flat_map(char::to_lowercase).collect();
    // To be changed on saving the encoded text is short by then, so many passes over it cost little.
    let mut slug = utf8_uri_encode(&lower, MAX_SLUG);
    if for_saving {
        for (by, forms) in ON_SAVE {
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

/// Drops every `%` that begins no escape.
///
/// The reference hides escapes as two digits between three dashes meanwhile, so dashes in a title that look so become an
/// escape, also those of which the hidden form makes a part.
fn only_whole_escapes(text: &str) -> String {
    let hidden = replace_around_hex(text, "%", "", "---", "---").replace('%', "");
    replace_around_hex(&hidden, "---", "---", "%", "")
}

/// Two hexadecimal digits between `before` and `after` get `open` and `close` in their place, from left to right.
fn replace_around_hex(text: &str, before: &str, after: &str, open: &str, close: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut kept, mut at) = (0, 0);
    while let Some(i) = text[at..].find(before) {
        let start = at + i;
        let digits = start + before.len();
        let fits = text.get(digits..digits + 2).is_some_and(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        if fits && text[digits + 2..].starts_with(after) {
            out.push_str(&text[kept..start]);
            out.push_str(open);
            out.push_str(&text[digits..digits + 2]);
            out.push_str(close);
            at = digits + 2 + after.len();
            kept = at;
        } else {
            at = start + 1;
        }
    }
    out.push_str(&text[kept..]);
    out
}

/// Percent-encodes what is not ASCII, in small letters, and stops before the result gets longer than `max` bytes (0: no
/// limit). Source: `utf8_uri_encode`.
pub fn utf8_uri_encode(text: &str, max: usize) -> String {
    encode_bytes(text.as_bytes(), max, false)
}

/// As [`utf8_uri_encode`] over bytes; a sequence that ends too early gives nothing.
fn encode_bytes(bytes: &[u8], max: usize, ascii_too: bool) -> String {
    use std::fmt::Write as _;
    let fits = |len: usize, more: usize| max == 0 || len + more <= max;
    let mut out = String::with_capacity(bytes.len());
    let mut sequence: Vec<u8> = Vec::with_capacity(4);
    let mut wanted = 1;
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
            wanted = match b {
                0..0xE0 => 2,
                0xE0..0xF0 => 3,
                _ => 4,
            };
        }
        sequence.push(*b);
        if !fits(out.len(), 3 * wanted) {
            break;
        }
        if sequence.len() == wanted {
            for b in sequence.drain(..) {
                let _ = write!(out, "%{b:02x}");
            }
        }
    }
    out
}

/// A slug cut to `max` bytes, so that a suffix finds room; percent-encoded characters stay whole, dashes at the end go.
///
/// Source: `_truncate_post_slug`, but a raw character is not cut in two.
pub fn truncate_post_slug(slug: &str, max: usize) -> String {
    let cut = truncate_post_slug_bytes(slug, max);
    let whole = match std::str::from_utf8(&cut) {
        Ok(all) => all.len(),
        Err(e) => e.valid_up_to(),
    };
    String::from_utf8_lossy(&cut[..whole]).trim_end_matches('-').to_owned()
}

/// As [`truncate_post_slug`], byte for byte as the reference: raw characters may be cut in two.
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

/// PHP's `urldecode`: escapes, and `+` for a space.
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
    fn cuts() {
        assert_eq!(truncate_post_slug("abc-def", 4), "abc");
        assert_eq!(truncate_post_slug("%c3%a9%c3%a9", 7), "%c3%a9");
        assert_eq!(truncate_post_slug("ééé", 5), "éé");
        assert_eq!(truncate_post_slug_bytes("ééé", 5), b"\xC3\xA9\xC3\xA9\xC3");
        assert_eq!(utf8_uri_encode("aé", 6), "a");
    }
}
