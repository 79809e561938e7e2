//! The tasks of the project. `cargo xtask` lists them.

mod bench;
mod book;
mod checks;
mod conformance;
mod crash;
mod cycles;
mod deps;
mod differences;
mod dist;
mod families;
mod gateway;
mod imports;
mod live;
mod live_editor;
mod live_plugins;
mod live_sign_in;
mod markdown;
mod openapi;
mod readmes;
mod rust_source;
mod server;
mod snippets;
mod stress;
mod tidy;
mod vectors;

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, Result, bail};

const USAGE: &str = "\
usage: cargo xtask TASK

Checks:
  test-all           run all checks below in this order and stop at the first failure
  fmt                check the formatting
  tidy               check layers, dependencies, file sizes, documentation (links, code blocks)
  clippy             run the lints, warnings denied
  test               run unit, integration and documentation tests
  readmes [CRATE…]   compile the example of each README with only the dependencies that it names
  test-mysql         run the integration tests on a private MariaDB
  traces [--database KIND]
                     replay the recorded traces of tests/traces on both engines, and compare responses and rows
  models             run concurrent code under many schedules with shuttle
  doc                build the documentation of the crates, warnings denied
  docs [--update]    render docs/ as a book in target/book; --update generates the reference pages first
  stress [--long] [NAME…]
                     run attacks and parallel load against the real server

Compatibility:
  vectors [--all] FILE…
                     run recorded functions and print passed and failed per function
  conformance [--brand WORD] [--database mysql] [--shared DIR] [--all] [--release] [SCENARIO…]
                     run the recorded HTTP scenarios of tests/conformance, and of DIR (default: ../shared) if it exists
  conformance --url URL [--reset COMMAND] [SCENARIO…]
                     run them against a running server with the recorded site, such as a gateway in front of a WordPress
  conformance --record URL SCENARIO…
                     record scenarios of tests/conformance from a running WordPress with the recorded site
  conformance --tls [--record URL --reset COMMAND] --recordings DIR [SCENARIO…]
                     the same with all scenarios over TLS, as a proxy forwards them; DIR holds the recordings
  conformance --record-order URL --reset COMMAND
                     record the order of fields in all scenarios from a running WordPress with the recorded site
  traces --peer URL --peer-database URL --reset COMMAND [--steps N] [--length N] [--seed S] [--record] [--no-shrink]
                     send random traces to a running WordPress with the recorded site as well, compare, and print few
                     steps that lead to each difference
  openapi [--attack SECONDS]
                     check the OpenAPI document with other projects' tools, and send generated requests for a time
  live [--site DIR] [--credentials USER:PASSWORD]
                     serve the database of a running WordPress site and compare responses
  live-sign-in [--site DIR] [--user LOGIN:PASSWORD]
                     use sessions of a running WordPress site on the server and the reverse
  live-editor [--gateway | --media] [--site DIR] [--user LOGIN:PASSWORD] [STEP…]
                     run the block editor of a WordPress site in a browser against the server, or through it as a gateway
  live-plugins [--program FILE] [--site DIR] [--from URL] [--sample N] [--urls N] [--seconds N] [--rate N] [--seed N] [--set LINE] [PLUGIN…|none]
                     install public plugins on a WordPress site behind a gateway and compare responses

Reliability, speed, release:
  crash [--kills N] [--database-kills N]
                     kill the server and its database during writes and count lost writes
  bench [--wordpress DIR] [--rounds N] [--round-ms N] [GROUP…]
                     measure the targets of docs/performance.md, or groups of them, as ratios; DIR is the folder of a
                     running WordPress site to compare with
  bench micro [NAME…]
                     run the benchmarks of all crates, or of these
  dist [--target TRIPLE] [--debug]
                     build the server and pack it with its checksum into target/dist";

fn main() -> ExitCode {
    match task() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            use std::io::Write;
            // A closed standard error cannot be reported anywhere.
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
        "traces" => conformance::traces::run(&rest),
        "crash" => crash::run(&rest),
        "live" => live::run(&rest),
        "bench" => bench::run(&rest),
        bench::bare::TASK => bench::bare::run(&rest),
        "docs" => book::run(&rest),
        "dist" => dist::run(&rest),
        "tidy" => tidy::run(&rest),
        "stress" => stress::run(&rest),
        "openapi" => openapi::run(&rest),
        "live-editor" => live_editor::run(&rest),
        "live-plugins" => live_plugins::run(&rest),
        "live-sign-in" => live_sign_in::run(&rest),
        "test-all" => checks::run_all(),
        "readmes" => readmes::run(&rest),
        task => match checks::find(task) {
            Some(check) => check.run(),
            None => bail!("{USAGE}"),
        },
    }
}

/// The root folder of the workspace.
fn root() -> Result<PathBuf> {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    Ok(own.parent().context("xtask has no parent folder")?.to_owned())
}

/// Writes a line to standard output.
fn say(line: &str) -> Result<()> {
    use std::io::Write;
    writeln!(std::io::stdout().lock(), "{line}").context("cannot write to standard output")
}

/// Runs a command. Its output goes to the terminal.
fn run(command: &mut std::process::Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {command:?}"))?;
    if status.success() { Ok(()) } else { bail!("{command:?}: {status}") }
}

/// A command that runs the same cargo in the root folder of the workspace.
fn cargo() -> Result<std::process::Command> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = std::process::Command::new(program);
    command.current_dir(root()?);
    Ok(command)
}
