//! How far a backup is, for metrics.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The numbers of a running backup.
#[derive(Debug, Default)]
pub struct BackupStatus {
    /// When everything that was committed was last stored, in milliseconds.
    pub(crate) caught_up: AtomicU64,
    /// Frames that were read and are not stored.
    pub(crate) pending: AtomicU64,
    pub(crate) frames: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) failures: AtomicU64,
    pub(crate) generations: AtomicU64,
    pub(crate) last_snapshot: AtomicU64,
    pub(crate) last_files: AtomicU64,
}

/// The state of a running backup.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BackupReport {
    /// Everything that was acknowledged by this time is stored, in milliseconds since 1970.
    pub stored_until: u64,
    /// Seconds since then.
    pub lag_seconds: f64,
    /// Frames that are not stored.
    pub pending_frames: u64,
    /// Frames that were stored since the start.
    pub frames: u64,
    /// Bytes of all objects that were stored since the start.
    pub bytes: u64,
    /// Attempts to store something that failed.
    pub failures: u64,
    /// How often the log did not continue where it ended, or a backup began.
    pub generations: u64,
    /// When the last snapshot was completed, as Unix time; `None` if there was none since the start.
    pub last_snapshot: Option<f64>,
    /// When files were last copied.
    pub last_files: Option<f64>,
}

impl BackupStatus {
    /// The current state.
    pub fn report(&self) -> BackupReport {
        let seconds = |ms: u64| ms as f64 / 1_000.0;
        let time = |at: &AtomicU64| Some(at.load(Ordering::Relaxed)).filter(|ms| *ms > 0).map(seconds);
        let get = |n: &AtomicU64| n.load(Ordering::Relaxed);
        BackupReport {
            stored_until: get(&self.caught_up),
            lag_seconds: seconds(now().saturating_sub(get(&self.caught_up))),
            pending_frames: get(&self.pending),
            frames: get(&self.frames),
            bytes: get(&self.bytes),
            failures: get(&self.failures),
            generations: get(&self.generations),
            last_snapshot: time(&self.last_snapshot),
            last_files: time(&self.last_files),
        }
    }

    pub(crate) fn add(counter: &AtomicU64, n: usize) {
        counter.fetch_add(n as u64, Ordering::Relaxed);
    }

    pub(crate) fn set(counter: &AtomicU64, value: u64) {
        counter.store(value, Ordering::Relaxed);
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
