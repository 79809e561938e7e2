//! Stores the log while it is written.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use svc_db::{LogReader, NewFrames};

use crate::backup::{LONGEST_WAIT, Shared};
use crate::catalog::Generation;
use crate::current::Current;
use crate::error::{BackupError, Result};
use crate::lease::Lease;
use crate::names::GENERATIONS;
use crate::object::{LogHeader, SnapshotHeader, decode};
use crate::status::{BackupStatus, now};

/// Bytes of pages in a part of the log. What is left to do if the process is killed does not include the parts that are stored.
const PART: usize = 4 << 20;

/// How long to wait after a failure; doubled with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How long the end of a process waits for the destination.
const LAST_WORK: Duration = Duration::from_secs(10);

/// Follows the log.
pub(crate) struct Shipper {
    reader: LogReader,
    lease: Lease,
    shared: Arc<Shared>,
    /// The generation that is written.
    current: Option<Current>,
    /// Whether the last generation of the destination was looked at.
    has_looked: bool,
    /// Frames that could not be stored yet, and how many of them were.
    pending: Option<(NewFrames, usize)>,
    failures: u32,
    retry_at: Instant,
    /// Size of the log when it was first followed.
    log_before: u64,
}

impl Shipper {
    pub(crate) fn new(reader: LogReader, lease: Lease, shared: Arc<Shared>) -> Self {
        let (current, has_looked, pending, failures) = (None, false, None, 0);
        let retry_at = Instant::now();
        Shipper { reader, lease, shared, current, has_looked, pending, failures, retry_at, log_before: 0 }
    }

    pub(crate) fn run(&mut self) {
        let mut end_by = None;
        loop {
            let (begun, is_last) = (Instant::now(), self.shared.is_stopping());
            if is_last || begun >= self.retry_at {
                self.shared.log_runs.begin(begun);
                let stored = self.step();
                self.shared.log_runs.end(Instant::now(), stored.as_ref().err().map(ToString::to_string));
                match stored {
                    Ok(()) => self.succeeded(),
                    // Nothing is to be stored.
                    Err(BackupError::Taken(_)) if is_last => break,
                    Err(error) => self.failed(&error),
                }
            } else if let Err(error) = self.reader.stamp() {
                tracing::error!(%error, "the log cannot be read");
            }
            self.limit_log();
            if is_last {
                let by = *end_by.get_or_insert_with(|| Instant::now() + LAST_WORK);
                let has_snapshot = self.current.as_ref().is_none_or(|current| current.running.is_none());
                if self.failures == 0 && has_snapshot || Instant::now() >= by {
                    break;
                }
            }
            let next = begun + self.shared.settings.interval;
            self.shared.log_runs.wait(Some(next.max(self.retry_at)));
            self.wait(next, is_last);
        }
        if let Some(current) = &mut self.current {
            current.abandon_snapshot();
        }
        self.lease.release(&*self.shared.destination);
    }

    /// Waits until something is to be done: at this time, when the writer waits for the log to be read, or at the end.
    fn wait(&self, until: Instant, is_last: bool) {
        while Instant::now() < until {
            let longest = until.saturating_duration_since(Instant::now()).min(LONGEST_WAIT);
            if self.reader.wait(longest) || is_last || self.shared.is_stopping() {
                return;
            }
        }
    }

    fn succeeded(&mut self) {
        if self.failures > 0 {
            tracing::info!("the backup of the database continues");
        }
        self.failures = 0;
        self.reader.set_keeping_up(true);
    }

    fn failed(&mut self, error: &BackupError) {
        // Writes do not wait for a destination that does not work.
        self.reader.set_keeping_up(false);
        self.shared.failed("the database", error, self.failures == 0);
        self.retry_at = Instant::now() + pause_after(self.failures);
        self.failures += 1;
    }

