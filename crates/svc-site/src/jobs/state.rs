//! What is known of the jobs while they run.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
    time::Duration,
};

use tokio::time::Instant;

use super::Next;

/// What is known of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobState {
    /// The job's name.
    pub name: &'static str,
    /// Number of runs that have ended.
    pub n_runs: u64,
    /// Number of failures since the last run without an error.
    pub n_failures: u32,
    /// Number of runs that have failed.
    pub n_failed_runs: u64,
    /// When the latest run began.
    pub last_run: Option<Instant>,
    /// Duration of the latest run that has ended.
    pub duration: Option<Duration>,
    /// The error of the latest run that failed.
    pub last_error: Option<String>,
    /// When the next run is due. `None` during a run, and if only a notification causes one.
    pub next_run: Option<Instant>,
    /// Whether the job is running.
    pub is_running: bool,
}

impl JobState {
    /// A job that has not run yet.
    pub fn new(name: &'static str) -> Self {
        JobState {
            name,
            n_runs: 0,
            n_failures: 0,
            n_failed_runs: 0,
            last_run: None,
            duration: None,
            last_error: None,
            next_run: None,
            is_running: false,
        }
    }
}

/// Reads the states of the jobs of a table. Cheap to clone.
#[derive(Clone, Default)]
pub struct JobStates(Arc<RwLock<Vec<Box<ReadState>>>>);

type ReadState = dyn Fn() -> JobState + Send + Sync;

impl JobStates {
    /// The current state of each job, in the order of the table.
    pub fn get(&self) -> Vec<JobState> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).iter().map(|state| state()).collect()
    }

    pub(super) fn add(&self, state: impl Fn() -> JobState + Send + Sync + 'static) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).push(Box::new(state));
    }
}

impl fmt::Debug for JobStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.get()).finish()
    }
}

/// The state of a job, which its task changes and others read.
#[derive(Debug)]
pub(super) struct SharedState(Mutex<JobState>);

impl SharedState {
    pub(super) fn new(name: &'static str) -> Self {
        SharedState(Mutex::new(JobState::new(name)))
    }

    pub(super) fn get(&self) -> JobState {
        self.lock().clone()
    }

    pub(super) fn waits(&self, next: Next) {
        self.lock().next_run = match next {
            Next::After(pause) => Instant::now().checked_add(pause),
            Next::Never => None,
        };
    }

    pub(super) fn begins(&self) {
        let mut state = self.lock();
        state.is_running = true;
        state.last_run = Some(Instant::now());
        state.next_run = None;
    }

    /// Records the end of a run. Returns the number of failures in a row before and after it.
    pub(super) fn ends(&self, error: Option<String>) -> (u32, u32) {
        let mut state = self.lock();
        let before = state.n_failures;
        state.is_running = false;
        state.n_runs += 1;
        state.duration = state.last_run.map(|began| began.elapsed());
        state.n_failures = if error.is_some() { before.saturating_add(1) } else { 0 };
        state.n_failed_runs += u64::from(error.is_some());
        state.last_error = error.or(state.last_error.take());
        (before, state.n_failures)
    }

    fn lock(&self) -> MutexGuard<'_, JobState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
