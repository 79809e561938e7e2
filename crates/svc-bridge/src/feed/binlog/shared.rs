//! State that the threads of the feed and its callers share.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Instant,
};

use tokio::sync::watch;

use super::{
    decode::{Place, Reached},
    log_file::LogFile,
    point::Point,
    position::{Ends, Numbering},
    server::{SETTLE, Server},
};
use crate::changes::{Changes, Position};

/// How far the log has been read.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    /// Whether the server is sending its log.
    pub(super) connected: bool,
    /// Grows when changes were missed.
    pub(super) epoch: u64,
    pub(super) numbering: Numbering,
    /// All transactions up to here are in [`Changes`].
    pub(super) applied: Point,
}

impl Progress {
    pub(super) fn position(&self) -> Position {
        self.numbering.position(self.applied)
    }
}

/// State for people, and the properties of the server for both threads.
#[derive(Debug, Default)]
pub(super) struct Details {
    pub(super) server: Option<Server>,
    pub(super) place: Option<Place>,
    pub(super) error: Option<String>,
}

#[derive(Debug)]
pub(super) struct Shared {
    changes: Changes,
    pub(super) progress: watch::Sender<Progress>,
    details: Mutex<Details>,
    ends: Mutex<Ends>,
    pub(super) log_file: LogFile,
    pub(super) transactions: AtomicU64,
    pub(super) missed: AtomicU64,
    /// The feed is no longer used.
    pub(super) stopped: AtomicBool,
    /// The log that is read is not the one that the server writes.
    pub(super) other_log: AtomicBool,
    /// The end of the log was not reached in time.
    pub(super) late: AtomicBool,
}

impl Shared {
    pub(super) fn new(changes: Changes) -> Self {
        Shared {
            changes,
            progress: watch::Sender::new(Progress::default()),
            details: Mutex::default(),
            ends: Mutex::new(Ends::default()),
            log_file: LogFile::default(),
            transactions: AtomicU64::new(0),
            missed: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            other_log: AtomicBool::new(false),
            late: AtomicBool::new(false),
        }
    }

    pub(super) fn changes(&self) -> &Changes {
        &self.changes
    }

    pub(super) fn details(&self) -> MutexGuard<'_, Details> {
        self.details.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn ends(&self) -> MutexGuard<'_, Ends> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins at a point, with what happened before unknown.
    pub(super) fn begin(&self, at: Point, why: Option<&str>) {
        let mut next = self.progress.borrow().clone();
        next.numbering = next.numbering.after(next.applied, at);
        next.applied = at;
        next.epoch += 1;
        if let Some(why) = why {
            tracing::warn!("changes of the database may have been missed: {why}");
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
        self.changes.missed(next.position());
        *self.ends() = Ends::default();
        self.progress.send_replace(next);
    }

    /// Continues at a point of a previous process.
    pub(super) fn resume(&self, at: Point) {
        self.progress.send_modify(|progress| progress.applied = at);
    }

    /// Applies what changed up to a point.
    pub(super) fn apply(&self, at: Point, reached: &Reached) {
        let position = self.progress.borrow().numbering.position(at);
        if !reached.names.is_empty() {
            self.changes.changed(&reached.names, position);
        }
        if !reached.by_reads.is_empty() {
            self.changes.changed_by_reads(&reached.by_reads, position);
        }
        if reached.ends_transaction {
            self.transactions.fetch_add(1, Ordering::Relaxed);
            self.ends().add(at);
        }
        if reached.commits_prepared {
            self.ends().unsure_until(Instant::now() + SETTLE);
        }
        self.progress.send_modify(|progress| progress.applied = at);
    }

    /// Whether all that is in the log now is applied, without a question to the server.
    pub(super) fn is_at_end(&self) -> bool {
        let (connected, applied) = {
            let progress = self.progress.borrow();
            (progress.connected, progress.applied)
        };
        connected && self.log_file.ends_at(applied)
    }

    pub(super) fn set_connected(&self, connected: bool) {
        self.progress.send_if_modified(|progress| std::mem::replace(&mut progress.connected, connected) != connected);
    }
}
