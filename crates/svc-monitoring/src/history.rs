//! What the main numbers of a served site were over the last week, for its status page.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use svc_metrics::{Combine, History, INTERVAL, RequestCounts, Series};
use svc_site::jobs::{Job, Next, Outcome, RunsOn};
use svc_versions::Context;
use tokio::time::Instant;

use crate::{Checks, SiteUsage, sources::system};

const fn series(label: &'static str, unit: &'static str, combine: Combine) -> Series {
    Series { label, unit, combine }
}

/// The numbers that are recorded.
pub const SERIES: &[Series] = &[
    series("Requests per second", "", Combine::Mean),
    series("Response time (95 %)", "ms", Combine::Max),
    series("Server errors per minute", "", Combine::Mean),
    series("Cache hits", "%", Combine::Mean),
    series("Processor", "%", Combine::Mean),
    series("Memory", "MB", Combine::Max),
    series("Free disk space", "GB", Combine::Min),
    series("Failed log-ins per minute", "", Combine::Mean),
    series("Background jobs that fail", "", Combine::Max),
];

/// Records the numbers at the interval of the history.
pub struct RecordHistory {
    history: Arc<History>,
    requests: Arc<RequestCounts>,
    usage: Arc<SiteUsage>,
    checks: Arc<Checks>,
    /// The numbers of the last run, and its time.
    before: Mutex<Option<(Instant, Totals)>>,
}

impl RecordHistory {
    /// The job that records these numbers.
    pub fn new(
        history: Arc<History>,
        requests: Arc<RequestCounts>,
        usage: Arc<SiteUsage>,
        checks: Arc<Checks>,
    ) -> Self {
        RecordHistory { history, requests, usage, checks, before: Mutex::default() }
    }
}

impl Job for RecordHistory {
    fn name(&self) -> &'static str {
        "record-history"
    }

    fn runs_on(&self) -> RunsOn {
        RunsOn::EachServer
    }

    async fn run(&self, _: &Context) -> Outcome {
        let (read, now) = (Instant::now(), Totals::read(&self.requests, &self.usage));
        let before = {
            let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
            before.replace((read, now.clone()))
        };
        if let Some((at, before)) = before {
            let elapsed = read - at;
            let failing = self.usage.jobs.get().iter().filter(|job| job.runs.n_failures > 0).count();
            let mut values = now.since(&before, elapsed);
            values.extend([
                system::resident_bytes().map(|bytes| bytes as f64 / 1e6),
                self.checks.free_bytes().map(|bytes| bytes as f64 / 1e9),
                Some(now.rate(&before, |totals| totals.failed_log_ins) * 60.0 / elapsed.as_secs_f64()),
                Some(failing as f64),
            ]);
            self.history.add(&values);
        }
        // Without the time that this run has taken.
        Ok(Next::After(INTERVAL.saturating_sub(read.elapsed())))
    }
}

/// Numbers since the start of the process.
#[derive(Clone, Debug, Default, PartialEq)]
struct Totals {
    requests: u64,
    errors: u64,
    hits: u64,
    misses: u64,
    failed_log_ins: u64,
    cpu_seconds: Option<f64>,
    /// Upper bounds of response times in seconds, with the numbers of requests.
    durations: Vec<(f64, u64)>,
}

impl Totals {
    fn read(requests: &RequestCounts, usage: &SiteUsage) -> Self {
        let mut totals = Totals { cpu_seconds: system::cpu_seconds(), ..Totals::default() };
        for method in requests.report().into_iter().flat_map(|route| route.methods) {
            totals.requests += method.durations.count;
            totals.errors += method.statuses.iter().filter(|(class, _)| *class == "5xx").map(|(_, n)| n).sum::<u64>();
            if totals.durations.is_empty() {
                totals.durations = method.durations.ranges;
            } else {
                for ((_, sum), (_, n)) in totals.durations.iter_mut().zip(&method.durations.ranges) {
                    *sum += n;
                }
            }
        }
        for (_, cache) in (usage.caches)() {
            totals.hits += cache.hits;
            totals.misses += cache.misses;
        }
        totals.failed_log_ins = usage.attempts.failures().iter().map(|(_, n)| n).sum();
        totals
    }

    /// How much a number has grown.
    fn rate(&self, before: &Totals, of: fn(&Totals) -> u64) -> f64 {
        of(self).saturating_sub(of(before)) as f64
    }

    /// The values of the first five series.
    fn since(&self, before: &Totals, interval: Duration) -> Vec<Option<f64>> {
        let seconds = interval.as_secs_f64();
        let (hits, misses) = (self.rate(before, |t| t.hits), self.rate(before, |t| t.misses));
        let cpu = self.cpu_seconds.zip(before.cpu_seconds).map(|(now, before)| (now - before) / seconds * 100.0);
        vec![
            Some(self.rate(before, |t| t.requests) / seconds),
            self.percentile(before, 0.95).map(|seconds| seconds * 1e3),
            Some(self.rate(before, |t| t.errors) * 60.0 / seconds),
            (hits + misses > 0.0).then(|| hits / (hits + misses) * 100.0),
            cpu.map(|percent| percent.max(0.0)),
        ]
    }

    /// The upper bound in seconds within which this share of the requests was answered. `None` without requests.
    fn percentile(&self, before: &Totals, share: f64) -> Option<f64> {
        let grown = self
            .durations
            .iter()
            .enumerate()
            .map(|(at, (bound, n))| (*bound, n.saturating_sub(before.durations.get(at).map_or(0, |(_, n)| *n))));
        let grown: Vec<(f64, u64)> = grown.collect();
        let all: u64 = grown.iter().map(|(_, n)| n).sum();
        let (mut seen, mut last) = (0_u64, None);
        for (bound, n) in grown {
            seen += n;
            if bound.is_finite() {
                last = Some(bound);
            }
            if all > 0 && seen as f64 >= share * all as f64 {
                return last;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_interval() {
        let before = Totals {
            requests: 100,
            hits: 50,
            cpu_seconds: Some(1.0),
            durations: vec![(0.001, 90), (0.01, 10), (f64::INFINITY, 0)],
            ..Totals::default()
        };
        let now = Totals {
            requests: 200,
            errors: 2,
            hits: 125,
            misses: 25,
            cpu_seconds: Some(3.5),
            durations: vec![(0.001, 180), (0.01, 20), (f64::INFINITY, 0)],
            ..Totals::default()
        };
        let expected = [Some(10.0), Some(10.0), Some(12.0), Some(75.0), Some(25.0)];
        assert_eq!(now.since(&before, INTERVAL), expected);
        // Without requests, nothing is known of their times.
        assert_eq!(now.since(&now, INTERVAL), [Some(0.0), None, Some(0.0), None, Some(0.0)]);
        assert_eq!(before.percentile(&Totals::default(), 0.9), Some(0.001));
    }
}
