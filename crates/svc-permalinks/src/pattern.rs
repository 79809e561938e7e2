//! Matches paths against a permalink structure and extracts the values of its tags.

use std::collections::BTreeMap;

use crate::links::next_tag;

/// Query variables by name.
pub(crate) type Vars = BTreeMap<String, String>;

/// Maximum number of matching steps before a path counts as not matching. Without a limit, long segments could make
/// structures with several text tags in one segment slow.
const BUDGET: u32 = 20_000;

/// A part of a structure's segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece<'a> {
    /// Fixed text.
    Literal(&'a str),
    /// Digits (minimum and maximum count) and the query variable.
    Digits(usize, usize, &'static str),
    /// Any text, and the query variable.
    Text(&'static str),
    /// Any number of segments: a category and its ancestors. With the query variable.
    Segments(&'static str),
}

fn piece(tag: &str) -> Option<Piece<'static>> {
    Some(match tag {
        "year" => Piece::Digits(4, 4, "year"),
        "monthnum" => Piece::Digits(1, 2, "monthnum"),
        "day" => Piece::Digits(1, 2, "day"),
        "hour" => Piece::Digits(1, 2, "hour"),
        "minute" => Piece::Digits(1, 2, "minute"),
        "second" => Piece::Digits(1, 2, "second"),
        "post_id" => Piece::Digits(1, 20, "p"),
        "postname" => Piece::Text("name"),
        "author" => Piece::Text("author_name"),
        "category" => Piece::Segments("category_name"),
        _ => return None,
    })
}

/// A permalink structure, split into segments and pieces.
pub(crate) struct Pattern<'a>(Vec<Vec<Piece<'a>>>);

impl<'a> Pattern<'a> {
    /// Parses a structure. Leading and trailing slashes are ignored; an unknown tag is fixed text.
    pub(crate) fn new(structure: &'a str) -> Self {
        let segments = structure.split('/').filter(|s| !s.is_empty());
        let mut pattern = Pattern(segments.map(pieces).collect());
        // Only one category may span several segments. A second one would have no meaning and make matching slow.
        let stretching = pattern.0.iter().position(|s| matches!(s[..], [Piece::Segments(_)]));
        for (i, segment) in pattern.0.iter_mut().enumerate() {
            for piece in segment.iter_mut() {
                if let Piece::Segments(var) = *piece
                    && Some(i) != stretching
                {
                    *piece = Piece::Text(var);
                }
            }
        }
        pattern
    }

    /// The variables of a path that matches the whole structure. Values stay percent-encoded.
    pub(crate) fn read(&self, path: &[&str]) -> Option<Vars> {
        read(&self.0, path)
    }

    /// The variables of a path that matches a prefix of the structure containing a tag: an archive.
    pub(crate) fn read_prefix(&self, path: &[&str]) -> Option<Vars> {
        let vars = (1..self.0.len()).rev().find_map(|n| read(&self.0[..n], path))?;
        (!vars.is_empty()).then_some(vars)
    }
}

fn pieces(segment: &str) -> Vec<Piece<'_>> {
    let mut out = Vec::new();
    let mut rest = segment;
    let mut literal = 0;
    let mut at = 0;
    while let Some((before, tag, _)) = next_tag(rest) {
        let start = at + before.len();
        match piece(tag) {
            Some(known_tag) => {
                if start > literal {
                    out.push(Piece::Literal(&segment[literal..start]));
                }
                out.push(known_tag);
                at = start + tag.len() + 2;
                literal = at;
            }
            // The second percent sign may start a tag.
            None => at = start + 1 + tag.len(),
        }
        rest = &segment[at..];
    }
    if literal < segment.len() {
        out.push(Piece::Literal(&segment[literal..]));
    }
    out
}

