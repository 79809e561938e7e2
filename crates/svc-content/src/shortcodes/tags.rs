//! Brackets inside HTML tags and comments, which are not shortcodes of the text.

use crate::markup::{MarkupKind, html_split, is_white, skip_white};

const OPEN: &str = "&#91;";
const CLOSE: &str = "&#93;";

/// Replaces the brackets in tags and comments by references.
///
/// `run` is called for shortcodes in tags outside of quoted values, and may return a replacement. Shortcodes in
/// quoted values are not run, since their output could end the value.
pub(super) fn hide_brackets(text: &str, run: impl Fn(&str) -> Option<String>) -> String {
    // References in the original text must be preserved.
    let text = text.replace(OPEN, "&#091;").replace(CLOSE, "&#093;");
    let mut out = String::with_capacity(text.len());
    for (kind, part) in html_split(&text) {
        if kind == MarkupKind::Text || !part.contains(['[', ']']) {
            out.push_str(part);
            continue;
        }
        let both = part.contains('[') && part.contains(']');
        if kind != MarkupKind::Tag || !both {
            hide(part, &mut out);
            continue;
        }
        let Some(parts) = TagParts::of(part) else {
            // Not a tag, but possibly a shortcode in angle brackets: `<[name]>`.
            match if begins_with_shortcode(part) { run(part) } else { None } {
                Some(output) => hide(&output, &mut out),
                None => hide(part, &mut out),
            }
            continue;
        };
        for piece in parts {
            let bracket = piece.find('[').filter(|_| piece.contains(']'));
            let is_unquoted = bracket.is_some_and(|open| piece.find(['"', '\'']).is_none_or(|quote| open < quote));
            match if is_unquoted { run(piece) } else { None } {
                Some(output) => hide(&output, &mut out),
                None => hide(piece, &mut out),
            }
        }
    }
    out
}

/// Whether this is `<` followed by a shortcode's tag.
fn begins_with_shortcode(part: &str) -> bool {
    let rest = part[1..].trim_start_matches(|c: char| c.is_ascii() && is_white(c as u8));
    let Some(rest) = rest.strip_prefix('[') else { return false };
    let rest = rest.strip_prefix('[').unwrap_or(rest);
    rest.find(['[', ']']).is_some_and(|end| end > 0 && rest.as_bytes()[end] == b']')
}

/// Replaces the references of [`hide_brackets`] by brackets.
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

/// The parts of a well-formed opening tag: its start with the name, each attribute with the space after it, and its
/// end.
struct TagParts<'t> {
    tag: &'t str,
    ends: std::vec::IntoIter<usize>,
    at: usize,
}

impl<'t> TagParts<'t> {
    fn of(tag: &'t str) -> Option<Self> {
        let bytes = tag.as_bytes();
        let name = skip_white(tag, 1);
        let len = bytes[name..].iter().take_while(|b| b.is_ascii_alphanumeric()).count();
        let mut at = skip_white(tag, name + len);
        (len > 0).then_some(())?;
        let close = tag.strip_suffix('>').unwrap_or(tag);
        let inside = close.trim_end_matches(|c: char| c.is_ascii() && is_white(c as u8));
        // The end includes a slash and the space around it.
        let last = match inside.strip_suffix('/') {
            Some(inside) => crate::markup::trim_white_end(inside).len().max(at),
            None => close.len().max(at),
        };
        let inside = &tag[..last];
        let mut ends = vec![at];
        while at < last {
            at = attribute_end(inside, at)?;
            ends.push(at);
        }
        ends.push(tag.len());
        Some(TagParts { tag, ends: ends.into_iter(), at: 0 })
    }
}

impl<'t> Iterator for TagParts<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let end = self.ends.next()?;
        let part = self.tag.get(self.at..end)?;
        self.at = end;
        Some(part)
    }
}

/// The end of an attribute and of the space after it. A shortcode may be in place of the name.
fn attribute_end(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let run = |from: usize, member: &dyn Fn(&u8) -> bool| from + bytes[from..].iter().take_while(|b| member(b)).count();
    let end = if bytes[at] == b'[' {
        let start = at + 1 + usize::from(bytes.get(at + 1) == Some(&b'['));
        let end = run(start, &|b| !matches!(b, b'[' | b']'));
        (end > start && bytes.get(end) == Some(&b']')).then_some(())?;
        end + 1 + usize::from(bytes.get(end + 1) == Some(&b']'))
    } else {
        (bytes[at].is_ascii_alphabetic() || bytes[at] == b'_').then_some(())?;
        run(at, &|b| b.is_ascii_alphanumeric() || b"-_:.".contains(b))
    };
    let equals = skip_white(text, end);
    if bytes.get(equals) != Some(&b'=') {
        return (equals > end || end == bytes.len()).then_some(equals);
    }
    let value = skip_white(text, equals + 1);
    let end = match bytes.get(value)? {
        quote @ (b'"' | b'\'') => value + 1 + bytes[value + 1..].iter().position(|b| b == quote)? + 1,
        _ => {
            let end = run(value, &|b| !is_white(*b) && !matches!(b, b'"' | b'\''));
            (end == bytes.len() || is_white(bytes[end])).then_some(end)?
        }
    };
    Some(skip_white(text, end))
}
