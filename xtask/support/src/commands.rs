//! The workspace's folders, and commands that run in them.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

/// The root folder of the workspace.
///
/// # Errors
/// If this package is not where the workspace has it.
pub fn root() -> Result<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(own.ancestors().nth(2).context("xtask/support has no parent folder")?.to_owned())
}

/// The folder of built programs.
///
/// # Errors
/// Like [`root`].
pub fn target() -> Result<PathBuf> {
    Ok(std::env::var_os("CARGO_TARGET_DIR").map_or(root()?.join("target"), PathBuf::from))
}

/// Writes a line to standard output.
///
/// # Errors
/// If standard output is closed.
pub fn say(line: &str) -> Result<()> {
    use std::io::Write;
    writeln!(std::io::stdout().lock(), "{line}").context("cannot write to standard output")
}

/// Runs a command. Its output goes to the terminal.
///
/// # Errors
/// If it cannot be started, or fails.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {command:?}"))?;
    if status.success() { Ok(()) } else { bail!("{command:?}: {status}") }
}

/// A command that runs the same cargo in the root folder of the workspace.
///
/// # Errors
/// Like [`root`].
pub fn cargo() -> Result<Command> {
    let mut command = cargo_here();
    command.current_dir(root()?);
    Ok(command)
}

/// A command that runs the same cargo in the current folder.
///
/// `cargo run` sets variables that describe the package of this program. Build scripts that depend on them, such as ring's, would run
/// again for each task and after each direct call of cargo, and with them everything that depends on them.
pub fn cargo_here() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let shown = name.to_string_lossy();
        if shown.starts_with("CARGO_PKG_") || shown.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}
