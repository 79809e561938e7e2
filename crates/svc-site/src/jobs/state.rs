//! What is known of the jobs while they run.

use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use serde::{Deserialize, Serialize};
use svc_metrics::{RunCounts, RunReport};
use svc_store::Lease;
use tokio::time::Instant;

use super::RunsOn;

/// What is known of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobState {
    /// The job's name.
    pub name: Cow<'static, str>,
    /// Its runs on this server.
    pub runs: RunReport,
    /// The server that runs the job in place of this one; empty if none was seen yet. `None` if this server runs it.
    #[serde(default)]
    pub runs_elsewhere: Option<String>,
}

/// Reads the states of the jobs of a table. Cheap to clone.
#[derive(Clone, Default)]
pub struct JobStates(Arc<RwLock<States>>);

#[derive(Default)]
struct States {
    jobs: Vec<(&'static str, Arc<RunCounts>, RunsOn)>,
    lease: Option<Arc<Lease>>,
}

impl JobStates {
    /// The current state of each job, in the order of the table.
    pub fn get(&self) -> Vec<JobState> {
        let now = Instant::now().into_std();
        let states = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let holder = states.lease.as_ref().and_then(|lease| lease.holder());
        let state = |(name, runs, runs_on): &(&'static str, Arc<RunCounts>, RunsOn)| JobState {
            name: Cow::Borrowed(name),
            runs: runs.report(now),
            runs_elsewhere: holder.clone().filter(|_| *runs_on == RunsOn::OneServer),
        };
        states.jobs.iter().map(state).collect()
    }

    /// Whether this server runs the jobs for one server; `None` if it is the only one.
    pub fn holds_lease(&self) -> Option<bool> {
        let states = self.0.read().unwrap_or_else(PoisonError::into_inner);
        states.lease.as_ref().map(|lease| lease.is_held())
    }

    pub(super) fn add(&self, name: &'static str, runs: Arc<RunCounts>, runs_on: RunsOn) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).jobs.push((name, runs, runs_on));
    }

    pub(super) fn set_lease(&self, lease: &Arc<Lease>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).lease = Some(Arc::clone(lease));
    }
}

impl fmt::Debug for JobStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.get()).finish()
    }
}
