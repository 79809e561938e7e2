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
mod same_second;
mod shrink;
mod side;
mod values;

use std::{collections::BTreeMap, path::PathBuf, thread};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;
use svc_test_databases::mariadb::{DISPOSABLE_OPTIONS, MariaDb};
use xtask_support::{say, server};

use self::{
    explained::Explained,
    judge::{Difference, Judge},
    recording::{RecordedStep, RecordedTrace},
    rows::Database,
    side::{Observed, Side},
};
use crate::{
    EXAMPLE,
    accounts::SiteKeys,
    brand,
    folders::{asset_folders, own_folder},
    options::Engine,
    remote,
    runner::Runner,
    scenario::Step,
    site::{self, Site},
};

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Steps to send in all.
    #[arg(long, value_name = "N", default_value_t = 400)]
    steps: usize,
    /// Steps of a trace.
    #[arg(long, value_name = "N", default_value_t = 40)]
    length: usize,
    /// Seed of the first trace; the next traces have the next numbers.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Send new random traces to a running WordPress with the recorded site as well, and compare.
    #[arg(long, value_name = "URL", requires_all = ["peer_database", "reset"])]
    peer: Option<String>,
    /// The `mysql://` URL of the database of this WordPress.
    #[arg(long, value_name = "URL")]
    peer_database: Option<String>,
    /// A shell command that restores the recorded site of this WordPress.
    #[arg(long, value_name = "COMMAND")]
    reset: Option<String>,
    /// Record the generated traces that have no unexplained difference in tests/traces.
    #[arg(long, requires = "peer")]
    record: bool,
    /// Do not run parts of a trace with an unexplained difference again, to print few steps that lead to it.
    #[arg(long)]
    no_shrink: bool,
    /// Use one kind of database only; mysql is a private MariaDB.
    #[arg(long, value_name = "KIND", value_enum)]
    database: Option<Engine>,
    /// Print the steps of the first trace instead of sending them.
    #[arg(long)]
    print: bool,
    /// The built server (default: build it).
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// A WordPress to compare with.
struct Peer<'a> {
    url: &'a str,
    database: &'a str,
    reset: &'a str,
}

impl Options {
    fn peer(&self) -> Option<Peer<'_>> {
        Some(Peer { url: self.peer.as_ref()?, database: self.peer_database.as_ref()?, reset: self.reset.as_ref()? })
    }
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
        for engine in [Engine::Sqlite, Engine::Mysql] {
            if options.database.is_some_and(|only| only != engine) {
                continue;
            }
            let mysql = match engine {
                Engine::Mysql => match MariaDb::start(DISPOSABLE_OPTIONS)? {
                    None => {
                        say("not on MariaDB: mariadbd is not installed")?;
                        continue;
                    }
                    started => started,
                },
                Engine::Sqlite => None,
            };
            let work = tempfile::tempdir().context("cannot create a temporary folder")?;
            let name = if engine == Engine::Sqlite { "sqlite" } else { "mysql" };
            servers.push((name, Site::import(program.clone(), work.path(), brand::RECORDED, mysql)?, work));
        }
        Ok(Servers(servers))
    }

    /// Restores the recorded site on all servers, or on that of one engine, at the same time.
    fn restore(&mut self, only: Option<&str>) -> Result<Vec<(&'static str, Side)>> {
        let sites = self.0.iter_mut().filter(|(engine, ..)| only.is_none_or(|only| only == *engine));
        thread::scope(|scope| {
            let restored: Vec<_> =
                sites.map(|(engine, site, _)| scope.spawn(|| Ok((*engine, restored(site)?)))).collect();
            restored.into_iter().map(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?).collect()
        })
    }
}

/// Restores the recorded site on one server.
fn restored(site: &mut Site) -> Result<Side> {
    site.reset()?;
    let database = match site.database_url() {
        Some(url) => Database::at(&url)?,
        None => Database::file(&site.database_file())?,
    };
    Side::new(runner(site.url()?)?, database)
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

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.print {
        let steps = operations::steps(options.seed, options.length)?;
        return steps.iter().try_for_each(|step| say(&step.to_string()));
    }
    let explained = Explained::read()?;
    let mut servers = Servers::start(options)?;
    let mut findings = Findings::default();
    let n_traces = match options.peer() {
        Some(peer) => generate(&peer, options, &explained, &mut servers, &mut findings)?,
        None => replay(&explained, &mut servers, &mut findings)?,
    };
    findings.report(n_traces)?;
    if findings.unexplained == 0 { Ok(()) } else { bail!("responses or rows differ from WordPress's") }
}

/// Generates traces and sends them to WordPress and to the servers. Returns their number.
fn generate(
    peer: &Peer<'_>,
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
        if differs && !options.no_shrink {
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
    peer: &Peer<'_>,
    seed: u64,
    sources: Vec<Value>,
    servers: &mut Servers,
    explained: &Explained,
    only: Option<&str>,
) -> Result<Outcome> {
    let (mut sides, mut wordpress) = thread::scope(|scope| {
        let wordpress = scope.spawn(|| {
            remote::reset(peer.reset)?;
            Side::new(runner(peer.url)?, Database::at(peer.database)?)
        });
        let sides = servers.restore(only)?;
        anyhow::Ok((sides, wordpress.join().map_err(|_| anyhow!("a thread panicked"))??))
    })?;
    let mut judge = Judge::new(&sides, explained);
    let mut trace = RecordedTrace { seed, steps: Vec::new() };
    for source in sources {
        let step: Step = serde_json::from_value(source.clone()).with_context(|| format!("the step {source}"))?;
        let all = sides.iter_mut().map(|(_, side)| side).chain([&mut wordpress]);
        let mut received = Side::send_to_all(all, &step)?;
        let expected = received.pop().context("WordPress is the last server")?;
        let goes_on = judge.check(&source, &step, &expected, &received);
        trace.steps.push(RecordedStep { source, step, response: expected.response, rows: expected.rows });
        if !goes_on {
            break;
        }
    }
    Ok(Outcome { trace, differences: judge.finish() })
}

/// Prints few steps, as a scenario, that lead to the first unexplained difference of a trace.
fn print_smallest(peer: &Peer<'_>, outcome: &Outcome, servers: &mut Servers, explained: &Explained) -> Result<()> {
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
        let mut sides = servers.restore(None)?;
        let mut judge = Judge::new(&sides, explained);
        let mut trace = RecordedTrace { seed, steps: Vec::new() };
        for recorded in steps {
            let expected = Observed { response: recorded.response, rows: recorded.rows };
            let received = Side::send_to_all(sides.iter_mut().map(|(_, side)| side), &recorded.step)?;
            let goes_on = judge.check(&recorded.source, &recorded.step, &expected, &received);
            let Observed { response, rows } = expected;
            trace.steps.push(RecordedStep { response, rows, ..recorded });
            if !goes_on {
                break;
            }
        }
        findings.add(seed, &Outcome { trace, differences: judge.finish() })?;
    }
    Ok(n_traces)
}
