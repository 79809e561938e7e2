//! The progress of a command that takes long, on standard error.

use std::{
    io::IsTerminal as _,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

use super::output::note;

/// Time between two lines if standard error is not a terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Time between two frames of the animation.
const FRAME: Duration = Duration::from_millis(120);

/// Shows what a command does and how far it is: a line that changes on a terminal, otherwise one at the beginning and one every ten
/// seconds. The line on a terminal disappears when this is dropped.
pub(super) struct Progress {
    what: &'static str,
    /// `None` if standard error is not a terminal.
    bar: Option<ProgressBar>,
    printed: Mutex<Instant>,
}

impl Progress {
    pub(super) fn start(what: &'static str) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style =
                ProgressStyle::with_template("{spinner} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
            let bar = ProgressBar::new_spinner().with_style(style).with_message(what);
            bar.enable_steady_tick(FRAME);
            bar
        });
        if bar.is_none() {
            note(&format!("{what} …"));
        }
        Progress { what, bar, printed: Mutex::new(Instant::now()) }
    }

    /// Prints a line above the progress.
    pub(super) fn note(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| note(line)),
            None => note(line),
        }
    }

    /// Shows that `done` of `all` steps are done. `all` may grow.
    pub(super) fn set(&self, done: usize, all: usize) {
        let line = format!("{}: {done} of {all}", self.what);
        match &self.bar {
            Some(bar) => bar.set_message(line),
            None => {
                let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
                if printed.elapsed() >= LINE_EVERY {
                    *printed = Instant::now();
                    note(&line);
                }
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
