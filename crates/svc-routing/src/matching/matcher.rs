//! Finds the routes whose patterns match a path, without trying every pattern.
//!
//! Patterns are indexed by a tree of the literal segments that they start with. Matching walks down that tree once and
//! tries only the patterns of the visited nodes. The result is the same as trying all patterns in order of
//! registration.

use super::pattern::{Captures, Pattern, next_segment};

/// Patterns by index, in order of registration. Use it to find the route of a path without a [`Server`](crate::Server).
#[derive(Debug)]
pub struct Matcher {
    patterns: Vec<Pattern>,
    root: TrieNode,
}

/// A pattern's index for the caller, and its position in `patterns`.
type Slot = (usize, usize);

#[derive(Debug, Default)]
struct TrieNode {
    children: Children,
    /// Patterns without further segments.
    exact: Vec<Slot>,
    /// Patterns with further segments.
    open: Vec<Slot>,
}

/// Nodes by segment, ignoring ASCII case. Up to [`MAX_LINEAR`] are searched linearly, more by hash. Only registered
/// segments are hashed, so clients cannot cause collisions.
#[derive(Debug, Default)]
struct Children {
    nodes: Vec<(Box<str>, TrieNode)>,
    /// Positions of nodes plus one, in an open-addressing hash table; 0 is free. At most half full, and the size is a
    /// power of two.
    table: Vec<usize>,
}

/// Maximum number of nodes that are searched linearly.
const MAX_LINEAR: usize = 4;

