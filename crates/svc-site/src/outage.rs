//! Log lines about a store that many requests cannot use at the same time.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use svc_store::StoreError;

/// Time between two lines about the same outage.
const REMIND_EVERY: Duration = Duration::from_secs(30);

/// A condition that makes requests fail: reported when it begins, then from time to time, not for each request.
struct Outage(Mutex<Reported>);

struct Reported {
    last: Option<Instant>,
    /// Failures since the last line.
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
        Outage(Mutex::new(Reported { last: None, n_failures: 0 }))
    }

    /// Counts a failure. Returns the number of failures since the last line if another is due.
    fn count(&self, remind_every: Duration) -> Option<u64> {
        let mut reported = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reported.n_failures += 1;
        if reported.last.is_some_and(|last| last.elapsed() < remind_every) {
            return None;
        }
        reported.last = Some(Instant::now());
        Some(std::mem::take(&mut reported.n_failures))
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
    match outage.count(REMIND_EVERY) {
        Some(n_failures) if error.is_temporary() => tracing::warn!(%error, n_failures, "requests are refused"),
        Some(n_failures) => tracing::error!(%error, n_failures, "the store failed"),
        None => tracing::debug!(%error, "the store failed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_reported_once_with_reminders() {
        let outage = Outage::new();
        assert_eq!([1, 2, 3].map(|_| outage.count(REMIND_EVERY)), [Some(1), None, None]);
        assert_eq!(outage.count(Duration::ZERO), Some(3), "the reminder has the number of failures");
    }
}