    /// Stores what is new, unless another server writes to the destination.
    fn step(&mut self) -> Result<()> {
        if let Err(error) = self.lease.hold(&*self.shared.destination) {
            if matches!(error, BackupError::Taken(_)) {
                self.shared.is_owner.store(false, Ordering::Relaxed);
                self.give_up();
            }
            return Err(error);
        }
        self.shared.is_owner.store(true, Ordering::Relaxed);
        if self.current.is_none() {
            self.current = self.resume()?;
        }
        if let Some((frames, n)) = self.pending.take() {
            self.ship(frames, n)?;
        }
        if !self.reader.is_following() {
            return self.begin();
        }
        let shared = &self.shared;
        let wants_snapshot = self.current.as_mut().is_some_and(|current| current.wants_snapshot(shared));
        let begun = now();
        if !wants_snapshot && !self.reader.has_news()? {
            BackupStatus::set(&self.shared.status.caught_up, begun);
            return Ok(());
        }
        let Some(mut frames) = self.reader.read(wants_snapshot)? else {
            tracing::warn!("the log does not continue where the backup ended: a new generation begins");
            return self.begin();
        };
        // What was acknowledged since then is not in the snapshot.
        let time = frames.time();
        let image = self.reader.image(&mut frames)?;
        self.ship(frames, 0)?;
        if let (Some(image), Some(current)) = (image, &mut self.current) {
            current.start_snapshot(image, time, &self.shared);
        }
        BackupStatus::set(&self.shared.status.caught_up, begun);
        Ok(())
    }

    /// Continues the last generation, if the log contains everything after it.
    fn resume(&mut self) -> Result<Option<Current>> {
        if std::mem::replace(&mut self.has_looked, true) {
            return Ok(None);
        }
        let resumed = self.last_generation();
        self.has_looked = resumed.is_ok();
        resumed
    }

    fn last_generation(&mut self) -> Result<Option<Current>> {
        let to = &*self.shared.destination;
        let Some(name) = to.folders(GENERATIONS)?.pop() else { return Ok(None) };
        let generation = Generation::read(to, &name)?;
        let Some(snapshot) = generation.snapshots.last() else { return Ok(None) };
        let last = generation.log_after(snapshot.index).last();
        let index = last.map_or(snapshot.index, |last| last.index);
        // What comes after a gap cannot be restored.
        if generation.log.iter().any(|part| part.index > index) {
            return Ok(None);
        }
        let sealed = last.map_or(snapshot.at, |last| last.end);
        let end = match (sealed, last) {
            (None, Some(last)) => {
                let key = last.key(&name);
                decode::<LogHeader>(&key, &to.get(&key)?)?.0.end
            }
            (None, None) => {
                let key = snapshot.complete(&name);
                decode::<SnapshotHeader>(&key, &to.get(&key)?)?.0.at
            }
            (Some(sealed), last) => {
                let unsealed = self.shared.local_key.as_ref().and_then(|key| match last {
                    Some(last) => key.log_end(&sealed, &name, last.index),
                    None => key.snapshot(&sealed, &name, snapshot.index),
                });
                let Some(end) = unsealed else {
                    tracing::warn!("the backup was encrypted by a server with another key: a new generation begins");
                    return Ok(None);
                };
                end
            }
        };
        let fingerprint = self.shared.sealing().map(|sealing| sealing.fingerprint);
        let is_same = [sealed, snapshot.at].iter().all(|at| at.map(|at| at.fingerprint()) == fingerprint);
        let Some(since) = self.reader.resume(&end.into())? else { return Ok(None) };
        self.pending = Some((since, 0));
        self.log_before = self.reader.log_bytes();
        tracing::info!(generation = name, "the backup continues where it ended");
        let age = Duration::from_millis(now().saturating_sub(snapshot.time));
        BackupStatus::set(&self.shared.status.last_snapshot, snapshot.time);
        Ok(Some(Current {
            index,
            end,
            name,
            // A time before the start of the system's clock is long ago. Whoever can decrypt the backup from now on needs a snapshot at once.
            snapshot_begun: Instant::now().checked_sub(age).filter(|_| is_same),
            running: None,
            snapshot_failures: 0,
            has_snapshot: true,
        }))
    }

    /// Begins a generation with a snapshot.
    fn begin(&mut self) -> Result<()> {
        if let Some(mut current) = self.current.take() {
            current.abandon_snapshot();
        }
        // While the destination does not work, the log is not kept.
        let earlier = self.shared.destination.folders(GENERATIONS)?;
        self.reader.start()?;
        self.log_before = self.reader.log_bytes();
        let begun = self.first_snapshot(earlier.last().map(String::as_str));
        if begun.is_err() {
            self.reader.release();
        }
        begun
    }

