//! Runs the jobs of a table until it is stopped.

use std::{any::Any, fmt, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::{FutureExt as _, future::BoxFuture};
use svc_metrics::RunCounts;
use svc_store::Lease;
use svc_versions::Context;
use tokio::{
    sync::{Notify, watch},
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

use super::{Job, JobStates, Next, Outcome, RunsOn, hold_lease::HoldLease};

/// The pause after the first failure.
const FIRST_BACKOFF: Duration = Duration::from_secs(1);

/// How long [`Supervisor::stop`] waits for runs in progress.
const MAX_STOP: Duration = Duration::from_secs(5);

/// The longest pause of a job for one server that others may notify: what they notify is noticed by looking.
const MAX_LOOK: Duration = Duration::from_secs(1);

/// Dropping the sender stops the jobs.
type Stop = watch::Receiver<()>;

/// Repeats a job until it is stopped.
type Repeat = Box<dyn FnOnce(Arc<RunCounts>, Stop, Option<Arc<Lease>>) -> BoxFuture<'static, ()> + Send>;

/// The jobs of a server.
#[derive(Default)]
pub struct JobTable {
    jobs: Vec<(Arc<RunCounts>, Repeat)>,
    states: JobStates,
    /// The lease for jobs for one server.
    lease: Option<Arc<Lease>>,
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
        self.states.add(job.name(), Arc::clone(&runs), job.runs_on());
        self.jobs.push((runs, Box::new(|runs, stop, lease| repeat(job, runs, stop, lease).boxed())));
        self
    }

    /// Several servers run these jobs: those [for one server](RunsOn::OneServer) run on the one that holds the lease. Without a lease
    /// they run here.
    #[must_use]
    pub fn with_lease(mut self, lease: Lease) -> Self {
        let lease = Arc::new(lease);
        self.states.set_lease(&lease);
        self.lease = Some(Arc::clone(&lease));
        self.with(HoldLease(lease))
    }

    /// Adds background work that has a thread of its own, and its reason for that. The supervisor only shows its state, from the runs
    /// that the thread records; whoever has started it stops it.
    #[must_use]
    pub fn with_thread(self, name: &'static str, runs: Arc<RunCounts>) -> Self {
        self.states.add(name, runs, RunsOn::EachServer);
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
            tasks.spawn(repeat(runs, stopped.clone(), self.lease.clone()));
        }
        Supervisor { stop, tasks, states: self.states, lease: self.lease }
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
    lease: Option<Arc<Lease>>,
}

impl Supervisor {
    /// The states of the jobs, which can be read as long as the jobs run and later.
    pub fn states(&self) -> JobStates {
        self.states.clone()
    }

    /// Stops the jobs. Runs in progress are completed, unless they need more than five seconds. No job runs when this returns, and
    /// another server may run those for one server.
    pub async fn stop(self) {
        let Supervisor { stop, mut tasks, states, lease } = self;
        drop(stop);
        // A task ends without a result: panics of jobs do not end it.
        if timeout(MAX_STOP, async { while tasks.join_next().await.is_some() {} }).await.is_err() {
            let names: Vec<_> = states.get().into_iter().filter(|s| s.runs.is_running).map(|s| s.name).collect();
            tracing::warn!(jobs = names.join(", "), "cancelled jobs that did not end in time");
        }
        tasks.shutdown().await;
        if let Some(lease) = lease
            && let Err(error) = lease.release(&Context::background()).await
        {
            tracing::warn!(%error, "the jobs for one server pause until the lease of this server ends");
        }
    }
}

/// Runs a job when it is due, until it is stopped.
async fn repeat(job: impl Job, runs: Arc<RunCounts>, mut stop: Stop, lease: Option<Arc<Lease>>) {
    let lease = lease.filter(|_| job.runs_on() == RunsOn::OneServer);
    let mut next = Next::After(job.first_run());
    loop {
        if lease.is_some() && job.wake().is_some() {
            next = Next::After(match next {
                Next::After(pause) => pause.min(MAX_LOOK),
                Next::Never => MAX_LOOK,
            });
        }
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
        let cx = match &lease {
            Some(lease) => {
                runs.wait(None);
                tokio::select! {
                    biased;
                    _ = stop.changed() => break,
                    () = lease.held() => {}
                }
                lease.fence(&Context::background())
            }
            None => Context::background(),
        };
        runs.begin(now());
        let mut outcome = run(&job, &cx).await;
        if outcome.is_err() && lease.as_ref().is_some_and(|lease| !lease.is_held()) {
            // Another server repeats the work.
            outcome = Ok(Next::After(FIRST_BACKOFF));
        }
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
async fn run(job: &impl Job, cx: &Context) -> Outcome {
    // A job keeps its state behind locks, which it uses again after a panic.
    let outcome = AssertUnwindSafe(async { job.run(cx).await }).catch_unwind().await;
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
