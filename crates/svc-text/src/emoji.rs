//! Encodes emoji as character references, for database columns that cannot store them.

use std::borrow::Cow;

/// Number of characters in the longest emoji: families and flags are sequences.
const LONGEST: usize = 10;

/// Replaces the characters of each emoji by hexadecimal references (`&#x1f389;`). All other text is unchanged,
/// including other characters outside the basic plane.
///
/// ```
/// assert_eq!(svc_text::encode_emoji("Done 🎉"), "Done &#x1f389;");
/// ```
pub fn encode_emoji(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return text.into();
    }
    let mut out = String::new();
    let (mut done, mut at) = (0, 0);
    while let Some(c) = text[at..].chars().next() {
        let length = if may_begin(c) { emoji_length(&text[at..]) } else { 0 };
        if length == 0 {
            at += c.len_utf8();
            continue;
        }
        out.push_str(&text[done..at]);
        for c in text[at..at + length].chars() {
            out.push_str(&format!("&#x{:x};", u32::from(c)));
        }
        at += length;
        done = at;
    }
    if done == 0 {
        return text.into();
    }
    out.push_str(&text[done..]);
    out.into()
}

/// The length in bytes of the emoji at the start of a text; 0 if there is none.
fn emoji_length(text: &str) -> usize {
    let ends: Vec<usize> = text.char_indices().take(LONGEST).map(|(at, c)| at + c.len_utf8()).collect();
    ends.into_iter().rev().find(|end| emojis::get(&text[..*end]).is_some()).unwrap_or(0)
}

/// Whether an emoji may start with this character; avoids lookups in other text. Keycap emoji, which start with a
/// digit, are in the basic plane and need no encoding.
fn may_begin(c: char) -> bool {
    matches!(u32::from(c), 0xA9 | 0xAE | 0x203C..=0x2BFF | 0x3030 | 0x303D | 0x3297 | 0x3299 | 0x1F000..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_emoji_are_encoded() {
        for (text, expected) in [
            ("", ""),
            ("Größe € “x” 日本語 й", "Größe € “x” 日本語 й"),
            ("a 🎉", "a &#x1f389;"),
            ("👩‍👩‍👧 --", "&#x1f469;&#x200d;&#x1f469;&#x200d;&#x1f467; --"),
            ("🇫🇷€", "&#x1f1eb;&#x1f1f7;€"),
            ("™ ❤️ ❤", "&#x2122; &#x2764;&#xfe0f; &#x2764;"),
            ("👍🏽!", "&#x1f44d;&#x1f3fd;!"),
            // Not an emoji, although outside the basic plane.
            ("𝒳", "𝒳"),
        ] {
            assert_eq!(encode_emoji(text), expected);
        }
    }
}
