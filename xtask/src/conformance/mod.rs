//! `cargo xtask conformance`: runs recorded HTTP scenarios against the demo server on the recorded site.
//!
//! The project's own scenarios are in `tests/conformance`, whose README describes the format. More of the same format are
//! read from a folder next to the project where there is one. The site is imported once; before each scenario that writes,
//! and after it, the server is stopped, the imported copy restored and the server started again.

mod accounts;
#[cfg(test)]
mod alterations;
mod brand;
mod client;
mod compare;
mod differences;
mod form;
mod ids;
mod normalize;
mod openapi;
mod order;
mod pointer;
mod prose;
mod record;
mod remote;
mod request;
mod response;
mod runner;
mod scenario;
mod site;
pub(crate) mod traces;
mod variables;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use svc_testkit::mariadb::{DISPOSABLE_OPTIONS, MariaDb};

use crate::{root, say, server};
use accounts::SiteKeys;
use differences::{Differences, Outcome};
use openapi::Described;
use runner::Runner;
use scenario::Scenario;
use site::Site;

/// Name of the server's example that registers what the recorded site registers.
const EXAMPLE: &str = "demo";

/// Failing steps that are printed per scenario, unless all are requested.
const PRINTED: usize = 5;

struct Options {
    brand: String,
    database: String,
    shared: PathBuf,
    all: bool,
    release: bool,
    /// Whether requests are sent as a proxy with TLS forwards them.
    tls: bool,
    /// A folder of recordings to use instead of those next to the scenarios.
    recordings: Option<PathBuf>,
    /// The URL of a WordPress to record from.
    record: Option<String>,
    /// The URL of a WordPress to record the order of fields from.
    record_order: Option<String>,
    /// A running server to check, and the command that restores its site.
    url: Option<String>,
    reset: Option<String>,
    scenarios: Vec<String>,
}

fn options(args: &[String]) -> Result<Options> {
    let mut options = Options {
        brand: brand::RECORDED.to_owned(),
        database: "sqlite".to_owned(),
        shared: root()?.join("../shared"),
        all: false,
        release: false,
        tls: false,
        recordings: None,
        record: None,
        record_order: None,
        url: None,
        reset: None,
        scenarios: Vec::new(),
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--brand" => options.brand = args.next().context("--brand needs a word")?.clone(),
            "--database" => options.database = args.next().context("--database needs a kind")?.clone(),
            "--shared" => options.shared = args.next().context("--shared needs a folder")?.into(),
            "--all" => options.all = true,
            "--release" => options.release = true,
            "--tls" => options.tls = true,
            "--recordings" => {
                options.recordings = Some(args.next().context("--recordings needs a folder")?.into());
            }
            "--record" => options.record = Some(args.next().context("--record needs a URL")?.clone()),
            "--record-order" => {
                options.record_order = Some(args.next().context("--record-order needs a URL")?.clone());
            }
            "--url" => options.url = Some(args.next().context("--url needs a URL")?.clone()),
            "--reset" => options.reset = Some(args.next().context("--reset needs a command")?.clone()),
            flag if flag.starts_with('-') => bail!("unknown argument `{flag}`"),
            name => options.scenarios.push(name.to_owned()),
        }
    }
    Ok(options)
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    let options = options(args)?;
    match (&options.record, &options.record_order, &options.url) {
        (Some(base), ..) => record::run(base, &options),
        (None, Some(base), _) => order::run(base, &options),
        (None, None, Some(url)) => remote::check(url, &options),
        (None, None, None) => check(&options),
    }
}

fn check(options: &Options) -> Result<()> {
    let folders = folders(options)?;
    let mut scenarios = scenarios(&folders, options)?;
    let differences = Differences::read(&options.brand)?;
    scenarios.iter_mut().for_each(|scenario| differences.ignore_headers(scenario));
    let mysql = match options.database.as_str() {
        "sqlite" => None,
        "mysql" => match MariaDb::start(DISPOSABLE_OPTIONS)? {
            Some(mysql) => Some(mysql),
            None => return say("skipped: mariadbd is not installed"),
        },
        other => bail!("--database {other}: must be sqlite or mysql"),
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
        print(scenario, &outcome, if options.all { usize::MAX } else { PRINTED })?;
        total.passed += outcome.passed;
        total.differing += outcome.differing;
        total.failures.extend(outcome.failures);
    }
    site.stop();
    if let Some(described) = described {
        let Described { matching, differing, .. } = described;
        say(&format!("responses that match the OpenAPI document: {matching}; listed differences: {differing}"))?;
        if options.scenarios.is_empty() && options.database == "sqlite" {
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

fn print(scenario: &Scenario, outcome: &Outcome, most: usize) -> Result<()> {
    for line in outcome.failures.iter().take(most) {
        say(&format!("    {line}"))?;
    }
    let differing = if outcome.differing > 0 { format!(" {:5} differ", outcome.differing) } else { String::new() };
    let (passed, failed) = (outcome.passed, outcome.failures.len());
    say(&format!("{:28} {passed:5} passed {failed:5} failed{differing}", scenario.name))
}

/// The folder with the project's own scenarios, recordings and assets, and the recorded site.
fn own_folder() -> Result<PathBuf> {
    Ok(root()?.join("tests/conformance"))
}

/// The folders with scenarios: the one next to the project, where it is present, and the project's own.
fn folders(options: &Options) -> Result<Vec<PathBuf>> {
    let shared = options.shared.join("conformance/http");
    let mut folders = Vec::new();
    if shared.join("scenarios").is_dir() {
        folders.push(shared);
    } else {
        say(&format!("only the project's own scenarios: {} has none", options.shared.display()))?;
    }
    folders.push(own_folder()?);
    Ok(folders)
}

/// The folders with the files that steps send.
fn asset_folders(folders: &[PathBuf]) -> Vec<PathBuf> {
    folders.iter().map(|folder| folder.join("assets")).collect()
}

/// The scenarios of the wanted names, all without names.
fn scenarios(folders: &[PathBuf], options: &Options) -> Result<Vec<Scenario>> {
    let wanted = &options.scenarios;
    let mut all: Vec<Scenario> = Vec::new();
    for folder in folders {
        all.extend(scenario::in_folder(folder)?);
    }
    if let Some(unknown) = wanted.iter().find(|w| !all.iter().any(|s| s.name == **w)) {
        bail!("there is no scenario `{unknown}`");
    }
    all.retain(|s| wanted.is_empty() || wanted.contains(&s.name));
    if let Some(recordings) = &options.recordings {
        all.iter_mut().for_each(|scenario| scenario.recordings.clone_from(recordings));
    }
    Ok(all)
}
