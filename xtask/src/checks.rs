//! The checks that every change must pass. Each is a task; `cargo xtask test-all` runs all of them.

use std::time::Instant;

use anyhow::{Context, Result};
use xtask_support::{cargo, run as run_command, say};

use crate::{book, packages, readmes, tidy};

/// One check: a cargo command with environment variables, a function, or a task of another package without arguments.
struct Check {
    name: &'static str,
    /// Minutes on two free cores, after a first build of everything, which takes about ten.
    minutes: &'static str,
    action: Action,
}

enum Action {
    Cargo(&'static [&'static str], &'static [(&'static str, &'static str)]),
    Own(fn() -> Result<()>),
    Task,
}

/// All checks in the order in which they run, quick ones first.
const CHECKS: &[Check] = &[
    Check { name: "fmt", minutes: "<1", action: Action::Cargo(&["fmt", "--all", "--check"], &[]) },
    Check { name: "tidy", minutes: "<1", action: Action::Own(tidy::check) },
    Check { name: "docs", minutes: "<1", action: Action::Own(book::check) },
    Check {
        name: "clippy",
        minutes: "3",
        action: Action::Cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[]),
    },
    // Includes documentation tests.
    Check { name: "test", minutes: "8", action: Action::Cargo(&["test", "--workspace"], &[]) },
    Check { name: "readmes", minutes: "1", action: Action::Own(readmes::run_all) },
    // The integration tests again, on the other engine. Tests of the store always run on both.
    Check {
        name: "test-mysql",
        minutes: "4",
        action: Action::Cargo(&["test", "--package", "svc-tests"], &[("SVC_TEST_DATABASE", "mysql")]),
    },
    // Recorded random requests, on both engines.
    Check { name: "traces", minutes: "1", action: Action::Task },
    // Concurrent code under many schedules. The flag changes all crates, so that they have a folder of their own.
    Check {
        name: "models",
        minutes: "4",
        action: Action::Cargo(
            &[
                "test",
                "--package",
                "svc-versions",
                "--package",
                "svc-bridge",
                "--lib",
                "--target-dir",
                "target/models",
                "models::",
            ],
            &[("RUSTFLAGS", "--cfg shuttle")],
        ),
    },
    Check {
        name: "doc",
        minutes: "3",
        action: Action::Cargo(&["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")]),
    },
    Check { name: "stress", minutes: "2", action: Action::Task },
];

/// The names of all checks.
#[cfg(test)]
pub(crate) fn names() -> Vec<&'static str> {
    CHECKS.iter().map(|check| check.name).collect()
}

/// Runs a check.
pub(crate) fn run(name: &str) -> Result<()> {
    let check = CHECKS.iter().find(|check| check.name == name);
    check.with_context(|| format!("there is no check `{name}`"))?.run()
}

impl Check {
    fn run(&self) -> Result<()> {
        match &self.action {
            Action::Cargo(args, variables) => run_command(cargo()?.args(*args).envs(variables.iter().copied())),
            Action::Own(check) => check(),
            Action::Task => packages::check(self.name),
        }
        .with_context(|| format!("the check `{}` failed", self.name))
    }
}

pub(crate) fn run_all() -> Result<()> {
    let plan: Vec<String> = CHECKS.iter().map(|check| format!("{} ({} min)", check.name, check.minutes)).collect();
    say(&format!("{} checks: {}", CHECKS.len(), plan.join(", ")))?;
    say(
        "The times are for two free cores; a first build takes about ten minutes more. The first failure ends the run.",
    )?;
    for (n, check) in CHECKS.iter().enumerate() {
        say(&format!("== {} ({} of {})", check.name, n + 1, CHECKS.len()))?;
        let started = Instant::now();
        check.run()?;
        say(&format!("   {} passed in {} s", check.name, started.elapsed().as_secs()))?;
    }
    say("every check passed")
}
