//! Background work: jobs, the table that lists them, and the supervisor that runs them.
//!
//! A [`Job`] does one piece of work per run and returns when the next run is due. A [`JobTable`] lists the jobs of a
//! server; starting it returns the [`Supervisor`], which runs each job in a task of its own. Jobs share no queue: a slow
//! job delays no other one. The jobs of a site are in the modules below; the server chooses which ones it runs.
//!
//! Work that needs a thread of its own, such as the search index, is no job; the table has its state all the same
//! ([`JobTable::with_thread`]).
//!
//! Of several servers on one database, one runs the jobs that are for [one server](RunsOn::OneServer).

mod check_term_counts;
mod deliver;
mod hold_lease;
mod publish_posts;
mod remove_interrupted_uploads;
mod saved_states;
mod send_mails;
mod state;
mod supervisor;
#[cfg(test)]
mod tests;
mod watch_theme;

use std::{error::Error, time::Duration};

use svc_versions::Context;
use tokio::sync::Notify;

pub use check_term_counts::CheckTermCounts;
pub use deliver::{Attempt, Courier, Deliver};
pub use publish_posts::PublishPosts;
pub use remove_interrupted_uploads::RemoveInterruptedUploads;
pub use saved_states::{SaveJobStates, SavedJobStates};
pub use send_mails::SendMails;
pub use state::{JobState, JobStates};
pub use supervisor::{JobTable, Supervisor};
pub use watch_theme::WatchTheme;

/// Background work that is repeated.
///
/// A run does a bounded amount of work: stopping the server waits for it. Work that takes long is divided into runs, and
/// the job keeps where it is.
pub trait Job: Send + Sync + 'static {
    /// The name in logs: an imperative with hyphens, such as `publish-posts`.
    fn name(&self) -> &'static str;

    /// Whether each of several servers on one database runs the job, or one of them.
    fn runs_on(&self) -> RunsOn;

    /// Time from the start of the supervisor to the first run.
    fn first_run(&self) -> Duration {
        Duration::ZERO
    }

    /// When this is notified, the next run begins at once. A notification during a run counts for the next one.
    fn wake(&self) -> Option<&Notify> {
        None
    }

    /// The longest pause after failures. The first one lasts a second, and each further failure in a row doubles it.
    fn max_backoff(&self) -> Duration {
        Duration::from_mins(1)
    }

    /// Does the work. Each run has a context of its own. A panic counts as an error.
    fn run(&self, cx: &Context) -> impl Future<Output = Outcome> + Send;

    /// Completes what runs have begun and left to other tasks. Called once, after the last run. It is cancelled as a run is.
    fn stop(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }
}

/// Which of several servers on one database run a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunsOn {
    /// Each, because it works for the server itself: with its caches, files or connections.
    EachServer,
    /// The one that holds the lease ([`JobTable::with_lease`]). The transactions of a run fail once another server has it, so what is
    /// written does not depend on clocks.
    OneServer,
}

/// When the next run is due, or why a run failed. The supervisor logs the error and repeats a run that failed.
pub type Outcome = Result<Next, Box<dyn Error + Send + Sync>>;

/// When the next run of a job is due, unless [`Job::wake`] is notified before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// After this time.
    After(Duration),
    /// Never: only a notification causes another run.
    Never,
}
