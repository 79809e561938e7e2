//! `estimate`: what share of the requests of an access log could be replayed.

use std::{
    io::BufRead as _,
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use clap::{Arg, ArgMatches, Command, value_parser};
use svc_bridge::{LoggedRead, RouteReport};

use crate::{
    cli::{
        block_on,
        output::{columns, say},
        progress::Progress,
    },
    config::Config,
    front::Front,
};

/// Time until the news of writes can be read.
const START: Duration = Duration::from_secs(20);

/// Routes that are listed.
const ROUTES: usize = 15;

pub(super) fn estimate_command() -> Command {
    let log = Arg::new("access-log").long("log").value_name("FILE").required(true).value_parser(value_parser!(PathBuf));
    let limit = Arg::new("limit").long("limit").value_name("N").default_value("2000").value_parser(value_parser!(u32));
    Command::new("estimate")
        .about("Send the reads of an access log through the server in front of WordPress, and print what share was replayed")
        .arg(log.help("An access log of nginx or Apache, in the common or combined format"))
        .arg(limit.help("Maximum number of requests"))
        .after_help(
            "Only GET requests are sent, one after another, as a visitor: logs have no credentials. Requires wordpress.upstream.",
        )
}

/// Runs `estimate`.
///
/// # Errors
/// If there is no upstream, the log cannot be read, or the news of writes cannot be read.
pub(super) fn estimate(config: &Config, args: &ArgMatches) -> Result<()> {
    let wordpress = config.wordpress.as_ref().context("`wordpress.upstream` is not set")?;
    let path = args.get_one::<PathBuf>("access-log").context("--log is missing")?;
    let limit = args.get_one::<u32>("limit").map_or(0, |n| *n as usize);
    let file = std::fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines = std::io::BufReader::new(file).lines().map_while(Result::ok);
    let reads: Vec<LoggedRead> = lines.filter_map(|line| LoggedRead::parse(&line)).take(limit).collect();
    ensure!(!reads.is_empty(), "{} has no GET requests", path.display());
    let front = Front::open(config, wordpress)?;
    let progress = Progress::start("sending the requests of the log");
    block_on(send(&front, &reads, &progress))??;
    drop(progress);
    let report = front.bridge().report();
    say(&format!("{} requests, {:.1} % replayed", reads.len(), report.share() * 100.0));
    say(
        "Credentials and the times between requests are not in the log: responses are replayed for 60 seconds by default.\n",
    );
    let reasons = report.reasons_by_number().into_iter().map(|(why, n)| vec![why.to_owned(), n.to_string()]);
    say(columns(&reasons.collect::<Vec<_>>()).trim_end());
    let head = RouteReport::COLUMNS.map(str::to_owned).to_vec();
    let rows = report.routes.iter().take(ROUTES).map(RouteReport::columns);
    say(&format!("\n{}", columns(&std::iter::once(head).chain(rows).collect::<Vec<_>>()).trim_end()));
    Ok(())
}

async fn send(front: &Front, reads: &[LoggedRead], progress: &Progress) -> Result<()> {
    let _jobs = front.jobs(&front.watch(false)).start();
    let start = Instant::now();
    while front.bridge().feed().is_none() {
        ensure!(start.elapsed() < START, "the news of writes cannot be read: see `svc-server doctor`");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    for (n, read) in reads.iter().enumerate() {
        progress.set(n, reads.len());
        read.send(front.bridge(), front.home().authority(), front.home().is_tls()).await;
    }
    Ok(())
}
