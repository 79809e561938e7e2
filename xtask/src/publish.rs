//! Releases of the crates: `cargo xtask semver` checks the version, `cargo xtask publish` publishes.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use xtask_support::{cargo, root, run as run_command, say};

use crate::tools::SEMVER;

/// Arguments of `cargo xtask publish`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Package and compile the crates, and upload nothing.
    #[arg(long)]
    dry_run: bool,
    /// Do not compile the packages.
    #[arg(long)]
    no_verify: bool,
    /// The crates to publish (default: all). Crates that they depend on must be among them or published.
    #[arg(value_name = "CRATE")]
    crates: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let manifest = root()?.join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).context("cannot read Cargo.toml")?;
    ensure!(options.dry_run || has_address(&text), "Cargo.toml: set `repository` to the repository's public URL first");
    let mut publish = cargo()?;
    publish.args(["publish", "--locked"]);
    match options.crates.as_slice() {
        // Without the packages that have `publish = false`.
        [] => publish.arg("--workspace"),
        names => publish.args(names.iter().flat_map(|name| ["--package", name.as_str()])),
    };
    publish.args(options.dry_run.then_some("--dry-run")).args(options.no_verify.then_some("--no-verify"));
    run_command(&mut publish)
}

/// Whether the manifest of the workspace has the address of a repository in place of one that cannot exist.
fn has_address(manifest: &str) -> bool {
    let manifest = manifest.parse::<toml::Table>().ok();
    let package = manifest.as_ref().and_then(|table| table.get("workspace")?.get("package"));
    let repository = package.and_then(|package| package.get("repository")?.as_str());
    repository.is_some_and(|url| !url.contains(".invalid"))
}

/// Arguments of `cargo xtask semver`.
#[derive(clap::Args)]
pub(crate) struct SemverOptions {
    /// The commit to compare with (default: the tag of the last release).
    #[arg(long, value_name = "COMMIT")]
    baseline: Option<String>,
    /// The crates to check (default: all that are published).
    #[arg(value_name = "CRATE")]
    crates: Vec<String>,
}

/// Compares the public interfaces of the crates with those of a release.
pub(crate) fn semver(options: &SemverOptions) -> Result<()> {
    let Some(baseline) = options.baseline.clone().map_or_else(last_release, |commit| Ok(Some(commit)))? else {
        return say("skipped: nothing is released yet; compare with a commit: cargo xtask semver --baseline COMMIT");
    };
    let Some(mut check) = SEMVER.command("the comparison of public interfaces")? else { return Ok(()) };
    check.args(["--baseline-rev", &baseline]);
    match options.crates.as_slice() {
        [] => check.arg("--workspace"),
        names => check.args(names.iter().flat_map(|name| ["--package", name.as_str()])),
    };
    run_command(&mut check)
}

/// The newest tag of a release before the current commit, which may have the tag of the next one.
fn last_release() -> Result<Option<String>> {
    let mut describe = Command::new("git");
    describe.args(["describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD^"]).current_dir(root()?);
    let output = describe.output().context("cannot run git")?;
    Ok(output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholder_is_no_address_of_a_repository() {
        for (line, has) in [
            ("repository = \"https://repository.invalid/svc\"", false),
            ("repository = \"https://example.org/svc\"", true),
            ("", false),
        ] {
            assert_eq!(has_address(&format!("[workspace.package]\n{line}\n")), has, "{line}");
        }
    }
}
