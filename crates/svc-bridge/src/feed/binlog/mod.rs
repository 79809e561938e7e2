//! News of writes from the binary log of a MariaDB or MySQL server, which is read as by a replica.
//!
//! All transactions of all clients are in the log, in the order of their commits, with their rows. Not in the log are writes with `sql_log_bin=0`,
//! which needs a privilege that sites do not have.
//!
//! Two threads, each with its own connection: one reads the log and applies it to [`Changes`]; the other queries the server's current positions.

mod bytes;
mod decode;
mod log_file;
mod point;
mod position;
mod queries;
mod reader;
mod row;
mod schema;
mod server;
mod shared;
mod statement;
mod written;

use std::{
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    thread::Thread,
    time::Duration,
};

use futures_util::future::BoxFuture;
pub use server::UnavailableReason;

use self::{
    point::Point,
    position::{Numbering, Visible},
    queries::{Answer, Queries, Questions},
    reader::Reader,
    shared::Shared,
};
use super::{Feed, ResumePoint, Unavailable, Unknown};
use crate::changes::{Changes, Position};

/// Time limit of [`Binlog::catch_up`] and [`Binlog::visible`].
const LIMIT: Duration = Duration::from_secs(1);

/// The database of a site.
#[derive(Clone, Debug)]
pub struct Source {
    /// Server, user, password, TLS and database. The user needs the rights of the site's own user, besides those of a replica: otherwise it does
    /// not see the columns of tables.
    pub server: mysql::Opts,
    /// The prefix of the site's tables.
    pub prefix: String,
}

/// Why it is not known whether something has changed. Responses then have to come from WordPress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownReason {
    /// The server cannot be reached.
    #[error("the binary log is not being read")]
    Disconnected,
    /// The server has begun a new log, which is not being read yet.
    #[error("the server has begun a new binary log")]
    OtherLog,
    /// The log was not read within the time limit.
    #[error("reading the binary log takes too long")]
    Late,
    /// No position is sure to be visible yet: some seconds after the start, and after a new log.
    #[error("it is not yet known which transactions are visible")]
    Unsettled,
}

/// The state of the feed, for people.
#[derive(Clone, Debug)]
pub struct State {
    /// The log file that is read.
    pub file: String,
    /// The position up to which all transactions are applied.
    pub position: Position,
    /// Number of transactions read, including those of other databases.
    pub transactions: u64,
    /// How many times changes were missed.
    pub missed: u64,
    /// The last error; `None` if the log is being read again.
    pub error: Option<String>,
}

/// A feed of the changes of a site's database. It ends when this is dropped.
#[derive(Debug)]
pub struct Binlog {
    shared: Arc<Shared>,
    questions: Arc<Questions>,
    visible: Mutex<Visible>,
    reader: Thread,
    changes: Changes,
}

impl From<UnavailableReason> for Unavailable {
    fn from(reason: UnavailableReason) -> Self {
        Unavailable(reason.to_string())
    }
}

impl From<UnknownReason> for Unknown {
    fn from(reason: UnknownReason) -> Self {
        Unknown(reason.to_string())
    }
}

impl Feed for Binlog {
    fn changes(&self) -> &Changes {
        &self.changes
    }

    fn catch_up(&self) -> BoxFuture<'_, Result<(), Unknown>> {
        Box::pin(async { Ok(Binlog::catch_up(self).await?) })
    }

    fn visible(&self) -> BoxFuture<'_, Result<Position, Unknown>> {
        Box::pin(async { Ok(Binlog::visible(self).await?) })
    }

    fn has_names(&self) -> bool {
        true
    }

    fn resume_point(&self) -> Option<ResumePoint> {
        let progress = self.shared.progress.borrow().clone();
        let details = self.shared.details();
        let place = details.place.as_ref().filter(|_| progress.connected)?;
        let point = Point::new(&place.file, progress.applied.offset).ok()?;
        (point == progress.applied).then(|| ResumePoint {
            server: details.server.as_ref().map(|server| server.identity.clone()).unwrap_or_default(),
            file: place.file.clone(),
            offset: point.offset,
            created: place.created,
        })
    }

    fn position_of(&self, point: &ResumePoint) -> Option<Position> {
        Some(Numbering::default().position(Point::new(&point.file, point.offset).ok()?))
    }

    fn describe(&self) -> String {
        "the binary log: each transaction of any program, with the rows that it changed".to_owned()
    }
}

