//! `cargo xtask traces`: random sequences of requests, sent to servers on both engines, and compared with WordPress.
//!
//! Without `--peer`, the recorded traces of `tests/traces` are replayed. With `--peer URL`, new traces are generated and sent to
//! a WordPress on the recorded site as well. After each step the status, the headers, the body (with the order of its fields)
//! and the changes of the tables' rows are compared. A trace ends at the first difference in rows, because later differences
//! could follow from it.

mod choices;
mod explained;
mod operations;
mod recording;
mod rows;
mod side;
mod values;

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use svc_testkit::mariadb::{DISPOSABLE_OPTIONS, MariaDb};

use self::{
    explained::Explained,
    recording::{RecordedStep, RecordedTrace},
    rows::Database,
    side::{Observed, Side},
};
use super::{
    EXAMPLE, accounts::SiteKeys, asset_folders, brand, compare::Comparison, order, own_folder, remote, runner::Runner,
    scenario::Step, site, site::Site,
};
use crate::{say, server};

struct Options {
    /// Steps to send in all.
    steps: usize,
    /// Steps of a trace.
    length: usize,
    /// Seed of the first trace; the next traces have the next numbers.
    seed: u64,
    peer: Option<Peer>,
    record: bool,
    /// Print the steps of each trace that has an unexplained difference, as a scenario.
    show: bool,
    engines: Vec<&'static str>,
}

/// A WordPress to compare with.
struct Peer {
    url: String,
    /// The `mysql://` URL of its database.
    database: String,
    /// A shell command that restores the recorded site.
    reset: String,
}

fn options(args: &[String]) -> Result<Options> {
    let mut options = Options {
        steps: 400,
        length: 40,
        seed: 1,
        peer: None,
        record: false,
        show: false,
        engines: vec!["sqlite", "mysql"],
    };
    let (mut url, mut database, mut reset) = (None, None, None);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().cloned().with_context(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--steps" => options.steps = value()?.parse().context("--steps needs a number")?,
            "--length" => options.length = value()?.parse().context("--length needs a number")?,
            "--seed" => options.seed = value()?.parse().context("--seed needs a number")?,
            "--peer" => url = Some(value()?),
            "--peer-database" => database = Some(value()?),
            "--reset" => reset = Some(value()?),
            "--record" => options.record = true,
            "--show" => options.show = true,
            "--database" => match value()?.as_str() {
                "sqlite" => options.engines = vec!["sqlite"],
                "mysql" => options.engines = vec!["mysql"],
                other => bail!("--database {other}: must be sqlite or mysql"),
            },
            other => bail!("unknown argument `{other}`"),
        }
    }
    if let Some(url) = url {
        let database = database.context("--peer needs --peer-database, the mysql:// URL of its database")?;
        let reset = reset.context("--peer needs --reset, a command that restores its site")?;
        options.peer = Some(Peer { url, database, reset });
    } else if options.record {
        bail!("--record needs --peer");
    }
    Ok(options)
}

