//! Code blocks of the project's Markdown: shell, TOML and JSON must parse, and Rust must be compiled by a test.
//!
//! The README of a crate is included by its `src/lib.rs`, all other Markdown with Rust blocks by `tests/lib.rs`, so that the
//! blocks are documentation tests.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::files;

/// The file whose documentation tests compile the Rust blocks outside of crates.
const COMPILED_BY: &str = "tests/lib.rs";

/// Faults of every code block.
pub(super) fn faults(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for file in files(root)? {
        let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let name = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        let (compiled_by, path) = compiled_by(&name);
        for block in blocks(&text) {
            let fault = match &*block.language {
                "" => Some("this code block has no language".to_owned()),
                "sh" => shell_fault(&block.code)?,
                "toml" => block.code.parse::<toml::Table>().err().map(|e| e.to_string()),
                "json" => serde_json::from_str::<serde_json::Value>(&block.code).err().map(|e| e.to_string()),
                language if language.starts_with("rust") => {
                    let compiled = std::fs::read_to_string(root.join(&compiled_by)).unwrap_or_default();
                    rust_fault(language, &path, &compiled_by, &compiled)
                }
                _ => None,
            };
            found.extend(fault.map(|f| format!("{name}:{}: {}", block.line, f.trim_end())));
        }
    }
    Ok(found)
}

/// A fenced code block.
#[derive(Debug, Default, PartialEq, Eq)]
struct Block {
    /// Line of the opening fence, from 1.
    line: usize,
    /// The first word after the opening fence, such as `rust,no_run`.
    language: String,
    code: String,
}

/// The fenced code blocks of a text, in order.
fn blocks(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut is_inside = false;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                let line = text[..range.start].matches('\n').count() + 1;
                let language = info.split_whitespace().next().unwrap_or_default().to_owned();
                found.push(Block { line, language, code: String::new() });
                is_inside = true;
            }
            Event::End(TagEnd::CodeBlock) => is_inside = false,
            Event::Text(code) if is_inside => found.last_mut().into_iter().for_each(|block| block.code.push_str(&code)),
            _ => {}
        }
    }
    found
}

/// The file that must include a Markdown file with Rust blocks, and the path in its `include_str!`.
fn compiled_by(file: &str) -> (String, String) {
    match file.strip_prefix("crates/").and_then(|rest| rest.split_once('/')) {
        Some((krate, inner)) => (format!("crates/{krate}/src/lib.rs"), format!("../{inner}")),
        None => (COMPILED_BY.to_owned(), format!("../{file}")),
    }
}

fn rust_fault(language: &str, path: &str, compiled_by: &str, compiled: &str) -> Option<String> {
    if language.contains("ignore") {
        return Some("this Rust block is not compiled; use `no_run` instead of `ignore`".to_owned());
    }
    let included = compiled.contains(&format!("include_str!(\"{path}\")"));
    (!included).then(|| format!("this Rust block is not compiled; include the file in {compiled_by}"))
}

/// The shell's complaint about the syntax. Nothing is executed.
fn shell_fault(code: &str) -> Result<Option<String>> {
    let mut shell = Command::new("sh");
    shell.arg("-n").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    // Systems without a shell leave this check to others.
    let Ok(mut child) = shell.spawn() else { return Ok(None) };
    if let Some(mut input) = child.stdin.take() {
        // The shell may stop reading at the first error.
        drop(input.write_all(code.as_bytes()));
    }
    let output = child.wait_with_output().context("cannot wait for sh")?;
    Ok((!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_a_line_a_language_and_code() {
        let text = "a\n```rust,no_run file=x\nlet a;\n```\n\n    indented\n\n- b\n  ~~~\n  c\n    d\n  ~~~\n";
        let block =
            |line, language: &str, code: &str| Block { line, language: language.to_owned(), code: code.to_owned() };
        assert_eq!(blocks(text), [block(2, "rust,no_run", "let a;\n"), block(9, "", "c\n  d\n")]);
    }

    #[test]
    fn shell_syntax_is_checked() {
        for (code, faulty) in [("cargo run -p x # note\n", false), ("a | b && c", false), ("echo 'open", true)] {
            assert_eq!(shell_fault(code).unwrap().is_some(), faulty, "{code}");
        }
    }

    #[test]
    fn rust_must_be_compiled() {
        let compiled = "#![doc = include_str!(\"../README.md\")]";
        for (language, path, faulty) in [
            ("rust", "../README.md", false),
            ("rust,no_run", "../README.md", false),
            ("rust,ignore", "../README.md", true),
            ("rust", "../docs/b.md", true),
        ] {
            assert_eq!(rust_fault(language, path, "a.rs", compiled).is_some(), faulty, "{language} {path}");
        }
        assert_eq!(compiled_by("docs/a.md"), ("tests/lib.rs".to_owned(), "../docs/a.md".to_owned()));
        assert_eq!(compiled_by("crates/a/README.md"), ("crates/a/src/lib.rs".to_owned(), "../README.md".to_owned()));
    }

    #[test]
    fn blocks_of_a_folder_are_checked() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        std::fs::create_dir(folder.path().join("tests")).unwrap();
        write("tests/lib.rs", "");
        write("a.md", "```toml\na = 1\n```\n```json\n{\"a\": 1}\n```\n```text\n{{{\n```\n");
        assert!(faults(folder.path()).unwrap().is_empty());
        write("a.md", "```toml\na = = 1\n```\n```json\n{a: 1}\n```\n```\nx\n```\n```rust\nlet a;\n```\n");
        assert_eq!(faults(folder.path()).unwrap().len(), 4);
    }
}
