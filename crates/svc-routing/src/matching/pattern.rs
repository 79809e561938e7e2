//! A route pattern: a PCRE-style expression with named groups that matches whole paths.
//!
//! WordPress matches bytes, ignoring ASCII case, and its `\d` and `\w` are ASCII. The regex engine used here is
//! Unicode-aware, so patterns are rewritten when compiled: every class becomes a list of ranges, and every letter a
//! class of both cases. Most patterns consist of literal segments and groups over one class and are matched without the
//! engine; others use fancy-regex with a limit on backtracking.

use fancy_regex::{Regex, RegexBuilder};

use crate::Map;

/// Backtracking steps after which a pattern counts as not matching.
const BACKTRACK_LIMIT: usize = 100_000;
/// Maximum length of a pattern, in bytes.
const MAX_LEN: usize = 4096;

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// Literal segments at the start of every matching path, in lower case.
    prefix: Vec<String>,
    matching: Matching,
}

#[derive(Debug)]
enum Matching {
    /// The prefix is the whole pattern.
    Literal,
    /// Segment by segment.
    Segments(Vec<Segment>),
    /// With a regular expression.
    Regex { regex: Box<Regex>, names: Vec<Option<String>> },
}

#[derive(Debug)]
enum Segment {
    Literal(String),
    /// One or more characters of a class that does not contain the slash.
    Group {
        name: String,
        class: Class,
    },
}

/// The text that the named groups of a pattern matched.
#[derive(Debug)]
pub struct Captures<'p, 't>(CaptureSource<'p, 't>);

/// Groups of whole segments are located on access, so that a match does not allocate.
#[derive(Debug)]
enum CaptureSource<'p, 't> {
    Segments(&'p [Segment], &'t str),
    Groups(Vec<(&'p str, &'t str)>),
}

impl<'p, 't> Captures<'p, 't> {
    /// Names and matched text, in the order of the groups.
    pub fn iter(&self) -> impl Iterator<Item = (&'p str, &'t str)> {
        let (segments, rest, groups): (&'p [Segment], &'t str, &[(&'p str, &'t str)]) = match &self.0 {
            CaptureSource::Segments(segments, rest) => (segments, rest, &[]),
            CaptureSource::Groups(groups) => (&[], "", groups),
        };
        let segment_groups = segments.iter().zip(rest.split('/')).filter_map(|(segment, text)| match segment {
            Segment::Group { name, .. } => Some((name.as_str(), text)),
            Segment::Literal(_) => None,
        });
        segment_groups.chain(groups.iter().copied())
    }

    /// As parameters.
    pub(crate) fn to_map(&self) -> Map {
        self.iter().map(|(name, text)| (name.to_owned(), text.into())).collect()
    }
}

impl Pattern {
    /// Compiles a pattern with a leading slash.
    ///
    /// # Errors
    /// Returns a description of the problem.
    pub(crate) fn compile(source: &str) -> Result<Self, String> {
        if source.len() > MAX_LEN {
            return Err(format!("it is longer than {MAX_LEN} bytes"));
        }
        let Some(parts) = split(source) else {
            return Ok(Self { prefix: Vec::new(), matching: regex(source)? });
        };
        let segments: Vec<Option<Segment>> = parts.iter().map(|part| segment(part)).collect();
        let mut prefix: Vec<String> = Vec::new();
        for (part, segment) in parts.iter().zip(&segments) {
            match segment {
                Some(Segment::Literal(text)) => prefix.push(text.to_ascii_lowercase()),
                _ => {
                    // A quantifier at the start of a segment applies to the slash before it.
                    if part.starts_with(['?', '*', '+', '{']) {
                        prefix.pop();
                    }
                    break;
                }
            }
        }
        let matching = if prefix.len() == parts.len() {
            Matching::Literal
        } else if segments.iter().all(Option::is_some) {
            Matching::Segments(segments.into_iter().flatten().skip(prefix.len()).collect())
        } else {
            regex(source)?
        };
        Ok(Self { prefix, matching })
    }

