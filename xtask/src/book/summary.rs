//! The list of pages, `SUMMARY.md`, as mdBook defines it: headings are parts, links are pages.

use std::path::Path;

use anyhow::{Context, Result};

/// The file's name.
pub(super) const FILE: &str = "SUMMARY.md";

/// A page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chapter {
    pub(super) title: String,
    /// Path below `docs/`.
    pub(super) file: String,
}

impl Chapter {
    /// Name of the rendered file.
    pub(super) fn target(&self) -> String {
        self.file.replace(".md", ".html")
    }
}

/// Parts with their pages.
pub(super) struct Summary {
    /// Heading and pages; pages before the first heading are in a part without heading.
    pub(super) parts: Vec<(String, Vec<Chapter>)>,
}

impl Summary {
    pub(super) fn read(docs: &Path) -> Result<Self> {
        let file = docs.join(FILE);
        let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        Ok(Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let mut parts = vec![(String::new(), Vec::new())];
        // The first heading is the title of the list.
        for line in text.lines().skip_while(|line| line.trim().is_empty() || *line == "# Summary") {
            if let Some(title) = line.strip_prefix("# ") {
                parts.push((title.trim().to_owned(), Vec::new()));
            } else if let Some(chapter) = chapter(line)
                && let Some((_, chapters)) = parts.last_mut()
            {
                chapters.push(chapter);
            }
        }
        Self { parts }
    }

    pub(super) fn chapters(&self) -> impl Iterator<Item = &Chapter> {
        self.parts.iter().flat_map(|(_, chapters)| chapters)
    }
}

/// The page of a line `- [Title](file.md)`.
fn chapter(line: &str) -> Option<Chapter> {
    let (title, file) = line.trim_start_matches([' ', '-']).strip_prefix('[')?.split_once("](")?;
    Some(Chapter { title: title.to_owned(), file: file.strip_suffix(')')?.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_pages() {
        let summary = Summary::parse("# Summary\n\n[A](a.md)\n\n# Part\n\n- [B, c](b.md)\n- [D](d.md)\n\ntext\n");
        let shown: Vec<(&str, Vec<&str>)> = summary
            .parts
            .iter()
            .map(|(part, chapters)| (part.as_str(), chapters.iter().map(|c| c.file.as_str()).collect()))
            .collect();
        assert_eq!(shown, [("", vec!["a.md"]), ("Part", vec!["b.md", "d.md"])]);
        assert_eq!(summary.chapters().nth(1).unwrap().title, "B, c");
    }
}
