//! Stores the log while it is written, and snapshots at intervals.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use svc_db::{LogReader, NewFrames, PageImage};

use crate::catalog::Generation;
use crate::destination::Destination;
use crate::error::{BackupError, Result};
use crate::files::{FileBackup, FileSource};
use crate::names::{GENERATIONS, LogName, SnapshotName};
use crate::object::{LogHeader, Position, SnapshotHeader, decode, encode};
use crate::retention;
use crate::snapshot::Snapshot;
use crate::status::{BackupReport, BackupStatus, now};

/// Bytes of pages in a part of the log.
const PART: usize = 16 << 20;

/// How long to wait after a failure; doubled with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How long to wait without looking whether the process ends.
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// How long the end of a process waits for the destination.
const LAST_WORK: Duration = Duration::from_secs(10);

/// How a backup is made.
#[derive(Clone, Debug)]
pub struct BackupSettings {
    /// How often what was committed is stored: the most that can be lost.
    pub interval: Duration,
    /// How often all pages are stored.
    pub snapshot_interval: Duration,
    /// How long every point in time can be restored.
    pub retention: Duration,
    /// How large the log may become while the destination does not work, in bytes. Then it is given up, and a new generation begins
    /// when the destination works again.
    pub max_log: u64,
    /// How often files are copied.
    pub file_interval: Duration,
}

impl Default for BackupSettings {
    /// A second, a day, a week, 1 GB, a minute.
    fn default() -> Self {
        let day = Duration::from_secs(86_400);
        BackupSettings {
            interval: Duration::from_secs(1),
            snapshot_interval: day,
            retention: 7 * day,
            max_log: 1 << 30,
            file_interval: Duration::from_secs(60),
        }
    }
}

/// A running backup. When it is dropped, it stores what was committed until then, for at most seconds.
#[derive(Debug)]
pub struct Backup {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    destination: Arc<dyn Destination>,
    settings: BackupSettings,
    status: Arc<BackupStatus>,
    stop: AtomicBool,
}

impl Backup {
    /// Starts to back up a database, and files if there are any.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(
        reader: LogReader,
        files: Option<FileSource>,
        destination: Arc<dyn Destination>,
        settings: BackupSettings,
    ) -> std::io::Result<Self> {
        let status = Arc::new(BackupStatus::default());
        BackupStatus::set(&status.caught_up, now());
        let shared = Arc::new(Shared { destination, settings, status, stop: AtomicBool::new(false) });
        let mut backup = Backup { shared: Arc::clone(&shared), threads: Vec::new() };
        let mut shipper = Shipper::new(reader, Arc::clone(&shared));
        let thread = std::thread::Builder::new().name("backup-log".to_owned());
        backup.threads.push(thread.spawn(move || shipper.run())?);
        if let Some(files) = files {
            let thread = std::thread::Builder::new().name("backup-files".to_owned());
            backup.threads.push(thread.spawn(move || copy_files(&shared, &files))?);
        }
        Ok(backup)
    }

    /// The current state.
    pub fn report(&self) -> BackupReport {
        self.shared.status.report()
    }

    /// The numbers, which stay available after the end.
    pub fn status(&self) -> Arc<BackupStatus> {
        Arc::clone(&self.shared.status)
    }
}

impl Drop for Backup {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            drop(thread.join());
        }
    }
}

impl Shared {
    fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn failed(&self, what: &str, error: &BackupError, is_first: bool) {
        BackupStatus::add(&self.status.failures, 1);
        // One line per outage.
        if is_first {
            tracing::error!(%error, "the backup of {what} failed; it is tried again");
        }
    }
}

/// Copies files at intervals, and once at the end.
fn copy_files(shared: &Shared, source: &FileSource) {
    let mut backup = FileBackup::default();
    let (mut failures, mut cleaned) = (0_u32, None::<Instant>);
    loop {
        let is_last = shared.is_stopping();
        match backup.copy(source, &*shared.destination, &shared.status) {
            Ok(()) => failures = 0,
            Err(error) => {
                shared.failed("files", &error, failures == 0);
                failures += 1;
            }
        }
        if cleaned.is_none_or(|at| at.elapsed() > shared.settings.snapshot_interval) && failures == 0 {
            cleaned = Some(Instant::now());
            let until = now().saturating_sub(millis(shared.settings.retention));
            if let Err(error) = retention::delete_files(&*shared.destination, until) {
                shared.failed("files (deleting old ones)", &error, true);
            }
        }
        if is_last {
            return;
        }
        let until = Instant::now() + shared.settings.file_interval;
        while !shared.is_stopping() && Instant::now() < until {
            std::thread::park_timeout(until.saturating_duration_since(Instant::now()));
        }
    }
}

