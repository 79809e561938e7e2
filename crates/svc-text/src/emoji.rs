//! Emoji as references, for places that cannot hold their characters: columns of old databases.

use std::borrow::Cow;

/// Characters of the longest emoji: families and flags are sequences.
const LONGEST: usize = 10;

/// Writes the characters of each emoji as hexadecimal references (`&#x1f389;`). All other text stays, letters and signs
/// beyond the basic plane too.
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

/// Bytes of the emoji that a text begins with; 0 when it begins with none.
fn emoji_length(text: &str) -> usize {
    let ends: Vec<usize> = text.char_indices().take(LONGEST).map(|(at, c)| at + c.len_utf8()).collect();
    ends.into_iter().rev().find(|end| emojis::get(&text[..*end]).is_some()).unwrap_or(0)
}

/// Whether an emoji can begin with this character, so that other text costs nothing. Keycaps, which begin with a digit, are
/// in the basic plane.
fn may_begin(c: char) -> bool {
    matches!(u32::from(c), 0xA9 | 0xAE | 0x203C..=0x2BFF | 0x3030 | 0x303D | 0x3297 | 0x3299 | 0x1F000..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emoji_become_references_and_nothing_else_does() {
        for (text, expected) in [
            ("", ""),
            ("Größe € “x” 日本語 й", "Größe € “x” 日本語 й"),
            ("a 🎉", "a &#x1f389;"),
            ("👩‍👩‍👧 --", "&#x1f469;&#x200d;&#x1f469;&#x200d;&#x1f467; --"),
            ("🇫🇷€", "&#x1f1eb;&#x1f1f7;€"),
            ("™ ❤️ ❤", "&#x2122; &#x2764;&#xfe0f; &#x2764;"),
            ("👍🏽!", "&#x1f44d;&#x1f3fd;!"),
            // A letter of the second plane is no emoji.
            ("𝒳", "𝒳"),
        ] {
            assert_eq!(encode_emoji(text), expected);
        }
    }
}
