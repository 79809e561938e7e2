//! Two bounded sets of threads: one for most requests, and one for expensive ones, which cannot delay the others.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use svc_routing::Cost;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::runner::{Overloaded, Runner, Work};

/// Requests in progress per thread. Most of them wait for a write or for the network; a thread works on one at a time.
const IN_PROGRESS_PER_THREAD: usize = 32;

/// Maximum number of requests that wait in a lane.
const MAX_WAITING: usize = 1_024;

/// Maximum time that a request waits in a lane.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// Threads per processor core for work that blocks, such as hashing and outgoing requests. Each kind of work has limits
/// of its own.
const BLOCKING_PER_CORE: usize = 5;

/// Maximum time that cancelled requests get to end.
const MAX_SHUTDOWN: Duration = Duration::from_secs(5);

/// A [`Runner`] with a fixed number of threads: one per processor core for most requests, and half as many for expensive
/// ones. Waiting requests are served in the order of their arrival, occupy no thread, and are refused beyond a limit.
pub struct Lanes {
    light: Lane,
    heavy: Lane,
}

impl Lanes {
    /// Starts the threads.
    ///
    /// # Errors
    /// If the system refuses to start threads.
    pub fn start() -> std::io::Result<Self> {
        let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
        let n_blocking = n_cores.max(2) * BLOCKING_PER_CORE;
        Ok(Lanes {
            light: Lane::start("svc-light", n_cores, n_blocking)?,
            heavy: Lane::start("svc-heavy", n_cores.div_ceil(2), n_cores)?,
        })
    }

    /// The state of each lane, by name.
    pub fn usage(&self) -> [(&'static str, LaneUsage); 2] {
        [("light", self.light.usage()), ("heavy", self.heavy.usage())]
    }

    /// Cancels the requests in progress and waits until they have ended, for at most five seconds. Later requests are
    /// refused. Call this outside of tokio runtimes: their tasks must not wait for threads.
    pub fn stop(&self) {
        for lane in [&self.light, &self.heavy] {
            if let Some(runtime) = lane.take_runtime() {
                runtime.shutdown_timeout(MAX_SHUTDOWN);
            }
        }
    }
}

impl Runner for Lanes {
    fn run(&self, cost: Cost, work: Work) -> Pin<Box<dyn Future<Output = Result<(), Overloaded>> + Send>> {
        match cost {
            Cost::Light => self.light.run(work),
            Cost::Heavy => self.heavy.run(work),
        }
    }

    fn may_block(&self) -> bool {
        true
    }
}

/// The state of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneUsage {
    /// Requests in progress. Most of them wait for a write or for the network.
    pub running: usize,
    /// Maximum number of requests in progress.
    pub max: usize,
    /// Requests that wait until another one ends.
    pub waiting: usize,
    /// Requests that were refused since the start, because too many were waiting or for too long.
    pub refused: u64,
}

/// A set of threads, and the requests that wait for them.
struct Lane {
    /// Present until the lane is stopped.
    runtime: Mutex<Option<Runtime>>,
    slots: Arc<Semaphore>,
    n_waiting: Arc<AtomicUsize>,
    max: usize,
    n_refused: Arc<AtomicU64>,
}

