//! The checks that every change must pass. Each is a task; `cargo xtask test-all` runs all of them.

use std::time::Instant;

use anyhow::{Context, Result};

use crate::{book, cargo, run, say, stress, tidy};

/// One check: a cargo command with environment variables, or a function.
pub(crate) struct Check {
    name: &'static str,
    action: Action,
}

enum Action {
    Cargo(&'static [&'static str], &'static [(&'static str, &'static str)]),
    Own(fn() -> Result<()>),
}

/// All checks in the order in which they run, quick ones first.
const CHECKS: &[Check] = &[
    Check { name: "fmt", action: Action::Cargo(&["fmt", "--all", "--check"], &[]) },
    Check { name: "tidy", action: Action::Own(tidy::check) },
    Check { name: "docs", action: Action::Own(book::check) },
    Check {
        name: "clippy",
        action: Action::Cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[]),
    },
    // Includes documentation tests.
    Check { name: "test", action: Action::Cargo(&["test", "--workspace"], &[]) },
    // The integration tests again, on the other engine. Tests of the store always run on both.
    Check {
        name: "test-mysql",
        action: Action::Cargo(&["test", "--package", "svc-tests"], &[("SVC_TEST_DATABASE", "mysql")]),
    },
    Check {
        name: "doc",
        action: Action::Cargo(&["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")]),
    },
    Check { name: "stress", action: Action::Own(stress::run_short) },
];

/// Finds a check by name.
pub(crate) fn find(name: &str) -> Option<&'static Check> {
    CHECKS.iter().find(|c| c.name == name)
}

impl Check {
    pub(crate) fn run(&self) -> Result<()> {
        match &self.action {
            Action::Cargo(args, variables) => run(cargo()?.args(*args).envs(variables.iter().copied())),
            Action::Own(check) => check(),
        }
        .with_context(|| format!("the check `{}` failed", self.name))
    }
}

pub(crate) fn run_all() -> Result<()> {
    for check in CHECKS {
        say(&format!("== {}", check.name))?;
        let started = Instant::now();
        check.run()?;
        say(&format!("   {} passed in {} s", check.name, started.elapsed().as_secs()))?;
    }
    say("every check passed")
}
