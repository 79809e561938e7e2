//! SQLite's single writer: a thread that runs queued transactions one after the other and commits several of them with
//! one disk sync.
//!
//! Each transaction of a group but the first runs in a savepoint, so that its failure only undoes itself. Callers are notified of
//! success only after the commit. If a failure undoes the whole group (such as a full disk), each transaction is run
//! again separately.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use super::file_guard::FileGuard;
use super::log::{LogGate, LogSize};
use super::other_writers::OtherWriters;
use super::{change_log, statistics};
use crate::backend::Job;
use crate::change_record::ChangeRecord;
use crate::error::{Result, StoreError};
use crate::handle::Tx;
use crate::shared::Shared;
use crate::usage::{COMMITTED, ROLLED_BACK};

/// Maximum number of queued writes.
const MAX_QUEUED: usize = 1_024;

/// Maximum number of writes per commit.
const MAX_GROUP: usize = 64;

/// The writer's queue and thread.
pub(super) struct Writer {
    queue: Mutex<Option<SyncSender<Box<dyn Job>>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    shared: Arc<Shared>,
}

impl Writer {
    pub(super) fn start(mut tx: Tx, guard: FileGuard, others: Arc<OtherWriters>, gate: Option<Arc<LogGate>>) -> Self {
        let (queue, jobs) = sync_channel(MAX_QUEUED);
        let shared = Arc::clone(&tx.shared);
        tx.logs_at_commit = true;
        let (records, outcomes) = (Vec::new(), Vec::new());
        let gate = gate.map(|gate| (gate, LogSize::default()));
        let mut worker = Worker { tx, guard, others, seen: None, records, outcomes, gate, log_frames: 0 };
        let thread = std::thread::Builder::new().name("store-writer".to_owned()).spawn(move || worker.work(&jobs));
        // Without a thread, every write is rejected because the store is closing.
        Writer { queue: Mutex::new(thread.is_ok().then_some(queue)), thread: Mutex::new(thread.ok()), shared }
    }

    /// Whether the caller is within a transaction, and would wait for itself.
    fn is_current_thread(&self) -> bool {
        let thread = self.thread.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        thread.as_ref().is_some_and(|thread| thread.thread().id() == std::thread::current().id())
    }

