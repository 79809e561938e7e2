//! A running backup: its settings and its threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use svc_db::LogReader;
use svc_metrics::RunCounts;

use crate::destination::Destination;
use crate::encryption::{Encrypting, LocalKey, Recipients, Sealing};
use crate::error::{BackupError, Result};
use crate::files::{FileBackup, FileSource};
use crate::lease::Lease;
use crate::retention;
use crate::shipper::Shipper;
use crate::status::{BackupReport, BackupStatus, now};

/// How long to wait without looking whether the process ends.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// The names of the threads' work.
const LOG_JOB: &str = "back-up-database";
const FILES_JOB: &str = "back-up-files";

/// How a backup is made.
#[derive(Clone, Debug)]
pub struct BackupSettings {
    /// How often what was committed is stored.
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
    /// How long a server that cannot be reached is waited for before another one may write to the destination. An object is written four
    /// times in this period.
    pub lease: Duration,
    /// Who can decrypt the backup; `None` if it is not encrypted.
    pub recipients: Option<Recipients>,
}

impl Default for BackupSettings {
    /// A quarter of a second, a day, a week, 1 GB, a minute, two minutes.
    fn default() -> Self {
        let day = Duration::from_secs(86_400);
        BackupSettings {
            interval: Duration::from_millis(250),
            snapshot_interval: day,
            retention: 7 * day,
            max_log: 1 << 30,
            file_interval: Duration::from_secs(60),
            lease: Duration::from_secs(120),
            recipients: None,
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
pub(crate) struct Shared {
    pub(crate) destination: Arc<dyn Destination>,
    pub(crate) settings: BackupSettings,
    pub(crate) status: Arc<BackupStatus>,
    /// Attempts to store what was committed.
    pub(crate) log_runs: Arc<RunCounts>,
    /// Copies of the files.
    file_runs: Arc<RunCounts>,
    stop: AtomicBool,
    /// Whether this process writes to the destination, and no other.
    pub(crate) is_owner: AtomicBool,
    /// The key of the server, if the backup is or was encrypted.
    pub(crate) local_key: Option<LocalKey>,
}

impl Backup {
    /// Starts to back up a database, and files if there are any.
    ///
    /// # Errors
    /// If the system has no random numbers, no thread can be started, or the key beside the database cannot be read or written.
    pub fn start(
        reader: LogReader,
        files: Option<FileSource>,
        destination: Arc<dyn Destination>,
        settings: BackupSettings,
    ) -> Result<Self> {
        let lease = Lease::new(reader.database(), settings.lease)?;
        let local_key = LocalKey::open(reader.database(), settings.recipients.is_some())?;
        let destination: Arc<dyn Destination> = match settings.recipients.clone() {
            Some(recipients) => Arc::new(Encrypting { to: destination, recipients }),
            None => destination,
        };
        let status = Arc::new(BackupStatus::default());
        BackupStatus::set(&status.caught_up, now());
        let shared = Arc::new(Shared {
            destination,
            settings,
            status,
            log_runs: Arc::default(),
            file_runs: Arc::default(),
            stop: AtomicBool::default(),
            is_owner: AtomicBool::default(),
            local_key,
        });
        let mut backup = Backup { shared: Arc::clone(&shared), threads: Vec::new() };
        let mut shipper = Shipper::new(reader, lease, Arc::clone(&shared));
        backup.threads.push(spawn("backup-log", move || shipper.run())?);
        if let Some(files) = files {
            backup.threads.push(spawn("backup-files", move || copy_files(&shared, &files))?);
        }
        Ok(backup)
    }

    /// The current state.
    pub fn report(&self) -> BackupReport {
        self.shared.status.report()
    }

    /// The work of each thread, with its name. The numbers stay available after the end.
    pub fn runs(&self) -> impl Iterator<Item = (&'static str, Arc<RunCounts>)> {
        let all = [(LOG_JOB, &self.shared.log_runs), (FILES_JOB, &self.shared.file_runs)];
        // The threads are in this order.
        all.into_iter().take(self.threads.len()).map(|(name, runs)| (name, Arc::clone(runs)))
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
    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What encrypted objects are named with; `None` if none are written.
    pub(crate) fn sealing(&self) -> Option<Sealing<'_>> {
        let recipients = self.settings.recipients.as_ref()?;
        Some(Sealing { key: self.local_key.as_ref()?, fingerprint: recipients.fingerprint() })
    }

    /// Counts a failure, and logs it if it is the first of several.
    pub(crate) fn failed(&self, what: &str, error: &BackupError, is_first: bool) {
        BackupStatus::add(&self.status.failures, 1);
        // One line per outage.
        if is_first {
            tracing::error!(%error, "the backup of {what} failed; it is tried again");
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map_err(|e| BackupError::Destination(format!("no thread can be started: {e}")))
}

/// Copies files at intervals, and once at the end.
fn copy_files(shared: &Shared, source: &FileSource) {
    let mut backup = FileBackup::default();
    let (mut failures, mut cleaned) = (0_u32, None::<Instant>);
    loop {
        let is_last = shared.is_stopping();
        if !shared.is_owner.load(Ordering::Relaxed) {
            if is_last {
                return;
            }
            // Another server may have written other files.
            backup = FileBackup::default();
            std::thread::park_timeout(LONGEST_WAIT);
            continue;
        }
        shared.file_runs.begin(Instant::now());
        let copied = backup.copy(source, &*shared.destination, &shared.status, shared.sealing());
        shared.file_runs.end(Instant::now(), copied.as_ref().err().map(ToString::to_string));
        match copied {
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
        shared.file_runs.wait(Some(until));
        while !shared.is_stopping() && Instant::now() < until {
            std::thread::park_timeout(until.saturating_duration_since(Instant::now()));
        }
    }
}

pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
