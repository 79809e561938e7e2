//! `cargo xtask conformance`: runs recorded HTTP scenarios against the demo server on the recorded site.
//!
//! The project's own scenarios are in `tests/conformance`, whose README describes the format. More of the same format are
//! read from a folder next to the project where there is one. The site is imported once; before each scenario that writes,
//! and after it, the server is stopped, the imported copy restored and the server started again.

use anyhow::{Context, Result, bail};
use svc_test_databases::mariadb::{DISPOSABLE_OPTIONS, MariaDb};
use xtask_support::{say, server};

use crate::{
    EXAMPLE,
    accounts::SiteKeys,
    described::Described,
    differences::{Differences, Outcome},
    folders::{asset_folders, folders, scenarios},
    options::{Engine, Options},
    order, record, remote,
    runner::Runner,
    site::{self, Site},
};

pub(crate) fn run(options: &Options) -> Result<()> {
    match (&options.record, &options.record_order, &options.url) {
        (Some(base), ..) => record::run(base, options),
        (None, Some(base), _) => order::run(base, options),
        (None, None, Some(url)) => remote::check(url, options),
        (None, None, None) => check(options),
    }
}

fn check(options: &Options) -> Result<()> {
    let folders = folders(options)?;
    let mut scenarios = scenarios(&folders, options)?;
    let differences = Differences::read(&options.brand)?;
    scenarios.iter_mut().for_each(|scenario| differences.ignore_headers(scenario));
    let mysql = match options.database {
        Engine::Sqlite => None,
        Engine::Mysql => match MariaDb::start(DISPOSABLE_OPTIONS)? {
            Some(mysql) => Some(mysql),
            None => return say("skipped: mariadbd is not installed"),
        },
    };
    let program = server::build(Some(EXAMPLE), options.release)?;
    let work = tempfile::tempdir().context("cannot create a temporary folder")?;
    let mut site = Site::import(program, work.path(), &options.brand, mysql)?;
    site.is_behind_tls = options.tls;
    let assets = asset_folders(&folders);
    let (mut total, mut dirty) = (Outcome::default(), true);
    let mut described = None;
    for scenario in &scenarios {
        if dirty || scenario.writes {
            site.reset()?;
        }
        dirty = scenario.writes;
        let keys = SiteKeys::read(&site::config()?)?;
        let mut runner = Runner::new(site.url()?, &options.brand, keys, assets.clone())?.over_tls(options.tls);
        runner.describe(described.take())?;
        let mut outcome = differences.judge(runner.check(scenario)?);
        outcome.failures.extend(runner.take_violations());
        described = runner.into_described();
        outcome.print(scenario, options.all)?;
        total.passed += outcome.passed;
        total.differing += outcome.differing;
        total.failures.extend(outcome.failures);
    }
    site.stop();
    if let Some(described) = described {
        let Described { matching, differing, .. } = described;
        say(&format!("responses that match the OpenAPI document: {matching}; listed differences: {differing}"))?;
        if options.scenarios.is_empty() && options.database == Engine::Sqlite {
            for line in described.unused() {
                say(&line)?;
            }
        }
    }
    if total.differing > 0 {
        say(&format!("differ on purpose: {}", total.differing))?;
    }
    say(&format!("{} passed, {} failed", total.passed, total.failures.len()))?;
    if total.failures.is_empty() { Ok(()) } else { bail!("responses differ from the recorded ones") }
}
