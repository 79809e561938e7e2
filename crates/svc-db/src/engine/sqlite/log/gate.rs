//! Between the writers of this process and who follows the log: stamps of commits, and pauses in which the log can be started over.

use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::frames::LogPosition;
use super::reader::{Hold, io};
use super::stamps::{Stamps, TimedPosition};
use crate::engine::sqlite::connection::{Mode, Sqlite};
use crate::error::Result;

/// Frames after which what is in the log is written to the database, as SQLite does by itself without a follower.
const CHECKPOINT: u32 = 1_000;

/// Frames after which writes wait until the follower has read all of the log, so that it can be started over: 32 MB. A log that an
/// earlier process has left may be longer by that.
const FULL: u32 = 8_000;

/// Frames until writes wait again, if the follower was too slow.
const AFTER_SLOW: u32 = 4_000;

/// How long writes wait for the follower.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the writers and the follower of a log know of each other.
#[derive(Debug)]
pub(crate) struct LogGate {
    stamps: Mutex<Stamps>,
    /// Keeps the log that was there at the start until somebody follows it.
    opened: Mutex<Option<Hold>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Whether there is a follower, which decides how long the log may become.
    has_reader: bool,
    /// Whether the follower reads the log within moments.
    keeps_up: bool,
    /// Requests of the writer to read everything, and how many of them are done.
    asked: u64,
    done: u64,
}

/// What the writer remembers of the log.
#[derive(Debug, Default)]
pub(crate) struct LogSize {
    frames: u32,
    checkpoint_at: u32,
    full_at: u32,
}

impl LogGate {
    /// Opens the gate before anything is written.
    pub(crate) fn open(database: &Path, wait: Duration) -> Result<Self> {
        // Without a log, a read transaction would keep everybody from writing.
        let has_log = Sqlite::open(database, Mode::Read, wait)?.has_log()?;
        let opened = Mutex::new(if has_log { Some(Hold::begin(database, wait)?) } else { None });
        // SQLite follows symbolic links, too.
        let database = database.canonicalize().map_err(io)?;
        let stamps = Mutex::new(Stamps::open(&database).map_err(io)?);
        Ok(LogGate { stamps, opened, state: Mutex::default(), changed: Condvar::new() })
    }

    /// Call this after each commit and before it is acknowledged. Returns the number of frames in the log.
    pub(crate) fn committed(&self) -> u32 {
        // The commit is durable in any case, and is in the next stamp.
        self.stamp()
            .inspect_err(|error| tracing::error!(%error, "a commit has no time of its own"))
            .map_or(0, |stamp| stamp.at.frame)
    }

    /// Writes the log to the database if it is long. If it is very long, waits for the follower first.
    pub(crate) fn tend(&self, size: &mut LogSize, n_frames: u32, mut checkpoint: impl FnMut()) {
        size.set(n_frames);
        if size.frames < size.checkpoint_at {
            return;
        }
        size.checkpoint_at = size.frames.saturating_add(CHECKPOINT);
        checkpoint();
        if size.frames < size.full_at {
            return;
        }
        let state = self.lock();
        if !state.has_reader {
            // A command that writes much does not keep the log for the next start of the server.
            self.take_over();
        }
        if !state.keeps_up {
            return;
        }
        drop(state);
        // A transaction that begins when all of the log is in the database is one after which the log can be started over.
        let is_read = self.ask();
        checkpoint();
        let is_done = is_read && self.ask();
        // Others may read the log, too.
        size.full_at = size.frames.saturating_add(if is_done { 2 * CHECKPOINT } else { AFTER_SLOW });
    }

    /// Waits until the follower has read everything; false if that takes too long.
    fn ask(&self) -> bool {
        let mut state = self.lock();
        state.asked += 1;
        let (mine, until) = (state.asked, Instant::now() + PATIENCE);
        self.changed.notify_all();
        while state.keeps_up && state.done < mine {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.done >= mine
    }

    /// The follower waits for the writer, but not longer than this. Returns whether the writer waits for it.
    pub(super) fn wait(&self, longest: Duration) -> bool {
        let mut state = self.lock();
        if state.asked == state.done || !state.keeps_up {
            state = self.changed.wait_timeout(state, longest).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.keeps_up && state.asked != state.done
    }

    /// There is a follower from here on.
    pub(super) fn set_reader(&self) {
        self.lock().has_reader = true;
    }

    /// Whether the writer waits for the follower.
    pub(super) fn is_waiting(&self) -> bool {
        let state = self.lock();
        state.asked != state.done
    }

    /// Requests of the writer so far.
    pub(super) fn asked(&self) -> u64 {
        self.lock().asked
    }

    /// The follower has read everything that was there at these requests.
    pub(super) fn done(&self, asked: u64) {
        self.lock().done = asked;
        self.changed.notify_all();
    }

    /// Sets whether the follower reads the log within moments. If not, writes do not wait.
    pub(super) fn set_keeping_up(&self, keeps_up: bool) {
        self.lock().keeps_up = keeps_up;
        self.changed.notify_all();
    }

    /// Lets go of the log that was there at the start: the follower has a read transaction of its own.
    pub(super) fn take_over(&self) {
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Nothing keeps the log any more.
    pub(super) fn release(&self) {
        self.stamps().release();
        self.take_over();
        self.set_keeping_up(false);
    }

    /// Stamps what is new in the log. Returns its end, and when that was the end.
    pub(super) fn stamp(&self) -> Result<TimedPosition> {
        self.stamps().stamp().map_err(io)
    }

    /// Everything up to now is not needed, and from here on a read transaction keeps the log. Returns its end.
    pub(super) fn start(&self) -> Result<LogPosition> {
        self.stamps().start().map_err(io)
    }

    /// The stamps that are needed.
    pub(super) fn known(&self) -> Vec<TimedPosition> {
        self.stamps().known()
    }

    /// Everything up to this position is stored, and a read transaction keeps what comes after it.
    pub(super) fn stored(&self, until: &LogPosition) {
        self.stamps().stored(until);
    }

    /// Whether this use of the log begins after this position of an earlier one.
    pub(super) fn is_linked(&self, from: &LogPosition, to: [u32; 2]) -> bool {
        self.stamps().is_linked(from, to)
    }

    fn stamps(&self) -> MutexGuard<'_, Stamps> {
        self.stamps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogSize {
    /// Sets the number of frames. A smaller one is that of a log that was started over.
    fn set(&mut self, n_frames: u32) {
        if self.checkpoint_at == 0 {
            // A log that is long already is kept for the follower, which may be about to start.
            (self.checkpoint_at, self.full_at) = (CHECKPOINT, n_frames.saturating_add(FULL));
        } else if n_frames < self.frames {
            (self.checkpoint_at, self.full_at) = (CHECKPOINT, FULL);
        }
        self.frames = n_frames;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_do_not_wait_if_nobody_follows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        rusqlite::Connection::open(&path)
            .unwrap()
            .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (n)")
            .unwrap();
        let gate = LogGate::open(&path, Duration::from_secs(5)).unwrap();
        let (mut size, mut n) = (LogSize::default(), 0);
        for frames in [10, 1_000, 1_500, 2_000, 20_000, 5, 1_000] {
            gate.tend(&mut size, frames, || n += 1);
        }
        assert_eq!(n, 4, "checkpoints");
    }
}
