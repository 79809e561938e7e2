//! Splits text into comments, tags and lone brackets, and filters each of them.

use std::borrow::Cow;

use svc_text::{escape_lone_less_than, normalize_entities};

use super::{allowed::AllowedHtml, attributes};

/// Maximum nesting of comments that is filtered. Deeper ones are removed, since each level requires another pass.
const MAX_NESTING: usize = 8;

/// Maximum number of passes over comments, as a multiple of the text's length, with a minimum for short texts.
const PASSES: usize = 32;

/// State of filtering a text.
pub(super) struct Filter<'a> {
    allowed: &'a AllowedHtml,
    /// Number of bytes of comments that may still be filtered.
    budget: usize,
    nesting: usize,
}

impl<'a> Filter<'a> {
    /// Creates a filter for a text of this length in bytes.
    pub(super) fn new(allowed: &'a AllowedHtml, len: usize) -> Self {
        Filter { allowed, budget: len.saturating_mul(PASSES).saturating_add(4096), nesting: 0 }
    }

    /// Filters a text. Block comments are treated like other comments.
    pub(super) fn filter_text(&mut self, text: &str) -> String {
        self.filter_prepared(&prepare(text))
    }

    /// Whether an element with this spelling is allowed.
    pub(super) fn allows(&self, element: &str) -> bool {
        self.allowed.element(element).is_some()
    }

    /// Filters a text that [`prepare`] returned.
    pub(super) fn filter_prepared(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut pieces = Pieces { text, comment_end: None, line_end: None };
        let mut at = 0;
        while let Some(i) = text[at..].find(['<', '>']) {
            let start = at + i;
            out.push_str(&text[at..start]);
            let (piece, end) = pieces.read(start);
            at = end;
            let raw = unescape_quotes(&text[start..end]);
            match piece {
                Piece::Bracket => out.push_str("&gt;"),
                Piece::Comment => self.comment(&mut out, &raw),
                Piece::BogusComment => self.bogus_comment(&mut out, &raw),
                Piece::Tag => self.tag(&mut out, &raw),
            }
        }
        out.push_str(&text[at..]);
        out
    }

    fn comment(&mut self, out: &mut String, raw: &str) {
        let inside = self.filter_until_stable(raw.replace("<!--", "").replace("-->", ""));
        // Two dashes could end the comment too early, and one at its end too late.
        let mut inside = single_dashes(&inside);
        let last = inside.strip_suffix('\n').unwrap_or(&inside).len();
        if inside[..last].ends_with('-') {
            inside.remove(last - 1);
        }
        if !inside.is_empty() {
            out.push_str("<!--");
            out.push_str(&inside);
            out.push_str("-->");
        }
    }

    /// `</…>` without a name, or `<!…>`: HTML treats both as comments up to the first `>`.
    fn bogus_comment(&mut self, out: &mut String, raw: &str) {
        let inside = raw.get(2..raw.len() - 1).unwrap_or_default().to_owned();
        out.push_str(&raw[..2]);
        out.push_str(&self.filter_until_stable(inside));
        out.push('>');
    }

    /// Filters until nothing changes, since the remainder of a comment may form new markup.
    fn filter_until_stable(&mut self, mut text: String) -> String {
        if self.nesting >= MAX_NESTING {
            return String::new();
        }
        self.nesting += 1;
        loop {
            let Some(budget) = self.budget.checked_sub(text.len() + 1) else {
                text.clear();
                break;
            };
            self.budget = budget;
            let next = self.filter_text(&text);
            let is_stable = next == text;
            text = next;
            if is_stable {
                break;
            }
        }
        self.nesting -= 1;
        text
    }

    fn tag(&mut self, out: &mut String, raw: &str) {
        let Some(tag) = Tag::read(raw) else { return };
        let Some(attributes) = self.allowed.element(&tag.name.to_ascii_lowercase()) else { return };
        if tag.closing {
            out.push_str("</");
            out.push_str(tag.name);
            out.push('>');
            return;
        }
        let start = out.len();
        out.push('<');
        out.push_str(tag.name);
        let complete = attributes::write(out, tag.attributes, attributes, self.allowed);
        match (tag.self_closing(), complete) {
            (false, _) => out.push('>'),
            (true, true) => out.push_str(" />"),
            // A void element without its required attributes is removed.
            (true, false) => out.truncate(start),
        }
    }
}

