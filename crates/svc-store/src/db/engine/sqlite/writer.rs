//! SQLite's single writer: a thread that runs queued transactions one after the other and commits several of them with
//! one disk sync.
//!
//! Each transaction of a group runs in a savepoint, so that its failure only undoes itself. Callers are notified of
//! success only after the commit. If a failure undoes the whole group (such as a full disk), each transaction is run
//! again separately.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use super::file_guard::FileGuard;
use crate::db::Tx;
use crate::db::write_job::Job;
use crate::error::{Result, StoreError};

/// Maximum number of queued writes.
const MAX_QUEUED: usize = 1_024;

/// Maximum number of writes per commit.
const MAX_GROUP: usize = 64;

/// The writer's queue and thread.
pub(crate) struct Writer {
    queue: Mutex<Option<SyncSender<Box<dyn Job>>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    pub(crate) fn start(mut tx: Tx, mut guard: FileGuard) -> Self {
        let (queue, jobs) = sync_channel(MAX_QUEUED);
        let thread =
            std::thread::Builder::new().name("store-writer".to_owned()).spawn(move || work(&mut tx, &mut guard, &jobs));
        // Without a thread, every write is rejected because the store is closing.
        Writer { queue: Mutex::new(thread.is_ok().then_some(queue)), thread: Mutex::new(thread.ok()) }
    }

    /// Queues a job.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if the queue is full.
    pub(crate) fn send(&self, job: Box<dyn Job>) -> Result<()> {
        let queue = self.queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let closing = || StoreError::Unavailable("the store is closing".to_owned());
        match queue.as_ref().ok_or_else(closing)?.try_send(job) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_)) => Err(StoreError::Busy),
            Err(TrySendError::Disconnected(_)) => Err(closing()),
        }
    }

    /// Rejects further writes and waits for the queued ones.
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
        // Each transaction that was undone with others is run again separately, and gets its own error.
        if undone && group.len() > 1 {
            for job in &mut group {
                run_alone(tx, guard, job);
            }
        }
        group.into_iter().for_each(Job::respond);
    }
    // Update the planner's statistics and truncate the log.
    let _ = tx.run("PRAGMA optimize");
}

/// Runs the first job and all that are queued by then, and commits. Returns whether everything was undone.
fn run_group(tx: &mut Tx, guard: &mut FileGuard, group: &mut Vec<Box<dyn Job>>, jobs: &Receiver<Box<dyn Job>>) -> bool {
    // A deleted file must not be written to. This is checked again after the commit, before anything is acknowledged.
    if let Err(e) = guard.check().and_then(|()| tx.run("BEGIN IMMEDIATE")) {
        fail_all(group, e);
        return false;
    }
    let mut next = 0;
    while let Some(job) = group.get_mut(next) {
        if let Err(e) = run_one(tx, job) {
            // The engine rolled back the whole transaction.
            let _ = tx.run("ROLLBACK");
            fail_all(group, e);
            return true;
        }
        next += 1;
        if next == group.len()
            && next < MAX_GROUP
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

/// Runs a job in a savepoint. Fails only if the whole transaction is lost.
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
