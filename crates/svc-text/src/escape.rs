//! Escapes for the places a text can stand in: HTML text and attributes, text areas.

use crate::entities::{is_entity_name, push_reference};

/// Text for HTML: `<`, `>` and both quotes escaped, `&` too unless it begins a valid reference.
///
/// Source: `esc_html`.
pub fn esc_html(text: &str) -> String {
    // `&apos;` is no entity of HTML 4.01, so its ampersand is escaped although it is a valid name elsewhere.
    special_chars(text, "&#039;", |name| name != "apos" && is_entity_name(name))
}

/// Text for the inside of a quoted HTML attribute. Source: `esc_attr`.
pub fn esc_attr(text: &str) -> String {
    esc_html(text)
}

pub(crate) fn special_chars(text: &str, apostrophe: &str, known: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(i) = text[at..].find(['&', '<', '>', '"', '\'']) {
        let start = at + i;
        out.push_str(&text[at..start]);
        at = start + 1;
        match text.as_bytes()[start] {
            b'<' => out.push_str("&lt;"),
            b'>' => out.push_str("&gt;"),
            b'"' => out.push_str("&quot;"),
            b'\'' => out.push_str(apostrophe),
            _ => at = start + push_reference(&mut out, &text[start..], &known),
        }
    }
    out.push_str(&text[at..]);
    out
}

/// Text for a text area: every `&` is escaped, references too, so that editing shows them as they are.
///
/// Source: `esc_textarea`.
pub fn esc_textarea(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#039;"),
            c => out.push(c),
        }
    }
    out
}
