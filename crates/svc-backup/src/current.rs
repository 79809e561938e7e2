//! The generation that is written: parts of the log, and snapshots at intervals.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use svc_db::{NewFrames, PageImage};

use crate::backup::{Shared, millis};
use crate::destination::Destination;
use crate::encryption::Sealing;
use crate::error::{BackupError, Result};
use crate::names::{LogName, SnapshotName};
use crate::object::{LogHeader, Position, decode, encode};
use crate::retention;
use crate::shipper::pause_after;
use crate::snapshot::Snapshot;
use crate::status::now;

/// A generation that is written.
pub(crate) struct Current {
    pub(crate) name: String,
    /// Number of the last part of the log.
    pub(crate) index: u64,
    /// Where that part ends.
    pub(crate) end: Position,
    /// When the last snapshot was begun.
    pub(crate) snapshot_begun: Option<Instant>,
    pub(crate) running: Option<RunningSnapshot>,
    pub(crate) snapshot_failures: u32,
    /// Whether one is complete.
    pub(crate) has_snapshot: bool,
}

/// A snapshot that is being stored.
#[derive(Debug)]
pub(crate) struct RunningSnapshot {
    thread: JoinHandle<()>,
    outcome: Arc<Mutex<Option<Result<()>>>>,
    stop: Arc<AtomicBool>,
}

impl Current {
    /// Stores frames of this range as the next part, and returns the number of bytes.
    pub(crate) fn store_part(
        &mut self,
        frames: &NewFrames,
        range: std::ops::Range<usize>,
        to: &dyn Destination,
        sealing: Option<Sealing<'_>>,
    ) -> Result<usize> {
        let mut body = Vec::with_capacity(range.len() * (8 + frames.page_size() as usize));
        for (page, n_pages) in frames.pages(range.clone()) {
            body.extend_from_slice(&page.to_be_bytes());
            body.extend_from_slice(&n_pages.to_be_bytes());
        }
        for i in range.clone() {
            frames.content(i, &mut body)?;
        }
        let in_range = frames.stamps().iter().filter(|(n, _)| (range.start + 1..=range.end).contains(n));
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let stamps: Vec<(u32, u64)> = in_range.map(|(n, time)| (number(n - range.start), *time)).collect();
        let index = self.index + 1;
        let end = frames.position(range.end).into();
        let times = || stamps.iter().map(|(_, time)| *time);
        let (first, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
        let sealed = sealing.map(|sealing| sealing.log_end(&self.name, index, end));
        let name = LogName { index, first, last, end: sealed };
        let header = LogHeader {
            generation: self.name.clone(),
            index,
            page_size: frames.page_size(),
            n_frames: number(range.len()),
            after: self.end,
            end,
            stamps,
        };
        let bytes = encode(&header, &body)?;
        let (n_bytes, key) = (bytes.len(), name.key(&self.name));
        match to.put(&key, bytes) {
            // An earlier attempt has stored it, but its result did not arrive. The name of an encrypted one has all that is compared.
            Err(BackupError::Exists(_)) if sealed.is_some() => {}
            Err(BackupError::Exists(_)) => {
                let (stored, _): (LogHeader, _) = decode(&key, &to.get(&key)?)?;
                if stored != header {
                    return Err(BackupError::Damaged { key, why: "another server has written it".to_owned() });
                }
            }
            stored => stored?,
        }
        (self.index, self.end) = (index, end);
        Ok(n_bytes)
    }

    /// Looks after the running snapshot, and returns whether another one is due.
    pub(crate) fn wants_snapshot(&mut self, shared: &Shared) -> bool {
        if let Some(running) = self.running.take_if(|running| running.thread.is_finished()) {
            let outcome = running.outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
            match outcome {
                Some(Ok(())) => (self.snapshot_failures, self.has_snapshot) = (0, true),
                Some(Err(error)) => {
                    shared.failed("the database (a snapshot)", &error, self.snapshot_failures == 0);
                    self.snapshot_failures += 1;
                }
                None => self.snapshot_failures += 1,
            }
        }
        let interval = match self.snapshot_failures {
            0 => shared.settings.snapshot_interval,
            n => pause_after(n),
        };
        self.running.is_none() && self.snapshot_begun.is_none_or(|begun| begun.elapsed() >= interval)
    }

    /// Stores an image of all pages, whose last transaction was not after `time`, and deletes what is not needed any more.
    pub(crate) fn start_snapshot(&mut self, image: PageImage, time: u64, shared: &Arc<Shared>) {
        self.snapshot_begun = Some(Instant::now());
        let at = shared.sealing().map(|sealing| sealing.snapshot(&self.name, self.index, self.end));
        let name = SnapshotName { index: self.index, time, at };
        let snapshot = Snapshot { image, generation: self.name.clone(), name, at: self.end };
        let (outcome, stop) = (Arc::new(Mutex::new(None)), Arc::new(AtomicBool::new(false)));
        let shared = Arc::clone(shared);
        let (of_thread, stop_thread) = (Arc::clone(&outcome), Arc::clone(&stop));
        let thread = std::thread::Builder::new().name("backup-snapshot".to_owned()).spawn(move || {
            let to = &*shared.destination;
            let stored = snapshot.store(to, &shared.status, &stop_thread);
            // The log can be started over from here on.
            drop(snapshot);
            let until = now().saturating_sub(millis(shared.settings.retention));
            if stored.is_ok()
                && let Err(error) = retention::delete_database(to, until)
            {
                shared.failed("the database (deleting what is old)", &error, true);
            }
            *of_thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(stored);
        });
        match thread {
            Ok(thread) => self.running = Some(RunningSnapshot { thread, outcome, stop }),
            Err(_) => self.snapshot_failures += 1,
        }
    }

    /// Stops the running snapshot after the part that it is storing.
    pub(crate) fn abandon_snapshot(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop.store(true, Ordering::Relaxed);
        }
    }
}