/// Follows the log.
struct Shipper {
    reader: LogReader,
    shared: Arc<Shared>,
    /// The generation that is written.
    current: Option<Current>,
    /// Whether the last generation of the destination was looked at.
    has_looked: bool,
    /// Frames that could not be stored yet, and how many of them were.
    pending: Option<(NewFrames, usize)>,
    failures: u32,
    retry_at: Instant,
}

/// A generation that is written.
struct Current {
    name: String,
    /// Number of the last part of the log.
    index: u64,
    /// Where that part ends.
    end: Position,
    /// Time of the last transaction.
    last: u64,
    /// When the last snapshot was begun.
    snapshot_begun: Option<Instant>,
    running: Option<RunningSnapshot>,
    snapshot_failures: u32,
    /// Whether one is complete.
    has_snapshot: bool,
}

/// A snapshot that is being stored.
struct RunningSnapshot {
    thread: JoinHandle<()>,
    outcome: Arc<Mutex<Option<Result<()>>>>,
    stop: Arc<AtomicBool>,
}

impl Shipper {
    fn new(reader: LogReader, shared: Arc<Shared>) -> Self {
        let (pending, retry_at) = (None, Instant::now());
        Shipper { reader, shared, current: None, has_looked: false, pending, failures: 0, retry_at }
    }

    fn run(&mut self) {
        let mut end_by = None;
        loop {
            let is_last = self.shared.is_stopping();
            if is_last || Instant::now() >= self.retry_at {
                match self.step() {
                    Ok(()) => self.succeeded(),
                    Err(error) => self.failed(&error),
                }
            }
            self.limit_log();
            if is_last {
                let by = *end_by.get_or_insert_with(|| Instant::now() + LAST_WORK);
                let has_snapshot = self.current.as_ref().is_none_or(|current| current.running.is_none());
                if self.failures == 0 && has_snapshot || Instant::now() >= by {
                    break;
                }
            }
            self.wait(is_last);
        }
        if let Some(current) = &mut self.current {
            current.abandon_snapshot();
        }
    }

    /// Waits until something is to be done: after the interval, when the writer waits for the log to be read, or at the end.
    fn wait(&self, is_last: bool) {
        let until = Instant::now() + self.shared.settings.interval;
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
        let pause = FIRST_PAUSE.saturating_mul(1 << self.failures.min(6)).min(LONGEST_PAUSE);
        self.retry_at = Instant::now() + pause;
        self.failures += 1;
    }

