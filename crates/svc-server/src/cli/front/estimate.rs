//! `estimate`: what share of the requests of an access log could be replayed.

use std::{
    io::BufRead as _,
    net::IpAddr,
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use clap::{Arg, ArgMatches, Command, value_parser};
use svc_gateway::Origin;

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

/// Maximum length of a line of the log, in bytes.
const MAX_LINE: usize = 16 << 10;

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

/// A read in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Read {
    address: IpAddr,
    target: String,
    agent: String,
}

/// The read in a line; `None` for other lines.
fn parse(line: &str) -> Option<Read> {
    let address = line.split(' ').next()?.parse().ok()?;
    let mut quoted = line.split('"').skip(1).step_by(2);
    let request = quoted.next()?;
    let agent = quoted.nth(1).unwrap_or_default().to_owned();
    let mut words = request.split(' ');
    let target = (words.next()? == "GET").then(|| words.next()).flatten()?;
    target.starts_with('/').then(|| Read { address, target: target.to_owned(), agent })
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
    let lines = std::io::BufReader::new(file).lines().map_while(Result::ok).filter(|line| line.len() <= MAX_LINE);
    let reads: Vec<Read> = lines.filter_map(|line| parse(&line)).take(limit).collect();
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
    let mut reasons: Vec<_> = report.reasons.iter().collect();
    reasons.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
    say(columns(&reasons.into_iter().map(|(why, n)| vec![why.clone(), n.to_string()]).collect::<Vec<_>>()).trim_end());
    let head = ["route", "replayed", "by WordPress", "ms", "most frequent reason"].map(str::to_owned).to_vec();
    let rows = report.routes.iter().take(ROUTES).map(|route| {
        let numbers = [route.replayed, route.forwarded, route.milliseconds].map(|n| n.to_string());
        let reason = route.varies.clone().unwrap_or_else(|| route.reason.clone());
        [vec![route.route.clone()], numbers.to_vec(), vec![reason]].concat()
    });
    say(&format!("\n{}", columns(&std::iter::once(head).chain(rows).collect::<Vec<_>>()).trim_end()));
    Ok(())
}

async fn send(front: &Front, reads: &[Read], progress: &Progress) -> Result<()> {
    let _watch = front.start_watch(false);
    let start = Instant::now();
    while front.bridge().feed().is_none() {
        ensure!(start.elapsed() < START, "the news of writes cannot be read: see `svc-server doctor`");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    for (n, read) in reads.iter().enumerate() {
        progress.set(n, reads.len());
        let request = http::Request::get(&read.target)
            .header(http::header::HOST, front.home().authority())
            .header(http::header::USER_AGENT, &read.agent);
        // A line that is no request, such as one of an attack.
        let Ok(request) = request.body(svc_gateway::empty()) else { continue };
        let origin = Origin { address: read.address, tls: front.home().is_tls() };
        let mut response = front.bridge().respond(request, origin).await;
        while http_body_util::BodyExt::frame(response.body_mut()).await.is_some_and(|frame| frame.is_ok()) {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lines_of_logs() {
        let line = r#"192.0.2.7 - - [24/Nov/2026:10:00:00 +0000] "GET /wp-json/wp/v2/posts?a=b HTTP/1.1" 200 5 "-" "Mozilla/5.0 (X)""#;
        let read = parse(line).unwrap();
        assert_eq!((read.target.as_str(), read.agent.as_str()), ("/wp-json/wp/v2/posts?a=b", "Mozilla/5.0 (X)"));
        assert_eq!(read.address, IpAddr::from([192, 0, 2, 7]));
        let common = r#"2001:db8::1 - ada [24/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 5"#;
        assert_eq!(parse(common).unwrap().agent, "");
        for other in [
            "",
            "x",
            r#"192.0.2.7 - - [x] "POST / HTTP/1.1" 200 5"#,
            r#"192.0.2.7 - - [x] "GET" 400 0"#,
            r#"192.0.2.7 - - [x] "\x16" 400"#,
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
