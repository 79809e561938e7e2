//! What is known of the jobs while they run.

use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use serde::{Deserialize, Serialize};
use svc_metrics::{RunCounts, RunReport};
use tokio::time::Instant;

/// What is known of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobState {
    /// The job's name.
    pub name: Cow<'static, str>,
    /// Its runs.
    pub runs: RunReport,
}

/// Reads the states of the jobs of a table. Cheap to clone.
#[derive(Clone, Default)]
pub struct JobStates(Arc<RwLock<Vec<(&'static str, Arc<RunCounts>)>>>);

impl JobStates {
    /// The current state of each job, in the order of the table.
    pub fn get(&self) -> Vec<JobState> {
        let now = Instant::now().into_std();
        let state = |(name, runs): &(&'static str, Arc<RunCounts>)| JobState {
            name: Cow::Borrowed(name),
            runs: runs.report(now),
        };
        self.0.read().unwrap_or_else(PoisonError::into_inner).iter().map(state).collect()
    }

    pub(super) fn add(&self, name: &'static str, runs: Arc<RunCounts>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).push((name, runs));
    }
}

impl fmt::Debug for JobStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.get()).finish()
    }
}
