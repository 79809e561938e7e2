//! Sanitizes plain text: text fields and text areas.

use crate::{
    escape::esc_html,
    tags::{find_byte, strip_all_tags},
    trim::{collapse, remove_percent_triples, trim},
};

/// Sanitizes one line of plain text: removes tags and percent-encoded octets, collapses white space, and trims.
///
/// A `<` that starts no tag is escaped. Source: `sanitize_text_field`.
pub fn sanitize_text_field(text: &str) -> String {
    sanitize(text, false)
}

/// [`sanitize_text_field`] for text with several lines: line breaks and runs of spaces are unchanged. Source:
/// `sanitize_textarea_field`.
pub fn sanitize_textarea_field(text: &str) -> String {
    sanitize(text, true)
}

fn sanitize(text: &str, keep_lines: bool) -> String {
    let bare = if text.contains('<') {
        strip_all_tags(&escape_lone_less_than(text), false).replace("<\n", "&lt;\n")
    } else {
        text.to_owned()
    };
    let line = if keep_lines { bare } else { collapse(&bare, |c| matches!(c, '\r' | '\n' | '\t' | ' '), ' ') };
    let (clean, found) = remove_percent_triples(trim(&line), |x, y| x.is_ascii_hexdigit() && y.is_ascii_hexdigit());
    // Removed octets can leave runs of spaces, which are collapsed in both cases.
    if found { trim(&collapse(&clean, |c| c == ' ', ' ')).to_owned() } else { clean }
}

/// Escapes each `<` and the text after it, up to the next `<` or the end, if that text has no `>`. Source:
/// `wp_pre_kses_less_than`.
pub fn escape_lone_less_than(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(start) = find_byte(bytes, at, b'<') {
        out.push_str(&text[at..start]);
        let stop = bytes[start + 1..].iter().position(|b| matches!(b, b'<' | b'>')).map(|i| start + 1 + i);
        let end = stop.unwrap_or(bytes.len());
        if stop.is_some_and(|i| bytes[i] == b'>') {
            out.push_str(&text[start..=end]);
            at = end + 1;
        } else {
            out.push_str(&esc_html(&text[start..end]));
            at = end;
        }
    }
    out.push_str(&text[at..]);
    out
}

/// Collapses line breaks to single line feeds and spaces and tabs to single spaces, and trims. Source:
/// `normalize_whitespace`.
pub fn normalize_whitespace(text: &str) -> String {
    let lines = collapse(trim(text), |c| matches!(c, '\r' | '\n'), '\n');
    collapse(&lines, |c| matches!(c, ' ' | '\t'), ' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        for (text, line, area) in [
            ("", "", ""),
            ("a <b>c</b>\n d ", "a c d", "a c\n d"),
            ("1 < 2", "1 &lt; 2", "1 &lt; 2"),
            ("a < \"b\" <i>c</i>", "a &lt; &quot;b&quot; c", "a &lt; &quot;b&quot; c"),
            ("50%20 %%4141", "50", "50"),
            ("a %41  b", "a b", "a b"),
            ("a  b\tc", "a b c", "a  b\tc"),
            ("<\nx", "&lt; x", "&lt;\nx"),
        ] {
            assert_eq!(sanitize_text_field(text), line, "{text:?}");
            assert_eq!(sanitize_textarea_field(text), area, "{text:?}");
        }
    }

    #[test]
    fn white_space() {
        assert_eq!(normalize_whitespace(" a \t b\r\n\r\n c "), "a b\n c");
    }
}
