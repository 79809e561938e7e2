//! Finds block comments in text, in a single pass.
//!
//! A comment is `<!--`, white space, optionally `/`, `wp:`, optionally a namespace and `/`, a name, white space,
//! optionally attributes in braces and white space, optionally `/`, and `-->`. White space is space, tab, line feed,
//! form feed and carriage return. Attributes end at the first closing brace that is followed by white space and the
//! end of the comment.

/// Kinds of comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DelimiterKind {
    Opener,
    Closer,
    /// A block without content.
    Void,
}

/// A block comment; positions are byte offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delimiter<'a> {
    pub(crate) kind: DelimiterKind,
    /// As written, possibly without namespace.
    pub(crate) name: &'a str,
    /// JSON text, including braces.
    pub(crate) attrs: Option<&'a str>,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Iterates over block comments.
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// The cached result of the last search for the end of attributes, so that comments with unfinished attributes do
    /// not each search the whole rest. `None` before the first search.
    attrs_end: Option<AttrsEnd>,
}

#[derive(Clone, Copy)]
struct AttrsEnd {
    searched_from: usize,
    /// The brace, and the first byte after the white space that follows it.
    found: Option<(usize, usize)>,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Scanner { text, at: 0, attrs_end: None }
    }

    /// The next block comment.
    pub(crate) fn next(&mut self) -> Option<Delimiter<'a>> {
        while let Some(found) = self.text.get(self.at..)?.find("<!--") {
            let start = self.at + found;
            if let Some(delimiter) = self.delimiter(start) {
                self.at = delimiter.end;
                return Some(delimiter);
            }
            self.at = start + 4;
        }
        self.at = self.text.len();
        None
    }

    fn delimiter(&mut self, start: usize) -> Option<Delimiter<'a>> {
        let bytes = self.text.as_bytes();
        let mut at = self.white(start + 4)?;
        let closer = bytes.get(at) == Some(&b'/');
        at += usize::from(closer);
        if !bytes.get(at..)?.starts_with(b"wp:") {
            return None;
        }
        at += 3;
        let name_start = at;
        at = self.word(at)?;
        if bytes.get(at) == Some(&b'/') {
            at = self.word(at + 1)?;
        }
        let name = self.text.get(name_start..at)?;
        at = self.white(at)?;
        let mut attrs = None;
        if bytes.get(at) == Some(&b'{') {
            let (brace, after) = self.attrs_end(at)?;
            attrs = self.text.get(at..=brace);
            at = after;
        }
        let void = bytes.get(at) == Some(&b'/');
        at += usize::from(void);
        if !bytes.get(at..)?.starts_with(b"-->") {
            return None;
        }
        let kind = match (void, closer) {
            (true, _) => DelimiterKind::Void,
            (false, true) => DelimiterKind::Closer,
            (false, false) => DelimiterKind::Opener,
        };
        Some(Delimiter { kind, name, attrs, start, end: at + 3 })
    }

    /// The end of the white space at this position, which must not be empty.
    fn white(&self, start: usize) -> Option<usize> {
        let rest = self.text.as_bytes().get(start..)?;
        let length = rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\x0C' | b'\r')).count();
        if length > 0 { Some(start + length) } else { None }
    }

    /// The end of a name or namespace: a lowercase letter, then lowercase letters, digits, `_` and `-`.
    fn word(&self, start: usize) -> Option<usize> {
        let rest = self.text.as_bytes().get(start..)?;
        if !rest.first()?.is_ascii_lowercase() {
            return None;
        }
        let in_word = |b: &&u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-');
        Some(start + rest.iter().take_while(in_word).count())
    }

    fn attrs_end(&mut self, open: usize) -> Option<(usize, usize)> {
        match self.attrs_end {
            // The cached result is valid from the start of its search to the match.
            Some(AttrsEnd { searched_from, found })
                if searched_from <= open && found.is_none_or(|(brace, _)| brace > open) =>
            {
                found
            }
            _ => {
                let found = self.search_attrs_end(open);
                self.attrs_end = Some(AttrsEnd { searched_from: open, found });
                found
            }
        }
    }

    fn search_attrs_end(&self, open: usize) -> Option<(usize, usize)> {
        let bytes = self.text.as_bytes();
        let mut at = open + 1;
        while let Some(found) = self.text.get(at..)?.find('}') {
            let brace = at + found;
            if let Some(after) = self.white(brace + 1) {
                let rest = &bytes[after..];
                if rest.starts_with(b"-->") || rest.starts_with(b"/-->") {
                    return Some((brace, after));
                }
            }
            at = brace + 1;
        }
        None
    }
}
