//! `cargo xtask stress [--long] [NAME…]`: attacks and parallel load against the real server, with figures.
//!
//! Each scenario is one file: it starts servers of its own on free ports, applies its load for a bounded time, and
//! returns a [`Report`] per case. A report with a violation fails the task. The short run belongs to `test-all`; `--long`
//! repeats the same scenarios with larger numbers.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::builder::{PossibleValue, PossibleValuesParser};
use xtask_support::say;

use crate::{
    body, connections, gateway, imports, memory, own_reads, pages, races,
    report::{Effort, Report},
    rights, varnish,
};

/// A scenario: its name, what it attacks, and the function that runs it.
struct Scenario {
    name: &'static str,
    about: &'static str,
    run: fn(&Effort) -> Result<Vec<Report>>,
}

/// All scenarios, in the order in which they run.
const SCENARIOS: &[Scenario] = &[
    Scenario { name: "body", about: "request bodies that are large or hold many values", run: body::run },
    Scenario {
        name: "connections",
        about: "connections that send nothing, send or read too slowly, or stay idle",
        run: connections::run,
    },
    Scenario {
        name: "gateway",
        about: "a gateway in front of a WordPress: the gateway, PHP and both are killed under load",
        run: gateway::run,
    },
    Scenario {
        name: "imports",
        about: "a dump that is imported while servers with a read replica, or on a Galera cluster, are read",
        run: imports::run,
    },
    Scenario {
        name: "memory",
        about: "a burst of clients with all kinds of requests, and clients that follow the changes",
        run: memory::run,
    },
    Scenario {
        name: "own-reads",
        about: "callers who read what they have written, with a read replica that is 300 ms behind",
        run: own_reads::run,
    },
    Scenario {
        name: "pages",
        about: "parallel readers of pages, feeds and the API, with one connection and with the default pool",
        run: pages::run,
    },
    Scenario {
        name: "races",
        about: "writes of eight clients at once that touch the same data, on each kind of database",
        run: races::run,
    },
    #[cfg(unix)]
    Scenario {
        name: "restarts",
        about: "restarts under load, with the socket of a supervisor, by SIGHUP and with another version: no request fails",
        run: crate::restarts::run,
    },
    Scenario {
        name: "rights",
        about: "random reads by callers of all roles, while posts, their status and passwords and a role change",
        run: rights::run,
    },
    Scenario {
        name: "varnish",
        about: "readers through Varnish, while posts change: no response is stale a second later",
        run: varnish::run,
    },
];

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Use larger numbers than CI.
    #[arg(long)]
    long: bool,
    /// Run this server instead of building one.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Another build of the server for the upgrades of `restarts`, made with another value of the variable SVC_BUILD.
    #[arg(long, value_name = "FILE")]
    other: Option<PathBuf>,
    /// Number of upgrades of `restarts`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    upgrades: Option<u32>,
    /// The scenarios to run (default: all).
    #[arg(value_name = "NAME", value_parser = names())]
    names: Vec<String>,
}

/// The names of all scenarios, with descriptions.
fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(SCENARIOS.iter().map(|s| PossibleValue::new(s.name).help(s.about)))
}

/// Runs the scenarios of these names, or all.
pub(crate) fn run(Options { long, program, other, upgrades, names }: &Options) -> Result<()> {
    let effort = Effort { long: *long, program: program.clone(), other: other.clone(), upgrades: *upgrades };
    let mut n_failed = 0;
    for scenario in SCENARIOS.iter().filter(|s| names.is_empty() || names.iter().any(|name| name == s.name)) {
        say(&format!("== stress {}: {}", scenario.name, scenario.about))?;
        for report in (scenario.run)(&effort)? {
            say(&report.line())?;
            for violation in &report.violations {
                say(&format!("    {violation}"))?;
            }
            n_failed += usize::from(!report.passed());
        }
    }
    if n_failed > 0 {
        bail!("{n_failed} cases failed");
    }
    Ok(())
}