/// Prepares a text for the scan: removes control characters, normalizes references, escapes `<` without `>`.
pub(super) fn prepare(text: &str) -> String {
    let is_control = |c: char| matches!(c, '\0'..='\x08' | '\x0B' | '\x0C' | '\x0E'..='\x1F');
    let clean = match text.contains(is_control) {
        true => Cow::Owned(text.replace(is_control, "")),
        false => Cow::Borrowed(text),
    };
    escape_lone_less_than(&normalize_entities(&clean))
}

enum Piece {
    /// A lone `>`.
    Bracket,
    Comment,
    BogusComment,
    /// Text that looks like a tag.
    Tag,
}

/// Iterates over the parts of a text, from left to right.
struct Pieces<'a> {
    text: &'a str,
    comment_end: Option<CachedMatch>,
    line_end: Option<CachedMatch>,
}

/// The cached position of the first match at or after `from`, so that unfinished comments do not each search the
/// whole rest.
#[derive(Clone, Copy)]
struct CachedMatch {
    from: usize,
    position: usize,
}

impl Pieces<'_> {
    /// The part that starts here with `<` or `>`, and its end.
    fn read(&mut self, start: usize) -> (Piece, usize) {
        let rest = &self.text[start..];
        let bytes = rest.as_bytes();
        let to_bracket = |from: usize| rest[from..].find('>').map(|i| start + from + i + 1);
        if bytes[0] == b'>' {
            return (Piece::Bracket, start + 1);
        }
        if rest.starts_with("<!--") {
            let end = self.line_comment_end(start + 4).or_else(|| to_bracket(4)).unwrap_or(self.text.len());
            return (Piece::Comment, end);
        }
        let bogus = match bytes {
            // The first character after `</` is consumed, even if it is `>`.
            [_, b'/', first, ..] if !first.is_ascii_alphabetic() => to_bracket(2 + first_len(&rest[2..])),
            [_, b'!', b'a'..=b'z', ..] => to_bracket(3),
            _ => None,
        };
        match bogus {
            Some(end) => (Piece::BogusComment, end),
            None => (Piece::Tag, to_bracket(1).unwrap_or(self.text.len())),
        }
    }

    /// The end of a comment whose content starts here, if it ends on the same line or that line is the last one.
    fn line_comment_end(&mut self, inside: usize) -> Option<usize> {
        let line = find_cached(&mut self.line_end, self.text, inside, "\n");
        let end = find_cached(&mut self.comment_end, self.text, inside, "-->");
        if end < line { Some(end + "-->".len()) } else { (line + 1 >= self.text.len()).then_some(line) }
    }
}

/// The first `needle` at or after `from`; the text's length if there is none.
fn find_cached(cache: &mut Option<CachedMatch>, text: &str, from: usize, needle: &str) -> usize {
    match cache {
        Some(cached) if cached.from <= from && from <= cached.position => cached.position,
        _ => {
            let position = text[from..].find(needle).map_or(text.len(), |i| from + i);
            *cache = Some(CachedMatch { from, position });
            position
        }
    }
}

fn first_len(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// The parts of text that looks like a tag.
struct Tag<'a> {
    closing: bool,
    name: &'a str,
    attributes: &'a str,
}

impl<'a> Tag<'a> {
    /// Parses `<`, white space, `/`, white space, a name, and anything else, with or without a `>`.
    fn read(raw: &'a str) -> Option<Self> {
        let inside = raw.strip_prefix('<')?;
        let inside = inside.strip_suffix('>').unwrap_or(inside).trim_start_matches(is_white);
        let (closing, inside) = match inside.strip_prefix('/') {
            Some(inside) => (true, inside.trim_start_matches(is_white)),
            None => (false, inside),
        };
        let len = inside.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'-').count();
        let (name, attributes) = inside.split_at(len);
        (len > 0 && !attributes.contains('>')).then_some(Tag { closing, name, attributes })
    }

    fn self_closing(&self) -> bool {
        self.attributes.trim_end_matches(is_white).ends_with('/')
    }
}

fn is_white(c: char) -> bool {
    c.is_ascii_whitespace()
}

/// Collapses runs of dashes.
fn single_dashes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '-' || !out.ends_with('-') {
            out.push(c);
        }
    }
    out
}

/// Replaces `\"` by `"`, which older callers needed inside tags and comments. Source: `wp_kses_stripslashes`.
pub fn unescape_quotes(text: &str) -> Cow<'_, str> {
    match text.contains("\\\"") {
        true => Cow::Owned(text.replace("\\\"", "\"")),
        false => Cow::Borrowed(text),
    }
}
