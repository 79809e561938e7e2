//! Chooses the best news of writes that can be had, and changes to other news when that changes.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use mysql::Opts;
use tokio::{task::JoinHandle, time::Instant};

use crate::{
    Bridge,
    changes::Changes,
    connector::{Connector, Error, Status},
    feed::{
        Feed, ResumePoint, Unavailable,
        binlog::{Binlog, Source},
        counter::Counter,
        reports::Reports,
    },
};

/// The report, in the folder of a watch.
const REPORT_FILE: &str = "replay.json";

/// Stored responses between two processes, in the folder of a watch.
const RESPONSES: &str = "responses";

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
enum FeedKind {
    Binlog,
    Reports,
    Counter,
}

/// The task. It stops when this is dropped.
#[must_use = "the task stops when this is dropped"]
pub struct Watch {
    task: JoinHandle<()>,
    bridge: Bridge,
    folder: Option<PathBuf>,
}

impl Watch {
    /// Starts the task. In `folder`, if given, it writes a report from time to time for `doctor`, and continues with the stored responses
    /// of the previous process.
    pub fn start(bridge: Bridge, sources: Sources, folder: Option<PathBuf>) -> Self {
        let task = tokio::spawn(run(bridge.clone(), sources, folder.clone()));
        Watch { task, bridge, folder }
    }

    /// Stops the task, and writes stored responses for the next process.
    pub async fn stop(self) {
        self.task.abort();
        let Some(file) = self.folder.as_ref().map(|folder| folder.join(RESPONSES)) else { return };
        let bridge = self.bridge.clone();
        let written = tokio::task::spawn_blocking(move || bridge.write(&file)).await;
        match written.unwrap_or_else(|error| Err(std::io::Error::other(error))) {
            Ok(n) => tracing::debug!(n, "stored responses were written for the next start"),
            Err(error) => tracing::warn!(%error, "stored responses cannot be written for the next start"),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The report in the folder of a watch.
pub fn report_file(folder: &Path) -> PathBuf {
    folder.join(REPORT_FILE)
}

async fn run(bridge: Bridge, sources: Sources, folder: Option<PathBuf>) {
    let report = folder.as_deref().map(report_file);
    let mut saved = match folder {
        Some(folder) => {
            let bridge = bridge.clone();
            tokio::task::spawn_blocking(move || bridge.read(&folder.join(RESPONSES))).await.unwrap_or_default()
        }
        None => None,
    };
    let mut used: Option<FeedKind> = None;
    let (mut missing, mut last_problem) = (0, String::new());
    let (mut look, mut write) = (Instant::now(), Instant::now());
    loop {
        // The binary log connects again by itself.
        if look <= Instant::now() && (used != Some(FeedKind::Binlog) || bridge.needs_ends()) {
            let status = match &sources.connector {
                Some(connector) => Some(connector.status().await),
                None => None,
            };
            let best = best(status.as_ref(), used);
            missing = if used == Some(FeedKind::Reports) && best != FeedKind::Reports { missing + 1 } else { 0 };
            if used != Some(best) && (missing == 0 || missing >= MISSING) {
                // The log does not have when the object cache was changed.
                let has_cache = matches!(&status, Some(Ok(status)) if status.has_object_cache());
                let may_log = best == FeedKind::Counter || !has_cache && !bridge.needs_ends();
                match open(best, may_log, &sources, saved.as_ref().map(|saved| saved.from.clone())).await {
                    Ok((kind, feed)) if used != Some(kind) => {
                        tracing::info!("news of writes: {}", feed.describe());
                        bridge.set_feed(Some(feed));
                        if let Some(saved) = saved.take() {
                            tracing::debug!(n = bridge.restore(saved), "stored responses of the previous process");
                        }
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
fn best(status: Option<&Result<Status, Error>>, used: Option<FeedKind>) -> FeedKind {
    match status {
        Some(Ok(status)) if status.can_report() => FeedKind::Reports,
        // A WordPress that is away writes nothing.
        Some(Err(Error::Failure(_))) => used.unwrap_or(FeedKind::Counter),
        _ => FeedKind::Counter,
    }
}

/// Opens the binary log if it may be used, these news, or the next best.
async fn open(
    kind: FeedKind,
    may_log: bool,
    sources: &Sources,
    from: Option<ResumePoint>,
) -> Result<(FeedKind, Box<dyn Feed>), Unavailable> {
    let sources = sources.clone();
    let opened = tokio::task::spawn_blocking(move || -> Result<(FeedKind, Box<dyn Feed>), Unavailable> {
        let source = Source { server: sources.database.clone(), prefix: sources.prefix.clone() };
        if may_log {
            match Binlog::start(source, Changes::with_images(), from.as_ref()) {
                Ok(feed) => return Ok((FeedKind::Binlog, Box::new(feed))),
                Err(why) => tracing::debug!("the binary log is not used: {why}"),
            }
        }
        if kind == FeedKind::Reports {
            match Reports::start(&sources.database, &sources.prefix) {
                Ok(feed) => return Ok((FeedKind::Reports, Box::new(feed))),
                Err(Unavailable(why)) => tracing::warn!("{why}"),
            }
        }
        Ok((FeedKind::Counter, Box::new(Counter::start(&sources.database)?)))
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
