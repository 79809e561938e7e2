//! Chooses the best news of writes that can be had, and changes to other news when that changes.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use mysql::{Conn, Opts, prelude::Queryable as _};

use crate::{
    Bridge,
    changes::Changes,
    code::Code,
    connector::{Connector, Error, Status},
    feed::{
        Feed, ResumePoint, Unavailable,
        binlog::{Binlog, Source},
        counter::Counter,
        reports::Reports,
    },
    persisted::Saved,
    sql::is_other_mode,
};

/// The report, in the folder of a watch.
const REPORT_FILE: &str = "replay.json";

/// Stored responses between two processes, in the folder of a watch.
const RESPONSES: &str = "responses";

/// Time between two looks while there are news.
const LOOK: Duration = Duration::from_secs(15);

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

/// Looks for the best news of writes. Whoever owns it calls [`look`](Self::look) again and again.
pub struct Watch {
    bridge: Bridge,
    sources: Sources,
    folder: Option<PathBuf>,
    state: Mutex<State>,
}

/// What was found at the last looks.
#[derive(Default)]
struct State {
    /// Whether the responses of the previous process were read.
    has_read: bool,
    saved: Option<Saved>,
    used: Option<FeedKind>,
    /// Looks at which the connector was missing.
    missing: u32,
}

impl Watch {
    /// Looks for news for this bridge. In `folder`, if given, are a report for `doctor`, and the stored responses of the previous
    /// process, with which it continues.
    pub fn new(bridge: Bridge, sources: Sources, folder: Option<PathBuf>) -> Self {
        bridge.set_database(sources.database.clone());
        Watch { bridge, sources, folder, state: Mutex::default() }
    }

    /// Uses the best news that can be had. Returns the time after which to look again.
    ///
    /// # Errors
    /// Why there are none, so that nothing is replayed. Look again soon.
    pub async fn look(&self) -> Result<Duration, Unavailable> {
        // Only this function changes the state. If it is cancelled, the next look begins as the first one does.
        let mut state = std::mem::take(&mut *self.state());
        let looked = self.look_from(&mut state).await;
        *self.state() = state;
        looked
    }

    async fn look_from(&self, state: &mut State) -> Result<Duration, Unavailable> {
        let bridge = &self.bridge;
        if !state.has_read {
            state.saved = self.read_saved().await;
            state.has_read = true;
        }
        let status = match &self.sources.connector {
            Some(connector) => Some(connector.status().await),
            None => None,
        };
        if let Some(Ok(status)) = &status {
            self.watch_code(state, status.code.clone()).await;
        }
        // The binary log connects again by itself.
        if state.used == Some(FeedKind::Binlog) && !bridge.needs_ends() {
            return Ok(LOOK);
        }
        let best = best(status.as_ref(), state.used);
        let is_missing = state.used == Some(FeedKind::Reports) && best != FeedKind::Reports;
        state.missing = if is_missing { state.missing + 1 } else { 0 };
        if state.used == Some(best) || is_missing && state.missing < MISSING {
            return Ok(LOOK);
        }
        // The log does not have when the object cache was changed.
        let has_cache = matches!(&status, Some(Ok(status)) if status.has_object_cache());
        let may_log = best == FeedKind::Counter || !has_cache && !bridge.needs_ends();
        let from = state.saved.as_ref().map(|saved| saved.from.clone());
        match open(best, may_log, &self.sources, from).await {
            Ok((kind, feed)) if state.used != Some(kind) => {
                tracing::info!("news of writes: {}", feed.describe());
                bridge.set_feed(Some(feed));
                if let Some(saved) = state.saved.take() {
                    tracing::debug!(n = bridge.restore(saved), "stored responses of the previous process");
                }
                state.used = Some(kind);
                Ok(LOOK)
            }
            Ok(_) => Ok(LOOK),
            Err(unavailable) => {
                if state.used.take().is_some() {
                    bridge.set_feed(None);
                }
                Err(unavailable)
            }
        }
    }

    /// Watches the site's PHP files. What the previous process has stored before they last changed is dropped.
    async fn watch_code(&self, state: &mut State, code: Code) {
        let bridge = self.bridge.clone();
        match tokio::task::spawn_blocking(move || bridge.watch_code(code)).await {
            Ok(Ok(Some(last_change))) => {
                if let Some(saved) = &mut state.saved {
                    saved.keep_since(last_change);
                }
            }
            Ok(Err(why)) => tracing::debug!("changes of PHP files are not noticed: {why}"),
            Ok(Ok(None)) | Err(_) => {}
        }
    }

    async fn read_saved(&self) -> Option<Saved> {
        let (bridge, file) = (self.bridge.clone(), self.folder.as_ref()?.join(RESPONSES));
        tokio::task::spawn_blocking(move || bridge.read(&file)).await.unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the report for `doctor`, if there is a folder for it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub async fn write_report(&self) -> io::Result<()> {
        let Some(path) = self.folder.as_deref().map(report_file) else { return Ok(()) };
        let new = path.with_extension("new");
        tokio::fs::write(&new, serde_json::to_vec_pretty(&self.bridge.report())?).await?;
        tokio::fs::rename(&new, path).await
    }

    /// Writes stored responses for the next process. Call this after the last request.
    pub async fn save_responses(&self) {
        let Some(file) = self.folder.as_ref().map(|folder| folder.join(RESPONSES)) else { return };
        let bridge = self.bridge.clone();
        let written = tokio::task::spawn_blocking(move || bridge.write(&file)).await;
        match written.unwrap_or_else(|error| Err(io::Error::other(error))) {
            Ok(n) => tracing::debug!(n, "stored responses were written for the next start"),
            Err(error) => tracing::warn!(%error, "stored responses cannot be written for the next start"),
        }
    }
}

/// The report in the folder of a watch.
pub fn report_file(folder: &Path) -> PathBuf {
    folder.join(REPORT_FILE)
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
        let mode = sql_mode(&sources.database)?;
        if is_other_mode(&mode) {
            tracing::debug!("each write ends all responses: statements are not examined in the SQL mode {mode}");
            return Ok((FeedKind::Counter, Box::new(Counter::start(&sources.database)?)));
        }
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

/// The SQL mode of the database server, from which WordPress removes what it does not support.
fn sql_mode(database: &Opts) -> Result<String, Unavailable> {
    let mode =
        Conn::new(database.clone()).and_then(|mut connection| connection.query_first("SELECT @@GLOBAL.sql_mode"));
    mode.map(Option::unwrap_or_default).map_err(|error| Unavailable(format!("the database cannot be read: {error}")))
}
