//! Takes markup away: PHP's `strip_tags` without allowed tags, and the stricter form that drops scripts first.

use crate::trim::{collapse, trim};

/// Where the scanner of [`strip_tags`] stands.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Text,
    Tag,
    Instruction,
    Declaration,
    Comment,
}

/// Text without tags, comments, declarations and processing instructions, as PHP 8.2's `strip_tags` gives it.
///
/// `<` before white space is text; quotes hide `>` inside a tag; an unclosed tag swallows the rest; NUL is dropped.
pub fn strip_tags(text: &str) -> String {
    let bytes = text.as_bytes();
    // Only whole characters are kept or dropped: every decision is about ASCII, and other bytes follow the state.
    let mut out = Vec::with_capacity(bytes.len());
    let (mut state, mut quote, mut depth) = (State::Text, 0u8, 0usize);
    let (mut is_xml, mut parens, mut last) = (false, 0i64, 0u8);
    let before = |i: usize, n: usize| i.checked_sub(n).map_or(0, |j| bytes[j]);
    let word_before = |i: usize, word: &[u8]| i >= word.len() && bytes[i - word.len()..i].eq_ignore_ascii_case(word);
    for (i, &b) in bytes.iter().enumerate() {
        let space_next = bytes.get(i + 1).is_some_and(|n| matches!(n, b' ' | 9..=13));
        match (state, b) {
            (State::Text, 0) => {}
            (State::Text, b'<') if quote != 0 => {}
            (State::Text, b'<') if !space_next => {
                (state, last) = (State::Tag, b'<');
            }
            (State::Text, b'>') if depth > 0 => depth -= 1,
            (State::Text, b'>') if quote != 0 => {}
            (State::Text, b) => out.push(b),

            (State::Tag, b'<') if quote == 0 && !space_next => depth += 1,
            (State::Tag, b'>') if depth > 0 => depth -= 1,
            (State::Tag, b'>') if quote != 0 => {}
            (State::Tag, b'>') => {
                last = b'>';
                if !(is_xml && before(i, 1) == b'-') {
                    (state, quote, is_xml) = (State::Text, 0, false);
                }
            }
            (State::Tag, b'"' | b'\'') if i > 0 => toggle(&mut quote, b),
            (State::Tag, b'!') if before(i, 1) == b'<' => (state, last) = (State::Declaration, b),
            (State::Tag, b'?') if before(i, 1) == b'<' => (state, parens) = (State::Instruction, 0),

            (State::Instruction, b'(') if last != b'"' && last != b'\'' => (parens, last) = (parens + 1, b'('),
            (State::Instruction, b')') if last != b'"' && last != b'\'' => (parens, last) = (parens - 1, b')'),
            (State::Instruction | State::Declaration, b'>') if depth > 0 => depth -= 1,
            (State::Instruction | State::Declaration | State::Comment, b'>') if quote != 0 => {}
            (State::Instruction, b'>') if parens == 0 && last != b'"' && before(i, 1) == b'?' => {
                (state, quote) = (State::Text, 0);
            }
            (State::Instruction, b'"' | b'\'') if before(i, 1) != b'\\' => {
                if last == b {
                    last = 0;
                } else if last != b'\\' {
                    last = b;
                }
                toggle(&mut quote, b);
            }
            // The reference does not look so far back at the very beginning of a text.
            (State::Instruction, b'l' | b'L') if i > 4 && word_before(i, b"<?xm") => {
                (state, is_xml) = (State::Tag, true)
            }

            (State::Declaration, b'>') => (state, quote) = (State::Text, 0),
            (State::Declaration, b'"' | b'\'') if before(i, 1) != b'\\' => toggle(&mut quote, b),
            (State::Declaration, b'-') if before(i, 1) == b'-' && before(i, 2) == b'!' => state = State::Comment,
            (State::Declaration, b'e' | b'E') if word_before(i, b"<!doctyp") => state = State::Tag,

            (State::Comment, b'>') if before(i, 1) == b'-' && before(i, 2) == b'-' => {
                (state, quote) = (State::Text, 0);
            }
            _ => {}
        }
    }
    into_text(out)
}

