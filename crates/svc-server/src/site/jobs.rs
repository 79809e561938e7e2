//! The table of the background jobs of a site.
//!
//! The search index is not in it: it is built by blocking reads of many minutes, which stop in the middle, so it has a
//! thread of its own (`svc_store::SearchIndexer`).

use std::sync::Arc;

use svc_site::{
    Site,
    jobs::{CheckTermCounts, JobStates, JobTable, PublishPosts, RemoveInterruptedUploads, WatchTheme},
};
use tokio::time::Instant;

/// The jobs of a site.
pub(crate) fn table(site: &Arc<Site>) -> JobTable {
    JobTable::new()
        .with(RemoveInterruptedUploads(Arc::clone(site)))
        .with(PublishPosts(Arc::clone(site)))
        .with(WatchTheme(Arc::clone(site)))
        .with(CheckTermCounts::new(Arc::clone(site)))
}

/// Logs the state of each job.
pub(crate) fn report(states: &JobStates) {
    let now = Instant::now();
    for job in states.get() {
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
