//! Differences that are known: `tests/traces/differences.toml`.

use anyhow::{Context, Result};
use fancy_regex::Regex;
use serde::Deserialize;
use xtask_support::root;

/// The known differences.
pub(super) struct Explained(Vec<Explanation>);

struct Explanation {
    reason: String,
    request: Regex,
    difference: Regex,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    difference: Vec<Entry>,
}

/// Differences with one cause. The patterns match anywhere in the texts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    reason: String,
    /// A pattern of the step as JSON; every step without it.
    #[serde(default)]
    request: String,
    /// A pattern of the difference as it is printed.
    difference: String,
}

impl Explained {
    /// Those in the repository.
    pub(super) fn read() -> Result<Self> {
        let path = root()?.join("tests/traces/differences.toml");
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("cannot read {}", path.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        let pattern = |text: &str| Regex::new(text).with_context(|| format!("cannot read the pattern {text}"));
        let file: File = toml::from_str(text)?;
        let explanation = |entry: Entry| {
            let (request, difference) = (pattern(&entry.request)?, pattern(&entry.difference)?);
            Ok(Explanation { reason: entry.reason, request, difference })
        };
        Ok(Explained(file.difference.into_iter().map(explanation).collect::<Result<_>>()?))
    }

    /// The reason for a difference of a step, if it is known.
    pub(super) fn reason(&self, step: &str, difference: &str) -> Option<&str> {
        let matches = |pattern: &Regex, text: &str| pattern.is_match(text).unwrap_or(false);
        let found = self.0.iter().find(|e| matches(&e.request, step) && matches(&e.difference, difference));
        found.map(|explanation| explanation.reason.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_explained_by_both_patterns() {
        let text = "[[difference]]\nreason = \"one\"\nrequest = 'POST .*/tags'\ndifference = '^status: '\n[[difference]]\nreason = \"two\"\ndifference = 'header allow'\n";
        let explained = Explained::parse(text).unwrap();
        assert_eq!(explained.reason("POST /wp/v2/tags", "status: expected 1"), Some("one"));
        assert_eq!(explained.reason("GET /wp/v2/tags", "status: expected 1"), None);
        assert_eq!(explained.reason("GET /", "x header allow: y"), Some("two"));
        assert!(Explained::read().is_ok());
    }
}