    /// Literal segments at the start of every matching path, in lower case.
    pub(crate) fn prefix(&self) -> &[String] {
        &self.prefix
    }

    /// Whether the prefix is the whole pattern.
    pub(crate) fn is_literal(&self) -> bool {
        matches!(self.matching, Matching::Literal)
    }

    /// Matches a path whose first segments are known to match the prefix; `rest` has the segments after them.
    pub(crate) fn match_rest<'p, 't>(&'p self, path: &'t str, rest: Option<&'t str>) -> Option<Captures<'p, 't>> {
        match &self.matching {
            Matching::Literal => rest.is_none().then_some(Captures(CaptureSource::Segments(&[], ""))),
            Matching::Segments(segments) => match_segments(segments, rest?),
            Matching::Regex { regex, names } => match_regex(regex, names, path),
        }
    }

    /// Matches a whole path.
    #[cfg(test)]
    pub(crate) fn matches<'p, 't>(&'p self, path: &'t str) -> Option<Captures<'p, 't>> {
        let mut rest = Some(path.strip_prefix('/')?);
        for literal in &self.prefix {
            let (first, after) = next_segment(rest?);
            if !first.eq_ignore_ascii_case(literal) {
                return None;
            }
            rest = after;
        }
        self.match_rest(path, rest)
    }
}

/// The first segment, and the rest after its slash, if there is one.
pub(crate) fn next_segment(rest: &str) -> (&str, Option<&str>) {
    match rest.bytes().position(|b| b == b'/') {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    }
}

fn match_segments<'p, 't>(segments: &'p [Segment], all: &'t str) -> Option<Captures<'p, 't>> {
    let mut rest = Some(all);
    for segment in segments {
        let (text, after) = next_segment(rest?);
        let fits = match segment {
            Segment::Literal(literal) => text.eq_ignore_ascii_case(literal),
            Segment::Group { class, .. } => !text.is_empty() && class.contains_all(text),
        };
        if !fits {
            return None;
        }
        rest = after;
    }
    rest.is_none().then_some(Captures(CaptureSource::Segments(segments, all)))
}

fn match_regex<'p, 't>(regex: &Regex, names: &'p [Option<String>], path: &'t str) -> Option<Captures<'p, 't>> {
    // Exceeding the backtracking limit counts as no match.
    let found = regex.captures(path).ok().flatten()?;
    // As in PHP, groups after the last participating one are absent, other non-participating groups are empty.
    let last = (1..found.len()).rev().find(|i| found.get(*i).is_some()).unwrap_or(0);
    let mut captures = Vec::new();
    for (i, name) in names.iter().enumerate().take(last + 1) {
        if let Some(name) = name {
            captures.push((name.as_str(), found.get(i).map_or("", |m| &path[m.start()..m.end()])));
        }
    }
    Some(Captures(CaptureSource::Groups(captures)))
}

/// Splits a pattern at the slashes outside of groups and classes. `None` if this is not possible: no leading slash, a
/// top-level alternation, or unbalanced brackets.
fn split(source: &str) -> Option<Vec<&str>> {
    let source = source.strip_prefix('/')?;
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    let bytes = source.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' if depth == 0 && bytes.get(i + 1) == Some(&b'/') => {
                parts.push(&source[start..i]);
                start = i + 2;
                i += 1;
            }
            b'\\' => i += 1,
            b'[' => i = class_end(bytes, i)?,
            b'(' => depth += 1,
            b')' => depth = depth.checked_sub(1)?,
            b'|' if depth == 0 => return None,
            b'/' if depth == 0 => {
                parts.push(&source[start..i]);
                start = i + 1;
            }
            _ => {}
        }
        i += 1;
    }
    if depth != 0 {
        return None;
    }
    parts.push(source.get(start..)?);
    Some(parts)
}

