//! The project's tasks. `cargo xtask` lists them.

mod bench;
mod checks;
mod conformance;
mod crash;
mod live;
mod live_editor;
mod live_sign_in;
mod markdown;
mod server;
mod stress;
mod tidy;
mod vectors;

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, Result, bail};

const USAGE: &str = "\
usage: cargo xtask TASK

  test-all           every check below, in this order; stops at the first that fails
  fmt                formatting
  clippy             lints, warnings denied
  test               unit, integration and documentation tests
  test-mysql         the integration tests with their sites in a MariaDB
  doc                the documentation builds without warnings
  stress [--long] [NAME…]
                     attacks and parallel load against the real server: attempts, losses, slowest response, memory
  tidy               crates use only what their layer may, files keep to one idea, links in documentation work
  vectors [--all] FILE…
                     run recorded functions, print passed and failed per function
  conformance [--brand WORD] [--database mysql] [--shared DIR] [--all] [--release] [SCENARIO…]
                     run the recorded HTTP scenarios of tests/conformance, and those of DIR (../shared) where it is
                     present, against the demo server on the recorded site
  conformance --record URL SCENARIO…
                     record scenarios of tests/conformance from a running WordPress on the recorded site
  crash [--kills N] [--database-kills N]
                     kill the server, and the database server under it, while it is written to; count what is lost
  live-sign-in [--site DIR] [--user LOGIN:PASSWORD]
                     sessions of a running WordPress site are good at the server and the reverse
  live [--site DIR] [--credentials USER:PASSWORD]
                     serve the database of a running WordPress site beside it, and compare the two
  live-editor [--site DIR] [--user LOGIN:PASSWORD] [STEP…]
                     the block editor of a running WordPress site in a browser, its requests answered by the server
  bench [NAME…]      benchmarks, all or those of these crates";

fn main() -> ExitCode {
    match task() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            use std::io::Write;
            // Without a standard error there is nobody to tell.
            drop(writeln!(std::io::stderr(), "xtask: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn task() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let task = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    match task.as_str() {
        "vectors" => vectors::run(&rest),
        "conformance" => conformance::run(&rest),
        "crash" => crash::run(&rest),
        "live" => live::run(&rest),
        "bench" => bench::run(&rest),
        "stress" => stress::run(&rest),
        "live-editor" => live_editor::run(&rest),
        "live-sign-in" => live_sign_in::run(&rest),
        "test-all" => checks::run_all(),
        task => match checks::find(task) {
            Some(check) => check.run(),
            None => bail!("{USAGE}"),
        },
    }
}

/// The folder of the workspace.
fn root() -> Result<PathBuf> {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    Ok(own.parent().context("xtask lies in the workspace")?.to_owned())
}

/// Writes a line to standard output.
fn say(line: &str) -> Result<()> {
    use std::io::Write;
    writeln!(std::io::stdout().lock(), "{line}").context("cannot write to standard output")
}

/// Runs a command, its output shown.
fn run(command: &mut std::process::Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {command:?}"))?;
    if status.success() { Ok(()) } else { bail!("{command:?}: {status}") }
}

/// The cargo that runs this, in the workspace's folder.
fn cargo() -> Result<std::process::Command> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = std::process::Command::new(program);
    command.current_dir(root()?);
    Ok(command)
}
