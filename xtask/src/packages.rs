//! Runs the tasks of other packages of the workspace.

use std::{
    env::consts::EXE_SUFFIX,
    ffi::OsString,
    process::{Command, ExitCode},
};

use anyhow::{Context, Result};
use xtask_support::{cargo_here, run as run_command, target, tasks::Task};

/// Builds the package of a task and runs it. Returns its exit code; it has printed its error.
pub(crate) fn run(task: &Task, args: &[OsString]) -> Result<ExitCode> {
    // Not in one step: `cargo run` prints either progress and an error for each task that fails, or neither. With the features that the
    // workspace has together, for which most dependencies are compiled already.
    run_command(cargo_here().args(["build", "--workspace", "--bin", task.package]))?;
    // In the folder of the caller: arguments may be relative paths.
    let mut run = Command::new(target()?.join("debug").join(format!("{}{EXE_SUFFIX}", task.package)));
    run.arg(task.name).args(args);
    let status = run.status().with_context(|| format!("cannot run {run:?}"))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}