fn toggle(quote: &mut u8, b: u8) {
    if *quote == 0 {
        *quote = b;
    } else if *quote == b {
        *quote = 0;
    }
}

/// The states change at ASCII bytes only, so what is kept is made of whole characters.
fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

/// Text without markup, the insides of `script` and `style` elements gone as well, trimmed.
///
/// With `remove_breaks`, runs of spaces, tabs and line ends become one space.
pub fn strip_all_tags(text: &str, remove_breaks: bool) -> String {
    let bare = strip_tags(&without_scripts(text));
    if remove_breaks {
        trim(&collapse(&bare, |c| matches!(c, '\r' | '\n' | '\t' | ' '), ' ')).to_owned()
    } else {
        trim(&bare).to_owned()
    }
}

/// Text without whole `<script…>…</script>` and `<style…>…</style>` stretches. An element without end stays.
fn without_scripts(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    let mut from = 0;
    // Once an end tag is not found, none is found further right: each kind is looked for in vain only once.
    let mut hopeless = [false; 2];
    while let Some(start) = find_byte(bytes, from, b'<') {
        from = start + 1;
        let kind = ["script", "style"].iter().position(|name| starts_with_ignore_case(&bytes[from..], name.as_bytes()));
        let Some(kind) = kind.filter(|k| !hopeless[*k]) else { continue };
        let Some(open_end) = find_byte(bytes, from, b'>') else { break };
        let close: &[u8] = [&b"</script>"[..], &b"</style>"[..]][kind];
        match find_ignore_case(bytes, open_end + 1, close) {
            Some(end) => {
                out.push_str(&text[kept..start]);
                kept = end + close.len();
                from = kept;
            }
            None => hopeless[kind] = true,
        }
    }
    out.push_str(&text[kept..]);
    out
}

pub(crate) fn find_byte(bytes: &[u8], from: usize, wanted: u8) -> Option<usize> {
    bytes[from..].iter().position(|b| *b == wanted).map(|i| from + i)
}

pub(crate) fn starts_with_ignore_case(bytes: &[u8], word: &[u8]) -> bool {
    bytes.len() >= word.len() && bytes[..word.len()].eq_ignore_ascii_case(word)
}

fn find_ignore_case(bytes: &[u8], from: usize, word: &[u8]) -> Option<usize> {
    let mut at = from;
    while let Some(i) = find_byte(bytes, at, word[0]) {
        if starts_with_ignore_case(&bytes[i..], word) {
            return Some(i);
        }
        at = i + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags() {
        for (text, expected) in [
            ("a<b>c</b>d", "acd"),
            ("1 < 2 > 0", "1 < 2 > 0"),
            ("<a title='>'>x", "x"),
            ("<!-- a > b --> c", " c"),
            ("<!-- it's --> c", " c"),
            ("<?php echo '>'; ?>z", "z"),
            ("<?xml version='1'?>z", "z"),
            ("a<?xml x>z", "az"),
            ("<?xml x>z", ""),
            ("é<i\0>ü", "éü"),
            ("a<b", "a"),
            ("<<b>>x", "x"),
        ] {
            assert_eq!(strip_tags(text), expected, "{text}");
        }
    }

    #[test]
    fn scripts_go_with_their_insides() {
        for (text, expected) in [
            ("a<script>b</script>c", "ac"),
            ("a<STYLE x>b</style>c", "ac"),
            ("a<script>b</style>c", "abc"),
            ("<script <script>x</script>y", "y"),
            (" a\n<br>b ", "a\nb"),
        ] {
            assert_eq!(strip_all_tags(text, false), expected, "{text}");
        }
        assert_eq!(strip_all_tags("a \r\n\t<br> b", true), "a b");
    }

    #[test]
    fn many_unclosed_scripts_stay_linear() {
        let text = "<script>".repeat(200_000);
        assert_eq!(strip_all_tags(&text, false), "");
    }
}