/// Index of the bracket that closes the class opened at `i`.
fn class_end(bytes: &[u8], i: usize) -> Option<usize> {
    let mut j = i + 1;
    if bytes.get(j) == Some(&b'^') {
        j += 1;
    }
    if bytes.get(j) == Some(&b']') {
        j += 1;
    }
    loop {
        match bytes.get(j)? {
            b'\\' => j += 1,
            b'[' if bytes.get(j + 1) == Some(&b':') => {
                j = (j + 2..bytes.len()).find(|k| bytes[*k..].starts_with(b":]"))? + 1
            }
            b']' => return Some(j),
            _ => {}
        }
        j += 1;
    }
}

/// A segment that can be matched without the engine.
fn segment(part: &str) -> Option<Segment> {
    if let Some(text) = literal(part) {
        return Some(Segment::Literal(text));
    }
    let (name, rest) = part.strip_prefix("(?P<")?.split_once('>')?;
    let expression = rest.strip_suffix("+)")?;
    let class = match expression {
        r"\d" => Class::of_escape('d')?,
        r"\w" => Class::of_escape('w')?,
        _ => {
            let (class, end) = Class::parse(expression, 0).ok()?;
            if end != expression.len() {
                return None;
            }
            class
        }
    };
    // A class with the slash could match more than one segment.
    (is_name(name) && !class.contains('/')).then(|| Segment::Group { name: name.to_owned(), class: class.fold() })
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// The text that a part without operators matches.
fn literal(part: &str) -> Option<String> {
    let mut out = String::with_capacity(part.len());
    let mut chars = part.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push(chars.next().filter(char::is_ascii_punctuation)?),
            '^' | '$' | '.' | '[' | ']' | '|' | '(' | ')' | '?' | '*' | '+' | '{' | '}' => return None,
            c => out.push(c),
        }
    }
    Some(out)
}

/// A set of characters: ranges, or the complement of ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Class {
    negated: bool,
    ranges: Vec<(char, char)>,
    /// Membership of the ASCII characters, after negation.
    ascii: Box<[bool; 128]>,
}

impl Class {
    fn new(negated: bool, ranges: Vec<(char, char)>) -> Self {
        let mut class = Self { negated, ranges, ascii: Box::new([false; 128]) };
        for byte in 0..128_u8 {
            let c = char::from(byte);
            class.ascii[usize::from(byte)] = class.in_ranges(c) != negated;
        }
        class
    }

    fn in_ranges(&self, c: char) -> bool {
        self.ranges.iter().any(|(lo, hi)| (*lo..=*hi).contains(&c))
    }

    fn contains(&self, c: char) -> bool {
        self.ascii.get(c as usize).copied().unwrap_or_else(|| self.in_ranges(c) != self.negated)
    }

    fn contains_all(&self, text: &str) -> bool {
        if text.is_ascii() {
            text.bytes().all(|b| self.ascii[usize::from(b & 127)])
        } else {
            text.chars().all(|c| self.contains(c))
        }
    }

    /// `\d`, `\w`, `\s` and their complements, ASCII only.
    fn of_escape(letter: char) -> Option<Self> {
        let ranges: &[(char, char)] = match letter.to_ascii_lowercase() {
            'd' => &[('0', '9')],
            'w' => &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
            's' => &[('\t', '\r'), (' ', ' ')],
            _ => return None,
        };
        Some(Self::new(letter.is_ascii_uppercase(), ranges.to_vec()))
    }

    /// The ranges, with any negation resolved.
    fn positive(&self) -> Vec<(char, char)> {
        if !self.negated {
            return self.ranges.clone();
        }
        let mut sorted = self.ranges.clone();
        sorted.sort_unstable();
        let (mut out, mut from) = (Vec::new(), Some('\0'));
        for (lo, hi) in sorted {
            if let Some(start) = from.filter(|start| *start < lo) {
                let before = char::from_u32(lo as u32 - 1).unwrap_or('\u{D7FF}');
                out.push((start, before));
            }
            let after = char::from_u32(hi as u32 + 1).or((hi == '\u{D7FF}').then_some('\u{E000}'));
            from = from.and_then(|start| Some(start.max(after?)));
        }
        out.extend(from.map(|start| (start, char::MAX)));
        out
    }

