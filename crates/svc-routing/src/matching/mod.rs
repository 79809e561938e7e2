//! Matching of paths: the patterns of routes, and a trie of many patterns.

mod matcher;
mod pattern;

pub use matcher::Matcher;
pub use pattern::Captures;

pub(crate) use pattern::Pattern;
