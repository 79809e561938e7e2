//! `cargo xtask traces`: random sequences of requests, sent to servers on both engines, and compared with WordPress.
//!
//! Without `--peer`, the recorded traces of `tests/traces` are replayed. With `--peer URL`, new traces are generated and sent to
//! a WordPress on the recorded site as well. After each step the status, the headers, the body (with the order of its fields)
//! and the changes of the tables' rows are compared. A trace ends at the first difference in rows, because later differences
//! could follow from it.

mod choices;
mod explained;
mod judge;
mod operations;
mod recording;
mod rows;
mod shrink;
mod side;
mod values;

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use svc_testkit::mariadb::{DISPOSABLE_OPTIONS, MariaDb};

use self::{
    explained::Explained,
    judge::{Difference, Judge},
    recording::{RecordedStep, RecordedTrace},
    rows::Database,
    side::{Observed, Side},
};
use super::{
    EXAMPLE, accounts::SiteKeys, asset_folders, brand, own_folder, remote, runner::Runner, scenario::Step, site,
    site::Site,
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
    /// Run parts of each trace that has an unexplained difference again, to print few steps that lead to it.
    shrink: bool,
    engines: Vec<&'static str>,
    /// Print the steps of the first trace instead of sending them.
    print: bool,
    /// The built server; it is built without it.
    program: Option<PathBuf>,
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
        shrink: true,
        engines: vec!["sqlite", "mysql"],
        print: false,
        program: None,
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
            "--program" => options.program = Some(value()?.into()),
            "--print" => options.print = true,
            "--no-shrink" => options.shrink = false,
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
    fn start(options: &Options) -> Result<Self> {
        let program = match &options.program {
            Some(program) => program.clone(),
            None => server::build(Some(EXAMPLE), false)?,
        };
        let mut servers = Vec::new();
        for engine in &options.engines {
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

    /// Restores the recorded site on all servers, or on that of one engine.
    fn restore(&mut self, only: Option<&str>) -> Result<Vec<(&'static str, Side)>> {
        let mut sides = Vec::new();
        for (engine, site, _) in self.0.iter_mut().filter(|(engine, ..)| only.is_none_or(|only| only == *engine)) {
            site.reset()?;
            let database = match site.database_url() {
                Some(url) => Database::at(&url)?,
                None => Database::file(&site.database_file())?,
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
    /// Counts and prints the differences of a trace. Returns whether one of them is unexplained.
    fn add(&mut self, seed: u64, outcome: &Outcome) -> Result<bool> {
        self.steps += outcome.trace.steps.len();
        let mut is_equal = true;
        for Difference { engine, step, request, text, reason } in &outcome.differences {
            if let Some(reason) = reason {
                *self.explained.entry(reason.clone()).or_default() += 1;
                continue;
            }
            self.unexplained += 1;
            is_equal = false;
            say(&format!("seed {seed} on {engine}: {step}: {text}\n    step     {request}"))?;
        }
        Ok(!is_equal)
    }

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

/// The steps of a trace that were run, and the differences found.
struct Outcome {
    /// The steps that were run, up to the first difference in rows.
    trace: RecordedTrace,
    differences: Vec<Difference>,
}

impl Outcome {
    /// The first difference that is unexplained.
    fn unexplained(&self) -> Option<&Difference> {
        self.differences.iter().find(|difference| difference.reason.is_none())
    }
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    let options = options(args)?;
    if options.print {
        let steps = operations::steps(options.seed, options.length)?;
        return steps.iter().try_for_each(|step| say(&step.to_string()));
    }
    let explained = Explained::read()?;
    let mut servers = Servers::start(&options)?;
    let mut findings = Findings::default();
    let n_traces = match &options.peer {
        Some(peer) => generate(peer, &options, &explained, &mut servers, &mut findings)?,
        None => replay(&explained, &mut servers, &mut findings)?,
    };
    findings.report(n_traces)?;
    if findings.unexplained == 0 { Ok(()) } else { bail!("responses or rows differ from WordPress's") }
}

/// Replays the recorded traces on both engines.
pub(crate) fn run_recorded() -> Result<()> {
    run(&[])
}

/// Generates traces and sends them to WordPress and to the servers. Returns their number.
fn generate(
    peer: &Peer,
    options: &Options,
    explained: &Explained,
    servers: &mut Servers,
    findings: &mut Findings,
) -> Result<usize> {
    let mut traces = Vec::new();
    let mut n_traces = 0;
    while findings.steps < options.steps {
        let seed = options.seed + n_traces;
        n_traces += 1;
        let sources = operations::steps(seed, options.length)?;
        let outcome = live(peer, seed, sources, servers, explained, None).with_context(|| format!("trace {seed}"))?;
        let differs = findings.add(seed, &outcome)?;
        if differs && options.shrink {
            print_smallest(peer, &outcome, servers, explained)?;
        }
        if options.record && !differs {
            traces.push(outcome.trace);
        }
    }
    if options.record {
        recording::write(&traces)?;
        say(&format!("{} traces recorded", traces.len()))?;
    }
    Ok(usize::try_from(n_traces)?)
}

/// Sends steps to a restored WordPress and to the restored servers, or to that of one engine.
fn live(
    peer: &Peer,
    seed: u64,
    sources: Vec<Value>,
    servers: &mut Servers,
    explained: &Explained,
    only: Option<&str>,
) -> Result<Outcome> {
    remote::reset(&peer.reset)?;
    let mut judge = Judge::new(servers.restore(only)?, explained);
    let mut wordpress = Side::new(runner(&peer.url)?, Database::at(&peer.database)?)?;
    let mut trace = RecordedTrace { seed, steps: Vec::new() };
    for source in sources {
        let step: Step = serde_json::from_value(source.clone()).with_context(|| format!("the step {source}"))?;
        let observed = wordpress.send(&step)?;
        let goes_on = judge.check(&source, &step, &observed)?;
        trace.steps.push(RecordedStep { source, step, response: observed.response, rows: observed.rows });
        if !goes_on {
            break;
        }
    }
    Ok(Outcome { trace, differences: judge.finish() })
}

/// Prints few steps, as a scenario, that lead to the first unexplained difference of a trace.
fn print_smallest(peer: &Peer, outcome: &Outcome, servers: &mut Servers, explained: &Explained) -> Result<()> {
    let Some(difference) = outcome.unexplained() else { return Ok(()) };
    let (engine, name, seed) = (difference.engine, &difference.step, outcome.trace.seed);
    let end = outcome.trace.steps.iter().position(|step| step.step.name == *name).map_or(0, |n| n + 1);
    let steps = outcome.trace.steps[..end].iter().map(|step| step.source.clone()).collect();
    let smallest = shrink::smallest(steps, |steps| {
        let outcome = live(peer, seed, steps.to_vec(), servers, explained, Some(engine))?;
        Ok(outcome.unexplained().is_some_and(|found| found.step == *name))
    })?;
    let about = format!("trace {seed}, {} of {end} steps", smallest.len());
    say(&format!("    {}", serde_json::json!({"about": about, "writes": true, "steps": smallest})))
}

/// Sends the recorded traces to the servers. Returns their number.
fn replay(explained: &Explained, servers: &mut Servers, findings: &mut Findings) -> Result<usize> {
    let traces = recording::read()?;
    let n_traces = traces.len();
    for RecordedTrace { seed, steps } in traces {
        let mut judge = Judge::new(servers.restore(None)?, explained);
        let mut trace = RecordedTrace { seed, steps: Vec::new() };
        for recorded in steps {
            let observed = Observed { response: recorded.response, rows: recorded.rows };
            let goes_on = judge.check(&recorded.source, &recorded.step, &observed)?;
            let Observed { response, rows } = observed;
            trace.steps.push(RecordedStep { response, rows, ..recorded });
            if !goes_on {
                break;
            }
        }
        findings.add(seed, &Outcome { trace, differences: judge.finish() })?;
    }
    Ok(n_traces)
}
