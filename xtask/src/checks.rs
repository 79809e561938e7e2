//! `cargo xtask test-all`: runs all checks.

use std::{process::ExitCode, time::Instant};

use anyhow::{Context, Result, bail};
use xtask_support::{say, tasks::CHECKS};

use crate::run;

pub(crate) fn run_all() -> Result<()> {
    let plan: Vec<String> = CHECKS.iter().map(|check| format!("{} ({} min)", check.name, check.minutes)).collect();
    say(&format!("{} checks: {}", CHECKS.len(), plan.join(", ")))?;
    say(
        "The times are for two free cores; a first build takes about ten minutes more. The first failure ends the run.",
    )?;
    for (n, check) in CHECKS.iter().enumerate() {
        say(&format!("== {} ({} of {})", check.name, n + 1, CHECKS.len()))?;
        let started = Instant::now();
        let code = run(check, Vec::new()).with_context(|| format!("the check `{}` failed", check.name))?;
        if code != ExitCode::SUCCESS {
            bail!("the check `{}` failed: see above", check.name);
        }
        say(&format!("   {} passed in {} s", check.name, started.elapsed().as_secs()))?;
    }
    say("every check passed")
}
