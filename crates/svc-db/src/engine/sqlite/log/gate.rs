//! Between the writer and who follows the log: times of commits, and pauses in which the log can be started over.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Frames after which what is in the log is written to the database, as SQLite does by itself without a follower.
const CHECKPOINT: u32 = 1_000;

/// Frames after which writes wait until the follower has read all of the log, so that it can be started over: 32 MB.
const FULL: u32 = 8_000;

/// Frames until writes wait again, if the follower was too slow.
const AFTER_SLOW: u32 = 8_000;

/// How long writes wait for the follower.
const PATIENCE: Duration = Duration::from_secs(2);

/// Maximum number of commits whose times are kept. Without a time, a commit has that of the next one.
const MAX_TIMES: usize = 1 << 18;

/// What the writer and the follower of a log know of each other.
#[derive(Debug, Default)]
pub(crate) struct LogGate {
    /// Number of frames in the log after the last transaction that wrote any; zero once it was taken.
    written: AtomicU32,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Whether somebody follows the log.
    is_followed: bool,
    /// Whether the follower reads the log within moments.
    keeps_up: bool,
    /// Number of frames after each commit, and its time in milliseconds.
    commits: VecDeque<(u32, u64)>,
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
    /// Called by SQLite after a commit with the number of frames in the log.
    pub(crate) fn wrote(&self, n_frames: i32) {
        self.written.store(u32::try_from(n_frames).unwrap_or(0), Ordering::Relaxed);
    }

    /// Runs a commit. Its time, that of its begin, is known to everybody who sees its frames and then asks for [`Self::times`].
    pub(crate) fn commit<T, E>(&self, size: &mut LogSize, commit: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let mut state = self.lock();
        let begun = now();
        let done = commit();
        let n_frames = self.written.swap(0, Ordering::Relaxed);
        if done.is_ok() && n_frames > 0 {
            size.set(n_frames);
            if state.is_followed {
                if state.commits.len() >= MAX_TIMES {
                    state.commits.pop_front();
                }
                state.commits.push_back((n_frames, begun));
            }
        }
        done
    }

    /// Writes the log to the database if it is long. If it is very long, waits for the follower first.
    pub(crate) fn tend(&self, size: &mut LogSize, mut checkpoint: impl FnMut()) {
        // Nothing is known of the log before the first commit.
        if size.frames < size.checkpoint_at.max(1) {
            return;
        }
        size.checkpoint_at = size.frames.saturating_add(CHECKPOINT);
        checkpoint();
        if size.frames < size.full_at || !self.lock().keeps_up {
            return;
        }
        // A transaction that begins when all of the log is in the database is one after which the log can be started over.
        let is_read = self.ask();
        checkpoint();
        if !is_read || !self.ask() {
            size.full_at = size.frames.saturating_add(AFTER_SLOW);
        }
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
        if state.asked == state.done {
            state = self.changed.wait_timeout(state, longest).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.keeps_up && state.asked != state.done
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

    /// Runs `start`, which returns the place from which the log is followed, between two commits.
    pub(super) fn follow<T, E>(&self, start: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let mut state = self.lock();
        let started = start()?;
        state.commits.clear();
        (state.is_followed, state.keeps_up) = (true, true);
        Ok(started)
    }

    /// Nobody follows the log any more.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        state.commits.clear();
        (state.is_followed, state.keeps_up) = (false, false);
        self.changed.notify_all();
    }

    /// Sets whether the follower reads the log within moments. If not, writes do not wait.
    pub(super) fn set_keeping_up(&self, keeps_up: bool) {
        self.lock().keeps_up = keeps_up;
        self.changed.notify_all();
    }

    /// The times of these commits, by their numbers of frames, in milliseconds. One of another program has the time of the
    /// next one of this process.
    pub(super) fn times(&self, commits: &[u32]) -> Vec<u64> {
        let mut state = self.lock();
        let mut next = now();
        let mut own: Vec<Option<u64>> = Vec::with_capacity(commits.len());
        for n_frames in commits {
            // Numbers that are smaller were of commits whose times were not needed.
            while state.commits.front().is_some_and(|(n, _)| n < n_frames) {
                state.commits.pop_front();
            }
            let is_own = state.commits.front().is_some_and(|(n, _)| n == n_frames);
            own.push(if is_own { state.commits.pop_front().map(|(_, time)| time) } else { None });
        }
        drop(state);
        let mut times: Vec<u64> = own
            .into_iter()
            .rev()
            .map(|time| {
                next = time.unwrap_or(next).min(next);
                next
            })
            .collect();
        times.reverse();
        times
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogSize {
    /// Sets the number of frames. A smaller one is that of a log that was started over.
    fn set(&mut self, n_frames: u32) {
        if n_frames < self.frames || self.checkpoint_at == 0 {
            (self.checkpoint_at, self.full_at) = (CHECKPOINT, FULL);
        }
        self.frames = n_frames;
    }
}

/// Milliseconds since 1970.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(gate: &LogGate, size: &mut LogSize, n_frames: i32) {
        gate.commit(size, || {
            gate.wrote(n_frames);
            Ok::<(), ()>(())
        })
        .unwrap();
    }

    #[test]
    fn commits_of_others_have_the_time_of_the_next_one() {
        let (gate, mut size) = (LogGate::default(), LogSize::default());
        gate.follow(|| Ok::<(), ()>(())).unwrap();
        commit(&gate, &mut size, 3);
        std::thread::sleep(Duration::from_millis(5));
        commit(&gate, &mut size, 9);
        let own: Vec<u64> = gate.lock().commits.iter().map(|(_, time)| *time).collect();
        let times = gate.times(&[3, 6, 9]);
        assert_eq!(times, [own[0], own[1], own[1]]);
        assert!(gate.times(&[12])[0] >= own[1], "not known yet");
        // The log was started over.
        commit(&gate, &mut size, 2);
        assert_eq!(gate.times(&[2]).len(), 1);
        assert!(gate.lock().commits.is_empty());
    }

    #[test]
    fn writes_do_not_wait_if_nobody_follows() {
        let (gate, mut size) = (LogGate::default(), LogSize::default());
        let mut n = 0;
        gate.tend(&mut size, || panic!("nothing was written"));
        for frames in [10, 1_000, 1_500, 2_000, 20_000] {
            commit(&gate, &mut size, frames);
            gate.tend(&mut size, || n += 1);
        }
        assert_eq!(n, 3, "checkpoints");
    }
}