/// A fast hash that ignores ASCII case: eight bytes at a time, with the bit set in each that distinguishes the cases.
fn hash(segment: &str) -> usize {
    const CASE: u64 = 0x2020_2020_2020_2020;
    let mix = |hash: u64, word: u64| (hash ^ (word | CASE)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let mut chunks = segment.as_bytes().chunks_exact(8);
    let mut hash = segment.len() as u64;
    for chunk in &mut chunks {
        hash = mix(hash, u64::from_le_bytes(chunk.try_into().expect("a chunk has eight bytes")));
    }
    let last = chunks.remainder().iter().fold(0, |word, b| word << 8 | u64::from(*b));
    (mix(hash, last) >> 20) as usize
}

/// Whether two segments are equal, ignoring ASCII case.
fn eq_ignore_case(a: &str, b: &str) -> bool {
    // Usually they are identical, which is faster to check.
    a == b || a.eq_ignore_ascii_case(b)
}

impl Children {
    fn find(&self, segment: &str) -> Option<usize> {
        if self.table.is_empty() {
            return self.nodes.iter().position(|(name, _)| eq_ignore_case(name, segment));
        }
        let mask = self.table.len() - 1;
        let mut at = hash(segment) & mask;
        loop {
            let position = self.table[at].checked_sub(1)?;
            if eq_ignore_case(&self.nodes[position].0, segment) {
                return Some(position);
            }
            at = (at + 1) & mask;
        }
    }

    fn get(&self, segment: &str) -> Option<&TrieNode> {
        self.find(segment).map(|position| &self.nodes[position].1)
    }

    fn entry(&mut self, segment: &str) -> &mut TrieNode {
        let position = self.find(segment).unwrap_or_else(|| {
            self.nodes.push((segment.into(), TrieNode::default()));
            if self.nodes.len() > MAX_LINEAR {
                self.index();
            }
            self.nodes.len() - 1
        });
        &mut self.nodes[position].1
    }

    /// Rebuilds the table if it would be more than half full, otherwise adds the last node.
    fn index(&mut self) {
        let full = self.nodes.len() * 2 > self.table.len();
        let from = if full { 0 } else { self.nodes.len() - 1 };
        if full {
            self.table = vec![0; (self.nodes.len() * 4).next_power_of_two()];
        }
        let mask = self.table.len() - 1;
        for (position, (name, _)) in self.nodes.iter().enumerate().skip(from) {
            let mut at = hash(name) & mask;
            while self.table[at] != 0 {
                at = (at + 1) & mask;
            }
            self.table[at] = position + 1;
        }
    }
}

/// The candidates of one node, with the rest of the path after their prefix.
type NodeCandidates<'m, 't> = (&'m [Slot], Option<&'t str>);

/// The candidates of all visited nodes. They rarely need an allocation.
#[derive(Default)]
struct CandidateLists<'m, 't> {
    first: [NodeCandidates<'m, 't>; 4],
    n_first: usize,
    spilled: Vec<NodeCandidates<'m, 't>>,
}

impl<'m, 't> CandidateLists<'m, 't> {
    fn push(&mut self, slots: &'m [Slot], rest: Option<&'t str>) {
        if slots.is_empty() {
            return;
        }
        match self.first.get_mut(self.n_first) {
            Some(slot) => {
                *slot = (slots, rest);
                self.n_first += 1;
            }
            None => self.spilled.push((slots, rest)),
        }
    }

    /// Removes and returns the candidate that was registered first.
    fn next(&mut self) -> Option<(Slot, Option<&'t str>)> {
        let lists = self.first[..self.n_first].iter_mut().chain(&mut self.spilled);
        let list = lists.filter(|(slots, _)| !slots.is_empty()).min_by_key(|(slots, _)| slots[0])?;
        let (slot, others) = list.0.split_first()?;
        list.0 = others;
        Some((*slot, list.1))
    }
}

impl Matcher {
    /// An index of these patterns. An invalid pattern matches nothing.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Self {
        let mut matcher = Self { patterns: Vec::new(), root: TrieNode::default() };
        for (idx, source) in patterns.into_iter().enumerate() {
            if let Ok(pattern) = Pattern::compile(source) {
                matcher.insert(idx, pattern);
            }
        }
        matcher
    }

    fn insert(&mut self, idx: usize, pattern: Pattern) {
        let node = pattern.prefix().iter().fold(&mut self.root, |node, segment| node.children.entry(segment));
        let slot = (idx, self.patterns.len());
        if pattern.is_literal() {
            node.exact.push(slot)
        } else {
            node.open.push(slot)
        }
        self.patterns.push(pattern);
    }

    /// Calls `take` for every match, in order of registration, until it returns a value.
    pub fn find<'t, R>(&self, path: &'t str, mut take: impl FnMut(usize, &Captures<'_, 't>) -> Option<R>) -> Option<R> {
        let mut rest = Some(path.strip_prefix('/')?);
        let (mut node, mut candidates) = (&self.root, CandidateLists::default());
        loop {
            candidates.push(&node.open, rest);
            let Some(text) = rest else {
                candidates.push(&node.exact, None);
                break;
            };
            let (first, after) = next_segment(text);
            let Some(child) = node.children.get(first) else { break };
            (node, rest) = (child, after);
        }
        while let Some(((idx, pattern_idx), rest)) = candidates.next() {
            let found = self.patterns[pattern_idx].match_rest(path, rest).and_then(|captures| take(idx, &captures));
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    /// All matches, found by trying every pattern.
    fn naive(patterns: &[Pattern], path: &str) -> Vec<(usize, String)> {
        let all = patterns.iter().enumerate();
        all.filter_map(|(i, p)| Some((i, format!("{:?}", p.matches(path)?.iter().collect::<Vec<_>>())))).collect()
    }

    /// All matches according to the regex engine and its rules for case, for paths where both rules agree.
    fn by_engine(sources: &[String], path: &str) -> Vec<usize> {
        thread_local! {
            // Compiling takes most of the time, and the same few patterns occur repeatedly.
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

    /// No group name twice in a pattern: the engine rejects that.
    fn pattern() -> impl Strategy<Value = String> {
        prop::collection::vec(part(), 1..4).prop_map(|parts| {
            let mut used_names = Vec::new();
            let parts = parts.into_iter().filter(|p| {
                !p.contains('<') || {
                    let new = !used_names.contains(p);
                    used_names.push(p.clone());
                    new
                }
            });
            let text: String = parts.map(|p| format!("/{p}")).collect();
            if text.is_empty() { "/a".to_owned() } else { text }
        })
    }

    #[test]
    fn many_segments_at_one_node_are_found() {
        let sources: Vec<String> = (0..200).map(|i| format!("/Things{i}/(?P<id>[\\d]+)")).collect();
        let matcher = Matcher::new(sources.iter().map(String::as_str));
        for i in 0..200 {
            assert_eq!(matcher.find(&format!("/tHINGS{i}/7"), |idx, _| Some(idx)), Some(i));
        }
        assert_eq!(matcher.find("/things200/7", |idx, _| Some(idx)), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn matches_equal_trying_every_pattern(
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
        fn arbitrary_text_does_not_panic(source in ".{0,40}", path in ".{0,40}") {
            if let Ok(pattern) = Pattern::compile(&source) {
                pattern.matches(&path);
            }
            Matcher::new([source.as_str()]).find(&path, |i, _| Some(i));
        }
    }
}