    /// Queues a job.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if the queue is full.
    pub(super) fn send(&self, job: Box<dyn Job>) -> Result<()> {
        if self.is_current_thread() {
            tracing::error!("a write was started within a transaction");
            return Err(StoreError::Nested);
        }
        let queue = self.queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let closing = || StoreError::Unavailable("the store is closing".to_owned());
        let queue = queue.as_ref().ok_or_else(closing)?;
        // Before the worker can take it.
        self.shared.counters.queued.fetch_add(1, Ordering::Relaxed);
        let sent = queue.try_send(job);
        if sent.is_err() {
            self.shared.counters.queued.fetch_sub(1, Ordering::Relaxed);
        }
        match sent {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_)) => Err(StoreError::Busy),
            Err(TrySendError::Disconnected(_)) => Err(closing()),
        }
    }

    /// Rejects further writes and waits for the queued ones.
    pub(super) fn stop(&self) {
        self.queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let thread = self.thread.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

/// The state of the writer's thread.
struct Worker {
    tx: Tx,
    guard: FileGuard,
    others: Arc<OtherWriters>,
    /// The data version at the last transaction. It changes when another connection commits.
    seen: Option<i64>,
    /// What the jobs of the open transaction have changed.
    records: Vec<ChangeRecord>,
    /// Outcomes of these jobs, for metrics, if the transaction is committed.
    outcomes: Vec<&'static str>,
    /// If the log can be followed.
    gate: Option<(Arc<LogGate>, LogSize)>,
    /// Number of frames in the log after the last commit.
    log_frames: u32,
}

impl Worker {
    fn work(&mut self, jobs: &Receiver<Box<dyn Job>>) {
        while let Ok(first) = jobs.recv() {
            self.tx.shared.counters.queued.fetch_sub(1, Ordering::Relaxed);
            let mut group = vec![first];
            let undone = self.run_group(&mut group, jobs);
            // Each transaction that was undone with others is run again separately, and gets its own error.
            if undone && group.len() > 1 {
                for job in &mut group {
                    self.run_alone(job);
                }
            } else if undone {
                self.count_failed(1);
            }
            group.into_iter().for_each(Job::respond);
            let Worker { tx, gate, log_frames, .. } = self;
            if let Some((gate, size)) = gate {
                // A failure needs no handling: it is tried again when the log has grown.
                gate.tend(size, *log_frames, || {
                    drop(tx.conn.query("PRAGMA wal_checkpoint(PASSIVE)", &[], &mut |_| Ok(())))
                });
            }
        }
        statistics::update(&mut self.tx, statistics::Tables::Changed);
    }

    /// Runs the first job and all that are queued by then, and commits. Returns whether everything was undone.
    fn run_group(&mut self, group: &mut Vec<Box<dyn Job>>, jobs: &Receiver<Box<dyn Job>>) -> bool {
        // A deleted file must not be written to. This is checked again after the commit, before anything is acknowledged.
        if let Err(e) = self.guard.check().and_then(|()| self.begin()) {
            self.roll_back();
            self.count_failed(group.len());
            fail_all(group, e);
            return false;
        }
        let mut next = 0;
        while let Some(job) = group.get_mut(next) {
            if let Err(e) = if next == 0 { self.run_first(job) } else { self.run_in_savepoint(job) } {
                // The engine rolled back the whole transaction.
                self.roll_back();
                fail_all(group, e);
                return true;
            }
            next += 1;
            if next == group.len()
                && next < MAX_GROUP
                && let Ok(job) = jobs.try_recv()
            {
                self.tx.shared.counters.queued.fetch_sub(1, Ordering::Relaxed);
                group.push(job);
            }
        }
        let records = match self.commit() {
            Ok(records) => records,
            Err(e) => {
                self.roll_back();
                fail_all(group, e);
                return true;
            }
        };
        match self.guard.check() {
            Ok(()) => self.publish(&records),
            Err(e) => fail_all(group, e),
        }
        false
    }

    fn run_alone(&mut self, job: &mut Box<dyn Job>) {
        let committed = self.begin().and_then(|()| self.run_first(job)).and_then(|()| self.commit());
        match committed.and_then(|records| self.guard.check().map(|()| records)) {
            Ok(records) => self.publish(&records),
            Err(e) => {
                self.roll_back();
                self.count_failed(1);
                job.fail(e);
            }
        }
    }

    /// Counts transactions that could not be committed.
    fn count_failed(&self, n: usize) {
        (0..n).for_each(|_| self.tx.shared.counters.transactions.record(ROLLED_BACK));
    }

    fn publish(&self, records: &[ChangeRecord]) {
        records.iter().for_each(|record| self.tx.shared.publish(record));
    }

    /// Begins a transaction. From here on, no other program can write.
    fn begin(&mut self) -> Result<()> {
        self.tx.run("BEGIN IMMEDIATE")?;
        change_log::look_for_log(&mut self.tx)?;
        self.await_change();
        let mut version = None;
        self.tx.conn.query("PRAGMA data_version", &[], &mut |row| row.int(0).map(|n| version = Some(n)))?;
        if self.seen != version {
            let conn = &self.tx.conn;
            self.others.look(&mut |sql, each| conn.query(sql, &[], each));
            self.seen = version;
        }
        Ok(())
    }

    /// Commits, and returns what the jobs have changed. The changed keys are invalid from before the new data can be read.
    fn commit(&mut self) -> Result<Vec<ChangeRecord>> {
        let records = std::mem::take(&mut self.records);
        if self.tx.shared.is_logging.load(Ordering::Relaxed) {
            crate::change_log::append(&mut self.tx, &records)?;
            change_log::end_own_transaction(&mut self.tx)?;
        }
        let versions = Arc::clone(&self.tx.shared.versions);
        let change = versions.change(records.iter().flat_map(ChangeRecord::keys).copied());
        let conn = &self.tx.conn;
        self.others.expect(&mut |sql, each| conn.query(sql, &[], each));
        let shared = Arc::clone(&self.tx.shared);
        let timer = shared.counters.commit();
        let done = self.tx.run("COMMIT");
        if let Some((gate, _)) = &self.gate {
            self.log_frames = gate.committed();
        }
        drop(timer);
        if done.is_ok() {
            self.outcomes.drain(..).for_each(|outcome| shared.counters.transactions.record(outcome));
        }
        self.others.ended(done.is_ok());
        change.end();
        done.map(|()| records)
    }

    /// Marks the transaction as this program's before the next change, so that one without changes writes nothing.
    fn await_change(&mut self) {
        let is_logging = self.tx.shared.is_logging.load(Ordering::Relaxed);
        self.tx.before_write = if is_logging { Some(change_log::begin_own_transaction) } else { None };
    }

    /// A failure needs no handling: the next `BEGIN` would report it.
    fn roll_back(&mut self) {
        let _ = self.tx.run("ROLLBACK");
        self.records.clear();
        self.outcomes.clear();
    }

    /// Runs the first job of a transaction. If it fails, the transaction begins again: a savepoint, which copies each page that is
    /// changed, is not needed.
    fn run_first(&mut self, job: &mut Box<dyn Job>) -> Result<()> {
        let is_done = self.run_one(job);
        if !is_done {
            // The engine may have rolled back.
            let _ = self.tx.run("ROLLBACK");
            self.begin()?;
        }
        self.outcomes.push(if is_done { COMMITTED } else { ROLLED_BACK });
        Ok(())
    }

    /// Runs a job in a savepoint. Fails only if the whole transaction is lost.
    fn run_in_savepoint(&mut self, job: &mut Box<dyn Job>) -> Result<()> {
        self.tx.run("SAVEPOINT job")?;
        let is_done = self.run_one(job);
        if !is_done {
            self.tx.run("ROLLBACK TO job")?;
            self.await_change();
        }
        self.outcomes.push(if is_done { COMMITTED } else { ROLLED_BACK });
        self.tx.run("RELEASE job")
    }

    /// Runs a job, and keeps its record if it is done.
    fn run_one(&mut self, job: &mut Box<dyn Job>) -> bool {
        let is_done = job.run(&mut self.tx);
        // What a failed job has recorded is not true.
        let record = self.tx.take_changes();
        if is_done && !record.is_empty() {
            self.records.push(record);
        }
        is_done
    }
}

fn fail_all(group: &mut [Box<dyn Job>], why: StoreError) {
    let text = why.to_string();
    let mut why = Some(why);
    for job in group {
        job.fail(why.take().unwrap_or_else(|| StoreError::Unavailable(text.clone())));
    }
}
