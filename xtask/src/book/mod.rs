//! `cargo xtask docs`: renders `docs/` as a book of HTML pages in `target/book`.
//!
//! `docs/SUMMARY.md` lists the pages in order. The layout is that of mdBook, so an installed `mdbook` renders the same pages.
//! With `--update`, the reference pages are first generated again by the tests that compare them.

mod page;
mod summary;

use std::path::Path;

use anyhow::{Context, Result};
use xtask_support::{cargo, root, run as run_command, say, target};

use self::summary::{Chapter, Summary};

/// The style sheet of all pages.
const STYLE: &str = include_str!("book.css");

/// The folders of `docs/` whose files are copied.
const COPIED: &[&str] = &["screenshots"];

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Generate the reference pages first.
    #[arg(long)]
    update: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.update {
        let mut tests = cargo()?;
        tests.args(["test", "--package", "svc-tests", "--test", "it", "reference::"]).env("UPDATE_EXPECT", "1");
        run_command(&mut tests)?;
    }
    check()
}

/// Renders the book.
pub(crate) fn check() -> Result<()> {
    let root = root()?;
    let to = target()?.join("book");
    let n_pages = render(&root.join("docs"), &to)?;
    say(&format!("{n_pages} pages: {}", to.join("index.html").display()))
}

/// Faults of the list of pages: files of `docs/` that it does not contain. Missing files are found as broken links.
pub(crate) fn faults(root: &Path) -> Result<Vec<String>> {
    let docs = root.join("docs");
    let summary = Summary::read(&docs)?;
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&docs).context("cannot list docs/")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let is_page = name.ends_with(".md") && name != summary::FILE;
        if is_page && !summary.chapters().any(|chapter| chapter.file == name) {
            found.push(format!("docs/{name}: not listed in docs/{}", summary::FILE));
        }
    }
    Ok(found)
}

/// Renders a folder of pages. Returns the number of pages.
fn render(docs: &Path, to: &Path) -> Result<usize> {
    if to.exists() {
        std::fs::remove_dir_all(to).with_context(|| format!("cannot remove {}", to.display()))?;
    }
    std::fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    let summary = Summary::read(docs)?;
    let chapters: Vec<&Chapter> = summary.chapters().collect();
    for (n, chapter) in chapters.iter().enumerate() {
        let from = docs.join(&chapter.file);
        let text = std::fs::read_to_string(&from).with_context(|| format!("cannot read {}", from.display()))?;
        let previous = n.checked_sub(1).and_then(|n| chapters.get(n)).copied();
        let html = page::html(&summary, chapter, &text, previous, chapters.get(n + 1).copied());
        write(&to.join(chapter.target()), &html)?;
        if n == 0 {
            write(&to.join("index.html"), &html)?;
        }
    }
    write(&to.join("book.css"), STYLE)?;
    for folder in COPIED {
        copy(&docs.join(folder), &to.join(folder))?;
    }
    Ok(chapters.len())
}

fn write(to: &Path, text: &str) -> Result<()> {
    std::fs::write(to, text).with_context(|| format!("cannot write {}", to.display()))
}

/// Copies the files of a folder, if it exists, without folders in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        return Ok(());
    }
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_rendered_in_the_order_of_the_summary() {
        let folder = tempfile::tempdir().unwrap();
        let docs = folder.path().join("docs");
        std::fs::create_dir(&docs).unwrap();
        let write = |name: &str, text: &str| std::fs::write(docs.join(name), text).unwrap();
        write("SUMMARY.md", "# Summary\n\n[Start](start.md)\n\n# Guides\n\n- [Two & more](two.md)\n");
        write("start.md", "# Start\n\nSee [two](two.md#a-part) and [code](../src/lib.rs).\n");
        write("two.md", "# Two\n\n## A part\n\n| a |\n|---|\n| b |\n");
        let to = folder.path().join("book");
        assert_eq!(render(&docs, &to).unwrap(), 2);
        let read = |name: &str| std::fs::read_to_string(to.join(name)).unwrap();
        assert_eq!(read("index.html"), read("start.html"));
        assert!(
            read("start.html").contains(r#"See <a href="two.html#a-part">two</a> and code."#),
            "{}",
            read("start.html")
        );
        assert!(read("two.html").contains(r#"<h2 id="a-part">A part</h2>"#), "{}", read("two.html"));
        assert!(read("two.html").contains("<td>b</td>") && read("two.html").contains("Two &amp; more"));
        assert!(faults(folder.path()).unwrap().is_empty());
        write("three.md", "# Three\n");
        assert_eq!(faults(folder.path()).unwrap(), ["docs/three.md: not listed in docs/SUMMARY.md"]);
    }
}
