//! Reads a path by a permalink structure: which part of it stands for which tag.

use crate::{incoming::Vars, links::next_tag};

/// How often a piece may be tried against a path before the path counts as not matching. Structures with several free
/// tags in one segment could else be made slow by long segments.
const BUDGET: u32 = 20_000;

/// A piece of a segment of a structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece<'a> {
    /// Text that stands there as it is.
    Literal(&'a str),
    /// So many digits, at least and at most; the query variable.
    Digits(usize, usize, &'static str),
    /// Any text; the query variable.
    Text(&'static str),
    /// Any number of segments: a category below its parents.
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

/// A structure, cut into segments and pieces.
pub(crate) struct Pattern<'a>(Vec<Vec<Piece<'a>>>);

impl<'a> Pattern<'a> {
    /// Of a structure; slashes at its ends do not count, an unknown tag is text.
    pub(crate) fn new(structure: &'a str) -> Self {
        let segments = structure.split('/').filter(|s| !s.is_empty());
        let mut pattern = Pattern(segments.map(pieces).collect());
        // One category may stretch over segments; a second one could make reading slow, and means nothing.
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

    /// The variables of a path that fits the whole structure. Values are as in the path, percent-encoded.
    pub(crate) fn read(&self, path: &[&str]) -> Option<Vars> {
        read(&self.0, path)
    }

    /// The variables of a path that fits a beginning of the structure, with a tag in it: an archive.
    pub(crate) fn read_beginning(&self, path: &[&str]) -> Option<Vars> {
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
            Some(known) => {
                if start > literal {
                    out.push(Piece::Literal(&segment[literal..start]));
                }
                out.push(known);
                at = start + tag.len() + 2;
                literal = at;
            }
            // The second percent sign may begin a tag.
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

/// As deep as the structure has segments.
fn read_segments(pattern: &[Vec<Piece<'_>>], path: &[&str], vars: &mut Vars, budget: &mut u32) -> bool {
    let Some((first, rest)) = pattern.split_first() else { return path.is_empty() };
    if let [Piece::Segments(var)] = first[..] {
        // As few segments as the rest of the structure allows.
        return (1..=path.len()).any(|n| {
            spend(budget) && read_segments(rest, &path[n..], vars, budget) && {
                vars.insert(var.to_owned(), path[..n].join("/"));
                true
            }
        });
    }
    let Some((segment, path)) = path.split_first() else { return false };
    read_pieces(first, segment, vars, budget) && read_segments(rest, path, vars, budget)
}

/// As deep as the segment has pieces; each takes as much as it can.
fn read_pieces(pieces: &[Piece<'_>], text: &str, vars: &mut Vars, budget: &mut u32) -> bool {
    let Some((piece, rest)) = pieces.split_first() else { return text.is_empty() };
    let (least, most, var) = match *piece {
        Piece::Literal(literal) => {
            return text.strip_prefix(literal).is_some_and(|text| read_pieces(rest, text, vars, budget));
        }
        Piece::Digits(least, most, var) => (least, text.bytes().take(most).take_while(u8::is_ascii_digit).count(), var),
        Piece::Text(var) | Piece::Segments(var) => (1, text.len(), var),
    };
    (least..=most).rev().filter(|n| text.is_char_boundary(*n)).any(|n| {
        spend(budget) && read_pieces(rest, &text[n..], vars, budget) && {
            vars.insert(var.to_owned(), text[..n].to_owned());
            true
        }
    })
}

fn spend(budget: &mut u32) -> bool {
    *budget = budget.saturating_sub(1);
    *budget > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(vars: Option<Vars>) -> String {
        let Some(vars) = vars else { return "none".to_owned() };
        vars.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn whole_paths() {
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
        ] {
            let path: Vec<&str> = path.split('/').collect();
            assert_eq!(shown(Pattern::new(structure).read(&path)), expected, "{structure} {path:?}");
        }
    }

    #[test]
    fn beginnings_are_archives() {
        let pattern = Pattern::new("/blog/%category%/%author%/%post_id%");
        assert_eq!(shown(pattern.read_beginning(&["blog"])), "none");
        assert_eq!(shown(pattern.read_beginning(&["blog", "a"])), "category_name=a");
        assert_eq!(shown(pattern.read_beginning(&["blog", "a", "b"])), "author_name=b category_name=a");
    }

    #[test]
    fn many_free_tags_stay_bounded() {
        let pattern = Pattern::new("/%author%-%postname%-%author%-%postname%-%author%x");
        assert!(pattern.read(&[&"-".repeat(2000)]).is_none());
    }
}