    /// Adds the other case of every ASCII letter.
    fn fold(self) -> Self {
        let mut ranges = self.ranges.clone();
        for (lo, hi) in &self.ranges {
            for (first, last, flip) in [('a', 'z', b'A'), ('A', 'Z', b'a')] {
                let (from, to) = ((*lo).max(first), (*hi).min(last));
                if from <= to {
                    let shift = |c: char| char::from(c as u8 - first as u8 + flip);
                    ranges.push((shift(from), shift(to)));
                }
            }
        }
        Self::new(self.negated, ranges)
    }

    /// Parses the class that starts at byte `start`. Also returns the position after its end.
    fn parse(source: &str, start: usize) -> Result<(Self, usize), String> {
        let end = source
            .as_bytes()
            .get(start)
            .filter(|b| **b == b'[')
            .and_then(|_| class_end(source.as_bytes(), start))
            .ok_or("a class does not close")?;
        let inner = &source[start + 1..end];
        let (negated, inner) = inner.strip_prefix('^').map_or((false, inner), |rest| (true, rest));
        let mut ranges = Vec::new();
        let mut rest = inner;
        while !rest.is_empty() {
            if let Some((name, after)) = rest.strip_prefix("[:").and_then(|r| r.split_once(":]")) {
                ranges.extend(posix(name)?);
                rest = after;
                continue;
            }
            let (low, after) = class_item(rest)?;
            rest = after;
            let low = match low {
                ClassItem::Set(set) => {
                    ranges.extend(set.positive());
                    continue;
                }
                ClassItem::Char(c) => c,
            };
            let high = rest.strip_prefix('-').filter(|r| !r.is_empty()).map(class_item).transpose()?;
            match high {
                Some((ClassItem::Char(high), after)) => {
                    if low > high {
                        return Err("a range is out of order".to_owned());
                    }
                    ranges.push((low, high));
                    rest = after;
                }
                _ => ranges.push((low, low)),
            }
        }
        Ok((Self::new(negated, ranges), end + 1))
    }

    /// As an expression for the engine.
    fn to_regex(&self) -> String {
        if self.ranges.is_empty() {
            return if self.negated { "[\\s\\S]" } else { "[^\\s\\S]" }.to_owned();
        }
        let mut out = String::from(if self.negated { "[^" } else { "[" });
        for (lo, hi) in &self.ranges {
            out.push_str(&format!("\\x{{{:X}}}-\\x{{{:X}}}", *lo as u32, *hi as u32));
        }
        out.push(']');
        out
    }
}

enum ClassItem {
    Char(char),
    Set(Class),
}

fn class_item(text: &str) -> Result<(ClassItem, &str), String> {
    let mut chars = text.chars();
    let item = match chars.next() {
        Some('\\') => {
            let c = chars.next().ok_or("it ends with a backslash")?;
            match Class::of_escape(c) {
                Some(set) => ClassItem::Set(set),
                None => ClassItem::Char(match c {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'f' => '\u{C}',
                    c if c.is_ascii_alphanumeric() => return Err(format!("\\{c} in a class is not supported")),
                    c => c,
                }),
            }
        }
        Some(c) => ClassItem::Char(c),
        None => return Err("a class is empty".to_owned()),
    };
    Ok((item, chars.as_str()))
}

