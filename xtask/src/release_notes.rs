//! The notes of a release: the section of its version in CHANGELOG.md.

use anyhow::{Context, Result};
use xtask_support::{root, say};

/// Arguments of `cargo xtask release-notes`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The version, such as 1.2.0, or `Unreleased`.
    version: String,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let changelog = std::fs::read_to_string(root()?.join("CHANGELOG.md")).context("cannot read CHANGELOG.md")?;
    let notes = section(&changelog, &options.version);
    say(&notes.with_context(|| format!("CHANGELOG.md has no section `## {}`, or it is empty", options.version))?)
}

/// The text below the heading of a version: `## 1.2.0`, or `## [1.2.0] - 2026-01-31`.
fn section(changelog: &str, version: &str) -> Option<String> {
    let is_heading = |line: &str| {
        let name = line.strip_prefix("## ").and_then(|title| title.split_whitespace().next());
        name.is_some_and(|name| name.trim_matches(['[', ']']) == version)
    };
    let below = changelog.lines().skip_while(|line| !is_heading(line)).skip(1);
    let text = below.take_while(|line| !line.starts_with("## ")).collect::<Vec<_>>().join("\n");
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_of_a_version() {
        let changelog =
            "# Changelog\n\n## Unreleased\n\n## [1.1.0] - 2026-02-01\n\n### Added\n\n- B.\n\n## 1.0.0\n\n- A.\n";
        for (version, expected) in [
            ("Unreleased", None),
            ("1.1.0", Some("### Added\n\n- B.")),
            ("1.0.0", Some("- A.")),
            ("1.0", None),
            ("2.0.0", None),
        ] {
            assert_eq!(section(changelog, version).as_deref(), expected, "{version}");
        }
    }
}
