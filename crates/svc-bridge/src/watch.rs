//! Chooses the best news of writes that can be had, and changes to other news when that changes.

use std::{path::PathBuf, time::Duration};

use mysql::Opts;
use tokio::{task::JoinHandle, time::Instant};

use crate::{
    Bridge,
    changes::Changes,
    connector::{Connector, Error, Status},
    feed::{
        Feed, Unavailable,
        binlog::{Binlog, Source},
        counter::Counter,
        reports::Reports,
    },
};

/// Time between two looks while there are no news.
const RETRY: Duration = Duration::from_secs(2);

/// Time between two looks otherwise.
const LOOK: Duration = Duration::from_secs(15);

/// Time between two reports.
const REPORT: Duration = Duration::from_secs(10);

/// Looks at which the connector must be missing before its reports are given up.
const MISSING: u32 = 2;

/// Where news of writes can be had.
#[derive(Clone)]
pub struct Sources {
    /// The database.
    pub database: Opts,
    /// Prefix of the site's tables.
    pub prefix: String,
    /// The connector, if it is installed.
    pub connector: Option<Connector>,
}

/// The kinds of news, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Binlog,
    Reports,
    Counter,
}

/// The task. It stops when this is dropped.
#[must_use = "the task stops when this is dropped"]
pub struct Watch(JoinHandle<()>);

impl Watch {
    /// Starts the task. What the bridge saves is written to `report`, if given, from time to time, for `doctor`.
    pub fn start(bridge: Bridge, sources: Sources, report: Option<PathBuf>) -> Self {
        Watch(tokio::spawn(run(bridge, sources, report)))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn run(bridge: Bridge, sources: Sources, report: Option<PathBuf>) {
    let mut used: Option<Kind> = None;
    let (mut missing, mut last_problem) = (0, String::new());
    let (mut look, mut write) = (Instant::now(), Instant::now());
    loop {
        // The binary log connects again by itself.
        if look <= Instant::now() && used != Some(Kind::Binlog) {
            let status = match &sources.connector {
                Some(connector) => Some(connector.status().await),
                None => None,
            };
            let best = best(status.as_ref(), used);
            missing = if used == Some(Kind::Reports) && best != Kind::Reports { missing + 1 } else { 0 };
            if used != Some(best) && (missing == 0 || missing >= MISSING) {
                match open(best, &sources).await {
                    Ok((kind, feed)) if used != Some(kind) => {
                        tracing::info!("news of writes: {}", feed.describe());
                        bridge.set_feed(Some(feed));
                        used = Some(kind);
                        last_problem.clear();
                    }
                    Ok(_) => {}
                    Err(Unavailable(why)) => {
                        if used.take().is_some() {
                            bridge.set_feed(None);
                        }
                        if why != last_problem {
                            tracing::warn!("nothing is replayed: {why}");
                            last_problem = why;
                        }
                    }
                }
            }
        }
        if look <= Instant::now() {
            look = Instant::now() + if used.is_some() { LOOK } else { RETRY };
        }
        if write <= Instant::now() {
            if let Some(report) = &report {
                write_report(&bridge, report).await;
            }
            write = Instant::now() + REPORT;
        }
        tokio::time::sleep_until(look.min(write)).await;
    }
}

/// The best news, as far as the connector's status shows.
fn best(status: Option<&Result<Status, Error>>, used: Option<Kind>) -> Kind {
    match status {
        Some(Ok(status)) if status.can_report() => Kind::Reports,
        // A WordPress that is away writes nothing.
        Some(Err(Error::Failure(_))) => used.unwrap_or(Kind::Counter),
        _ => Kind::Counter,
    }
}

/// Opens the binary log, these news, or the next best.
async fn open(kind: Kind, sources: &Sources) -> Result<(Kind, Box<dyn Feed>), Unavailable> {
    let sources = sources.clone();
    let opened = tokio::task::spawn_blocking(move || -> Result<(Kind, Box<dyn Feed>), Unavailable> {
        let source = Source { server: sources.database.clone(), prefix: sources.prefix.clone() };
        match Binlog::start(source, Changes::default()) {
            Ok(feed) => return Ok((Kind::Binlog, Box::new(feed))),
            Err(why) => tracing::debug!("the binary log is not used: {why}"),
        }
        if kind == Kind::Reports {
            match Reports::start(&sources.database, &sources.prefix) {
                Ok(feed) => return Ok((Kind::Reports, Box::new(feed))),
                Err(Unavailable(why)) => tracing::warn!("{why}"),
            }
        }
        Ok((Kind::Counter, Box::new(Counter::start(&sources.database)?)))
    });
    opened.await.unwrap_or_else(|error| Err(Unavailable(error.to_string())))
}

async fn write_report(bridge: &Bridge, path: &std::path::Path) {
    let Ok(text) = serde_json::to_vec_pretty(&bridge.report()) else { return };
    let new = path.with_extension("new");
    // Only `doctor` reads it: a full disk costs nothing else.
    if tokio::fs::write(&new, text).await.is_ok() {
        drop(tokio::fs::rename(&new, path).await);
    }
}
