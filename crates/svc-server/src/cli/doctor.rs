//! `doctor`: the site health tests on the terminal.

use std::{
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, anyhow, bail};
use clap::Command;
use svc_controllers::site_health::{self, Test, Verdict};
use svc_site::Site;
use svc_store::{ReplicaUsage, Store};
use svc_versions::Context;

use super::{
    block_on,
    output::{columns, say},
    progress::Progress,
};
use crate::{
    background,
    config::{Config, SiteUrl},
    site::{SiteBuilder, open_existing},
    tls, upgrade_copy,
};

/// How long a read replica may take to answer.
const MAX_WAIT: Duration = Duration::from_secs(2);

pub(super) fn doctor_command() -> Command {
    Command::new("doctor")
        .about("Check the running site from outside; exits with 1 if anything critical is found")
        .after_help("The server should be running: the tests send requests to the site's public URL.")
}

/// Prints the results of the tests, the sizes of the site's folders and database, and the states of the background jobs.
///
/// # Errors
/// If the site cannot be opened, or a test finds something critical.
pub(super) fn doctor(builder: &SiteBuilder, config: &Config) -> Result<()> {
    drop(open_existing(config)?);
    if let Some(wordpress) = &config.wordpress {
        return super::front::examine(config, wordpress);
    }
    let unused: SiteUrl = "http://localhost".parse().map_err(anyhow::Error::msg)?;
    let open = builder.open(config, &unused)?;
    let progress = Progress::start("checking the site");
    let (report, mut n_critical) = block_on(results(open.site(), open.home(), &progress))??;
    drop(progress);
    say(&report);
    let (title, jobs) = background::report(config);
    say(&format!("\n{title}"));
    if !jobs.is_empty() {
        say(columns(&jobs).trim_end());
    }
    for replica in replicas(&open.site().store) {
        say(&replica_line(&replica));
    }
    say(&super::mail::summary(config, &open.site().store)?);
    if let Some(statement) = open.site().missing_meta_index()? {
        say(&format!("lists that are filtered or sorted by meta are slow without this index: {statement}"));
    }
    if let Some(address) = &config.monitoring {
        say(&format!("monitoring listener of the server: {address} with /healthz, /readyz and /metrics"));
    }
    let certificate = tls::report(config, open.home());
    if let Some((report, _)) = &certificate {
        say(report);
    }
    n_critical += usize::from(certificate.is_some_and(|(_, is_critical)| is_critical));
    if let Some((found, wrong)) = super::backup::examine(config) {
        say(&found);
        if let Some(wrong) = wrong {
            say(&format!("critical  {wrong}"));
            n_critical += 1;
        }
    }
    for copy in upgrade_copy::copies(config) {
        let size = site_health::format_bytes(copy.bytes);
        say(&format!("copy of the database from before an upgrade: {} ({size})", copy.file.display()));
    }
    if config.wp_config.is_some() {
        super::wordpress::report(&open)?;
    }
    if n_critical > 0 { bail!("{n_critical} critical results") } else { Ok(()) }
}

/// The read replicas of the database, once each of them has answered or had the time for it.
fn replicas(store: &Store) -> Vec<ReplicaUsage> {
    let begun = Instant::now();
    loop {
        let replicas = store.usage().replicas;
        if begun.elapsed() > MAX_WAIT || replicas.iter().all(|replica| replica.problem.is_none()) {
            return replicas;
        }
        thread::sleep(Duration::from_millis(50));
    }
}

fn replica_line(replica: &ReplicaUsage) -> String {
    let state = match &replica.problem {
        None => "answers reads".to_owned(),
        Some(why) => format!("is left out: {}", why.replace(char::is_control, " ")),
    };
    format!("read replica {} of the database {state}", replica.number)
}

/// All results as text, and how many are critical.
async fn results(site: &Site, home: &SiteUrl, progress: &Progress) -> Result<(String, usize)> {
    let failed = |e: svc_schema::Error| anyhow!("{}", e.message());
    let (cx, mut rows, mut n_critical) = (Context::background(), Vec::new(), 0);
    // The test of the Authorization header needs a request with one, so only the REST API can run it. A site that only this
    // machine can reach needs no TLS.
    let applies = |test: &Test| match test {
        Test::AuthorizationHeader => false,
        Test::Https => !home.is_loopback(),
        _ => true,
    };
    let tests: Vec<Test> = Test::ALL.into_iter().filter(applies).collect();
    for (n_done, test) in tests.iter().copied().enumerate() {
        progress.set(n_done, tests.len());
        let found = site_health::run_test(&cx, site, test, None).await.map_err(failed)?;
        n_critical += usize::from(found.verdict == Verdict::Critical);
        rows.push(vec![found.verdict.name().to_owned(), found.label, found.description]);
    }
    let results = columns(&rows);
    let sizes = site_health::sizes(&cx, site).await.map_err(failed)?;
    let format_bytes = |bytes: Option<u64>| bytes.map_or("unknown".to_owned(), site_health::format_bytes);
    let rows: Vec<Vec<String>> =
        sizes.iter().map(|size| vec![size_name(size.name), format_bytes(size.bytes)]).collect();
    Ok((format!("{results}\n{}", columns(&rows).trim_end()), n_critical))
}

/// The name of a size for people. Where the REST API has the size of WordPress's files, this server has its program.
fn size_name(name: &str) -> String {
    if name == "wordpress_size" { "program size".to_owned() } else { name.replace('_', " ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_are_shown_with_the_reason_why_one_is_left_out() {
        let line = |problem: Option<String>| replica_line(&ReplicaUsage { number: 2, problem, lag: None, reads: 0 });
        assert_eq!(line(None), "read replica 2 of the database answers reads");
        let why = "it can be written: set read_only".to_owned();
        assert_eq!(line(Some(why)), "read replica 2 of the database is left out: it can be written: set read_only");
    }
}