fn posix(name: &str) -> Result<Vec<(char, char)>, String> {
    Ok(match name {
        "alpha" => vec![('a', 'z'), ('A', 'Z')],
        "digit" => vec![('0', '9')],
        "alnum" => vec![('a', 'z'), ('A', 'Z'), ('0', '9')],
        "lower" | "upper" => vec![('a', 'z'), ('A', 'Z')],
        "xdigit" => vec![('a', 'f'), ('A', 'F'), ('0', '9')],
        "word" => vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')],
        "space" => vec![('\t', '\r'), (' ', ' ')],
        "punct" => vec![('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        other => return Err(format!("the class [:{other}:] is not known")),
    })
}

/// Compiles the pattern with the engine.
fn regex(source: &str) -> Result<Matching, String> {
    let text = format!(r"\A(?:{})\z", rewrite(source)?);
    let regex = RegexBuilder::new(&text).backtrack_limit(BACKTRACK_LIMIT).build().map_err(|e| e.to_string())?;
    let names = regex.capture_names().map(|name| name.map(str::to_owned)).collect();
    Ok(Matching::Regex { regex: Box::new(regex), names })
}

/// Rewrites letters and classes to match ASCII without regard to case.
fn rewrite(source: &str) -> Result<String, String> {
    let mut out = String::with_capacity(source.len() * 2);
    let mut i = 0;
    while let Some(c) = source[i..].chars().next() {
        let rest = &source[i..];
        match c {
            '[' => {
                let (class, end) = Class::parse(source, i)?;
                out.push_str(&class.fold().to_regex());
                i = end;
                continue;
            }
            '\\' => {
                let next = rest[1..].chars().next().ok_or("it ends with a backslash")?;
                match Class::of_escape(next) {
                    Some(class) => out.push_str(&class.to_regex()),
                    None if next.is_ascii_alphanumeric() => out.extend(['\\', next]),
                    None => push_char(&mut out, next),
                }
                i += 1 + next.len_utf8();
                continue;
            }
            '(' if rest.starts_with("(?") => {
                let open = group_open(rest).ok_or("a group has invalid syntax")?;
                out.push_str(open);
                i += open.len();
                continue;
            }
            '{' => {
                let end = rest.find('}').filter(|end| rest[1..*end].bytes().all(|b| b.is_ascii_digit() || b == b','));
                match end {
                    Some(end) => {
                        out.push_str(&rest[..=end]);
                        i += end + 1;
                        continue;
                    }
                    None => out.push_str(r"\{"),
                }
            }
            '^' | '$' | '.' | '|' | '(' | ')' | '?' | '*' | '+' => out.push(c),
            c => push_char(&mut out, c),
        }
        i += c.len_utf8();
    }
    Ok(out)
}

fn push_char(out: &mut String, c: char) {
    if c.is_ascii_alphabetic() {
        out.extend(['[', c.to_ascii_lowercase(), c.to_ascii_uppercase(), ']']);
    } else if c.is_ascii_alphanumeric() || !c.is_ascii() {
        out.push(c);
    } else {
        out.push_str(&format!("\\x{{{:X}}}", c as u32));
    }
}

/// The start of a group with a question mark, up to its expression.
fn group_open(rest: &str) -> Option<&str> {
    let fixed = ["(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>"].into_iter().find(|open| rest.starts_with(open));
    if let Some(open) = fixed {
        return rest.get(..open.len());
    }
    let end =
        if rest.starts_with("(?P<") || rest.starts_with("(?<") { rest.find('>')? } else { rest.find([':', ')'])? };
    rest.get(..=end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, path: &str, want: Option<&[(&str, &str)]>) {
        let pattern = Pattern::compile(pattern).unwrap();
        let got = pattern.matches(path);
        let got: Option<Vec<_>> = got.map(|c| c.iter().collect());
        assert_eq!(got.as_deref(), want, "{pattern:?} {path}");
    }

    #[test]
    fn patterns_match_paths() {
        check("/demo/v1/fields", "/demo/v1/fields", Some(&[]));
        check("/demo/v1/fields", "/Demo/V1/FIELDS", Some(&[]));
        check("/demo/v1/fields", "/demo/v1/fields/", None);
        check("/demo/v1/fields", "/demo/v1", None);
        check("/demo/v1/fields", "demo/v1/fields", None);
        check(r"/items/(?P<id>\d+)", "/items/5", Some(&[("id", "5")]));
        check(r"/items/(?P<id>[\d]+)", "/items/5x", None);
        check(r"/items/(?P<id>[\d]+)", "/items/", None);
        check(r"/items/(?P<id>\d+)", "/items/٣", None);
        check(r"/items/(?P<slug>[a-z-]+)", "/items/ABC", Some(&[("slug", "ABC")]));
        check(r"/items/(?P<slug>[a-z-]+)", "/items/\u{212A}", None);
        check(r"/items/(?P<id>\d+)/parts/(?P<part>[\w]+)", "/items/5/parts/x_1", Some(&[("id", "5"), ("part", "x_1")]));
        check("/sources(?:/(?P<p>[a-z]+))?", "/sources", Some(&[]));
        check("/sources(?:/(?P<p>[a-z]+))?", "/sources/abc", Some(&[("p", "abc")]));
        check("/(?P<a>x)?(?P<b>y)", "/y", Some(&[("a", ""), ("b", "y")]));
        check("/a/?b", "/ab", Some(&[]));
        check("/a|/b", "/B", Some(&[]));
        check("/a|/b", "/bc", None);
        let template = r#"/t/(?P<id>([^\/:<>\*\?"\|]+(?:\/[^\/:<>\*\?"\|]+)?)[\/\w%-]+)"#;
        check(template, "/t/Theme//Home", Some(&[("id", "Theme//Home")]));
        check(template, "/t/a:b", None);
        check("/p/(?P<n>[^.\\/]+(?:\\/[^.\\/]+)?)", "/p/Dir/File", Some(&[("n", "Dir/File")]));
        check("/x/(?P<n>[[:alpha:]_]{2,3})", "/x/aB", Some(&[("n", "aB")]));
        check("/x/(?P<n>[^a-z]+)", "/x/É9", Some(&[("n", "É9")]));
        check("/x/(?P<n>[^a-z]+)", "/x/B", None);
        check("/x/(?P<n>[\\D]+)", "/x/é", Some(&[("n", "é")]));
        check("/x/a\\.b", "/x/a.B", Some(&[]));
        check("/x/a\\.b", "/x/axb", None);
        check("/x/(?=a)(?P<n>\\w+)", "/x/abc", Some(&[("n", "abc")]));
        check(r"/é/(?P<n>\w+)", "/é/a", Some(&[("n", "a")]));
        check(r"/x/(?P<n>\S+)", "/x/a", Some(&[("n", "a")]));
        check(r"/x/(?P<n>\S+)", "/x/ ", None);
        check(r"/x/(?P<n>\S+)", "/x/\u{a0}", Some(&[("n", "\u{a0}")]));
        check("/x/(?P<n>[a-a]+)", "/x/aA", Some(&[("n", "aA")]));
        check(r"/x/(?P<n>[^\d]+)", "/x/é5", None);
        check(r"/(?:\é)x", "/éX", Some(&[]));
        check(r"/(?:a\b)-b", "/A-b", Some(&[]));
        check(r"/(?:a\.)b", "/a.b", Some(&[]));
        check(r"/(?:a\.)b", "/axb", None);
    }

    /// How a pattern is matched, after its literal segments.
    fn plan(pattern: &str) -> (String, &'static str) {
        let pattern = Pattern::compile(pattern).unwrap();
        let kind = match pattern.matching {
            Matching::Literal => "literal",
            Matching::Segments(_) => "segments",
            Matching::Regex { .. } => "regex",
        };
        assert_eq!(pattern.is_literal(), kind == "literal");
        (pattern.prefix().join("/"), kind)
    }

    #[test]
    fn plain_patterns_are_matched_without_the_engine() {
        for (pattern, prefix, kind) in [
            ("/a/B", "a/b", "literal"),
            (r"/a\.b/c\/d", "a.b/c/d", "literal"),
            (r"/a/(?P<id>\d+)", "a", "segments"),
            (r"/a/(?P<id>\w+)/b", "a", "segments"),
            ("/a/(?P<id>[a-z-]+)", "a", "segments"),
            ("/a/(?P<id>[^/]+)", "a", "segments"),
            ("/a/(?P<id>[a/]+)", "a", "regex"),
            ("/a/(?P<id>[a][b]+)", "a", "regex"),
            ("/a/b?", "a", "regex"),
            ("/a/?b", "", "regex"),
            ("/a|/b", "", "regex"),
        ] {
            assert_eq!(plan(pattern), (prefix.to_owned(), kind), "{pattern}");
        }
    }

    #[test]
    fn patterns_are_split_at_slashes_outside_of_groups_and_classes() {
        let rows: [(&str, Option<&[&str]>); 16] = [
            ("/", Some(&[""])),
            ("/a/b", Some(&["a", "b"])),
            (r"/a\/b/c", Some(&["a", "b", "c"])),
            (r"/(\/)/b", Some(&[r"(\/)", "b"])),
            (r"/a\.b/c", Some(&[r"a\.b", "c"])),
            (r"/\(/b", Some(&[r"\(", "b"])),
            ("/[/]/b", Some(&["[/]", "b"])),
            ("/[(]/b", Some(&["[(]", "b"])),
            ("/(?:a/b)/c", Some(&["(?:a/b)", "c"])),
            ("/((a)/b)/c", Some(&["((a)/b)", "c"])),
            ("/(a|b)/c", Some(&["(a|b)", "c"])),
            ("/a|/b", None),
            ("/a)", None),
            ("/(a", None),
            ("/[a", None),
            ("a/b", None),
        ];
        for (pattern, parts) in rows {
            assert_eq!(split(pattern).as_deref(), parts, "{pattern}");
        }
    }

    #[test]
    fn classes_end_at_their_bracket() {
        for (text, end) in [
            ("[a]b", Some(2)),
            ("[^a]", Some(3)),
            ("[]a]", Some(3)),
            ("[^]a]", Some(4)),
            (r"[\]]", Some(3)),
            ("[[:alpha:]]", Some(10)),
            ("[[a]", Some(3)),
            ("[a", None),
            ("[^]", None),
        ] {
            assert_eq!(class_end(text.as_bytes(), 0), end, "{text}");
            assert_eq!(class_end(format!("xy{text}").as_bytes(), 2), end.map(|end| end + 2), "{text}");
        }
    }

    #[test]
    fn group_names_are_identifiers() {
        for (name, expected) in [("a", true), ("_a1", true), ("", false), ("1a", false), ("a-b", false)] {
            assert_eq!(is_name(name), expected, "{name}");
        }
    }

    #[test]
    fn negated_classes_as_ranges() {
        let rows = [
            (vec![('0', '9')], vec![('\0', '/'), (':', char::MAX)]),
            (vec![('\0', 'a')], vec![('b', char::MAX)]),
            (vec![('b', char::MAX)], vec![('\0', 'a')]),
            (vec![('x', 'x'), ('a', 'm'), ('c', 'd')], vec![('\0', '`'), ('n', 'w'), ('y', char::MAX)]),
            (vec![('a', 'c'), ('d', 'd')], vec![('\0', '`'), ('e', char::MAX)]),
            // Around the surrogates, which are not characters.
            (vec![('a', '\u{D7FF}')], vec![('\0', '`'), ('\u{E000}', char::MAX)]),
            (vec![('\u{E000}', char::MAX)], vec![('\0', '\u{D7FF}')]),
        ];
        for (ranges, complement) in rows {
            assert_eq!(Class::new(true, ranges.clone()).positive(), complement, "{ranges:?}");
        }
    }

    #[test]
    fn invalid_patterns_are_rejected() {
        for bad in ["/(", "/a)", "/[a", "/a\\", "/[z-a]", "/(?P<n", "/[[:nope:]]", r"/[\q]"] {
            assert!(Pattern::compile(bad).is_err(), "{bad}");
        }
        assert!(Pattern::compile(&"/a".repeat(MAX_LEN / 2)).is_ok());
        assert!(Pattern::compile(&format!("{}b", "/a".repeat(MAX_LEN / 2))).is_err());
    }

    #[test]
    fn backtracking_is_bounded() {
        let pattern = Pattern::compile(r"/(?=a)(a*)*\1b").unwrap();
        assert!(pattern.matches(&format!("/{}", "a".repeat(60))).is_none());
    }
}
