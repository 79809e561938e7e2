//! Logs what the metrics say, for people without a monitoring system.

use svc_site::jobs::JobState;
use svc_store::SearchIndexState;

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
        for JobState { name, runs, runs_elsewhere } in self.jobs.get() {
            tracing::info!(
                job = &*name,
                runs = runs.n_runs,
                running = runs.is_running,
                failures = runs.n_failures,
                seconds_since_start_of_run = runs.since_last_run.map(|time| time.as_secs()),
                duration_ms = runs.duration.map(|duration| duration.as_millis()),
                seconds_to_next_run = runs.until_next_run.map(|time| time.as_secs()),
                last_error = runs.last_error,
                runs_elsewhere,
                "job"
            );
        }
    }
}
