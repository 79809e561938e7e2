//! SQLite's one writer: a thread that runs waiting transactions one after the other and commits several with one wait
//! for the disk.
//!
//! Each transaction of a group runs under a savepoint, so its failure undoes only itself; callers hear of success only
//! after the commit. When a failure undoes the whole group (the disk is full), each transaction is run again alone.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use crate::db::Tx;
use crate::error::{Result, StoreError};
use crate::file_guard::FileGuard;
use crate::session::Session;

/// Writes that may wait; more are refused.
const QUEUE: usize = 1_024;

/// Writes that share a commit.
const GROUP: usize = 64;

/// A transaction that waits.
trait Job: Send {
    /// Runs it; whether its changes are to be kept.
    fn run(&mut self, tx: &mut Tx) -> bool;
    /// It cannot be run or committed.
    fn fail(&mut self, why: StoreError);
    /// Tells the caller what came out.
    fn answer(self: Box<Self>);
}

struct Waiting<F, T, E> {
    f: F,
    outcome: Option<Result<T, E>>,
    caller: oneshot::Sender<Result<T, E>>,
}

impl<F, T, E> Job for Waiting<F, T, E>
where
    F: Fn(&mut Tx) -> Result<T, E> + Send,
    T: Send,
    E: From<StoreError> + Send,
{
    fn run(&mut self, tx: &mut Tx) -> bool {
        // A panic is one request's misfortune; the writer must live on for the others.
        let session = Session::open(tx);
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.f)(tx)));
        drop(session);
        let outcome = outcome.unwrap_or_else(|_| Err(StoreError::Other("a transaction panicked".to_owned()).into()));
        let keep = outcome.is_ok();
        self.outcome = Some(outcome);
        keep
    }

    fn fail(&mut self, why: StoreError) {
        // What a transaction says of itself is truer than what followed from it.
        if !matches!(self.outcome, Some(Err(_))) {
            self.outcome = Some(Err(why.into()));
        }
    }

    fn answer(self: Box<Self>) {
        if let Some(outcome) = self.outcome {
            // A caller that has gone away has nothing to be told.
            let _ = self.caller.send(outcome);
        }
    }
}

/// The writer's queue and thread.
pub(crate) struct Writer {
    queue: Mutex<Option<SyncSender<Box<dyn Job>>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    pub(crate) fn start(mut tx: Tx, mut guard: FileGuard) -> Self {
        let (queue, jobs) = sync_channel(QUEUE);
        let thread =
            std::thread::Builder::new().name("store-writer".to_owned()).spawn(move || work(&mut tx, &mut guard, &jobs));
        // Without a thread every write is refused as "closing", which tells enough.
        Writer { queue: Mutex::new(thread.is_ok().then_some(queue)), thread: Mutex::new(thread.ok()) }
    }

    pub(crate) fn send<T: Send + 'static, E: From<StoreError> + Send + 'static>(
        &self,
        f: impl Fn(&mut Tx) -> Result<T, E> + Send + 'static,
    ) -> Result<oneshot::Receiver<Result<T, E>>> {
        let (caller, answer) = oneshot::channel();
        let job = Box::new(Waiting { f, outcome: None, caller });
        let queue = self.queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let closing = || StoreError::Unavailable("the store is closing".to_owned());
        match queue.as_ref().ok_or_else(closing)?.try_send(job) {
            Ok(()) => Ok(answer),
            Err(TrySendError::Full(_)) => Err(StoreError::Busy),
            Err(TrySendError::Disconnected(_)) => Err(closing()),
        }
    }

    /// Takes no more, and waits until what was taken is done.
    pub(crate) fn stop(&self) {
        self.queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let thread = self.thread.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

fn work(tx: &mut Tx, guard: &mut FileGuard, jobs: &Receiver<Box<dyn Job>>) {
    while let Ok(first) = jobs.recv() {
        let mut group = vec![first];
        let undone = run_group(tx, guard, &mut group, jobs);
        // Each that was undone with others gets its own chance, and its own error.
        if undone && group.len() > 1 {
            for job in &mut group {
                run_alone(tx, guard, job);
            }
        }
        group.into_iter().for_each(Job::answer);
    }
    // Leaves statistics for the planner and an empty log behind.
    let _ = tx.run("PRAGMA optimize");
}

/// Runs the first job and those that are waiting by then, and commits; whether all was undone.
fn run_group(tx: &mut Tx, guard: &mut FileGuard, group: &mut Vec<Box<dyn Job>>, jobs: &Receiver<Box<dyn Job>>) -> bool {
    // A file that is gone takes no write; checked again after the commit, before anything is acknowledged.
    if let Err(e) = guard.check().and_then(|()| tx.run("BEGIN IMMEDIATE")) {
        fail_all(group, e);
        return false;
    }
    let mut next = 0;
    while let Some(job) = group.get_mut(next) {
        if let Err(e) = run_one(tx, job) {
            // The engine gave the whole transaction up.
            let _ = tx.run("ROLLBACK");
            fail_all(group, e);
            return true;
        }
        next += 1;
        if next == group.len()
            && next < GROUP
            && let Ok(job) = jobs.try_recv()
        {
            group.push(job);
        }
    }
    if let Err(e) = tx.run("COMMIT") {
        let _ = tx.run("ROLLBACK");
        fail_all(group, e);
        return true;
    }
    if let Err(e) = guard.check() {
        fail_all(group, e);
    }
    false
}

fn run_alone(tx: &mut Tx, guard: &mut FileGuard, job: &mut Box<dyn Job>) {
    let outcome = tx.run("BEGIN IMMEDIATE").and_then(|()| run_one(tx, job)).and_then(|()| tx.run("COMMIT"));
    let outcome = outcome.and_then(|()| guard.check());
    if let Err(e) = outcome {
        let _ = tx.run("ROLLBACK");
        job.fail(e);
    }
}

/// Runs a job under a savepoint; fails only when the transaction as a whole is lost.
fn run_one(tx: &mut Tx, job: &mut Box<dyn Job>) -> Result<()> {
    tx.run("SAVEPOINT job")?;
    if !job.run(tx) {
        tx.run("ROLLBACK TO job")?;
    }
    tx.run("RELEASE job")
}

fn fail_all(group: &mut [Box<dyn Job>], why: StoreError) {
    let text = why.to_string();
    let mut why = Some(why);
    for job in group {
        job.fail(why.take().unwrap_or_else(|| StoreError::Unavailable(text.clone())));
    }
}
