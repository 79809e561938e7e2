//! Finds the routes whose patterns match a path, without trying every pattern.
//!
//! Patterns stand in a tree of the literal segments that they begin with. A path is walked down that tree once; only the
//! patterns that stand on its way are tried. The answer is that of trying every pattern in order of registration.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::pattern::{Captures, Pattern, next_segment};

/// Patterns by index, in order of registration.
#[derive(Debug)]
pub struct Matcher {
    patterns: Vec<Pattern>,
    root: Node,
}

/// A pattern's index as the caller counts, and where it is kept.
type Slot = (usize, usize);

#[derive(Debug, Default)]
struct Node {
    children: HashMap<Box<str>, Node, BuildHasherDefault<Fnv>>,
    /// Patterns that end here.
    exact: Vec<Slot>,
    /// Patterns that go on from here.
    open: Vec<Slot>,
}

/// The hash of Fowler, Noll and Vo: quick on short keys. The keys are registered segments, so nobody from outside can
/// make them collide.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl Matcher {
    /// An index over these patterns. A pattern that does not compile matches nothing.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Self {
        let mut matcher = Self { patterns: Vec::new(), root: Node::default() };
        for (idx, source) in patterns.into_iter().enumerate() {
            if let Ok(pattern) = Pattern::compile(source) {
                matcher.insert(idx, pattern);
            }
        }
        matcher
    }

    fn insert(&mut self, idx: usize, pattern: Pattern) {
        let mut node = &mut self.root;
        for segment in pattern.prefix() {
            node = node.children.entry(segment.as_str().into()).or_default();
        }
        let slot = (idx, self.patterns.len());
        if pattern.is_literal() {
            node.exact.push(slot)
        } else {
            node.open.push(slot)
        }
        self.patterns.push(pattern);
    }

    /// Gives every match to `take`, in order of registration, until it returns a value.
    pub fn find<'t, R>(&self, path: &'t str, mut take: impl FnMut(usize, &Captures<'_, 't>) -> Option<R>) -> Option<R> {
        let mut rest = Some(path.strip_prefix('/')?);
        let mut node = &self.root;
        // Each candidate with the part of the path that its prefix leaves over.
        let mut candidates: Vec<(Slot, Option<&'t str>)> = Vec::new();
        loop {
            candidates.extend(node.open.iter().map(|slot| (*slot, rest)));
            let Some(text) = rest else {
                candidates.extend(node.exact.iter().map(|slot| (*slot, None)));
                break;
            };
            let (first, after) = next_segment(text);
            let child = if first.bytes().any(|b| b.is_ascii_uppercase()) {
                node.children.get(first.to_ascii_lowercase().as_str())
            } else {
                node.children.get(first)
            };
            let Some(child) = child else { break };
            (node, rest) = (child, after);
        }
        if !candidates.is_sorted_by_key(|(slot, _)| *slot) {
            candidates.sort_unstable_by_key(|(slot, _)| *slot);
        }
        candidates.into_iter().find_map(|((idx, kept), rest)| {
            let captures = self.patterns[kept].match_rest(path, rest)?;
            take(idx, &captures)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every match, by trying all patterns.
    fn naive(patterns: &[Pattern], path: &str) -> Vec<(usize, String)> {
        let all = patterns.iter().enumerate();
        all.filter_map(|(i, p)| Some((i, format!("{:?}", p.matches(path)?.iter().collect::<Vec<_>>())))).collect()
    }

    /// Every match by the engine alone, in its own way of ignoring case, for paths where the two ways agree.
    fn by_engine(sources: &[String], path: &str) -> Vec<usize> {
        thread_local! {
            // Compiling takes most of the time, and the same few patterns come again and again.
            static COMPILED: std::cell::RefCell<HashMap<String, fancy_regex::Regex>> = Default::default();
        }
        COMPILED.with_borrow_mut(|compiled| {
            let mut matches = |s: &String| {
                let compile = || fancy_regex::Regex::new(&format!("(?i)^(?:{s})$")).unwrap();
                compiled.entry(s.clone()).or_insert_with(compile).is_match(path).unwrap()
            };
            sources.iter().enumerate().filter(|(_, s)| matches(s)).map(|(i, _)| i).collect()
        })
    }

    fn part() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => "[ab]{1,2}",
            1 => Just(r"(?P<n>[\d]+)".to_owned()),
            1 => Just("(?P<m>[a-b]+)".to_owned()),
            1 => Just(r"(?P<w>[\w-]+)".to_owned()),
            1 => Just("(?P<s>.+)".to_owned()),
            1 => Just("a(?:/(?P<o>b+))?".to_owned()),
            1 => Just("?b".to_owned()),
            1 => Just("(?P<t>[^a/]+)".to_owned()),
        ]
    }

    /// No group twice in a pattern: the engine refuses that.
    fn pattern() -> impl Strategy<Value = String> {
        prop::collection::vec(part(), 1..4).prop_map(|parts| {
            let mut seen = Vec::new();
            let parts = parts.into_iter().filter(|p| {
                !p.contains('<') || {
                    let new = !seen.contains(p);
                    seen.push(p.clone());
                    new
                }
            });
            let text: String = parts.map(|p| format!("/{p}")).collect();
            if text.is_empty() { "/a".to_owned() } else { text }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn answers_equal_trying_every_pattern(
            sources in prop::collection::vec(pattern(), 1..12),
            path in "(/[aAbB1-]{0,2}){1,4}",
        ) {
            let patterns: Vec<Pattern> = sources.iter().map(|s| Pattern::compile(s).unwrap()).collect();
            let matcher = Matcher::new(sources.iter().map(String::as_str));
            let mut found = Vec::new();
            matcher.find(&path, |i, c| -> Option<()> {
                found.push((i, format!("{:?}", c.iter().collect::<Vec<_>>())));
                None
            });
            prop_assert_eq!(&found, &naive(&patterns, &path));
            let indexes: Vec<usize> = found.into_iter().map(|(i, _)| i).collect();
            prop_assert_eq!(indexes, by_engine(&sources, &path));
        }

        #[test]
        fn any_text_is_no_panic(source in ".{0,40}", path in ".{0,40}") {
            if let Ok(pattern) = Pattern::compile(&source) {
                pattern.matches(&path);
            }
            Matcher::new([source.as_str()]).find(&path, |i, _| Some(i));
        }
    }
}
