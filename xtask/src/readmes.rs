//! `cargo xtask readmes`: compiles the example of each README as a crate outside of the workspace would.
//!
//! Documentation tests see all dependencies of their crate. Here an example sees only its own crate and those of the `cargo add` line
//! below it, so that a reader who copies both has a program. The libraries are those that `cargo test` has built.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use xtask_support::{cargo, root, run as run_command, say};

/// The command that a README names.
const ADD: &str = "cargo add ";

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The crates whose READMEs are checked (default: all).
    #[arg(value_name = "CRATE")]
    crates: Vec<String>,
}

/// Checks the READMEs of the crates.
pub(crate) fn run(Options { crates: names }: &Options) -> Result<()> {
    let mut readmes = Vec::new();
    for entry in std::fs::read_dir(root()?.join("crates")).context("cannot list the crates")? {
        let folder = entry?.path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let file = folder.join("README.md");
        if file.is_file() && (names.is_empty() || names.contains(&name)) {
            readmes.push((name, file));
        }
    }
    readmes.sort();
    ensure!(!readmes.is_empty(), "there is no crate {}", names.join(", "));
    let libraries = libraries(names)?;
    for (name, file) in &readmes {
        check(name, file, &libraries).with_context(|| format!("{}", file.display()))?;
    }
    say(&format!("the examples of {} READMEs compile", readmes.len()))
}

/// Compiles and runs the example of a README.
fn check(name: &str, file: &Path, libraries: &BTreeMap<String, PathBuf>) -> Result<()> {
    let text = std::fs::read_to_string(file).context("cannot be read")?;
    let mut rustdoc = Command::new("rustdoc");
    rustdoc.args(["--test", "--edition", "2024", "--crate-name", "example"]).arg(file);
    rustdoc.arg("-L").arg(format!("dependency={}", folder_of(libraries)?.display()));
    for dependency in std::iter::once(name).chain(added(&text)) {
        let crate_name = dependency.replace('-', "_");
        let library = libraries.get(&crate_name).with_context(|| format!("{dependency} was not built"))?;
        rustdoc.arg("--extern").arg(format!("{crate_name}={}", library.display()));
    }
    run_command(rustdoc.stdout(Stdio::null()))
}

/// The dependencies that a README says to add.
fn added(text: &str) -> impl Iterator<Item = &str> {
    let commands = text.split('`').chain(text.lines()).filter_map(|part| part.trim().strip_prefix(ADD));
    commands.flat_map(|names| names.split_whitespace().take_while(|name| !name.starts_with("--")))
}

fn folder_of(libraries: &BTreeMap<String, PathBuf>) -> Result<&Path> {
    libraries.values().next().and_then(|file| file.parent()).context("no library was built")
}

/// The libraries that `cargo test` builds, by the name of their crate.
fn libraries(packages: &[String]) -> Result<BTreeMap<String, PathBuf>> {
    let mut build = cargo()?;
    build.args(["test", "--no-run", "--message-format=json-render-diagnostics"]);
    match packages {
        [] => build.arg("--workspace"),
        names => build.args(names.iter().flat_map(|name| ["--package", name.as_str()])),
    };
    let built = build.stderr(Stdio::inherit()).output().context("cannot run cargo")?;
    if !built.status.success() {
        bail!("{build:?}: {}", built.status);
    }
    let mut found = BTreeMap::new();
    for line in String::from_utf8_lossy(&built.stdout).lines() {
        let message: Value = serde_json::from_str(line).context("cargo printed something else than JSON")?;
        let files = message["filenames"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for file in files.filter(|file| file.ends_with(".rlib")) {
            let name = message["target"]["name"].as_str().unwrap_or_default().replace('-', "_");
            found.insert(name, PathBuf::from(file));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_those_of_the_command() {
        let text = "Needs `cargo add serde_json tokio --features full`.\n\n    cargo add axum\n";
        let mut names: Vec<&str> = added(text).collect();
        names.sort_unstable();
        assert_eq!(names, ["axum", "serde_json", "tokio"]);
    }
}
