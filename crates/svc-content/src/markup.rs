//! Cutting text into markup and plain stretches, and the white space that the display rules know.
//!
//! Cuts only: what lies between `<` and `>` is not read further here, and no tree is built. Every cut moves forward, so a
//! walk over a text is linear.

/// What a stretch of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Plain text, up to the next `<`.
    Text,
    /// `<!-- … -->`, or to the end when it is never closed.
    Comment,
    /// `<![CDATA[ … ]]>`, or to the end.
    Cdata,
    /// Anything else from `<` to `>`, or to the end. Quotes do not hide `>`.
    Tag,
}

/// Text in stretches, in order and without gaps. Source: `wp_html_split`.
pub fn html_split(text: &str) -> impl Iterator<Item = (Kind, &str)> {
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
            Kind::Text
        };
        Some((kind, &text[start..at]))
    })
}

/// Kind and end of the markup that begins with the `<` at this place.
pub(crate) fn markup_end(text: &str, start: usize) -> (Kind, usize) {
    let rest = &text[start + 1..];
    if rest.starts_with("!--") {
        (Kind::Comment, comment_end(text, start))
    } else if rest.starts_with("![CDATA[") {
        (Kind::Cdata, past(text, start + 9, "]]>"))
    } else {
        (Kind::Tag, past(text, start, ">"))
    }
}

/// End of the comment that begins here. `<!-->` and `<!--->` are whole ones.
pub(crate) fn comment_end(text: &str, start: usize) -> usize {
    past(text, start + 2, "-->")
}

/// The place just past the next occurrence of a mark, or the end of the text.
fn past(text: &str, from: usize, mark: &str) -> usize {
    find(text, from, mark).map_or(text.len(), |at| at + mark.len())
}

/// Place of the next occurrence of a mark.
pub(crate) fn find(text: &str, from: usize, mark: &str) -> Option<usize> {
    text.get(from..)?.find(mark).map(|at| from + at)
}

/// Looks for one mark from rising places, each stretch of the text only once.
pub(crate) struct Ahead<'t> {
    text: &'t str,
    mark: &'t str,
    /// The answer for all places from the one last asked up to itself; `None` before the first question.
    known: Option<Option<usize>>,
}

impl<'t> Ahead<'t> {
    pub(crate) fn new(text: &'t str, mark: &'t str) -> Self {
        Ahead { text, mark, known: None }
    }

    /// Place of the first mark at or after `from`. Questions must come in rising order to be cheap.
    pub(crate) fn next(&mut self, from: usize) -> Option<usize> {
        match self.known {
            Some(None) => None,
            Some(Some(at)) if at >= from => Some(at),
            _ => {
                let found = find(self.text, from, self.mark);
                self.known = Some(found);
                found
            }
        }
    }
}

/// `\s` of the display rules: ASCII white space with the vertical tab.
pub(crate) fn is_white(b: u8) -> bool {
    matches!(b, b' ' | 9..=13)
}

/// First place at or after `from` that is no white space.
pub(crate) fn skip_white(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    bytes[from..].iter().position(|b| !is_white(*b)).map_or(bytes.len(), |n| from + n)
}

/// Text without white space at its end, in the sense of [`is_white`].
pub(crate) fn trim_white_end(text: &str) -> &str {
    text.trim_end_matches(|c: char| c.is_ascii() && is_white(c as u8))
}

/// Length of the space that the typographic rules know at the start of bytes: blank, tab, line ends, `&nbsp;` as
/// character or reference.
pub(crate) fn space_len(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b' ' | b'\t' | b'\n' | b'\r', ..] => Some(1),
        [0xC2, 0xA0, ..] => Some(2),
        _ if bytes.starts_with(b"&nbsp;") => Some(6),
        _ => None,
    }
}

/// Whether bytes end with such a space.
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
