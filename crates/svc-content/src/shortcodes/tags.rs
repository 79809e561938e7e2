//! Brackets inside HTML tags and comments, which must not be taken for shortcodes of the text.

use crate::markup::{Kind, html_split};

const OPEN: &str = "&#91;";
const CLOSE: &str = "&#93;";

/// Writes the brackets in tags and comments as references.
///
/// `run` is asked about shortcodes in tags outside quoted values; it may give the text to put there. In quoted values they
/// stay as they are: what they make could end the value.
pub(super) fn hide_brackets(text: &str, run: impl Fn(&str) -> Option<String>) -> String {
    // What an author wrote as a reference must stay one.
    let text = text.replace(OPEN, "&#091;").replace(CLOSE, "&#093;");
    let mut out = String::with_capacity(text.len());
    for (kind, part) in html_split(&text) {
        if kind == Kind::Text || !part.contains(['[', ']']) {
            out.push_str(part);
            continue;
        }
        let both = part.contains('[') && part.contains(']');
        if kind != Kind::Tag || !both {
            hide(part, &mut out);
            continue;
        }
        for (quoted, stretch) in quoted_parts(part) {
            match if quoted { None } else { run(stretch) } {
                Some(made) => hide(&made, &mut out),
                None => hide(stretch, &mut out),
            }
        }
    }
    out
}

/// Turns the references of [`hide_brackets`] back.
pub(super) fn show_brackets(text: String) -> String {
    if text.contains("&#9") { text.replace(OPEN, "[").replace(CLOSE, "]") } else { text }
}

fn hide(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '[' => out.push_str(OPEN),
            ']' => out.push_str(CLOSE),
            c => out.push(c),
        }
    }
}

/// A tag in stretches outside and inside quotes; the quotes belong to the inside.
fn quoted_parts(tag: &str) -> impl Iterator<Item = (bool, &str)> {
    let mut rest = tag;
    std::iter::from_fn(move || {
        let first = rest.bytes().next()?;
        let quote = matches!(first, b'"' | b'\'');
        let len = match quote {
            true => rest[1..].bytes().position(|b| b == first).map_or(rest.len(), |n| n + 2),
            false => rest.find(['"', '\'']).unwrap_or(rest.len()),
        };
        let (part, after) = rest.split_at(len);
        rest = after;
        Some((quote, part))
    })
}
