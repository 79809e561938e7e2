//! Removes markup: PHP's `strip_tags` without allowed tags, and a stricter form that also removes scripts.

use crate::trim::{collapse, trim};

/// State of the scanner in [`strip_tags`].
#[derive(Clone, Copy, PartialEq)]
enum TagState {
    Text,
    Tag,
    Instruction,
    Declaration,
    Comment,
}

/// Removes tags, comments, declarations and processing instructions, like PHP 8.2's `strip_tags`.
///
/// A `<` before white space is text; quotes hide `>` inside a tag; an unclosed tag removes the rest of the text; NUL
/// is removed.
pub fn strip_tags(text: &str) -> String {
    let bytes = text.as_bytes();
    // The state changes at ASCII bytes only, so characters are never split.
    let mut out = Vec::with_capacity(bytes.len());
    let (mut state, mut quote, mut depth) = (TagState::Text, 0u8, 0usize);
    let (mut is_xml, mut parens, mut last) = (false, 0i64, 0u8);
    let before = |i: usize, n: usize| i.checked_sub(n).map_or(0, |j| bytes[j]);
    let word_before = |i: usize, word: &[u8]| i >= word.len() && bytes[i - word.len()..i].eq_ignore_ascii_case(word);
    for (i, &b) in bytes.iter().enumerate() {
        let space_next = bytes.get(i + 1).is_some_and(|n| matches!(n, b' ' | 9..=13));
        match (state, b) {
            (TagState::Text, 0) => {}
            (TagState::Text, b'<') if quote != 0 => {}
            (TagState::Text, b'<') if !space_next => {
                (state, last) = (TagState::Tag, b'<');
            }
            (TagState::Text, b'>') if depth > 0 => depth -= 1,
            (TagState::Text, b'>') if quote != 0 => {}
            (TagState::Text, b) => out.push(b),

            (TagState::Tag, b'<') if quote == 0 && !space_next => depth += 1,
            (TagState::Tag, b'>') if depth > 0 => depth -= 1,
            (TagState::Tag, b'>') if quote != 0 => {}
            (TagState::Tag, b'>') => {
                last = b'>';
                if !(is_xml && before(i, 1) == b'-') {
                    (state, quote, is_xml) = (TagState::Text, 0, false);
                }
            }
            (TagState::Tag, b'"' | b'\'') if i > 0 => toggle(&mut quote, b),
            (TagState::Tag, b'!') if before(i, 1) == b'<' => (state, last) = (TagState::Declaration, b),
            (TagState::Tag, b'?') if before(i, 1) == b'<' => (state, parens) = (TagState::Instruction, 0),

            (TagState::Instruction, b'(') if last != b'"' && last != b'\'' => (parens, last) = (parens + 1, b'('),
            (TagState::Instruction, b')') if last != b'"' && last != b'\'' => (parens, last) = (parens - 1, b')'),
            (TagState::Instruction | TagState::Declaration, b'>') if depth > 0 => depth -= 1,
            (TagState::Instruction | TagState::Declaration | TagState::Comment, b'>') if quote != 0 => {}
            (TagState::Instruction, b'>') if parens == 0 && last != b'"' && before(i, 1) == b'?' => {
                (state, quote) = (TagState::Text, 0);
            }
            (TagState::Instruction, b'"' | b'\'') if before(i, 1) != b'\\' => {
                if last == b {
                    last = 0;
                } else if last != b'\\' {
                    last = b;
                }
                toggle(&mut quote, b);
            }
            // PHP does not look back this far at the start of a text.
            (TagState::Instruction, b'l' | b'L') if i > 4 && word_before(i, b"<?xm") => {
                (state, is_xml) = (TagState::Tag, true)
            }

            (TagState::Declaration, b'>') => (state, quote) = (TagState::Text, 0),
            (TagState::Declaration, b'"' | b'\'') if before(i, 1) != b'\\' => toggle(&mut quote, b),
            (TagState::Declaration, b'-') if before(i, 1) == b'-' && before(i, 2) == b'!' => state = TagState::Comment,
            (TagState::Declaration, b'e' | b'E') if word_before(i, b"<!doctyp") => state = TagState::Tag,

            (TagState::Comment, b'>') if before(i, 1) == b'-' && before(i, 2) == b'-' => {
                (state, quote) = (TagState::Text, 0);
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

/// The state changes at ASCII bytes only, so the output consists of whole characters.
fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

/// Removes markup, including the contents of `script` and `style` elements, and trims.
///
/// `remove_breaks` collapses runs of spaces, tabs and line breaks to single spaces.
pub fn strip_all_tags(text: &str, remove_breaks: bool) -> String {
    let bare = strip_tags(&strip_scripts(text));
    if remove_breaks {
        trim(&collapse(&bare, |c| matches!(c, '\r' | '\n' | '\t' | ' '), ' ')).to_owned()
    } else {
        trim(&bare).to_owned()
    }
}

/// Removes `<script…>…</script>` and `<style…>…</style>`. Unclosed elements are unchanged.
fn strip_scripts(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    let mut from = 0;
    // If an end tag is not found, there is none further right either: each is searched without success only once.
    let mut no_end_tag = [false; 2];
    while let Some(start) = find_byte(bytes, from, b'<') {
        from = start + 1;
        let kind = ["script", "style"].iter().position(|name| starts_with_ignore_case(&bytes[from..], name.as_bytes()));
        let Some(kind) = kind.filter(|k| !no_end_tag[*k]) else { continue };
        let Some(open_end) = find_byte(bytes, from, b'>') else { break };
        let close: &[u8] = [&b"</script>"[..], &b"</style>"[..]][kind];
        match find_ignore_case(bytes, open_end + 1, close) {
            Some(end) => {
                out.push_str(&text[copied..start]);
                copied = end + close.len();
                from = copied;
            }
            None => no_end_tag[kind] = true,
        }
    }
    out.push_str(&text[copied..]);
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
    fn scripts_are_removed_with_their_contents() {
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
