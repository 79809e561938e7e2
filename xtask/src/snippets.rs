//! Code blocks of the project's Markdown: shell, TOML and JSON must parse, and Rust must be compiled by a test.
//!
//! Rust blocks of `README.md`, `docs` and `.github` are documentation tests of `tests/lib.rs`, which includes these files.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result};

use crate::markdown;

/// The file whose documentation tests compile the Rust blocks of other files.
const COMPILED_BY: &str = "tests/lib.rs";

/// Faults of every code block.
pub(crate) fn faults(root: &Path) -> Result<Vec<String>> {
    let compiled = std::fs::read_to_string(root.join(COMPILED_BY)).context("cannot read tests/lib.rs")?;
    let mut found = Vec::new();
    for file in markdown::files(root)? {
        let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let name = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        // Crates compile their own READMEs.
        let in_crate = name.starts_with("crates/");
        for block in markdown::blocks(&text) {
            let fault = match block.language {
                "" => Some("this code block has no language".to_owned()),
                "sh" => shell_fault(&block.code)?,
                "toml" => block.code.parse::<toml::Table>().err().map(|e| e.to_string()),
                "json" => serde_json::from_str::<serde_json::Value>(&block.code).err().map(|e| e.to_string()),
                language if language.starts_with("rust") && !in_crate => rust_fault(language, &name, &compiled),
                _ => None,
            };
            found.extend(fault.map(|f| format!("{name}:{}: {}", block.line, f.trim_end())));
        }
    }
    Ok(found)
}

fn rust_fault(language: &str, file: &str, compiled: &str) -> Option<String> {
    if language.contains("ignore") {
        return Some("this Rust block is not compiled; use `no_run` instead of `ignore`".to_owned());
    }
    let included = compiled.contains(&format!("include_str!(\"../{file}\")"));
    (!included).then(|| format!("this Rust block is not compiled; include the file in {COMPILED_BY}"))
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
    fn shell_syntax_is_checked() {
        for (code, faulty) in [("cargo run -p x # note\n", false), ("a | b && c", false), ("echo 'open", true)] {
            assert_eq!(shell_fault(code).unwrap().is_some(), faulty, "{code}");
        }
    }

    #[test]
    fn rust_must_be_compiled() {
        let compiled = "#[doc = include_str!(\"../docs/a.md\")]";
        for (language, file, faulty) in [
            ("rust", "docs/a.md", false),
            ("rust,no_run", "docs/a.md", false),
            ("rust,ignore", "docs/a.md", true),
            ("rust", "docs/b.md", true),
        ] {
            assert_eq!(rust_fault(language, file, compiled).is_some(), faulty, "{language} {file}");
        }
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