impl Binlog {
    /// Checks whether the log of the server can be used, and begins to read it: where a previous process has stopped, if the log is still
    /// there, otherwise at its end. Blocks while it connects.
    ///
    /// # Errors
    /// Why the log cannot be used. Later the feed reconnects automatically.
    pub fn start(source: Source, changes: Changes, from: Option<&ResumePoint>) -> Result<Self, UnavailableReason> {
        let shared = Arc::new(Shared::new(changes.clone()));
        let mut reader = Reader::new(source.server.clone(), source.prefix, Arc::clone(&shared));
        if let Some(from) = from {
            reader.resume(from)?;
        }
        let session = reader.connect()?;
        let queries = Queries::new(source.server, Arc::clone(&shared));
        let questions = Arc::new(Questions::default());
        let asked = Arc::clone(&questions);
        let spawn = |name: &str, run: Box<dyn FnOnce() + Send>| {
            std::thread::Builder::new()
                .name(name.to_owned())
                .spawn(run)
                .map_err(|error| UnavailableReason::Query(error.into()))
        };
        spawn("binlog-queries", Box::new(move || queries.run(&asked)))?;
        let thread = spawn("binlog", Box::new(move || reader.run(session)))?;
        Ok(Binlog { shared, questions, visible: Mutex::default(), reader: thread.thread().clone(), changes })
    }

    /// Waits until all transactions that are in the log now are applied. All that were acknowledged before the call are.
    ///
    /// # Errors
    /// If that is not known within a second.
    pub async fn catch_up(&self) -> Result<(), UnknownReason> {
        if self.shared.is_at_end() {
            return Ok(());
        }
        self.within_limit(async {
            let answer = self.ask(false).await?;
            self.reach(&answer, answer.end).await
        })
        .await
    }

    /// A position such that all transactions up to it are applied, and visible to all that begin after this call.
    ///
    /// A transaction is in the log before its rows are visible. MariaDB reports up to which position they are. MySQL does not; there it is a
    /// position that has been in the log for two seconds, or longer if replicas delay commits (`rpl_semi_sync_…_timeout`).
    ///
    /// # Errors
    /// If that is not known within a second.
    pub async fn visible(&self) -> Result<Position, UnknownReason> {
        self.within_limit(async {
            let answer = self.ask(true).await?;
            // After a definition of a table that ended a file, MariaDB has the offset of that file with the name of the next.
            let told = answer.visible.filter(|visible| *visible <= answer.end);
            let point = told.unwrap_or(answer.end);
            self.reach(&answer, point).await?;
            let is_sure = told.is_some() && self.shared.ends().is_sure(point, answer.time.0);
            let mut visible = self.visible.lock().unwrap_or_else(PoisonError::into_inner);
            let sure = visible
                .add(answer.epoch, point, answer.time, is_sure, answer.settle)
                .ok_or(UnknownReason::Unsettled)?;
            let progress = self.shared.progress.borrow();
            if progress.epoch == answer.epoch {
                Ok(progress.numbering.position(sure))
            } else {
                Err(UnknownReason::OtherLog)
            }
        })
        .await
    }

    /// The state of the feed.
    pub fn state(&self) -> State {
        let details = self.shared.details();
        State {
            file: details.place.as_ref().map(|place| place.file.clone()).unwrap_or_default(),
            position: self.shared.progress.borrow().position(),
            transactions: self.shared.transactions.load(Ordering::Relaxed),
            missed: self.shared.missed.load(Ordering::Relaxed),
            error: details.error.clone(),
        }
    }

    async fn within_limit<T>(
        &self,
        future: impl Future<Output = Result<T, UnknownReason>>,
    ) -> Result<T, UnknownReason> {
        let result = tokio::time::timeout(LIMIT, future).await.unwrap_or(Err(UnknownReason::Late));
        if matches!(result, Err(UnknownReason::Late)) {
            self.shared.late.store(true, Ordering::Release);
        }
        result
    }

    async fn ask(&self, visible: bool) -> Result<Answer, UnknownReason> {
        let mut answer = self.questions.join(visible);
        let answer = answer.wait_for(Option::is_some).await.map_err(|_| UnknownReason::Disconnected)?;
        answer.unwrap_or(Err(UnknownReason::Disconnected))
    }

    /// Waits until a point is applied.
    async fn reach(&self, answer: &Answer, point: Point) -> Result<(), UnknownReason> {
        {
            let progress = self.shared.progress.borrow();
            if progress.connected && progress.epoch == answer.epoch && progress.applied >= point {
                return Ok(());
            }
        }
        let mut progress = self.shared.progress.subscribe();
        let reached = progress
            .wait_for(|progress| !progress.connected || progress.epoch != answer.epoch || progress.applied >= point)
            .await
            .map_err(|_| UnknownReason::Disconnected)?;
        match () {
            () if !reached.connected => Err(UnknownReason::Disconnected),
            () if reached.epoch != answer.epoch => Err(UnknownReason::OtherLog),
            () => Ok(()),
        }
    }
}

impl Drop for Binlog {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Release);
        self.reader.unpark();
        self.questions.close();
    }
}
