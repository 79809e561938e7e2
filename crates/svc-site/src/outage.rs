//! Log lines about a store that many requests cannot use at the same time.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use svc_store::StoreError;

/// Time between two lines about the same outage.
const REMIND_EVERY: Duration = Duration::from_secs(30);

/// Time without a failure after which a success ends an outage. It limits the lines about a store that fails now and then.
const QUIET: Duration = Duration::from_secs(5);

/// A condition that makes requests fail: reported when it begins, from time to time, and when it ends, not for each request.
struct Outage {
    state: Mutex<State>,
    /// Whether the outage has begun and not ended, so that successes need no lock.
    is_on: AtomicBool,
}

#[derive(Clone, Copy, Default)]
struct State {
    began: Option<Instant>,
    /// Time of the last failure.
    failed: Option<Instant>,
    /// Time of the last line.
    reported: Option<Instant>,
    n_failures: u64,
}

/// An outage that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ended {
    /// Time from the first failure to the success.
    lasted: Duration,
    n_failures: u64,
}

/// The database cannot be reached.
static UNREACHABLE: Outage = Outage::new();
/// The database has too much to do.
static OVERLOADED: Outage = Outage::new();
/// The disk is full, or the database is read-only.
static UNWRITABLE: Outage = Outage::new();

impl Outage {
    const fn new() -> Self {
        let state = State { began: None, failed: None, reported: None, n_failures: 0 };
        Outage { state: Mutex::new(state), is_on: AtomicBool::new(false) }
    }

    /// Counts a failure. Returns the number of failures since the outage began if a line is due.
    fn failed(&self, now: Instant) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_on.store(true, Ordering::Relaxed);
        state.began.get_or_insert(now);
        state.failed = Some(now);
        state.n_failures += 1;
        if state.reported.is_some_and(|at| now.saturating_duration_since(at) < REMIND_EVERY) {
            return None;
        }
        state.reported = Some(now);
        Some(state.n_failures)
    }

    /// Notes a success. Returns the outage if this ends it.
    fn succeeded(&self, now: Instant) -> Option<Ended> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(state.failed?) < QUIET {
            return None;
        }
        self.is_on.store(false, Ordering::Relaxed);
        let State { began, n_failures, .. } = std::mem::take(&mut *state);
        Some(Ended { lasted: now.saturating_duration_since(began?), n_failures })
    }
}

/// Logs an error of the store: once and then from time to time if it is one that every request runs into.
pub fn log(error: &StoreError) {
    let outage = match error {
        StoreError::Unavailable(_) => &UNREACHABLE,
        StoreError::Busy | StoreError::Deadline => &OVERLOADED,
        StoreError::Full | StoreError::ReadOnly => &UNWRITABLE,
        _ => return tracing::error!(%error, "the store failed"),
    };
    match outage.failed(Instant::now()) {
        Some(n_failures) if error.is_temporary() => tracing::warn!(%error, n_failures, "requests are refused"),
        Some(n_failures) => tracing::error!(%error, n_failures, "the store failed"),
        None => tracing::debug!(%error, "the store failed"),
    }
}

/// Notes that a read succeeded: logs the end of an outage of reads.
pub(crate) fn read_succeeded() {
    end(&UNREACHABLE, "the database can be reached again");
    end(&OVERLOADED, "the database responds in time again");
}

/// Notes that a write succeeded: logs the end of an outage.
pub(crate) fn write_succeeded() {
    read_succeeded();
    end(&UNWRITABLE, "the database can be written again");
}

fn end(outage: &Outage, message: &'static str) {
    if !outage.is_on.load(Ordering::Relaxed) {
        return;
    }
    if let Some(Ended { lasted, n_failures }) = outage.succeeded(Instant::now()) {
        tracing::info!(seconds = lasted.as_secs(), n_failures, "{message}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_reported_when_it_begins_and_ends() {
        let (outage, start) = (Outage::new(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(outage.succeeded(start), None, "nothing has failed");
        assert_eq!([0, 1, 29].map(|n| outage.failed(at(n))), [Some(1), None, None]);
        assert_eq!(outage.failed(at(30)), Some(4), "a reminder");
        assert_eq!(outage.succeeded(at(31)), None, "some requests fail, others do not");
        assert_eq!(outage.failed(at(32)), None);
        assert!(outage.is_on.load(Ordering::Relaxed));
        assert_eq!(outage.succeeded(at(40)), Some(Ended { lasted: Duration::from_secs(40), n_failures: 5 }));
        assert_eq!(outage.succeeded(at(41)), None, "once");
        assert!(!outage.is_on.load(Ordering::Relaxed));
        assert_eq!(outage.failed(at(42)), Some(1), "the next outage is reported at once");
    }
}
