//! Checks a running server that has the recorded site, such as a gateway in front of a WordPress, and prints which part of the
//! responses it gave itself.

use std::process::Command;

use anyhow::{Context as _, Result, bail};
use xtask_support::say;

use crate::{
    accounts::SiteKeys,
    differences::Outcome,
    folders::{asset_folders, folders, scenarios},
    options::Options,
    runner::Runner,
    site,
};

/// Runs the scenarios against the server at this URL. `--reset` is a shell command that restores the recorded site; without it,
/// scenarios that write are left out.
pub(crate) fn check(url: &str, options: &Options) -> Result<()> {
    let folders = folders(options)?;
    let (mut failed, mut passed, mut own, mut forwarded) = (0, 0, 0, 0);
    let mut dirty = true;
    for scenario in scenarios(&folders, options)? {
        match &options.reset {
            Some(command) if dirty || scenario.writes => reset(command)?,
            None if scenario.writes => continue,
            _ => {}
        }
        dirty = scenario.writes;
        let keys = SiteKeys::read(&site::config()?)?;
        let mut runner = Runner::new(url, &options.brand, keys, asset_folders(&folders))?.over_tls(options.tls);
        let report = runner.check(&scenario)?;
        let failures = report.failures.iter().map(|f| format!("{}: {}", f.step, f.difference)).collect();
        let outcome = Outcome { passed: report.passed, differing: 0, failures };
        outcome.print(&scenario, options.all)?;
        let shares = runner.shares();
        say(&format!("    replayed by a gateway {}, others {}", shares.0, shares.1))?;
        failed += outcome.failures.len();
        passed += outcome.passed;
        own += shares.0;
        forwarded += shares.1;
    }
    if let Some(command) = options.reset.as_ref().filter(|_| dirty) {
        reset(command)?;
    }
    say(&format!("replayed by a gateway {own}, others {forwarded}"))?;
    say(&format!("{passed} passed, {failed} failed"))?;
    if failed == 0 { Ok(()) } else { bail!("responses differ from the recorded ones") }
}

pub(crate) fn reset(command: &str) -> Result<()> {
    let status = Command::new("sh").args(["-c", command]).status().context("cannot run the shell")?;
    if status.success() { Ok(()) } else { bail!("`{command}` failed") }
}
