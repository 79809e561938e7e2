//! Numbers of durations in ranges with fixed bounds.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the ranges, in microseconds. Statements of a database take tens of microseconds, uploads seconds.
const BOUNDS: [u64; 15] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    10_000_000,
];

/// Numbers of durations by range. Recording takes two atomic additions.
#[derive(Debug, Default)]
pub struct Histogram {
    /// One number for each bound, and one for longer durations.
    ranges: [AtomicU64; BOUNDS.len() + 1],
    /// Sum of all durations.
    nanoseconds: AtomicU64,
}

/// The numbers of a [`Histogram`] at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramReport {
    /// Number of durations.
    pub count: u64,
    /// Sum of the durations, in seconds.
    pub seconds: f64,
    /// Upper bounds in seconds, each with the number of durations in its range. The last bound is [`f64::INFINITY`].
    pub ranges: Vec<(f64, u64)>,
}

impl Histogram {
    /// Counts a duration.
    pub fn record(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let range = BOUNDS.iter().position(|bound| micros <= *bound).unwrap_or(BOUNDS.len());
        self.ranges[range].fetch_add(1, Ordering::Relaxed);
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanos, Ordering::Relaxed);
    }

    /// The numbers so far.
    pub fn report(&self) -> HistogramReport {
        let bounds = BOUNDS.iter().map(|micros| *micros as f64 / 1e6).chain([f64::INFINITY]);
        let ranges: Vec<(f64, u64)> =
            bounds.zip(&self.ranges).map(|(bound, n)| (bound, n.load(Ordering::Relaxed))).collect();
        HistogramReport {
            count: ranges.iter().map(|(_, n)| n).sum(),
            seconds: self.nanoseconds.load(Ordering::Relaxed) as f64 / 1e9,
            ranges,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_counted_by_range() {
        let histogram = Histogram::default();
        for micros in [0, 100, 101, 900, 20_000_000] {
            histogram.record(Duration::from_micros(micros));
        }
        let report = histogram.report();
        let used: Vec<(f64, u64)> = report.ranges.iter().copied().filter(|(_, n)| *n > 0).collect();
        assert_eq!(used, [(0.0001, 2), (0.00025, 1), (0.001, 1), (f64::INFINITY, 1)]);
        assert_eq!((report.count, report.ranges.len()), (5, BOUNDS.len() + 1));
        assert!((report.seconds - 20.001_101).abs() < 1e-9, "{}", report.seconds);
    }
}
