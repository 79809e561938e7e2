//! `cargo xtask test-all`: runs all checks.

use std::{process::ExitCode, time::Instant};

use anyhow::{Context, Result, bail};
use xtask_support::{say, tasks::CHECKS};

use crate::run;

pub(crate) fn run_all() -> Result<()> {
    say(&plan())?;
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

/// What is about to run, with the minutes of each check.
fn plan() -> String {
    let checks: Vec<String> = CHECKS.iter().map(|check| format!("{} ({} min)", check.name, check.minutes)).collect();
    format!(
        "{} checks: {}\nThe times are for two free cores; a first build takes about ten minutes more. The first failure ends the run.",
        CHECKS.len(),
        checks.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_has_each_check_with_its_minutes_in_order() {
        let plan = plan();
        let list = plan.lines().next().unwrap().split_once(" checks: ").unwrap();
        assert_eq!(list.0.parse(), Ok(CHECKS.len()));
        let entries: Vec<&str> = list.1.split(", ").collect();
        assert_eq!((entries[0], entries.len()), ("fmt (<1 min)", CHECKS.len()));
        for (entry, check) in entries.iter().zip(CHECKS) {
            let minutes =
                entry.strip_prefix(check.name).and_then(|rest| rest.strip_prefix(" (")?.strip_suffix(" min)"));
            let number = minutes.map(|minutes| minutes.trim_start_matches('<').parse::<u32>());
            assert!(matches!(number, Some(Ok(1..))), "{entry}");
        }
    }
}
