//! `cargo xtask bench`: the target table of `docs/performance.md`, measured on this machine as ratios.
//!
//! Each row compares two loads in short alternating rounds and prints the median of their ratios, because times and other load
//! differ between machines and from second to second. `cargo xtask bench micro` runs the benchmarks of the crates.

pub(crate) mod bare;
mod gateway;
mod load;
mod measure;
mod micro;
mod resources;
mod rows;
mod site;

use std::{path::PathBuf, time::Duration};

use anyhow::{Context, Result, bail};

pub(crate) use resources::{Phases, measure as measure_resources};

use crate::{say, server};
use measure::Row;

/// The example of a server with an extension.
const EXTENSION: &str = "reading_time";

/// Programs, groups of rows, and rounds.
struct Options {
    /// The server.
    program: PathBuf,
    /// The example with an extension.
    extension: PathBuf,
    groups: Vec<&'static str>,
    /// Folder of the WordPress site to compare with.
    wordpress: PathBuf,
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
    ("gateway", gateway::rows),
];

pub(crate) fn run(args: &[String]) -> Result<()> {
    if let [task, names @ ..] = args
        && task == "micro"
    {
        return micro::run(names);
    }
    if cfg!(debug_assertions) {
        // The load generator shares the processor with the servers, so it must be as quick as they are. All programs are built
        // at once, so that their dependencies are built once.
        let packages = ["--package", "xtask", "--package", "svc-server", "--bins", "--example", EXTENSION];
        crate::run(crate::cargo()?.args(["build", "--release"]).args(packages))?;
        return crate::run(std::process::Command::new(server::target()?.join("release/xtask")).arg("bench").args(args));
    }
    let mut options = options(args)?;
    options.program = server::build(None, true)?;
    options.extension = server::build(Some(EXTENSION), true)?;
    let mut n_missed = 0;
    say(&format!("{:58} {:>9} {:>9}", "", "measured", "target"))?;
    for (name, measure) in GROUPS.iter().filter(|(name, _)| options.groups.is_empty() || options.groups.contains(name))
    {
        for row in measure(&options).with_context(|| format!("the group `{name}` cannot be measured"))? {
            n_missed += usize::from(row.is_missed());
            say(&row.line())?;
        }
    }
    say(&format!("{n_missed} targets missed"))
}

fn options(args: &[String]) -> Result<Options> {
    let mut options = Options {
        program: PathBuf::new(),
        extension: PathBuf::new(),
        groups: Vec::new(),
        wordpress: server::wordpress_site(),
        round: Duration::from_millis(120),
        n_rounds: 25,
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--wordpress" => options.wordpress = value()?.into(),
            "--round-ms" => options.round = Duration::from_millis(value()?.parse()?),
            "--rounds" => options.n_rounds = value()?.parse::<usize>()?.max(1),
            name => match GROUPS.iter().find(|(group, _)| *group == name) {
                Some((group, _)) => options.groups.push(group),
                None => {
                    let names: Vec<&str> = GROUPS.iter().map(|(name, _)| *name).collect();
                    bail!("there is no group `{name}`; there are: {}", names.join(", "));
                }
            },
        }
    }
    Ok(options)
}