    fn first_snapshot(&mut self, earlier: Option<&str>) -> Result<()> {
        // The frames are in the snapshot.
        let Some(mut frames) = self.reader.read(true)? else {
            return Err(BackupError::Nothing("the log has changed while it was read".to_owned()));
        };
        // What was acknowledged since then is not in the snapshot.
        let time = frames.time();
        let image = self.reader.image(&mut frames)?;
        self.reader.confirm(&frames);
        let mut random = [0; 4];
        getrandom::fill(&mut random).map_err(|e| BackupError::Destination(e.to_string()))?;
        // Names are in order, also if the clock was set back.
        let earlier = earlier.and_then(|name| name.split('-').next()?.parse::<u64>().ok());
        let begun = earlier.map_or(time, |earlier| time.max(earlier + 1));
        let name = format!("{begun:013}-{:08x}", u32::from_be_bytes(random));
        tracing::info!(generation = name, "a generation of the backup begins");
        BackupStatus::add(&self.shared.status.generations, 1);
        let (end, snapshot_begun, running, snapshot_failures) = (frames.end().into(), None, None, 0);
        let has_snapshot = false;
        let mut current = Current { name, index: 0, end, snapshot_begun, running, snapshot_failures, has_snapshot };
        if let Some(image) = image {
            current.start_snapshot(image, time, &self.shared);
        }
        self.current = Some(current);
        BackupStatus::set(&self.shared.status.caught_up, time);
        Ok(())
    }

    /// Stores frames from the `n`th on. What could not be stored is kept.
    fn ship(&mut self, frames: NewFrames, mut n: usize) -> Result<()> {
        let Some(current) = &mut self.current else { return Ok(()) };
        let status = &self.shared.status;
        while n < frames.len() {
            BackupStatus::set(&status.pending, (frames.len() - n) as u64);
            let end = (n + (PART / frames.page_size().max(1) as usize).max(1)).min(frames.len());
            let stored = current.store_part(&frames, n..end, &*self.shared.destination, self.shared.sealing());
            match stored {
                Ok(n_bytes) => {
                    BackupStatus::add(&status.bytes, n_bytes);
                    BackupStatus::add(&status.frames, end - n);
                }
                Err(error @ BackupError::Damaged { .. }) => {
                    // Not ours to continue.
                    self.give_up();
                    return Err(error);
                }
                Err(error) => {
                    self.pending = Some((frames, n));
                    return Err(error);
                }
            }
            n = end;
        }
        BackupStatus::set(&status.pending, 0);
        self.reader.confirm(&frames);
        Ok(())
    }

    /// If the log has become too large, gives up the snapshot that is being stored, or else the generation.
    fn limit_log(&mut self) {
        // The file stays long until the log is started over.
        let max = self.shared.settings.max_log.saturating_add(self.log_before);
        let bytes = self.reader.log_bytes();
        if bytes <= max {
            return;
        }
        if !self.reader.is_following() {
            // Nor is the log of an earlier process kept.
            self.reader.release();
            return;
        }
        if let Some(current) = self.current.as_mut().filter(|current| current.running.is_some()) {
            // The log cannot be started over while all pages are read.
            tracing::error!(
                bytes,
                max,
                "the write-ahead log has become too large while a snapshot was stored: the snapshot is given up; \
                 set a larger backup.max_log if this happens again"
            );
            BackupStatus::add(&self.shared.status.failures, 1);
            current.abandon_snapshot();
            current.snapshot_failures = if current.has_snapshot { 0 } else { current.snapshot_failures + 1 };
        }
        if self.failures > 0 {
            tracing::error!(
                bytes,
                max,
                "the write-ahead log has become too large while the backup's destination did not work: the log is given up, \
                 and what is committed until a new snapshot is complete cannot be restored"
            );
            self.give_up();
        }
    }

    /// Ends the generation. Nothing of the log is kept.
    fn give_up(&mut self) {
        if let Some(mut current) = self.current.take() {
            current.abandon_snapshot();
        }
        self.pending = None;
        BackupStatus::set(&self.shared.status.pending, 0);
        self.reader.release();
    }
}

/// How long to wait after a failure and others before it.
pub(crate) fn pause_after(failures: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(1 << failures.min(6)).min(LONGEST_PAUSE)
}