impl Lane {
    fn start(name: &str, n_threads: usize, n_blocking: usize) -> std::io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(n_threads)
            .max_blocking_threads(n_blocking)
            .thread_name(name)
            .enable_all()
            .build()?;
        let max = n_threads * IN_PROGRESS_PER_THREAD;
        let slots = Arc::new(Semaphore::new(max));
        let runtime = Mutex::new(Some(runtime));
        Ok(Lane { runtime, slots, n_waiting: Arc::default(), max, n_refused: Arc::default() })
    }

    fn usage(&self) -> LaneUsage {
        LaneUsage {
            running: self.max.saturating_sub(self.slots.available_permits()),
            max: self.max,
            waiting: self.n_waiting.load(Ordering::Relaxed),
            refused: self.n_refused.load(Ordering::Relaxed),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Runtime>> {
        self.runtime.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_runtime(&self) -> Option<Runtime> {
        self.lock().take()
    }

    fn run(&self, work: Work) -> Pin<Box<dyn Future<Output = Result<(), Overloaded>> + Send>> {
        let (slots, n_waiting, n_refused) =
            (Arc::clone(&self.slots), Arc::clone(&self.n_waiting), Arc::clone(&self.n_refused));
        let runtime = self.lock().as_ref().map(|runtime| runtime.handle().clone());
        let Some(runtime) = runtime else {
            return Box::pin(std::future::ready(Err(Overloaded)));
        };
        Box::pin(async move {
            let slot = slot(slots, n_waiting).await.inspect_err(|Overloaded| {
                n_refused.fetch_add(1, Ordering::Relaxed);
            })?;
            // Log lines of the work belong to the request.
            let task = runtime.spawn(tracing::Instrument::in_current_span(async move {
                work.await;
                drop(slot);
            }));
            // A task that ended early is noticed by the receiver of its result.
            let _ended = AbortOnDrop(task).await;
            Ok(())
        })
    }
}

/// Waits for a slot.
async fn slot(slots: Arc<Semaphore>, n_waiting: Arc<AtomicUsize>) -> Result<OwnedSemaphorePermit, Overloaded> {
    if let Ok(slot) = Arc::clone(&slots).try_acquire_owned() {
        return Ok(slot);
    }
    let _waiting = Waiting::enter(n_waiting)?;
    let slot = tokio::time::timeout(MAX_WAIT, slots.acquire_owned()).await;
    slot.ok().and_then(Result::ok).ok_or(Overloaded)
}

/// A request that waits, until this is dropped.
struct Waiting(Arc<AtomicUsize>);

impl Waiting {
    fn enter(n_waiting: Arc<AtomicUsize>) -> Result<Self, Overloaded> {
        let n_before = n_waiting.fetch_add(1, Ordering::Relaxed);
        let waiting = Waiting(n_waiting);
        if n_before < MAX_WAITING { Ok(waiting) } else { Err(Overloaded) }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A task that is cancelled when this is dropped.
struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Future for AbortOnDrop {
    type Output = Result<(), tokio::task::JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut std::task::Context<'_>) -> std::task::Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context)
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // Without waiting, since the last owner may be a task.
        if let Some(runtime) = self.take_runtime() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread::ThreadId;

    use super::*;
    use crate::runner;

    fn lanes() -> Lanes {
        Lanes::start().unwrap()
    }

    #[tokio::test]
    async fn heavy_requests_do_not_delay_others() {
        let lanes = Arc::new(lanes());
        let (release, released) = std::sync::mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let mut blocked = Vec::new();
        for _ in 0..64 {
            let (lanes, released) = (Arc::clone(&lanes), Arc::clone(&released));
            blocked.push(tokio::spawn(async move {
                let work = async move { released.lock().unwrap().recv() };
                runner::run(&*lanes, Cost::Heavy, work).await.map(drop)
            }));
        }
        // If these waited for the expensive requests, they would be refused after five seconds.
        for _ in 0..100 {
            assert_eq!(runner::run(&*lanes, Cost::Light, async { 1 }).await, Ok(1));
        }
        for _ in 0..64 {
            release.send(()).unwrap();
        }
        for work in blocked {
            assert_eq!(work.await.unwrap(), Ok(()));
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_lane_has_a_fixed_number_of_threads() {
        let lanes = Arc::new(lanes());
        let seen: Arc<Mutex<std::collections::HashSet<ThreadId>>> = Arc::default();
        let work = (0..500).map(|_| {
            let (lanes, seen) = (Arc::clone(&lanes), Arc::clone(&seen));
            tokio::spawn(async move {
                let work = async move {
                    tokio::task::yield_now().await;
                    seen.lock().unwrap().insert(std::thread::current().id());
                };
                runner::run(&*lanes, Cost::Light, work).await
            })
        });
        for done in work.collect::<Vec<_>>() {
            assert_eq!(done.await.unwrap(), Ok(()));
        }
        let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
        assert!((1..=n_cores).contains(&seen.lock().unwrap().len()));
    }

    #[tokio::test]
    async fn work_is_cancelled_with_its_request() {
        let lanes = lanes();
        let (ended, mut waits) = tokio::sync::oneshot::channel::<()>();
        let work = async move {
            let _ended = ended;
            std::future::pending::<()>().await;
        };
        assert!(tokio::time::timeout(Duration::from_millis(50), runner::run(&lanes, Cost::Light, work)).await.is_err());
        // The sender is dropped with the work.
        assert!((&mut waits).await.is_err());
    }

    #[test]
    fn stopping_waits_for_requests() {
        let lanes = Arc::new(lanes());
        let (started, has_started) = std::sync::mpsc::channel();
        let ended = Arc::new(AtomicUsize::new(0));
        let (own_lanes, own_ended) = (Arc::clone(&lanes), Arc::clone(&ended));
        let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        runtime.spawn(async move {
            // Requests own their lanes, too.
            let owner = Arc::clone(&own_lanes);
            let work = async move {
                let _owner = owner;
                started.send(()).unwrap();
                std::thread::sleep(Duration::from_millis(100));
                own_ended.fetch_add(1, Ordering::Relaxed);
            };
            runner::run(&*own_lanes, Cost::Light, work).await
        });
        has_started.recv().unwrap();
        // The request is cancelled with its connection.
        runtime.shutdown_timeout(Duration::from_secs(5));
        lanes.stop();
        assert_eq!(ended.load(Ordering::Relaxed), 1);
        let after = Builder::new_current_thread().build().unwrap();
        assert_eq!(after.block_on(runner::run(&*lanes, Cost::Light, async { 1 })), Err(Overloaded));
    }

    #[tokio::test]
    async fn a_panic_ends_one_request() {
        let lanes = lanes();
        assert_eq!(runner::run(&lanes, Cost::Light, async { panic!("a mistake") }).await, Err::<(), _>(Overloaded));
        assert_eq!(runner::run(&lanes, Cost::Light, async { 1 }).await, Ok(1));
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_is_bounded_in_number_and_time() {
        let (slots, n_waiting) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(MAX_WAITING - 1)));
        let last = tokio::spawn(slot(Arc::clone(&slots), Arc::clone(&n_waiting)));
        tokio::task::yield_now().await;
        assert_eq!(slot(Arc::clone(&slots), Arc::clone(&n_waiting)).await.err(), Some(Overloaded));
        let begun = tokio::time::Instant::now();
        assert_eq!(last.await.unwrap().err(), Some(Overloaded));
        assert_eq!(begun.elapsed(), MAX_WAIT);
        assert_eq!(n_waiting.load(Ordering::Relaxed), MAX_WAITING - 1);
    }
}