/// The servers under test, by engine.
struct Servers(Vec<(&'static str, Site, tempfile::TempDir)>);

impl Servers {
    fn start(engines: &[&'static str]) -> Result<Self> {
        let program = server::build(Some(EXAMPLE), false)?;
        let mut servers = Vec::new();
        for engine in engines {
            let mysql = match *engine {
                "mysql" => match MariaDb::start(DISPOSABLE_OPTIONS)? {
                    None => {
                        say("not on MariaDB: mariadbd is not installed")?;
                        continue;
                    }
                    started => started,
                },
                _ => None,
            };
            let work = tempfile::tempdir().context("cannot create a temporary folder")?;
            servers.push((*engine, Site::import(program.clone(), work.path(), brand::RECORDED, mysql)?, work));
        }
        Ok(Servers(servers))
    }

    /// Restores the recorded site on all servers.
    fn restore(&mut self) -> Result<Vec<(&'static str, Side)>> {
        let mut sides = Vec::new();
        for (engine, site, _) in &mut self.0 {
            site.reset()?;
            let database = match site.database_url() {
                Some(url) => Database::at(&url)?,
                None => Database::Sqlite(site.database_file()),
            };
            sides.push((*engine, Side::new(runner(site.url()?)?, database)?));
        }
        Ok(sides)
    }
}

fn assets() -> Result<Vec<PathBuf>> {
    Ok(asset_folders(&[own_folder()?]))
}

fn runner(url: &str) -> Result<Runner> {
    Runner::new(url, brand::RECORDED, SiteKeys::read(&site::config()?)?, assets()?)
}

/// The differences found so far.
#[derive(Default)]
struct Findings {
    steps: usize,
    /// Number of differences by reason.
    explained: BTreeMap<String, usize>,
    unexplained: usize,
}

impl Findings {
    fn report(&self, traces: usize) -> Result<()> {
        for (reason, count) in &self.explained {
            say(&format!("    {count:5} {reason}"))?;
        }
        let known: usize = self.explained.values().sum();
        say(&format!(
            "{traces} traces, {} steps; differences: {known} known, {} unexplained",
            self.steps, self.unexplained
        ))
    }
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    let options = options(args)?;
    let explained = Explained::read()?;
    let mut servers = Servers::start(&options.engines)?;
    let mut findings = Findings::default();
    let mut traces = Vec::new();
    let recorded = if options.peer.is_none() { recording::read()? } else { Vec::new() };
    let mut recorded = recorded.into_iter();
    let mut n_traces = 0;
    loop {
        let sides = match (&options.peer, recorded.next()) {
            (Some(_), _) if findings.steps >= options.steps => break,
            (Some(peer), _) => {
                let seed = options.seed + n_traces;
                live(peer, seed, &options, &mut servers, &explained, &mut findings)
                    .with_context(|| format!("trace {seed}"))?
            }
            (None, Some(trace)) => replay(trace, &mut servers, &explained, &mut findings)?,
            (None, None) => break,
        };
        n_traces += 1;
        traces.extend(sides);
    }
    findings.report(usize::try_from(n_traces)?)?;
    if options.record {
        recording::write(&traces)?;
        say(&format!("{} traces recorded", traces.len()))?;
    }
    if findings.unexplained == 0 { Ok(()) } else { bail!("responses or rows differ from WordPress's") }
}

/// Generates a trace and sends it to WordPress and to the servers. Returns it to be recorded, unless it has an unexplained
/// difference.
fn live(
    peer: &Peer,
    seed: u64,
    options: &Options,
    servers: &mut Servers,
    explained: &Explained,
    findings: &mut Findings,
) -> Result<Option<RecordedTrace>> {
    remote::reset(&peer.reset)?;
    let sides = servers.restore()?;
    let mut wordpress = Side::new(runner(&peer.url)?, Database::at(&peer.database)?)?;
    let sources = operations::steps(seed, options.length)?;
    let mut trace = RecordedTrace { seed, steps: Vec::new() };
    let mut judge = Judge::new(seed, sides, explained, findings, options.show);
    for source in sources {
        let step: Step = serde_json::from_value(source.clone()).with_context(|| format!("the step {source}"))?;
        let observed = wordpress.send(&step)?;
        let goes_on = judge.check(&source, &step, &observed)?;
        trace.steps.push(RecordedStep { source, step, response: observed.response, rows: observed.rows });
        if !goes_on {
            break;
        }
    }
    let is_equal = !judge.found;
    judge.finish(&trace)?;
    Ok((options.record && is_equal).then_some(trace))
}

/// Sends a recorded trace to the servers.
fn replay(
    trace: RecordedTrace,
    servers: &mut Servers,
    explained: &Explained,
    findings: &mut Findings,
) -> Result<Option<RecordedTrace>> {
    let mut judge = Judge::new(trace.seed, servers.restore()?, explained, findings, false);
    for RecordedStep { source, step, response, rows } in trace.steps {
        let observed = Observed { response, rows };
        if !judge.check(&source, &step, &observed)? {
            break;
        }
    }
    Ok(None)
}

/// Compares the servers with WordPress, step by step.
struct Judge<'a> {
    seed: u64,
    sides: Vec<(&'static str, Side)>,
    comparisons: Vec<Comparison>,
    explained: &'a Explained,
    findings: &'a mut Findings,
    show: bool,
    found: bool,
}

impl<'a> Judge<'a> {
    fn new(
        seed: u64,
        sides: Vec<(&'static str, Side)>,
        explained: &'a Explained,
        findings: &'a mut Findings,
        show: bool,
    ) -> Self {
        let comparisons = sides.iter().map(|(_, side)| Comparison::new(side.brand(), side.normalizer())).collect();
        Judge { seed, sides, comparisons, explained, findings, show, found: false }
    }

    /// Sends a step to the servers and compares what they do with what WordPress did. Returns whether the trace can go on.
    fn check(&mut self, source: &Value, step: &Step, expected: &Observed) -> Result<bool> {
        self.findings.steps += 1;
        let mut goes_on = true;
        let text = source.to_string();
        for ((engine, side), comparison) in self.sides.iter_mut().zip(&mut self.comparisons) {
            let received = side.send(step)?;
            let response = comparison
                .difference(step, &expected.response, &received.response)
                .or_else(|| order::of_values(&expected.response.body, &received.response.body, ""));
            let rows = comparison.rows(&expected.rows, &received.rows).map(|difference| format!("rows {difference}"));
            goes_on &= rows.is_none();
            for difference in [response, rows].into_iter().flatten() {
                if let Some(reason) = self.explained.reason(&text, &difference) {
                    *self.findings.explained.entry(reason.to_owned()).or_default() += 1;
                    continue;
                }
                self.findings.unexplained += 1;
                self.found = true;
                say(&format!("seed {} on {engine}: {}: {difference}\n    {text}", self.seed, step.name))?;
            }
        }
        Ok(goes_on)
    }

    /// Prints the trace as a scenario if it has an unexplained difference.
    fn finish(self, trace: &RecordedTrace) -> Result<()> {
        if self.show && self.found {
            let steps: Vec<&Value> = trace.steps.iter().map(|step| &step.source).collect();
            say(&serde_json::json!({"about": format!("trace {}", self.seed), "writes": true, "steps": steps})
                .to_string())?;
        }
        Ok(())
    }
}