fn read(pattern: &[Vec<Piece<'_>>], path: &[&str]) -> Option<Vars> {
    let mut vars = Vars::default();
    let mut budget = BUDGET;
    read_segments(pattern, path, &mut vars, &mut budget).then_some(vars)
}

/// The recursion is as deep as the structure has segments.
fn read_segments(pattern: &[Vec<Piece<'_>>], path: &[&str], vars: &mut Vars, budget: &mut u32) -> bool {
    let Some((first, rest)) = pattern.split_first() else { return path.is_empty() };
    if let [Piece::Segments(var)] = first[..] {
        // Takes as few segments as the rest of the structure allows.
        return (1..=path.len()).any(|n| {
            take_step(budget) && read_segments(rest, &path[n..], vars, budget) && {
                vars.insert(var.to_owned(), path[..n].join("/"));
                true
            }
        });
    }
    let Some((segment, path)) = path.split_first() else { return false };
    read_pieces(first, segment, vars, budget) && read_segments(rest, path, vars, budget)
}

/// The recursion is as deep as the segment has pieces. Each piece takes as much as it can.
fn read_pieces(pieces: &[Piece<'_>], text: &str, vars: &mut Vars, budget: &mut u32) -> bool {
    let Some((piece, rest)) = pieces.split_first() else { return text.is_empty() };
    let (min, max, var) = match *piece {
        Piece::Literal(literal) => {
            return after_literal(text, literal).is_some_and(|text| read_pieces(rest, text, vars, budget));
        }
        Piece::Digits(min, max, var) => (min, text.bytes().take(max).take_while(u8::is_ascii_digit).count(), var),
        Piece::Text(var) | Piece::Segments(var) => (1, text.len(), var),
    };
    (min..=max).rev().filter(|n| text.is_char_boundary(*n)).any(|n| {
        take_step(budget) && read_pieces(rest, &text[n..], vars, budget) && {
            vars.insert(var.to_owned(), text[..n].to_owned());
            true
        }
    })
}

/// The text after a literal at its beginning. The comparison ignores percent-encoding.
fn after_literal<'t>(text: &'t str, literal: &str) -> Option<&'t str> {
    let (mut rest, mut expected) = (text.as_bytes(), literal.as_bytes());
    while let Some((byte, after)) = split_byte(expected) {
        let (found, tail) = split_byte(rest)?;
        if found != byte {
            return None;
        }
        (rest, expected) = (tail, after);
    }
    text.get(text.len() - rest.len()..)
}

/// The first byte of a text, decoded if it is percent-encoded, and the rest.
fn split_byte(text: &[u8]) -> Option<(u8, &[u8])> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    if let [b'%', high, low, rest @ ..] = text
        && let (Some(high), Some(low)) = (digit(*high), digit(*low))
    {
        return Some((high << 4 | low, rest));
    }
    text.split_first().map(|(byte, rest)| (*byte, rest))
}

fn take_step(budget: &mut u32) -> bool {
    *budget = budget.saturating_sub(1);
    *budget > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(vars: Option<Vars>) -> String {
        let Some(vars) = vars else { return "none".to_owned() };
        vars.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn complete_paths() {
        for (structure, path, expected) in [
            ("/%postname%/", "hello", "name=hello"),
            ("/%postname%/", "a/b", "none"),
            ("/%year%/%monthnum%/%postname%.html", "2024/3/x.y.html", "monthnum=3 name=x.y year=2024"),
            ("/%year%/%monthnum%/%postname%.html", "2024/3/x", "none"),
            ("/%post_id%/%hour%%minute%%second%/", "4/60708", "hour=60 minute=70 p=4 second=8"),
            ("/blog/%category%/%postname%", "blog/a/b/c", "category_name=a/b name=c"),
            ("/%category%/%category%/%postname%", "a/b/c/d", "category_name=a/b name=d"),
            ("/%author%-%postname%", "a-b-c", "author_name=a-b name=c"),
            ("/100%/%bogus%/%postname%", "100%/%bogus%/x", "name=x"),
            ("/100%/%postname%", "100%25/x", "name=x"),
            ("/ü-%postname%/", "%c3%bc-x", "name=x"),
            ("/ü-%postname%/", "%C3%BC-x", "name=x"),
            ("/caf%C3%A9/%postname%", "café/x", "name=x"),
            ("/caf%C3%A9/%postname%", "caf%c3%a9/%c3%a9", "name=%c3%a9"),
            ("/caf%C3%A9/%postname%", "caf%c3%a8/x", "none"),
            ("/ü/%postname%", "%c3/x", "none"),
        ] {
            let path: Vec<&str> = path.split('/').collect();
            assert_eq!(summary(Pattern::new(structure).read(&path)), expected, "{structure} {path:?}");
        }
    }

    #[test]
    fn path_prefixes_are_archives() {
        let pattern = Pattern::new("/blog/%category%/%author%/%post_id%");
        assert_eq!(summary(pattern.read_prefix(&["blog"])), "none");
        assert_eq!(summary(pattern.read_prefix(&["blog", "a"])), "category_name=a");
        assert_eq!(summary(pattern.read_prefix(&["blog", "a", "b"])), "author_name=b category_name=a");
    }

    #[test]
    fn matching_many_text_tags_is_bounded() {
        let pattern = Pattern::new("/%author%-%postname%-%author%-%postname%-%author%x");
        assert!(pattern.read(&[&"-".repeat(2000)]).is_none());
    }
}