    /// Stores what is new.
    fn step(&mut self) -> Result<()> {
        if self.current.is_none() {
            self.current = self.resume()?;
        }
        if let Some((frames, n)) = self.pending.take() {
            self.ship(frames, n)?;
        }
        if !self.reader.is_following() {
            return self.begin();
        }
        let wants_snapshot = self.wants_snapshot();
        let begun = now();
        let Some(mut frames) = self.reader.read(wants_snapshot)? else {
            tracing::warn!("the log does not continue where the backup ended: a new generation begins");
            return self.begin();
        };
        // Not before the frames were read: they are in the snapshot.
        let time = now();
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
        let end = match last.map(|last| last.key(&name)) {
            Some(key) => decode::<LogHeader>(&key, &to.get(&key)?)?.0.end,
            None => {
                let key = snapshot.complete(&name);
                decode::<SnapshotHeader>(&key, &to.get(&key)?)?.0.at
            }
        };
        let Some(since) = self.reader.resume(&end.into())? else { return Ok(None) };
        self.pending = Some((since, 0));
        tracing::info!(generation = name, "the backup continues where it ended");
        let age = Duration::from_millis(now().saturating_sub(snapshot.time));
        BackupStatus::set(&self.shared.status.last_snapshot, snapshot.time);
        Ok(Some(Current {
            index,
            end,
            last: generation.last_time(),
            name,
            // A time before the start of the system's clock is long ago.
            snapshot_begun: Instant::now().checked_sub(age),
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
        self.shared.destination.folders(GENERATIONS)?;
        self.reader.start()?;
        let begun = self.first_snapshot();
        if begun.is_err() {
            self.reader.release();
        }
        begun
    }

    fn first_snapshot(&mut self) -> Result<()> {
        // The frames are in the snapshot.
        let Some(mut frames) = self.reader.read(true)? else {
            return Err(BackupError::Nothing("the log has changed while it was read".to_owned()));
        };
        let time = now();
        let image = self.reader.image(&mut frames)?;
        self.reader.confirm(&frames);
        let mut random = [0; 4];
        getrandom::fill(&mut random).map_err(|e| BackupError::Destination(e.to_string()))?;
        let name = format!("{time:013}-{:08x}", u32::from_be_bytes(random));
        tracing::info!(generation = name, "a generation of the backup begins");
        BackupStatus::add(&self.shared.status.generations, 1);
        let (end, snapshot_begun, running, snapshot_failures) = (frames.end().into(), None, None, 0);
        let has_snapshot = false;
        let mut current =
            Current { name, index: 0, end, last: time, snapshot_begun, running, snapshot_failures, has_snapshot };
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
        let first_times = frames.pages(0..n).filter(|(_, n_pages)| *n_pages > 0).count();
        let mut times = frames.times().get(first_times..).unwrap_or_default();
        while n < frames.len() {
            BackupStatus::set(&status.pending, (frames.len() - n) as u64);
            let end = (n + (PART / frames.page_size().max(1) as usize).max(1)).min(frames.len());
            let n_commits = frames.pages(n..end).filter(|(_, n_pages)| *n_pages > 0).count();
            let (these, later) = times.split_at(n_commits.min(times.len()));
            let stored = current.store_part(&frames, n..end, these, &*self.shared.destination);
            match stored {
                Ok(n_bytes) => {
                    BackupStatus::add(&status.bytes, n_bytes);
                    BackupStatus::add(&status.frames, end - n);
                }
                Err(error @ BackupError::Damaged { .. }) => {
                    // Not ours to continue.
                    current.abandon_snapshot();
                    self.current = None;
                    self.reader.release();
                    return Err(error);
                }
                Err(error) => {
                    self.pending = Some((frames, n));
                    return Err(error);
                }
            }
            (n, times) = (end, later);
        }
        BackupStatus::set(&status.pending, 0);
        self.reader.confirm(&frames);
        Ok(())
    }

    /// Looks after the running snapshot, and returns whether another one is due.
    fn wants_snapshot(&mut self) -> bool {
        let Some(current) = &mut self.current else { return false };
        let shared = &self.shared;
        if let Some(running) = current.running.take_if(|running| running.thread.is_finished()) {
            let outcome = running.outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
            match outcome {
                Some(Ok(())) => (current.snapshot_failures, current.has_snapshot) = (0, true),
                Some(Err(error)) => {
                    shared.failed("the database (a snapshot)", &error, current.snapshot_failures == 0);
                    current.snapshot_failures += 1;
                }
                None => current.snapshot_failures += 1,
            }
        }
        let interval = match current.snapshot_failures {
            0 => shared.settings.snapshot_interval,
            n => FIRST_PAUSE.saturating_mul(1 << n.min(6)).min(LONGEST_PAUSE),
        };
        current.running.is_none() && current.snapshot_begun.is_none_or(|begun| begun.elapsed() >= interval)
    }

    /// If the log has become too large, gives up the snapshot that is being stored, or else the generation.
    fn limit_log(&mut self) {
        let (bytes, max) = (self.reader.log_bytes(), self.shared.settings.max_log);
        if bytes <= max || !self.reader.is_following() {
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
            if let Some(mut current) = self.current.take() {
                current.abandon_snapshot();
            }
            self.pending = None;
            self.reader.release();
        }
    }
}

impl Current {
    fn store_part(
        &mut self,
        frames: &NewFrames,
        range: std::ops::Range<usize>,
        times: &[u64],
        to: &dyn Destination,
    ) -> Result<usize> {
        let mut body = Vec::with_capacity(range.len() * (8 + frames.page_size() as usize));
        for (page, n_pages) in frames.pages(range.clone()) {
            body.extend_from_slice(&page.to_be_bytes());
            body.extend_from_slice(&n_pages.to_be_bytes());
        }
        for i in range.clone() {
            frames.content(i, &mut body)?;
        }
        // A clock that was set back does not change the order.
        let mut last = self.last;
        let times: Vec<u64> = times
            .iter()
            .map(|time| {
                last = last.max(*time);
                last
            })
            .collect();
        let index = self.index + 1;
        let end = frames.position(range.end).into();
        let name =
            LogName { index, first: times.first().copied().unwrap_or(0), last: times.last().copied().unwrap_or(0) };
        let header = LogHeader {
            generation: self.name.clone(),
            index,
            page_size: frames.page_size(),
            n_frames: u32::try_from(range.len()).unwrap_or(u32::MAX),
            after: self.end,
            end,
            times,
        };
        let bytes = encode(&header, &body);
        let (n_bytes, key) = (bytes.len(), name.key(&self.name));
        match to.put(&key, bytes) {
            // An earlier attempt has stored it, but its result did not arrive.
            Err(BackupError::Exists(_)) => {
                let (stored, _): (LogHeader, _) = decode(&key, &to.get(&key)?)?;
                if stored != header {
                    return Err(BackupError::Damaged { key, why: "another server has written it".to_owned() });
                }
            }
            stored => stored?,
        }
        (self.index, self.end, self.last) = (index, end, last);
        Ok(n_bytes)
    }

    /// Stores an image of all pages, whose last transaction was not after `time`, and deletes what is not needed any more.
    fn start_snapshot(&mut self, image: PageImage, time: u64, shared: &Arc<Shared>) {
        self.snapshot_begun = Some(Instant::now());
        let name = SnapshotName { index: self.index, time: time.max(self.last) };
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

    fn abandon_snapshot(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop.store(true, Ordering::Relaxed);
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
