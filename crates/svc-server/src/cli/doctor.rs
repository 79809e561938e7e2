//! `doctor`: the site's health on the terminal, as the interface tells it.

use clap::Command;
use svc_controllers::{
    Site,
    site_health::{self, Test, Verdict},
};

use super::output::{columns, say};
use crate::{
    config::{Config, SiteUrl},
    error::{Error, Result},
    first_run,
    site::{SiteBuilder, open_store},
};

pub(super) fn doctor_command() -> Command {
    Command::new("doctor")
        .about("Test the site as it is reached from outside; the status is 1 when something must be seen to")
        .after_help("The server should be running: the tests ask it under the site's public address.")
}

/// Prints what the tests find out, and the sizes.
///
/// # Errors
/// When the site cannot be opened, or a test finds something critical.
pub(super) fn doctor(builder: &SiteBuilder, config: &Config) -> Result {
    if !first_run::has_site(&open_store(config)?)? {
        return Err(Error::Refused("there is no site yet; start the server once".to_owned()));
    }
    let nowhere: SiteUrl = "http://localhost".parse().map_err(Error::Refused)?;
    let open = builder.open(config, &nowhere)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Error::Refused(format!("no threads: {e}")))?;
    let n_critical = runtime.block_on(tell(open.site()))?;
    match n_critical {
        0 => Ok(()),
        n => Err(Error::Refused(format!("{n} of these must be seen to"))),
    }
}

/// Prints everything; how much of it is critical.
async fn tell(site: &Site) -> Result<usize> {
    let failed = |e: svc_schema::Error| Error::Refused(e.message().to_owned());
    let (mut rows, mut n_critical) = (Vec::new(), 0);
    // What arrives of a header can only be seen by somebody who sends one: that test is for the interface.
    for test in Test::ALL.into_iter().filter(|test| *test != Test::AuthorizationHeader) {
        let found = site_health::find_out(site, test, None).await.map_err(failed)?;
        n_critical += usize::from(found.verdict == Verdict::Critical);
        rows.push(vec![found.verdict.name().to_owned(), found.label, found.description]);
    }
    say(columns(&rows).trim_end());
    let sizes = site_health::sizes(site).await.map_err(failed)?;
    let in_words = |bytes: Option<u64>| bytes.map_or("unknown".to_owned(), site_health::in_words);
    let rows: Vec<Vec<String>> =
        sizes.iter().map(|size| vec![size.name.replace('_', " "), in_words(size.bytes)]).collect();
    say("");
    say(columns(&rows).trim_end());
    Ok(n_critical)
}
