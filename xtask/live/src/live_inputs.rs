//! `cargo xtask live-inputs`: responses of a running WordPress site behind a gateway that depend on more than its tables: the clock, chance, cookies,
//! headers, files, other servers, and options that another program writes.
//!
//! What the request contains, what another server says and what is in the database must be right in each response. Clocks, chance, files and what
//! describes the client may be as old as `max_age_seconds` says, and no older.

use std::{
    path::{Path, PathBuf},
    thread::sleep,
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xtask_support::{
    gateway::{Gateway, is_forwarded},
    say,
    server::{self, exchange},
};

const CODE: &str = include_str!("live_inputs.php");
const PLUGIN: &str = "mu-plugins/svc-inputs.php";
const FILE: &str = "svc-inputs.txt";

/// The age up to which responses are replayed, in seconds.
const AGE: f64 = 3.0;

/// Time between a response of WordPress and its arrival here: other programs may occupy the machine.
const DELAY: f64 = 1.0;

/// Time between two reads, and how many of these there are between two writes of the file and the option.
const PAUSE: Duration = Duration::from_millis(5);
const READS: u32 = 100;

/// The bound of an input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// Each response has the value of its request.
    Exact,
    /// A response may have an older value, up to the age.
    Age,
}

/// Inputs, and the header of the request that has the value, if there is one.
const INPUTS: [(&str, Option<&str>, Bound); 9] = [
    ("time", None, Bound::Age),
    ("random", None, Bound::Age),
    ("cookie", Some("Cookie"), Bound::Exact),
    ("header", Some("X-Value"), Bound::Exact),
    ("language", Some("Accept-Language"), Bound::Exact),
    ("agent", Some("User-Agent"), Bound::Age),
    ("file", None, Bound::Age),
    ("request", None, Bound::Exact),
    ("option", None, Bound::Exact),
];

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The server's program (default: build it).
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Folder of the WordPress site.
    #[arg(long, value_name = "DIR", default_value_os_t = server::wordpress_site())]
    site: PathBuf,
    /// Time for each input, in seconds.
    #[arg(long, value_name = "N", default_value_t = 15)]
    seconds: u64,
    /// A line of the section `wordpress` of the settings, KEY=VALUE; may be repeated.
    #[arg(long = "set", value_name = "LINE")]
    settings: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let program = options.program.clone().map_or_else(|| server::build(None, false), Ok)?;
    let settings = format!("max_age_seconds = {AGE}\n{}", options.settings.join("\n"));
    let Some(gateway) = Gateway::start(&program, &options.site, &settings)? else {
        return say(&format!("skipped: there is no running WordPress site in {}", options.site.display()));
    };
    let plugin = Plugin::install(&options.site)?;
    let mut n_failed = 0;
    for (input, header, bound) in INPUTS {
        let found = Check { gateway: &gateway, plugin: &plugin, input, header, bound }
            .run(Duration::from_secs(options.seconds))?;
        n_failed += found.wrong.len();
        found.wrong.iter().take(5).try_for_each(|what| say(&format!("    {what}")))?;
        let Found { reads, replayed, oldest, wrong } = found;
        let bound =
            if bound == Bound::Exact { "exact".to_owned() } else { format!("oldest {oldest:.1} s of {AGE:.0}") };
        say(&format!("{input:10} {reads:5} reads, {replayed:5} replayed, {} wrong ({bound})", wrong.len()))?;
    }
    ensure!(n_failed == 0, "{n_failed} responses are wrong, or older than {AGE} s");
    Ok(())
}

/// The plugin and its file. Both are removed on drop.
struct Plugin {
    file: PathBuf,
    input: PathBuf,
    token: String,
}

impl Plugin {
    fn install(wordpress: &Path) -> Result<Self> {
        let content = wordpress.join("wp-content");
        let token =
            format!("{:x}", SystemTime::UNIX_EPOCH.elapsed().context("the clock is set before 1970")?.as_nanos());
        let plugin = Plugin { file: content.join(PLUGIN), input: content.join(FILE), token };
        std::fs::write(&plugin.input, "first").context("cannot write the input")?;
        // PHP may run as another user.
        #[cfg(unix)]
        std::fs::set_permissions(&plugin.input, std::os::unix::fs::PermissionsExt::from_mode(0o666))?;
        std::fs::write(&plugin.file, CODE.replace("TOKEN", &plugin.token)).context("cannot write the plugin")?;
        Ok(plugin)
    }

    /// Changes the file, and the option with SQL.
    fn write(&self, site: &str, value: &str) -> Result<()> {
        let path = format!("/wp-json/svc-inputs/v1/write?token={}&value={value}", self.token);
        let response = exchange(site, "POST", &path, &[], "")?;
        ensure!(response.status == 200, "{} {:.200}", response.status, response.body);
        Ok(())
    }
}

impl Drop for Plugin {
    fn drop(&mut self) {
        for file in [&self.file, &self.input] {
            let _gone = std::fs::remove_file(file);
        }
    }
}

struct Check<'a> {
    gateway: &'a Gateway,
    plugin: &'a Plugin,
    input: &'a str,
    header: Option<&'a str>,
    bound: Bound,
}

#[derive(Default)]
struct Found {
    reads: usize,
    replayed: usize,
    /// The age of the oldest response that had another value than the present one, in seconds.
    oldest: f64,
    wrong: Vec<String>,
}

impl Check<'_> {
    fn run(&self, time: Duration) -> Result<Found> {
        let start = Instant::now();
        let path = format!("/wp-json/svc-inputs/v1/{}", self.input);
        let mut found = Found::default();
        let mut written = String::new();
        for n in 0.. {
            if start.elapsed() > time {
                break;
            }
            if n % READS == 0 {
                written = format!("written-{n}");
                self.plugin.write(&self.gateway.site, &written)?;
            }
            let sent = format!("sent-{}", n % 4);
            let value = if self.input == "cookie" { format!("value={sent}") } else { sent.clone() };
            let headers: Vec<_> = self.header.map(|header| (header, value)).into_iter().collect();
            let asked = seconds()?;
            let response = exchange(self.gateway.address(), "GET", &path, &headers, "")?;
            ensure!(response.status == 200, "{path}: {} {:.200}", response.status, response.body);
            let body: Value = response.json()?;
            let got = body["value"].as_str().context("no value")?;
            let age = asked - body["at"].as_f64().context("no time")?;
            found.reads += 1;
            found.replayed += usize::from(!is_forwarded(&response));
            let is_present = match self.input {
                "time" | "random" => false,
                _ => got == if self.header.is_some() { &sent } else { &written },
            };
            if !is_present {
                found.oldest = found.oldest.max(age);
                let limit = if self.bound == Bound::Exact { f64::NEG_INFINITY } else { AGE + DELAY };
                if age > limit {
                    found.wrong.push(format!("{got:.40} is {age:.2} s old; sent: {sent}, written: {written}"));
                }
            }
            sleep(PAUSE);
        }
        Ok(found)
    }
}

/// The time since 1970, in seconds.
fn seconds() -> Result<f64> {
    Ok(SystemTime::UNIX_EPOCH.elapsed().context("the clock is set before 1970")?.as_secs_f64())
}
