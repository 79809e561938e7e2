//! Runs the jobs of a table until it is stopped.

use std::{any::Any, fmt, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::{FutureExt as _, future::BoxFuture};
use svc_metrics::RunCounts;
use svc_versions::Context;
use tokio::{
    sync::{Notify, watch},
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

use super::{Job, JobStates, Next, Outcome};

/// The pause after the first failure.
const FIRST_BACKOFF: Duration = Duration::from_secs(1);

/// How long [`Supervisor::stop`] waits for runs in progress.
const MAX_STOP: Duration = Duration::from_secs(5);

/// Dropping the sender stops the jobs.
type Stop = watch::Receiver<()>;

/// Repeats a job until it is stopped.
type Repeat = Box<dyn FnOnce(Arc<RunCounts>, Stop) -> BoxFuture<'static, ()> + Send>;

/// The jobs of a server.
#[derive(Default)]
pub struct JobTable {
    jobs: Vec<(Arc<RunCounts>, Repeat)>,
    states: JobStates,
}

impl JobTable {
    /// A table without jobs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a job.
    #[must_use]
    pub fn with(mut self, job: impl Job) -> Self {
        let runs = Arc::<RunCounts>::default();
        self.states.add(job.name(), Arc::clone(&runs));
        self.jobs.push((runs, Box::new(|runs, stop| repeat(job, runs, stop).boxed())));
        self
    }

    /// Adds background work that has a thread of its own, and its reason for that. The supervisor only shows its state, from the runs
    /// that the thread records; whoever has started it stops it.
    #[must_use]
    pub fn with_thread(self, name: &'static str, runs: Arc<RunCounts>) -> Self {
        self.states.add(name, runs);
        self
    }

    /// The states of the jobs, including those that are added later.
    pub fn states(&self) -> JobStates {
        self.states.clone()
    }

    /// Starts the jobs, each in a task of its own.
    ///
    /// # Panics
    /// Outside of a Tokio runtime.
    pub fn start(self) -> Supervisor {
        let (stop, stopped) = watch::channel(());
        let mut tasks = JoinSet::new();
        for (runs, repeat) in self.jobs {
            tasks.spawn(repeat(runs, stopped.clone()));
        }
        Supervisor { stop, tasks, states: self.states }
    }
}

impl fmt::Debug for JobTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JobTable").field(&self.states).finish()
    }
}

/// Runs jobs. When this is dropped, runs in progress are cancelled.
#[derive(Debug)]
#[must_use = "the jobs stop when this is dropped"]
pub struct Supervisor {
    stop: watch::Sender<()>,
    tasks: JoinSet<()>,
    states: JobStates,
}

impl Supervisor {
    /// The states of the jobs, which can be read as long as the jobs run and later.
    pub fn states(&self) -> JobStates {
        self.states.clone()
    }

    /// Stops the jobs. Runs in progress are completed, unless they need more than five seconds. No job runs when this returns.
    pub async fn stop(self) {
        let Supervisor { stop, mut tasks, states } = self;
        drop(stop);
        // A task ends without a result: panics of jobs do not end it.
        if timeout(MAX_STOP, async { while tasks.join_next().await.is_some() {} }).await.is_err() {
            let names: Vec<_> = states.get().into_iter().filter(|s| s.runs.is_running).map(|s| s.name).collect();
            tracing::warn!(jobs = names.join(", "), "cancelled jobs that did not end in time");
        }
        tasks.shutdown().await;
    }
}

/// Runs a job when it is due, until it is stopped.
async fn repeat(job: impl Job, runs: Arc<RunCounts>, mut stop: Stop) {
    let mut next = Next::After(job.first_run());
    loop {
        runs.wait(match next {
            Next::After(pause) => now().checked_add(pause),
            Next::Never => None,
        });
        tokio::select! {
            biased;
            // Nothing is sent: this is the end of the sender.
            _ = stop.changed() => break,
            () = due(next, job.wake()) => {}
        }
        runs.begin(now());
        let outcome = run(&job).await;
        next = record(&job, &runs, outcome);
    }
    job.stop().await;
}

/// The current time, on the clock of the runtime.
fn now() -> std::time::Instant {
    Instant::now().into_std()
}

/// Waits until a job is due or notified.
async fn due(next: Next, wake: Option<&Notify>) {
    let notified = async {
        match wake {
            Some(wake) => wake.notified().await,
            None => std::future::pending().await,
        }
    };
    match next {
        Next::Never => notified.await,
        Next::After(pause) => tokio::select! {
            () = sleep(pause) => {}
            () = notified => {}
        },
    }
}

/// Runs a job once.
async fn run(job: &impl Job) -> Outcome {
    let cx = Context::background();
    // A job keeps its state behind locks, which it uses again after a panic.
    let outcome = AssertUnwindSafe(async { job.run(&cx).await }).catch_unwind().await;
    outcome.unwrap_or_else(|panic| Err(format!("panicked: {}", panic_message(&*panic)).into()))
}

/// Records and logs the outcome of a run. Returns when the next one is due.
fn record(job: &impl Job, runs: &RunCounts, outcome: Outcome) -> Next {
    let name = job.name();
    let error = outcome.as_ref().err().map(ToString::to_string);
    let now = now();
    let (failures_before, n_failures) = runs.end(now, error.clone());
    let next = outcome.unwrap_or_else(|_| Next::After(backoff(n_failures, job.max_backoff())));
    tracing::debug!(job = name, duration = ?runs.report(now).duration.unwrap_or_default(), error, ?next, "job run");
    match error {
        Some(error) if failures_before == 0 => tracing::warn!(job = name, error, "a job fails; it is repeated"),
        None if failures_before > 0 => tracing::info!(job = name, failures_before, "a job works again"),
        _ => {}
    }
    next
}

/// The pause after a number of failures in a row.
fn backoff(n_failures: u32, max: Duration) -> Duration {
    let doublings = n_failures.saturating_sub(1);
    FIRST_BACKOFF.saturating_mul(2_u32.saturating_pow(doublings)).min(max)
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
