//! Splits text into markup and plain text, and defines the white space of the display filters.
//!
//! The contents of `<…>` are not parsed here, and no tree is built. Every split moves forward, so walking over a text
//! takes linear time.

use svc_text::Html;

/// Stored content, titles and descriptions are HTML, before and after the display filters.
pub(crate) fn stored(html: impl Into<String>) -> Html {
    Html::trusted(html, "stored as HTML: filtered when it was saved, unless its author may use any HTML")
}

/// Kinds of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkupKind {
    /// Plain text, up to the next `<`.
    Text,
    /// `<!-- … -->`, or to the end if it is not closed.
    Comment,
    /// `<![CDATA[ … ]]>`, or to the end if it is not closed.
    Cdata,
    /// Anything else from `<` to `>`, or to the end. Quotes do not hide `>`.
    Tag,
}

/// Splits text into parts, in order and without gaps. Source: `wp_html_split`.
pub fn html_split(text: &str) -> impl Iterator<Item = (MarkupKind, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at == text.len() {
            return None;
        }
        let start = at;
        let kind = if text.as_bytes()[start] == b'<' {
            let (kind, end) = markup_end(text, start);
            at = end;
            kind
        } else {
            at = find(text, start, "<").unwrap_or(text.len());
            MarkupKind::Text
        };
        Some((kind, &text[start..at]))
    })
}

/// MarkupKind and end of the markup at this `<`.
pub(crate) fn markup_end(text: &str, start: usize) -> (MarkupKind, usize) {
    let rest = &text[start + 1..];
    if rest.starts_with("!--") {
        (MarkupKind::Comment, comment_end(text, start))
    } else if rest.starts_with("![CDATA[") {
        (MarkupKind::Cdata, position_after(text, start + 9, "]]>"))
    } else {
        (MarkupKind::Tag, position_after(text, start, ">"))
    }
}

/// End of the comment that starts here. `<!-->` and `<!--->` are complete comments.
pub(crate) fn comment_end(text: &str, start: usize) -> usize {
    position_after(text, start + 2, "-->")
}

/// The position after the next occurrence of a mark, or the end of the text.
fn position_after(text: &str, from: usize, mark: &str) -> usize {
    find(text, from, mark).map_or(text.len(), |at| at + mark.len())
}

/// Position of the next occurrence of a mark.
pub(crate) fn find(text: &str, from: usize, mark: &str) -> Option<usize> {
    text.get(from..)?.find(mark).map(|at| from + at)
}

/// Searches for a mark from increasing positions. Each part of the text is searched only once.
pub(crate) struct ForwardSearch<'t> {
    text: &'t str,
    mark: &'t str,
    /// The result for all positions from the last search up to the match; `None` before the first search.
    cached: Option<Option<usize>>,
}

impl<'t> ForwardSearch<'t> {
    pub(crate) fn new(text: &'t str, mark: &'t str) -> Self {
        ForwardSearch { text, mark, cached: None }
    }

    /// Position of the first mark at or after `from`. Takes linear time in total if positions increase.
    pub(crate) fn next(&mut self, from: usize) -> Option<usize> {
        match self.cached {
            Some(None) => None,
            Some(Some(at)) if at >= from => Some(at),
            _ => {
                let found = find(self.text, from, self.mark);
                self.cached = Some(found);
                found
            }
        }
    }
}

/// White space of the display filters (`\s`): ASCII white space including the vertical tab.
pub(crate) fn is_white(b: u8) -> bool {
    matches!(b, b' ' | 9..=13)
}

/// The first position at or after `from` without white space.
pub(crate) fn skip_white(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    bytes[from..].iter().position(|b| !is_white(*b)).map_or(bytes.len(), |n| from + n)
}

/// Text without trailing white space as in [`is_white`].
pub(crate) fn trim_white_end(text: &str) -> &str {
    text.trim_end_matches(|c: char| c.is_ascii() && is_white(c as u8))
}

/// Length of a space at the start of the bytes, as in the typographic rules: blank, tab, line break, `&nbsp;` as a
/// character or reference.
pub(crate) fn space_len(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b' ' | b'\t' | b'\n' | b'\r', ..] => Some(1),
        [0xC2, 0xA0, ..] => Some(2),
        _ if bytes.starts_with(b"&nbsp;") => Some(6),
        _ => None,
    }
}

/// Whether the bytes end with such a space.
pub(crate) fn ends_with_space(bytes: &[u8]) -> bool {
    matches!(bytes, [.., b' ' | b'\t' | b'\n' | b'\r'] | [.., 0xC2, 0xA0]) || bytes.ends_with(b"&nbsp;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts() {
        for (text, expected) in [
            ("a<b>c", vec!["a", "<b>", "c"]),
            ("<!-- <a> -->x", vec!["<!-- <a> -->", "x"]),
            ("<!-->x-->", vec!["<!-->", "x-->"]),
            ("<!--->x", vec!["<!--->", "x"]),
            ("<!-- -- >x", vec!["<!-- -- >x"]),
            ("<![CDATA[ <a> ]]>x", vec!["<![CDATA[ <a> ]]>", "x"]),
            ("<![CDATA[ ]>x", vec!["<![CDATA[ ]>x"]),
            ("1 < 2", vec!["1 ", "< 2"]),
            ("<<a>", vec!["<<a>"]),
            ("", vec![]),
        ] {
            assert_eq!(html_split(text).map(|(_, part)| part).collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
