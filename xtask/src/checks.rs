//! The checks that every change passes: each a task of its own, all of them together `cargo xtask test-all`.

use std::time::Instant;

use anyhow::{Context, Result};

use crate::{cargo, run, say, stress, tidy};

/// One check: a cargo command, or one of our own.
pub(crate) struct Check {
    name: &'static str,
    action: Action,
}

enum Action {
    Cargo(&'static [&'static str], &'static [(&'static str, &'static str)]),
    Own(fn() -> Result<()>),
}

/// In the order in which they run: the quick ones first.
const CHECKS: &[Check] = &[
    Check { name: "fmt", action: Action::Cargo(&["fmt", "--all", "--check"], &[]) },
    Check { name: "tidy", action: Action::Own(tidy::run) },
    Check {
        name: "clippy",
        action: Action::Cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[]),
    },
    // Documentation tests are part of it.
    Check { name: "test", action: Action::Cargo(&["test", "--workspace"], &[]) },
    // The same integration tests, on the other engine; those of the store run on both by themselves.
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

/// The check of this name.
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
