//! `cargo xtask vectors FILE…`: runs recorded function calls and counts passed and failed ones per function.

use std::{collections::BTreeMap, io::Write, path::PathBuf, process::ExitCode};

use anyhow::Result;
use svc_testkit::vectors::{Tally, run_file};

/// Reported failures per function, unless `--all` is given.
const MAX_REPORTED: usize = 3;

fn main() -> ExitCode {
    xtask_support::tasks::main(|call| run(&call.options()))
}

/// Arguments of the task.
#[derive(clap::Args)]
struct Options {
    /// Print all failures, not a few of each function.
    #[arg(long)]
    all: bool,
    /// Recorded calls, one JSON object per line.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

fn run(Options { all, files }: &Options) -> Result<()> {
    let reported = if *all { usize::MAX } else { MAX_REPORTED };
    // A panic counts as a failed vector and is reported with it. The default message would clutter the table.
    std::panic::set_hook(Box::new(|_| {}));
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for file in files {
        run_file(file, &mut tallies)?;
    }
    let mut out = std::io::stdout().lock();
    let (mut passed, mut failed) = (0, 0);
    let mut differing: BTreeMap<&str, usize> = BTreeMap::new();
    for (function, tally) in &tallies {
        for failure in tally.failures.iter().take(reported) {
            writeln!(out, "  {failure}")?;
        }
        writeln!(out, "{function:48} {:6} passed {:6} failed", tally.passed, tally.failed)?;
        passed += tally.passed;
        failed += tally.failed;
        for (tag, n) in &tally.differing {
            *differing.entry(tag).or_default() += n;
        }
    }
    for (tag, n) in differing {
        writeln!(out, "differs from the specification: {tag:24} {n:6}")?;
    }
    writeln!(out, "{passed} passed, {failed} failed")?;
    if failed > 0 { std::process::exit(1) } else { Ok(()) }
}
