//! Logs what the metrics say, for people without a monitoring system.

use svc_store::SearchIndexState;
use tokio::time::Instant;

use crate::SiteUsage;

impl SiteUsage {
    /// Logs the requests in progress, the use of the caches, the state of the search index, and the state of each job.
    pub fn log(&self) {
        tracing::info!(requests = self.in_flight.n_requests(), "in progress");
        for (cache, usage) in (self.caches)() {
            let svc_versions::Usage { entries, bytes, hits, misses } = usage;
            tracing::info!(cache, entries, bytes, hits, misses, "cache");
        }
        let (state, posts) = match self.store.search_index_state() {
            SearchIndexState::Absent => ("absent", 0),
            SearchIndexState::Building(posts) => ("building", posts),
            SearchIndexState::Ready(posts) => ("ready", posts),
        };
        tracing::info!(state, posts, "search index");
        let now = Instant::now();
        for job in self.jobs.get() {
            tracing::info!(
                job = job.name,
                runs = job.n_runs,
                running = job.is_running,
                failures = job.n_failures,
                seconds_since_start_of_run = job.last_run.map(|began| (now - began).as_secs()),
                duration_ms = job.duration.map(|duration| duration.as_millis()),
                seconds_to_next_run = job.next_run.map(|at| (at - now).as_secs()),
                last_error = job.last_error,
                "job"
            );
        }
    }
}
