//! Typography: curly quotes, dashes, ellipses, multiplication signs, and ampersands as references.
//!
//! Only the English rules are implemented. Markup, code and shortcodes are unchanged, except for lone ampersands in
//! tags.

mod quotes;

use crate::{
    markup::{self, comment_end, ends_with_space, space_len},
    shortcodes::Shortcodes,
};

/// Elements whose text is unchanged.
const PLAIN_ELEMENTS: [&str; 6] = ["pre", "code", "kbd", "style", "script", "tt"];
/// Shortcodes whose content is unchanged, if they are registered.
const PLAIN_SHORTCODES: [&str; 1] = ["code"];

pub(crate) const OPEN_SINGLE: &str = "&#8216;";
pub(crate) const CLOSE_SINGLE: &str = "&#8217;";
pub(crate) const OPEN_DOUBLE: &str = "&#8220;";
pub(crate) const CLOSE_DOUBLE: &str = "&#8221;";
const PRIME: &str = "&#8242;";
const DOUBLE_PRIME: &str = "&#8243;";
const EN_DASH: &str = "&#8211;";
const EM_DASH: &str = "&#8212;";

/// Fixed replacements, applied one after the other.
const FIXED: [(&str, &str); 15] = [
    ("...", "&#8230;"),
    ("``", OPEN_DOUBLE),
    ("''", CLOSE_DOUBLE),
    (" (tm)", " &#8482;"),
    ("'tain't", "&#8217;tain&#8217;t"),
    ("'twere", "&#8217;twere"),
    ("'twas", "&#8217;twas"),
    ("'tis", "&#8217;tis"),
    ("'twill", "&#8217;twill"),
    ("'til", "&#8217;til"),
    ("'bout", "&#8217;bout"),
    ("'nuff", "&#8217;nuff"),
    ("'round", "&#8217;round"),
    ("'cause", "&#8217;cause"),
    ("'em", "&#8217;em"),
];

/// Applies typographic punctuation to HTML. Source: `wptexturize`.
pub fn texturize(text: &str, shortcodes: &Shortcodes) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    let (mut elements, mut codes) = (Vec::new(), Vec::new());
    for piece in pieces(text, shortcodes) {
        match piece {
            Piece::Comment(part) => out.push_str(part),
            Piece::Tag(part) => {
                let part = ampersands(part);
                open_or_close(&part, &mut elements, &PLAIN_ELEMENTS);
                out.push_str(&part);
            }
            Piece::Shortcode(part) => {
                if !part.starts_with("[[") && !part.ends_with("]]") {
                    open_or_close(part, &mut codes, &PLAIN_SHORTCODES);
                }
                out.push_str(part);
            }
            Piece::Text(part) if svc_text::trim(part).is_empty() || !elements.is_empty() || !codes.is_empty() => {
                out.push_str(part);
            }
            Piece::Text(part) => out.push_str(&texturize_text(part)),
        }
    }
    out
}

enum Piece<'t> {
    Text(&'t str),
    Comment(&'t str),
    Tag(&'t str),
    Shortcode(&'t str),
}

fn pieces<'t>(text: &'t str, shortcodes: &Shortcodes) -> impl Iterator<Item = Piece<'t>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        let mut search_from = start;
        while let Some(found) = text[search_from..].find(['<', '[']).map(|n| search_from + n) {
            let is_tag = text.as_bytes()[found] == b'<';
            let end = match is_tag {
                true if text[found..].starts_with("<!--") => Some(comment_end(text, found)),
                true => Some(markup::find(text, found, ">").map_or(text.len(), |end| end + 1)),
                false => delimiter_end(text, found, shortcodes),
            };
            let Some(end) = end else {
                search_from = found + 1;
                continue;
            };
            if found > start {
                at = found;
                return Some(Piece::Text(&text[start..found]));
            }
            at = end;
            let part = &text[start..end];
            return Some(match is_tag {
                true if part.starts_with("<!--") => Piece::Comment(part),
                true => Piece::Tag(part),
                false => Piece::Shortcode(part),
            });
        }
        at = text.len();
        (start < at).then(|| Piece::Text(&text[start..]))
    })
}

/// End of the opening or closing shortcode tag at this `[`. Tags in its attributes are part of it.
fn delimiter_end(text: &str, start: usize, shortcodes: &Shortcodes) -> Option<usize> {
    let bytes = text.as_bytes();
    let name = start + 1 + usize::from(matches!(bytes.get(start + 1), Some(b'/' | b'[')));
    let stop = |b: &u8| markup::is_white(*b) || matches!(b, b']' | b'/' | b'[' | b'<' | b'>');
    let mut at = name + bytes.get(name..)?.iter().position(stop)?;
    if matches!(bytes[at], b'[' | b'<' | b'>') || !shortcodes.contains(&text[name..at]) {
        return None;
    }
    loop {
        at += bytes[at..].iter().position(|b| matches!(b, b'[' | b']' | b'<' | b'>'))?;
        match bytes[at] {
            b']' => break,
            b'<' => {
                at += bytes[at..].iter().position(|b| matches!(b, b'[' | b']' | b'>'))?;
                if bytes[at] != b'>' {
                    return None;
                }
                at += 1;
            }
            _ => return None,
        }
    }
    Some(at + 1 + usize::from(bytes.get(at + 1) == Some(&b']')))
}

