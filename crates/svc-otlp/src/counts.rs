//! Numbers of spans, for metrics.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Numbers of spans since the start.
#[derive(Debug, Default)]
pub struct ExportCounts {
    /// Spans that ended and have not been sent.
    pub(crate) waiting: AtomicUsize,
    pub(crate) exported: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) over_limit: AtomicU64,
}

/// Numbers of spans at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountReport {
    /// Spans that wait to be sent.
    pub waiting: usize,
    /// Spans that the collector has accepted.
    pub exported: u64,
    /// Spans that could not be sent, or that the collector has refused.
    pub failed: u64,
    /// Spans that were dropped because the queue was full.
    pub dropped: u64,
    /// Spans that were not created because their trace had too many.
    pub over_limit: u64,
}

impl ExportCounts {
    /// The current numbers.
    pub fn report(&self) -> CountReport {
        let get = |n: &AtomicU64| n.load(Ordering::Relaxed);
        CountReport {
            waiting: self.waiting.load(Ordering::Relaxed),
            exported: get(&self.exported),
            failed: get(&self.failed),
            dropped: get(&self.dropped),
            over_limit: get(&self.over_limit),
        }
    }
}
