//! The thread that queries the server's current positions. Callers that come while a query is in progress share the next one.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, atomic::Ordering},
    time::{Duration, Instant},
};

use mysql::{Conn, Opts};
use tokio::sync::watch;

use super::{
    UnknownReason,
    point::Point,
    server::{self, Server, UnavailableReason},
    shared::{Progress, Shared},
};

/// Time after a failed connection in which no other one is opened.
const PAUSE: Duration = Duration::from_millis(500);

/// Age at which a connection is replaced, so that it is noticed when the same address leads to another server.
const RENEW: Duration = Duration::from_secs(2);

/// Positions of the server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) epoch: u64,
    /// The end of the log.
    pub(super) end: Point,
    /// Up to where the storage engine has committed; `None` if the server does not report it or it was not requested.
    pub(super) visible: Option<Point>,
    /// When the query was sent and when its result was there.
    pub(super) time: (Instant, Instant),
    /// Time after which what was in the log is visible.
    pub(super) settle: Duration,
}

/// What all who share a question receive.
type Reply = Option<Result<Answer, UnknownReason>>;

/// The question that is asked next.
#[derive(Debug, Default)]
pub(super) struct Questions {
    next: Mutex<Next>,
    has_next: Condvar,
}

#[derive(Debug, Default)]
struct Next {
    /// Those who wait for it, and whether one of them wants [`Answer::visible`].
    waiting: Option<(watch::Sender<Reply>, bool)>,
    is_closed: bool,
}

impl Questions {
    /// Joins the next question, which is sent after this call.
    pub(super) fn join(&self, visible: bool) -> watch::Receiver<Reply> {
        let mut next = self.lock();
        let is_first = next.waiting.is_none();
        let (sender, is_visible) = next.waiting.get_or_insert_with(|| (watch::Sender::new(None), false));
        *is_visible |= visible;
        let receiver = sender.subscribe();
        drop(next);
        if is_first {
            self.has_next.notify_one();
        }
        receiver
    }

    /// Ends the thread that asks.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.has_next.notify_one();
    }

    /// Waits for a question. `None` after the end.
    fn take(&self) -> Option<(watch::Sender<Reply>, bool)> {
        let mut next = self.lock();
        loop {
            if next.is_closed {
                return None;
            }
            if let Some(waiting) = next.waiting.take() {
                return Some(waiting);
            }
            next = self.has_next.wait(next).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Next> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) struct Queries {
    options: Opts,
    shared: Arc<Shared>,
    connection: Option<(Conn, String)>,
    opened: Instant,
    failed: Option<Instant>,
}

impl Queries {
    pub(super) fn new(options: Opts, shared: Arc<Shared>) -> Self {
        Queries { options, shared, connection: None, opened: Instant::now(), failed: None }
    }

    /// Asks until the feed is stopped.
    pub(super) fn run(mut self, questions: &Questions) {
        while let Some((waiting, visible)) = questions.take() {
            waiting.send_replace(Some(self.answer(visible)));
        }
    }

    fn answer(&mut self, visible: bool) -> Result<Answer, UnknownReason> {
        let before = self.shared.progress.borrow().clone();
        let server =
            self.shared.details().server.clone().filter(|_| before.connected).ok_or(UnknownReason::Disconnected)?;
        let had_connection = self.connection.is_some();
        let mut answer = self.ask(&before, &server, visible);
        // The server may have ended a connection that was not used for long.
        if had_connection && matches!(answer, Err(UnknownReason::Disconnected)) {
            answer = self.ask(&before, &server, visible);
        }
        let answer = answer?;
        // All that was sent is in the log, unless this is another log.
        if answer.end < before.applied {
            self.shared.other_log.store(true, Ordering::Release);
            return Err(UnknownReason::OtherLog);
        }
        Ok(answer)
    }

    fn ask(&mut self, before: &Progress, server: &Server, wants_visible: bool) -> Result<Answer, UnknownReason> {
        let asked = Instant::now();
        let shared = Arc::clone(&self.shared);
        let result = self.connected(server).and_then(|connection| {
            // In this order: what is visible was in the log before.
            let visible =
                if wants_visible { server.visible(connection).map_err(|error| error.to_string())? } else { None };
            let (file, offset) = server.end(connection).map_err(|error| {
                if matches!(error, UnavailableReason::ReadOnly) {
                    shared.other_log.store(true, Ordering::Release);
                }
                error.to_string()
            })?;
            let end = Point::new(&file, offset).map_err(|error| error.to_string())?;
            shared.log_file.answered(server.log_file(&file), end, asked);
            let is_sure = visible.is_some_and(|visible| shared.ends().is_sure(visible, asked));
            let settle = match wants_visible && !is_sure {
                true => server::settle_time(connection).map_err(|error| error.to_string())?,
                false => server::SETTLE,
            };
            Ok((end, visible, settle))
        });
        match result {
            Ok((end, visible, settle)) => {
                Ok(Answer { epoch: before.epoch, end, visible, time: (asked, Instant::now()), settle })
            }
            Err(error) => {
                tracing::debug!("the position of the binary log is not known: {error}");
                self.shared.log_file.answered(None, Point::default(), asked);
                self.connection = None;
                Err(UnknownReason::Disconnected)
            }
        }
    }

    /// A connection to the server whose log is read.
    fn connected(&mut self, server: &Server) -> Result<&mut Conn, String> {
        let is_other = self.connection.as_ref().is_some_and(|(_, identity)| *identity != server.identity);
        if is_other || self.opened.elapsed() >= RENEW {
            self.connection = None;
        }
        if self.connection.is_none() {
            if self.failed.is_some_and(|failed| failed.elapsed() < PAUSE) {
                return Err("the server cannot be reached".to_owned());
            }
            let opened =
                server::connect(&self.options).map_err(|error| error.to_string()).and_then(|mut connection| {
                    let other =
                        Server::check(&mut connection, &server.site.prefix).map_err(|error| error.to_string())?;
                    if other.identity == server.identity {
                        return Ok(connection);
                    }
                    // The reader's connection may still lead to the former server.
                    self.shared.other_log.store(true, Ordering::Release);
                    Err("another server has taken over".to_owned())
                });
            match opened {
                Ok(connection) => {
                    self.failed = None;
                    self.opened = Instant::now();
                    self.connection = Some((connection, server.identity.clone()));
                }
                Err(error) => {
                    self.failed = Some(Instant::now());
                    return Err(error);
                }
            }
        }
        self.connection.as_mut().map(|(connection, _)| connection).ok_or_else(String::new)
    }
}
