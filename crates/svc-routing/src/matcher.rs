//! Finds the routes whose patterns match a path, without trying every pattern.
//!
//! Patterns stand in a tree of the literal segments that they begin with. A path is walked down that tree once; only the
//! patterns that stand on its way are tried. The answer is that of trying every pattern in order of registration.

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
    children: Children,
    /// Patterns that end here.
    exact: Vec<Slot>,
    /// Patterns that go on from here.
    open: Vec<Slot>,
}

/// Nodes by their segment, without regard to ASCII letter case. A few are looked through; more are found by hash. The
/// segments are registered ones, so nobody from outside can make them collide.
#[derive(Debug, Default)]
struct Children {
    nodes: Vec<(Box<str>, Node)>,
    /// Places of nodes plus one, by hash and then onwards; 0 is free. At most half full, its size a power of two.
    table: Vec<usize>,
}

/// The most nodes that are looked through one by one.
const FEW: usize = 4;

/// A quick hash that does not see the case of letters: eight bytes at a time, each with the bit set that tells the cases
/// apart.
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

/// Whether two segments are the same but for the case of letters.
fn same(a: &str, b: &str) -> bool {
    // Nearly always they are the same in every letter, which is quicker to see.
    a == b || a.eq_ignore_ascii_case(b)
}

impl Children {
    fn find(&self, segment: &str) -> Option<usize> {
        if self.table.is_empty() {
            return self.nodes.iter().position(|(name, _)| same(name, segment));
        }
        let mask = self.table.len() - 1;
        let mut at = hash(segment) & mask;
        loop {
            let place = self.table[at].checked_sub(1)?;
            if same(&self.nodes[place].0, segment) {
                return Some(place);
            }
            at = (at + 1) & mask;
        }
    }

    fn get(&self, segment: &str) -> Option<&Node> {
        self.find(segment).map(|place| &self.nodes[place].1)
    }

    fn entry(&mut self, segment: &str) -> &mut Node {
        let place = self.find(segment).unwrap_or_else(|| {
            self.nodes.push((segment.into(), Node::default()));
            if self.nodes.len() > FEW {
                self.index();
            }
            self.nodes.len() - 1
        });
        &mut self.nodes[place].1
    }

    /// Makes the table anew when it would be more than half full, else adds the last node.
    fn index(&mut self) {
        let full = self.nodes.len() * 2 > self.table.len();
        let from = if full { 0 } else { self.nodes.len() - 1 };
        if full {
            self.table = vec![0; (self.nodes.len() * 4).next_power_of_two()];
        }
        let mask = self.table.len() - 1;
        for (place, (name, _)) in self.nodes.iter().enumerate().skip(from) {
            let mut at = hash(name) & mask;
            while self.table[at] != 0 {
                at = (at + 1) & mask;
            }
            self.table[at] = place + 1;
        }
    }
}

/// Candidates that stand at one node, with the part of the path that their prefix leaves over.
type Candidates<'m, 't> = (&'m [Slot], Option<&'t str>);

/// The lists of candidates met on the way: few enough, nearly always, to need no memory.
#[derive(Default)]
struct TrieNode<'m, 't> {
    first: [Candidates<'m, 't>; 4],
    n_first: usize,
    more: Vec<Candidates<'m, 't>>,
}

impl<'m, 't> TrieNode<'m, 't> {
    fn push(&mut self, slots: &'m [Slot], rest: Option<&'t str>) {
        if slots.is_empty() {
            return;
        }
        match self.first.get_mut(self.n_first) {
            Some(place) => {
                *place = (slots, rest);
                self.n_first += 1;
            }
            None => self.more.push((slots, rest)),
        }
    }

    /// Takes the candidate that was registered first.
    fn next(&mut self) -> Option<(Slot, Option<&'t str>)> {
        let lists = self.first[..self.n_first].iter_mut().chain(&mut self.more);
        let list = lists.filter(|(slots, _)| !slots.is_empty()).min_by_key(|(slots, _)| slots[0])?;
        let (slot, others) = list.0.split_first()?;
        list.0 = others;
        Some((*slot, list.1))
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
        let node = pattern.prefix().iter().fold(&mut self.root, |node, segment| node.children.entry(segment));
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
        let (mut node, mut way) = (&self.root, TrieNode::default());
        loop {
            way.push(&node.open, rest);
            let Some(text) = rest else {
                way.push(&node.exact, None);
                break;
            };
            let (first, after) = next_segment(text);
            let Some(child) = node.children.get(first) else { break };
            (node, rest) = (child, after);
        }
        while let Some(((idx, kept), rest)) = way.next() {
            let found = self.patterns[kept].match_rest(path, rest).and_then(|captures| take(idx, &captures));
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

    #[test]
    fn many_segments_at_one_place_are_all_found() {
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
