//! `cargo xtask bench`: the target table of `docs/performance.md`, measured on this machine as ratios.
//!
//! Each row compares two loads in short alternating rounds and prints the median of their ratios, because times and other load
//! differ between machines and from second to second. `cargo xtask bench micro` runs the benchmarks of the crates.

mod bare;
mod cost;
mod gateway;
mod instructions;
mod load;
mod measure;
mod micro;
mod recording;
mod replicas;
pub mod resources;
mod rows;
mod site;

use std::{path::PathBuf, process::Command, time::Duration};

use anyhow::{Context, Result};
use clap::builder::PossibleValuesParser;
use xtask_support::{cargo, run as run_command, say, server, target};

use measure::Row;

/// The example of a server with an extension.
const EXTENSION: &str = "reading_time";

/// Arguments of the task.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct Arguments {
    /// Folder of a running WordPress site to compare with.
    #[arg(long, value_name = "DIR", default_value_os_t = server::wordpress_site())]
    wordpress: PathBuf,
    /// Another build of the server to compare with, for the groups `baseline` and `instructions`.
    #[arg(long, value_name = "PROGRAM")]
    baseline: Option<PathBuf>,
    /// Measure this program instead of building one.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Number of rounds of each comparison.
    #[arg(long, value_name = "N", default_value_t = 25)]
    rounds: usize,
    /// Duration of a round, in milliseconds.
    #[arg(long, value_name = "N", default_value_t = 120)]
    round_ms: u64,
    /// Groups of targets to measure (default: all).
    #[arg(value_name = "GROUP", value_parser = PossibleValuesParser::new(GROUPS.iter().map(|(name, _)| *name)))]
    groups: Vec<String>,
    #[command(subcommand)]
    other: Option<Other>,
}

/// What the task does instead of measuring targets.
#[derive(clap::Subcommand)]
enum Other {
    /// Run the benchmarks of all crates, or of these crates or benchmarks.
    Micro {
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Serve a file as the baseline of the HTTP rows.
    #[command(name = bare::NAME, hide = true)]
    Bare { file: PathBuf },
}

/// Programs, and how they are measured.
struct Options {
    /// The server.
    program: PathBuf,
    /// Folder of the WordPress site to compare with.
    wordpress: PathBuf,
    /// Another build of the server.
    baseline: Option<PathBuf>,
    /// Duration of a round.
    round: Duration,
    n_rounds: usize,
}

/// A group of rows, by name.
type Group = (&'static str, fn(&Options) -> Result<Vec<Row>>);

const GROUPS: &[Group] = &[
    ("http", rows::http),
    ("extension", rows::extension),
    ("callers", rows::callers),
    ("writes", rows::writes),
    ("light", rows::light),
    ("memory", rows::memory),
    ("wordpress", rows::wordpress),
    ("mariadb", rows::mariadb),
    ("cost", cost::rows),
    ("replicas", replicas::rows),
    ("gateway", gateway::rows),
    ("baseline", rows::baseline),
    ("instructions", instructions::rows),
];

/// Measures the targets and prints them, or does what the arguments name instead.
///
/// # Errors
/// If a server does not start or respond, or a benchmark fails. A missed target is no error.
pub fn run(arguments: Arguments) -> Result<()> {
    let Arguments { wordpress, baseline, program, rounds, round_ms, groups, other } = arguments;
    match other {
        Some(Other::Micro { names }) => return micro::run(&names),
        Some(Other::Bare { file }) => return bare::run(&file),
        None if cfg!(debug_assertions) => return run_optimized(program.is_none()),
        None => {}
    }
    let options = Options {
        program: match program {
            // Servers run in folders of their own.
            Some(program) => program.canonicalize().with_context(|| format!("{}", program.display()))?,
            None => server::build(None, true)?,
        },
        wordpress,
        baseline,
        round: Duration::from_millis(round_ms),
        n_rounds: rounds.max(1),
    };
    let mut n_missed = 0;
    say(&format!("{:58} {:>9} {:>9}", "", "measured", "target"))?;
    for (name, measure) in GROUPS.iter().filter(|(name, _)| groups.is_empty() || groups.iter().any(|g| g == name)) {
        for row in measure(&options).with_context(|| format!("the group `{name}` cannot be measured"))? {
            n_missed += usize::from(row.is_missed());
            say(&row.line())?;
        }
    }
    say(&format!("{n_missed} targets missed"))
}

/// Runs this program again, with optimization: the load generator shares the processor with the servers, so it must be as quick as
/// they are. All programs are built at once, so that their dependencies are built once.
fn run_optimized(with_servers: bool) -> Result<()> {
    let mut build = cargo()?;
    build.args(["build", "--release", "--package", env!("CARGO_PKG_NAME"), "--bins"]);
    if with_servers {
        build.args(["--package", "svc-server", "--example", EXTENSION]);
    }
    run_command(&mut build)?;
    let program = target()?.join("release").join(env!("CARGO_PKG_NAME"));
    run_command(Command::new(program).args(std::env::args_os().skip(1)))
}
