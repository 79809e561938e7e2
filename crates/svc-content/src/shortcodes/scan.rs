//! Finds shortcodes in text.

use std::collections::HashMap;

use super::{Attributes, Call, Page, Shortcodes};
use crate::markup::{ForwardSearch, find, space_len};

/// A shortcode in a text.
pub(super) struct ShortcodeMatch<'t> {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The whole shortcode without escaping brackets.
    pub(super) whole: &'t str,
    pub(super) name: &'t str,
    /// From the name to the end of the opening tag.
    pub(super) attributes: &'t str,
    pub(super) content: Option<&'t str>,
    /// Whether there is an additional bracket before it, and after it.
    pub(super) extra: (bool, bool),
}

impl<'t> ShortcodeMatch<'t> {
    /// The arguments for the shortcode's function.
    pub(super) fn call<'c>(&self, shortcodes: &'c Shortcodes, page: &'c Page) -> Call<'c>
    where
        't: 'c,
    {
        let attributes = Attributes::parse(self.attributes);
        Call { name: self.name, attributes, content: self.content, shortcodes, page }
    }
}

/// Whether a byte cannot be part of a shortcode's name.
pub(super) fn ends_name(b: u8) -> bool {
    matches!(b, b'<' | b'>' | b'&' | b'/' | b'[' | b']' | b'=' | 0..=b' ')
}

/// The longest possible name at this position.
pub(super) fn name_at(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    // Names are short. The limit keeps the total time linear.
    let len = rest.bytes().take(MAX_NAME + 1).take_while(|b| !ends_name(*b)).count();
    if len > MAX_NAME { "" } else { rest.get(..len).unwrap_or_default() }
}

/// The registered names that follow some bracket of the text. Only these are searched for.
pub(super) fn names_in<'t>(text: &'t str, shortcodes: &Shortcodes) -> Vec<&'t str> {
    let mut names: Vec<&str> = Vec::new();
    for (at, _) in text.match_indices('[') {
        let name = name_at(text, at + 1);
        if shortcodes.contains(name) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Maximum length of a name, in bytes.
const MAX_NAME: usize = 200;

/// The opening tag of a shortcode.
struct OpeningTag<'t> {
    name: &'t str,
    attributes: &'t str,
    end: usize,
    self_closing: bool,
}

/// Iterates over the shortcodes of a text, from left to right.
pub(super) struct Scanner<'t> {
    text: &'t str,
    shortcodes: &'t Shortcodes,
    brackets: ForwardSearch<'t>,
    /// Names that may be followed by any character that is not a word character, such as the dot in `[name.x]`.
    prefix_names: Vec<&'t str>,
    /// Cached positions of the next closing tag of each name.
    closings: HashMap<&'t str, Option<usize>>,
}

impl<'t> Scanner<'t> {
    /// Creates a scanner. Names in `prefix_names` also match as prefixes.
    pub(super) fn new(text: &'t str, shortcodes: &'t Shortcodes, prefix_names: Vec<&'t str>) -> Self {
        Scanner { text, shortcodes, brackets: ForwardSearch::new(text, "]"), prefix_names, closings: HashMap::new() }
    }

    /// The registered name at this position.
    fn name(&self, at: usize) -> Option<&'t str> {
        let run = name_at(self.text, at);
        if self.shortcodes.contains(run) {
            return Some(run);
        }
        let word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        let rest = &self.text[at..];
        let ends = |name: &&&str| rest.starts_with(**name) && !rest.as_bytes().get(name.len()).is_some_and(word);
        self.prefix_names.iter().find(ends).map(|name| &rest[..name.len()])
    }

    /// The first shortcode at or after a position.
    pub(super) fn next(&mut self, from: usize) -> Option<ShortcodeMatch<'t>> {
        let mut search_from = from;
        loop {
            let start = find(self.text, search_from, "[")?;
            search_from = start + 1;
            let escaped = self.text[search_from..].starts_with('[');
            let Some(opening) = self.opening(start + usize::from(escaped)) else { continue };
            let (content, end) = match self.closing(&opening) {
                Some((content, end)) => (Some(content), end),
                None => (None, opening.end),
            };
            let after = self.text[end..].starts_with(']');
            let whole = &self.text[start + usize::from(escaped)..end];
            return Some(ShortcodeMatch {
                start,
                end: end + usize::from(after),
                whole,
                name: opening.name,
                attributes: opening.attributes,
                content,
                extra: (escaped, after),
            });
        }
    }

    fn opening(&mut self, at: usize) -> Option<OpeningTag<'t>> {
        let name = self.name(at + 1)?;
        let start = at + 1 + name.len();
        let end = self.brackets.next(start)?;
        let attributes = &self.text[start..end];
        let bare = attributes.strip_suffix('/');
        Some(OpeningTag { name, attributes: bare.unwrap_or(attributes), end: end + 1, self_closing: bare.is_some() })
    }

    /// Content and end of a shortcode with a closing tag.
    fn closing(&mut self, opening: &OpeningTag<'t>) -> Option<(&'t str, usize)> {
        if opening.self_closing {
            return None;
        }
        let known = self.closings.get(opening.name).copied();
        let at = match known {
            Some(None) => None,
            Some(Some(at)) if at >= opening.end => Some(at),
            _ => find(self.text, opening.end, &format!("[/{}]", opening.name)),
        };
        self.closings.insert(opening.name, at);
        let at = at?;
        Some((&self.text[opening.end..at], at + opening.name.len() + 3))
    }
}

/// Removes the paragraph around a shortcode that is its only content. Source: `shortcode_unautop`.
pub fn unautop(text: &str, shortcodes: &Shortcodes) -> String {
    let mut out = String::with_capacity(text.len());
    let mut scanner = Scanner::new(text, shortcodes, shortcodes.names().collect());
    let (mut copied, mut from) = (0, 0);
    while let Some(at) = find(text, from, "<p>") {
        from = at + 3;
        let start = skip_spaces(text, from);
        if !text[start..].starts_with('[') {
            continue;
        }
        let Some(opening) = scanner.opening(start) else { continue };
        // With its content, or only the opening tag.
        let whole = scanner.closing(&opening).map(|(_, end)| end);
        let closed = |end: &usize| {
            let close = skip_spaces(text, *end);
            text[close..].starts_with("</p>").then_some(close + 4)
        };
        let found = whole.into_iter().chain([opening.end]).find_map(|end| Some((end, closed(&end)?)));
        if let Some((end, close)) = found {
            out.push_str(&text[copied..at]);
            out.push_str(&text[start..end]);
            (copied, from) = (close, close);
        }
    }
    out.push_str(&text[copied..]);
    out
}

fn skip_spaces(text: &str, mut at: usize) -> usize {
    while let Some(len) = space_len(&text.as_bytes()[at..]) {
        at += len;
    }
    at
}
