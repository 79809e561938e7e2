//! Writes log lines on a thread of its own, so that a slow or stopped reader of the log delays no request.
//!
//! The thread writes the first line at once, and lines that follow within a short time together: waking it costs as much as a small
//! response. Lines that do not fit are dropped and counted. A line that cannot be written is lost without a report.

use std::{
    io::{Result, Write},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tracing_subscriber::fmt::MakeWriter;

/// Maximum size of the lines that wait, in bytes.
const CAPACITY: usize = 4 << 20;

/// How long the thread waits for further lines before it writes again.
const PAUSE: Duration = Duration::from_millis(20);

/// How long the end of the process waits until the last lines are written.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Lines that wait for the thread that writes them. Cheap to clone.
#[derive(Clone)]
pub struct LogQueue(Arc<Shared>);

struct Shared {
    capacity: usize,
    state: Mutex<State>,
    /// The thread sleeps until there are lines.
    arrived: Condvar,
    /// The end of the process waits until all lines are written.
    written: Condvar,
}

#[derive(Default)]
struct State {
    lines: Vec<u8>,
    /// Lines that were dropped since the last report.
    n_dropped: u64,
    is_writing: bool,
    /// Whether the thread sleeps until it is woken up.
    sleeps: bool,
}

/// Waits for the last lines on drop.
#[must_use]
pub struct FlushOnDrop(LogQueue);

impl LogQueue {
    /// Starts the thread. It reports dropped lines to the log.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(writer: impl Write + Send + 'static) -> Result<(LogQueue, FlushOnDrop)> {
        Self::start_with(CAPACITY, writer, |n_dropped| {
            tracing::warn!(n_dropped, "log lines were dropped, because the log is read too slowly");
        })
    }

    fn start_with(
        capacity: usize,
        mut writer: impl Write + Send + 'static,
        report: impl Fn(u64) + Send + 'static,
    ) -> Result<(LogQueue, FlushOnDrop)> {
        let queue = LogQueue(Arc::new(Shared {
            capacity,
            state: Mutex::default(),
            arrived: Condvar::new(),
            written: Condvar::new(),
        }));
        let taken = queue.clone();
        let write = move || {
            loop {
                let (lines, n_dropped) = taken.take();
                // Now, while there is room, and in the place of the lines that are missing.
                if n_dropped > 0 {
                    report(n_dropped);
                }
                // The server continues without log lines while the disk is full or the pipe is closed.
                drop(writer.write_all(&lines).and_then(|()| writer.flush()));
                taken.lock().is_writing = false;
                taken.0.written.notify_all();
                std::thread::sleep(PAUSE);
            }
        };
        std::thread::Builder::new().name("log".to_owned()).spawn(write)?;
        let flush = FlushOnDrop(queue.clone());
        Ok((queue, flush))
    }

    /// Waits for lines. Returns all of them, and the number of lines that were dropped.
    fn take(&self) -> (Vec<u8>, u64) {
        let waits = |state: &mut State| {
            state.sleeps = state.lines.is_empty();
            state.sleeps
        };
        let mut state = self.0.arrived.wait_while(self.lock(), waits).unwrap_or_else(PoisonError::into_inner);
        state.is_writing = true;
        (std::mem::take(&mut state.lines), std::mem::take(&mut state.n_dropped))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Accepts one line at a time; never fails and never waits.
impl Write for LogQueue {
    fn write(&mut self, line: &[u8]) -> Result<usize> {
        let mut state = self.lock();
        if state.lines.len() + line.len() <= self.0.capacity {
            state.lines.extend_from_slice(line);
        } else {
            state.n_dropped += 1;
        }
        let must_wake = std::mem::take(&mut state.sleeps);
        drop(state);
        if must_wake {
            self.0.arrived.notify_one();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogQueue {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Drop for FlushOnDrop {
    fn drop(&mut self) {
        let is_busy = |state: &mut State| state.is_writing || !state.lines.is_empty();
        drop(self.0.0.written.wait_timeout_while(self.0.lock(), LAST_LINES, is_busy));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Writes when it is allowed to.
    struct Slow {
        begun: Sender<()>,
        allowed: Receiver<()>,
        written: Sender<String>,
    }

    impl Write for Slow {
        fn write(&mut self, lines: &[u8]) -> Result<usize> {
            self.begun.send(()).unwrap();
            self.allowed.recv().unwrap();
            self.written.send(String::from_utf8(lines.to_vec()).unwrap()).unwrap();
            Ok(lines.len())
        }

        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_that_do_not_fit_are_counted() {
        let ((begun, begins), (allow, allowed), (written, writes), (reported, reports)) =
            (channel(), channel(), channel(), channel());
        let slow = Slow { begun, allowed, written };
        let (mut queue, flush) = LogQueue::start_with(10, slow, move |n| reported.send(n).unwrap()).unwrap();
        queue.write_all(b"first\n").unwrap();
        begins.recv().unwrap();
        for n in 0..5 {
            queue.write_all(format!("{n}...\n").as_bytes()).unwrap();
        }
        assert!(reports.try_recv().is_err(), "nothing is reported before it can be written");
        allow.send(()).unwrap();
        assert_eq!(writes.recv().unwrap(), "first\n");
        assert_eq!(reports.recv().unwrap(), 3);
        allow.send(()).unwrap();
        assert_eq!(writes.recv().unwrap(), "0...\n1...\n");
        queue.write_all(b"last\n").unwrap();
        allow.send(()).unwrap();
        drop(flush);
        assert_eq!(writes.try_recv().unwrap(), "last\n", "written before the end");
        assert!(reports.try_recv().is_err(), "reported once");
    }

    #[test]
    fn the_end_waits_for_a_stopped_reader_for_a_limited_time() {
        let ((begun, begins), (allow, allowed), (written, _writes)) = (channel(), channel(), channel());
        let (mut queue, flush) = LogQueue::start_with(10, Slow { begun, allowed, written }, |_| ()).unwrap();
        queue.write_all(b"x\n").unwrap();
        begins.recv().unwrap();
        drop(flush);
        allow.send(()).unwrap();
    }
}
