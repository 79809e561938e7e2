//! The states of the jobs in a file, for programs such as `doctor` that run next to the server.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Serialize};
use svc_versions::Context;

use super::{Job, JobState, JobStates, Next, Outcome, RunsOn};
use crate::blocking::run_blocking;

/// Time from the start to the first file, when other jobs have run.
const FIRST_RUN: Duration = Duration::from_secs(1);

/// Time between two files.
const INTERVAL: Duration = Duration::from_secs(30);

/// The states of the jobs at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedJobStates {
    /// The time.
    saved: SystemTime,
    /// The jobs, in the order of the table.
    pub jobs: Vec<JobState>,
}

impl SavedJobStates {
    fn of(jobs: Vec<JobState>) -> Self {
        SavedJobStates { saved: SystemTime::now(), jobs }
    }

    /// Reads the states that a running server has saved, with the time since then. `None` if no server runs. A server that was killed
    /// leaves its file: more than a minute means that it does not run any more.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(file: &Path) -> io::Result<Option<(Self, Duration)>> {
        let text = match std::fs::read(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let states: SavedJobStates = serde_json::from_slice(&text)?;
        let age = states.saved.elapsed().unwrap_or_default();
        Ok((age <= 2 * INTERVAL).then_some((states, age)))
    }

    /// Replaces the file, which only the owner may read: errors name files and servers.
    fn write(&self, file: &Path) -> io::Result<()> {
        let new = file.with_extension("new");
        svc_files::private().create(true).truncate(true).open(&new)?.write_all(&serde_json::to_vec_pretty(self)?)?;
        std::fs::rename(&new, file)
    }
}

/// Saves the states of the jobs regularly, and removes the file at the end.
pub struct SaveJobStates {
    states: JobStates,
    file: PathBuf,
}

impl SaveJobStates {
    /// The job for these states and this file.
    pub fn new(states: JobStates, file: PathBuf) -> Self {
        SaveJobStates { states, file }
    }
}

impl Job for SaveJobStates {
    fn name(&self) -> &'static str {
        "save-job-states"
    }

    fn runs_on(&self) -> RunsOn {
        RunsOn::EachServer
    }

    fn first_run(&self) -> Duration {
        FIRST_RUN
    }

    async fn run(&self, _: &Context) -> Outcome {
        let (states, file) = (SavedJobStates::of(self.states.get()), self.file.clone());
        run_blocking(move || states.write(&file)).await??;
        Ok(Next::After(INTERVAL))
    }

    async fn stop(&self) {
        let file = self.file.clone();
        // What is left over is ignored after a minute.
        drop(run_blocking(move || std::fs::remove_file(&file)).await);
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Instant};

    use svc_metrics::RunCounts;

    use super::*;
    use crate::jobs::JobTable;

    #[tokio::test]
    async fn states_are_saved_until_the_server_stops() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("jobs.json");
        assert_eq!(SavedJobStates::read(&file).unwrap(), None);
        let (runs, now) = (Arc::new(RunCounts::default()), Instant::now());
        for _ in 0..2 {
            runs.begin(now);
            runs.end(now, Some("full".to_owned()));
        }
        runs.wait(Some(now + Duration::from_secs(100)));
        let table = JobTable::new().with_thread("thread", runs);
        let job = SaveJobStates::new(table.states(), file.clone());
        assert_eq!(job.run(&Context::background()).await.unwrap(), Next::After(INTERVAL));
        let _supervised = table.with(job);
        let (SavedJobStates { jobs, .. }, age) = SavedJobStates::read(&file).unwrap().expect("states");
        let [thread] = &jobs[..] else { panic!("one job") };
        let JobState { name, runs, .. } = thread;
        assert_eq!((&**name, runs.n_failures, runs.last_error.as_deref()), ("thread", 2, Some("full")));
        assert!(runs.until_next_run.unwrap() > Duration::from_secs(90) && runs.since_last_run.is_some());
        assert!(age < Duration::from_secs(30));

        let mut old = SavedJobStates::of(Vec::new());
        old.saved -= 3 * INTERVAL;
        old.write(&file).unwrap();
        assert_eq!(SavedJobStates::read(&file).unwrap(), None, "of a server that was killed");
        SaveJobStates::new(JobStates::default(), file.clone()).stop().await;
        assert!(!file.exists());
    }
}
