//! Checks of the project's Markdown: code fences are closed, and links point to files and headings that exist.

use std::{collections::BTreeSet, path::Path};

use anyhow::{Context, Result};

use super::files;

/// Faults of every Markdown file under these folders, and of those directly in the root.
pub(super) fn faults(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for file in files(root)? {
        let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let name = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        let (prose, fence) = prose(&text);
        if let Some(line) = fence {
            found.push(format!("{name}:{line}: this code fence is not closed"));
        }
        let folder = file.parent().unwrap_or(root);
        for (line, target) in links(&prose) {
            if let Some(fault) = link_fault(folder, &file, &target)? {
                found.push(format!("{name}:{line}: {fault}"));
            }
        }
    }
    Ok(found)
}

/// The lines outside code fences with their numbers, and the line of a fence that is never closed.
fn prose(text: &str) -> (Vec<(usize, &str)>, Option<usize>) {
    let mut lines = Vec::new();
    let mut open: Option<(usize, &str)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|m| trimmed.starts_with(m));
        match (open, marker) {
            // A closing fence has no language; an opening one inside a fence means that the first was not closed.
            (Some((_, with)), Some(marker)) if marker == with && trimmed[marker.len()..].trim().is_empty() => {
                open = None
            }
            (Some((at, with)), Some(marker)) if marker == with => return (lines, Some(at)),
            (None, Some(marker)) => open = Some((number, marker)),
            (None, None) => lines.push((number, line)),
            _ => {}
        }
    }
    (lines, open.map(|(at, _)| at))
}

/// Targets of inline links and images, with their line numbers. Inline code is skipped.
fn links(lines: &[(usize, &str)]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in lines {
        let outside: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
        for part in outside.split("](").skip(1) {
            if let Some((target, _)) = part.split_once(')') {
                found.push((*number, target.split(' ').next().unwrap_or_default().to_owned()));
            }
        }
    }
    found
}

/// The reason why a link in this file is broken. Links to other hosts are not checked.
fn link_fault(folder: &Path, file: &Path, target: &str) -> Result<Option<String>> {
    if target.contains("://") || target.starts_with("mailto:") {
        return Ok(None);
    }
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let to = if path.is_empty() { file.to_owned() } else { folder.join(path) };
    if !to.exists() {
        return Ok(Some(format!("the link to `{target}` points to a file that does not exist")));
    }
    let Some(anchor) = anchor.filter(|_| to.extension().is_some_and(|e| e == "md")) else { return Ok(None) };
    let text = std::fs::read_to_string(&to).with_context(|| format!("cannot read {}", to.display()))?;
    let missing = !anchors(&text).contains(anchor);
    Ok(missing.then(|| format!("the link to `{target}` points to a heading that does not exist")))
}

/// The anchors of a file's headings, as GitHub derives them.
fn anchors(text: &str) -> BTreeSet<String> {
    let (lines, _) = prose(text);
    let mut found = BTreeSet::new();
    for (_, line) in lines {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        unique_anchor(title, &mut found);
    }
    found
}

/// The anchor of a heading, as GitHub derives it. A repeated heading gets a numeric suffix.
fn unique_anchor(title: &str, used: &mut BTreeSet<String>) -> String {
    let title = title.trim().to_lowercase();
    let characters = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    let anchor: String = characters.map(|c| if c == ' ' { '-' } else { c }).collect();
    let mut name = anchor.clone();
    for n in 1.. {
        if used.insert(name.clone()) {
            break;
        }
        name = format!("{anchor}-{n}");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unclosed_fence_is_a_fault() {
        assert_eq!(prose("a\n```\nb\n```\nc").1, None);
        assert_eq!(prose("a\n```rust\nb\n").1, Some(2));
        assert_eq!(
            prose("```rust\na\n\n```toml\nb\n```\n").1,
            Some(1),
            "a second opening fence shows that the first block is not closed"
        );
        assert_eq!(prose("a\n```\nb\n```\nc").0, [(1, "a"), (5, "c")]);
    }

    #[test]
    fn links_outside_code_are_found() {
        let lines = [(1, "see [a](b.md#c) and ![d](e.png \"title\")"), (2, "`[x](y)` but [z](w)")];
        let found: Vec<_> = links(&lines).into_iter().map(|(n, t)| format!("{n} {t}")).collect();
        assert_eq!(found, ["1 b.md#c", "1 e.png", "2 w"]);
    }

    #[test]
    fn headings_have_anchors() {
        let found = anchors("# The API, v2\n## Set-up\n## Set-up\n#no\n```\n# not this\n```\n");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["set-up", "set-up-1", "the-api-v2"]);
    }

    #[test]
    fn broken_link_is_a_fault() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a.md"), folder.path().join("b.md"));
        std::fs::write(&a, "# One\n").unwrap();
        std::fs::write(&b, "# Two\n").unwrap();
        for (target, faulty) in [
            ("b.md", false),
            ("b.md#two", false),
            ("#one", false),
            ("https://example.org/x", false),
            ("c.md", true),
            ("b.md#one", true),
            ("#two", true),
        ] {
            assert_eq!(link_fault(folder.path(), &a, target).unwrap().is_some(), faulty, "{target}");
        }
    }
}
