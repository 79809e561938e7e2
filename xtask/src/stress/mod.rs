//! `cargo xtask stress [--long] [NAME…]`: attacks and parallel load against the real server, with figures.
//!
//! Each scenario is one file: it starts servers of its own on free ports, applies its load for a bounded time, and
//! returns a [`Report`] per case. A report with a violation fails the task. The short run belongs to `test-all`; `--long`
//! repeats the same scenarios with larger numbers.

mod body;
mod client;
mod connections;
mod gateway;
mod memory;
mod pages;
mod races;

use std::time::Duration;

use anyhow::{Result, bail};

use crate::say;

/// A scenario: its name, what it attacks, and the function that runs it.
struct Scenario {
    name: &'static str,
    about: &'static str,
    run: fn(&Options) -> Result<Vec<Report>>,
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
    Scenario { name: "memory", about: "a burst of clients with all kinds of requests", run: memory::run },
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
];

/// How hard the scenarios try.
pub(crate) struct Options {
    /// Use larger numbers than CI.
    pub(crate) long: bool,
}

/// Measurements of one case of a scenario.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// The case, such as `races sqlite: same title`.
    pub(crate) case: String,
    /// Requests or connections of the attack or load.
    pub(crate) attempts: u64,
    /// Lost acknowledged writes or invalid results. Only zero passes.
    pub(crate) lost: u64,
    /// The slowest response to a legitimate client during the attack.
    pub(crate) slowest: Option<Duration>,
    /// The server's peak resident memory in bytes, if measured.
    pub(crate) peak_memory: Option<u64>,
    /// Other reasons for failure.
    pub(crate) violations: Vec<String>,
}

impl Report {
    fn passed(&self) -> bool {
        self.lost == 0 && self.violations.is_empty()
    }

    fn line(&self) -> String {
        let mut line = format!("{:44} {:7} attempts {:5} lost", self.case, self.attempts, self.lost);
        if let Some(slowest) = self.slowest {
            line += &format!("  slowest {:5} ms", slowest.as_millis());
        }
        if let Some(bytes) = self.peak_memory {
            line += &format!("  peak {:5} MiB", bytes >> 20);
        }
        line
    }
}

/// Runs the scenarios of these names, or all.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let mut options = Options { long: false };
    let mut names = Vec::new();
    for arg in args {
        match arg.as_str() {
            "--long" => options.long = true,
            name if SCENARIOS.iter().any(|s| s.name == name) => names.push(name),
            other => bail!("there is no scenario `{other}`; there are:\n{}", list()),
        }
    }
    let mut n_failed = 0;
    for scenario in SCENARIOS.iter().filter(|s| names.is_empty() || names.contains(&s.name)) {
        say(&format!("== stress {}: {}", scenario.name, scenario.about))?;
        for report in (scenario.run)(&options)? {
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

/// The short run of every scenario, for `test-all`.
pub(crate) fn run_short() -> Result<()> {
    run(&[])
}

fn list() -> String {
    let line = |s: &Scenario| format!("  {:12} {}", s.name, s.about);
    SCENARIOS.iter().map(line).collect::<Vec<_>>().join("\n")
}
