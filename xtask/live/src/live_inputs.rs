//! `cargo xtask live-inputs`: responses of a running WordPress site behind a gateway that depend on more than its tables: the clock, chance, cookies,
//! headers, the client's address, files, other servers, and options that another program writes.
//!
//! What the request contains and what another server says must be right in each response, and with the binary log what is in the database. Clocks,
//! chance, files and what describes the client may be as old as `max_age_seconds` says, and no older.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    thread::sleep,
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context, Result, ensure};
use xtask_support::{
    gateway::{Gateway, is_forwarded},
    say,
    server::exchange,
};

use crate::site::{self, Plugin};

const CODE: &str = include_str!("live_inputs.php");
const PLUGIN: &str = "svc-inputs.php";
const FILE: &str = "svc-inputs.txt";

/// The age up to which responses are replayed, in seconds.
const AGE: f64 = 3.0;

/// Time between a response of WordPress and its arrival here: other programs may occupy the machine.
const DELAY: f64 = 1.0;

/// Time between two reads, and how many of these there are between two writes of the file and the option.
const PAUSE: Duration = Duration::from_millis(5);
const READS: u32 = 100;

/// What a response depends on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    /// A header of the request with this name, of which each response must have the value.
    Header(&'static str),
    /// A header that describes the client: a response may have the value of an earlier request, up to the age.
    Client(&'static str),
    /// What another server says, or the database on another connection, of which each response must have the present value.
    Server,
    /// What another program has written in the database: the same with the binary log, and otherwise a value up to the age.
    Database,
    /// What a file contains, up to the age.
    File,
    /// The time in seconds, up to the age.
    Clock,
    /// A number that is new each time, up to the age.
    Chance,
}

/// The header with the client's address. The gateway believes it, and WordPress's plugins read it.
const ADDRESS: &str = "X-Forwarded-For";

const INPUTS: [(&str, Input); 11] = [
    ("time", Input::Clock),
    ("random", Input::Chance),
    ("cookie", Input::Header("Cookie")),
    ("header", Input::Header("X-Value")),
    ("language", Input::Header("Accept-Language")),
    ("agent", Input::Client("User-Agent")),
    ("address", Input::Client(ADDRESS)),
    ("file", Input::File),
    ("request", Input::Server),
    ("connection", Input::Server),
    ("option", Input::Database),
];

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    site: site::Arguments,
    /// Time for each input, in seconds.
    #[arg(long, value_name = "N", default_value_t = 15)]
    seconds: u64,
    /// The gateway reads the binary log of the database server, so that it knows at once what other programs write.
    #[arg(long)]
    binary_log: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let Some(gateway) = options.site.start(&format!("max_age_seconds = {AGE}"))? else { return Ok(()) };
    let inputs = Inputs::install(&options.site.site)?;
    let mut n_failed = 0;
    for (name, input) in INPUTS {
        let input = if input == Input::Database && !options.binary_log { Input::File } else { input };
        let found = check(&gateway, &inputs, name, input, Duration::from_secs(options.seconds))?;
        let Found { reads, replayed, oldest, wrong } = &found;
        wrong.iter().take(5).try_for_each(|what| say(&format!("    {what}")))?;
        say(&format!(
            "{name:10} {reads:5} reads, {replayed:5} replayed, {} wrong, oldest value {oldest:.1} s",
            wrong.len()
        ))?;
        n_failed += wrong.len();
    }
    ensure!(n_failed == 0, "{n_failed} responses are wrong, or older than {AGE} s");
    Ok(())
}

/// The plugin and the file that it reads. Both are removed on drop.
struct Inputs {
    plugin: Plugin,
    file: PathBuf,
}

impl Inputs {
    fn install(wordpress: &Path) -> Result<Self> {
        let file = wordpress.join("wp-content").join(FILE);
        let inputs = Inputs { plugin: Plugin::install(wordpress, PLUGIN, CODE)?, file };
        std::fs::write(&inputs.file, "first").context("cannot write the input")?;
        // PHP may run as another user.
        #[cfg(unix)]
        std::fs::set_permissions(&inputs.file, std::os::unix::fs::PermissionsExt::from_mode(0o666))?;
        Ok(inputs)
    }

    /// Changes the file, and the option with SQL.
    fn write(&self, site: &str, value: &str) -> Result<()> {
        let path = format!("/wp-json/svc-inputs/v1/write?token={}&value={value}", self.plugin.token);
        let response = exchange(site, "POST", &path, &[], "")?;
        ensure!(response.status == 200, "{} {:.200}", response.status, response.body);
        Ok(())
    }
}

impl Drop for Inputs {
    fn drop(&mut self) {
        let _gone = std::fs::remove_file(&self.file);
    }
}

#[derive(Default)]
struct Found {
    reads: usize,
    replayed: usize,
    /// How long ago a value of a response was the present one, at most, in seconds.
    oldest: f64,
    wrong: Vec<String>,
}

/// Reads an input for a time, while it changes.
fn check(gateway: &Gateway, inputs: &Inputs, name: &str, input: Input, time: Duration) -> Result<Found> {
    let start = Instant::now();
    let path = format!("/wp-json/svc-inputs/v1/{name}");
    let mut found = Found::default();
    let mut written = String::new();
    // Since when values are no longer the present ones, or are known, as seconds since 1970.
    let mut times = HashMap::<String, f64>::new();
    for n in 0.. {
        if start.elapsed() > time {
            break;
        }
        if n % READS == 0 {
            let next = match input {
                Input::Client(ADDRESS) => format!("192.0.2.{}", n / READS % 250 + 1),
                _ => format!("written-{n}"),
            };
            inputs.write(&gateway.site, &next)?;
            times.insert(std::mem::replace(&mut written, next), seconds()?);
        }
        let sent = if let Input::Header(_) = input { format!("sent-{}", n % 4) } else { written.clone() };
        let headers = match input {
            Input::Header("Cookie") => vec![("Cookie", format!("value={sent}"))],
            Input::Header(header) | Input::Client(header) => vec![(header, sent.clone())],
            _ => Vec::new(),
        };
        let asked = seconds()?;
        let response = exchange(gateway.address(), "GET", &path, &headers, "")?;
        ensure!(response.status == 200, "{path}: {} {:.200}", response.status, response.body);
        let body = response.json()?;
        let got = body.as_str().context("no value")?;
        let age = match input {
            _ if got == sent => 0.0,
            Input::Header(_) | Input::Server | Input::Database => f64::INFINITY,
            Input::Client(_) | Input::File => asked - times.get(got).copied().unwrap_or_default(),
            Input::Clock => asked - got.parse::<f64>()?,
            Input::Chance => asked - *times.entry(got.to_owned()).or_insert(asked),
        };
        found.reads += 1;
        found.replayed += usize::from(!is_forwarded(&response));
        found.oldest = found.oldest.max(age);
        if age > AGE + DELAY {
            found.wrong.push(format!("{name}: {got:.40} instead of {sent}, {age:.1} s old"));
        }
        sleep(PAUSE);
    }
    Ok(found)
}

/// The time since 1970, in seconds.
fn seconds() -> Result<f64> {
    Ok(SystemTime::UNIX_EPOCH.elapsed().context("the clock is set before 1970")?.as_secs_f64())
}
