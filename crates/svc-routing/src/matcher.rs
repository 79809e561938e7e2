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

#[derive(Debug, Default)]
struct Node {
    children: HashMap<Box<str>, Node, BuildHasherDefault<Fnv>>,
    /// Patterns that end here.
    exact: Vec<usize>,
    /// Patterns that go on from here.
    open: Vec<usize>,
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
        for source in patterns {
            let Ok(pattern) = Pattern::compile(source) else { continue };
            matcher.insert(pattern);
        }
        matcher
    }

    fn insert(&mut self, pattern: Pattern) {
        let mut node = &mut self.root;
        for segment in pattern.prefix() {
            node = node.children.entry(segment.as_str().into()).or_default();
        }
        let idx = self.patterns.len();
        if pattern.is_literal() { node.exact.push(idx) } else { node.open.push(idx) }
        self.patterns.push(pattern);
    }

    /// Gives every match to `take`, in order of registration, until it returns a value.
    pub fn find<'t, R>(&self, path: &'t str, mut take: impl FnMut(usize, &Captures<'_, 't>) -> Option<R>) -> Option<R> {
        let mut rest = Some(path.strip_prefix('/')?);
        let mut node = &self.root;
        // Each candidate with the part of the path that its prefix leaves over.
        let mut candidates: Vec<(usize, Option<&'t str>)> = Vec::new();
        loop {
            candidates.extend(node.open.iter().map(|idx| (*idx, rest)));
            let Some(text) = rest else {
                candidates.extend(node.exact.iter().map(|idx| (*idx, None)));
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
        if !candidates.is_sorted_by_key(|(idx, _)| *idx) {
            candidates.sort_unstable_by_key(|(idx, _)| *idx);
        }
        candidates.into_iter().find_map(|(idx, rest)| {
            let captures = self.patterns[idx].match_rest(path, rest)?;
            take(idx, &captures)
        })
    }
}
