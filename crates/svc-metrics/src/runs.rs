//! Numbers of the runs of work that is repeated, such as a background job.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

/// The runs of work that is repeated: the thread or task that repeats it records them, others read. Times are parameters, so that tests
/// choose them.
#[derive(Debug, Default)]
pub struct RunCounts(Mutex<Recorded>);

#[derive(Debug, Default)]
struct Recorded {
    report: RunReport,
    /// When the latest run began.
    began: Option<Instant>,
    /// When the next run is due.
    due: Option<Instant>,
}

/// What [`RunCounts`] were when they were read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunReport {
    /// Number of runs that have ended.
    pub n_runs: u64,
    /// Number of failures since the last run without an error.
    pub n_failures: u32,
    /// Number of runs that have failed.
    pub n_failed_runs: u64,
    /// Time since the start of the latest run.
    pub since_last_run: Option<Duration>,
    /// Duration of the latest run that has ended.
    pub duration: Option<Duration>,
    /// The error of the latest run that failed.
    pub last_error: Option<String>,
    /// Time until the next run. `None` during a run, and if only an event causes one.
    pub until_next_run: Option<Duration>,
    /// Whether it is running.
    pub is_running: bool,
}

impl RunCounts {
    /// Records when the next run is due; `None` if only an event causes one.
    pub fn wait(&self, due: Option<Instant>) {
        self.lock().due = due;
    }

    /// Records the start of a run.
    pub fn begin(&self, now: Instant) {
        let mut recorded = self.lock();
        (recorded.began, recorded.due, recorded.report.is_running) = (Some(now), None, true);
    }

    /// Records the end of a run, and its error. Returns the number of failures in a row before and after it.
    pub fn end(&self, now: Instant, error: Option<String>) -> (u32, u32) {
        let mut recorded = self.lock();
        let duration = recorded.began.map(|began| now.saturating_duration_since(began));
        let report = &mut recorded.report;
        let before = report.n_failures;
        report.is_running = false;
        report.n_runs += 1;
        report.duration = duration;
        report.n_failures = if error.is_some() { before.saturating_add(1) } else { 0 };
        report.n_failed_runs += u64::from(error.is_some());
        report.last_error = error.or(report.last_error.take());
        (before, report.n_failures)
    }

    /// The current numbers.
    pub fn report(&self, now: Instant) -> RunReport {
        let recorded = self.lock();
        RunReport {
            since_last_run: recorded.began.map(|began| now.saturating_duration_since(began)),
            until_next_run: recorded.due.map(|due| due.saturating_duration_since(now)),
            ..recorded.report.clone()
        }
    }

    fn lock(&self) -> MutexGuard<'_, Recorded> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_counted_with_their_errors_and_times() {
        let (runs, start) = (RunCounts::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        let seconds = |n| Some(Duration::from_secs(n));
        assert_eq!(runs.report(start), RunReport::default());
        runs.wait(Some(at(5)));
        assert_eq!(runs.report(at(2)), RunReport { until_next_run: seconds(3), ..RunReport::default() });
        runs.begin(at(6));
        let running = RunReport { since_last_run: seconds(1), is_running: true, ..RunReport::default() };
        assert_eq!(runs.report(at(7)), running);
        assert_eq!(runs.end(at(8), Some("full".to_owned())), (0, 1));
        let failed = RunReport {
            n_runs: 1,
            n_failures: 1,
            n_failed_runs: 1,
            since_last_run: seconds(4),
            duration: seconds(2),
            last_error: Some("full".to_owned()),
            until_next_run: None,
            is_running: false,
        };
        assert_eq!(runs.report(at(10)), failed);
        runs.begin(at(11));
        assert_eq!(runs.end(at(11), Some("busy".to_owned())), (1, 2));
        runs.begin(at(12));
        assert_eq!(runs.end(at(12), None), (2, 0));
        runs.wait(Some(at(1)));
        let RunReport { n_runs, n_failures, n_failed_runs, last_error, until_next_run, .. } = runs.report(at(12));
        assert_eq!((n_runs, n_failures, n_failed_runs, last_error.as_deref()), (3, 0, 2, Some("busy")));
        assert_eq!(until_next_run, Some(Duration::ZERO), "it is late");
    }
}