/// Updates the stack of open elements (or shortcodes) whose text is unchanged.
fn open_or_close<'n>(tag: &str, open: &mut Vec<&'n str>, names: &[&'n str]) {
    let closing = tag.as_bytes().get(1) == Some(&b'/');
    let from = 1 + usize::from(closing);
    // The name ends at a space, or before the tag's last character.
    let name = match tag.find(' ') {
        Some(space) => tag.get(from..space),
        None => tag.char_indices().next_back().and_then(|(last, _)| tag.get(from..last)),
    };
    let Some(name) = name.and_then(|name| names.iter().find(|known| **known == name)) else { return };
    if !closing {
        open.push(name);
    } else if open.last() == Some(name) {
        open.pop();
    }
}

/// Applies typography to plain text.
fn texturize_text(text: &str) -> String {
    let mut text = text.to_owned();
    for (from, to) in FIXED {
        if text.contains(from) {
            text = text.replace(from, to);
        }
    }
    if text.contains('\'') {
        text = quotes::single(&text);
    }
    if text.contains('"') {
        text = quotes::double(&text);
    }
    if text.contains('-') {
        text = dashes(&text);
    }
    if text.contains('x') {
        text = times(text);
    }
    ampersands(&text)
}

fn dashes(text: &str) -> String {
    let text = text.replace("---", EM_DASH);
    let alone = |text: &str, at: usize, len: usize| {
        let (before, after) = (&text.as_bytes()[..at], &text.as_bytes()[at + len..]);
        (before.is_empty() || ends_with_space(before)) && (after.is_empty() || space_len(after).is_some())
    };
    let text = replace_where(&text, "--", EM_DASH, |text, at| alone(text, at, 2));
    // The hyphens of punycode host names are unchanged.
    let text = replace_where(&text, "--", EN_DASH, |text, at| !text[..at].ends_with("xn"));
    replace_where(&text, "-", EN_DASH, |text, at| alone(text, at, 1))
}

/// Replaces the occurrences of a mark that a test accepts.
fn replace_where(text: &str, mark: &str, by: &str, predicate: impl Fn(&str, usize) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut copied, mut from) = (0, 0);
    while let Some(at) = markup::find(text, from, mark) {
        if predicate(text, at) {
            out.push_str(&text[copied..at]);
            out.push_str(by);
            copied = at + mark.len();
            from = copied;
        } else {
            from = at + 1;
        }
    }
    out.push_str(&text[copied..]);
    out
}

/// Replaces `x` between two numbers by a multiplication sign, except in hexadecimal numbers (`0x70`).
fn times(text: String) -> String {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    // Numbers that end with a dot are replaced only if the text also has a plain pair of digits.
    if !bytes.windows(3).any(|w| w[0].is_ascii_digit() && w[1] == b'x' && w[2].is_ascii_digit()) {
        return text;
    }
    let in_number = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b',');
    let is_word = |at: usize| bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let mut out = String::with_capacity(text.len());
    // Matches do not overlap: each consumes both of its numbers.
    let (mut copied, mut free) = (0, 0);
    for (x, _) in text.match_indices('x') {
        if x < free || !digit(x + 1) {
            continue;
        }
        let first = bytes[free..x].iter().rposition(|b| !in_number(*b)).map_or(free, |n| free + n + 1);
        let starts = |s: usize| digit(s) && (s == 0 || !is_word(s - 1)) && (bytes[s] != b'0' || s + 1 < x);
        if !(first..x).any(starts) {
            continue;
        }
        let end = bytes[x + 1..].iter().position(|b| !in_number(*b)).map_or(bytes.len(), |n| x + 1 + n);
        // The second number extends to its last word boundary.
        let Some(end) = (x + 2..=end).rev().find(|at| is_word(*at) != is_word(*at - 1)) else { continue };
        out.push_str(&text[copied..x]);
        out.push_str("&#215;");
        copied = x + 1;
        free = end;
    }
    out.push_str(&text[copied..]);
    out
}

/// Replaces ampersands that start no reference by `&#038;`. Any short name counts as a reference.
fn ampersands(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    replace_where(text, "&", "&#038;", |text, at| !begins_reference(&text.as_bytes()[at + 1..]))
}

fn begins_reference(rest: &[u8]) -> bool {
    let ends_after = |digits: &[u8], max: usize, member: fn(&u8) -> bool| {
        let n = digits.iter().take_while(|b| member(b)).take(max.saturating_add(1)).count();
        (1..=max).contains(&n) && digits.get(n) == Some(&b';')
    };
    match rest {
        [b'#', b'x' | b'X', digits @ ..] => ends_after(digits, usize::MAX, u8::is_ascii_hexdigit),
        [b'#', digits @ ..] => ends_after(digits, usize::MAX, u8::is_ascii_digit),
        name => ends_after(name, 8, |b| b.is_ascii_alphabetic() || matches!(b, b'1'..=b'4')),
    }
}

#[cfg(test)]
mod tests;
