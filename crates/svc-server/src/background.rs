//! Background work of a server that is not that of its site, and what `doctor` reports of all jobs.

use std::{path::PathBuf, sync::Arc, time::Duration};

use svc_backup::Backup;
use svc_certificates::Certificates;
use svc_site::jobs::{Job, JobState, JobTable, Next, Outcome, RunsOn, SaveJobStates, SavedJobStates};
use svc_store::SearchIndexer;
use svc_versions::Context;
use tokio::sync::Notify;

use crate::config::Config;

/// The states of the jobs of the running server, in the data folder.
const STATES_FILE: &str = "jobs.json";

/// The name of the work of the search index's thread.
const INDEX_JOB: &str = "update-search-index";

fn states_file(config: &Config) -> PathBuf {
    config.data.join(STATES_FILE)
}

/// Adds the job that saves the states of all jobs for `doctor`.
pub(crate) fn with_saved_states(table: JobTable, config: &Config) -> JobTable {
    let save = SaveJobStates::new(table.states(), states_file(config));
    table.with(save)
}

/// Reads the files of the certificate again when they have changed, or gets and renews a certificate.
pub(crate) struct WatchCertificate(pub(crate) Arc<Certificates>);

impl Job for WatchCertificate {
    fn name(&self) -> &'static str {
        "watch-certificate"
    }

    fn runs_on(&self) -> RunsOn {
        RunsOn::EachServer
    }

    fn wake(&self) -> Option<&Notify> {
        self.0.wake()
    }

    async fn run(&self, _: &Context) -> Outcome {
        Ok(Next::After(self.0.look().await?))
    }
}

/// Adds the threads that keep the search index current and copy the database and files, as far as they run.
pub(crate) fn with_threads(table: JobTable, index: Option<&SearchIndexer>, backup: Option<&Backup>) -> JobTable {
    let index = index.map(|indexer| (INDEX_JOB, indexer.steps()));
    let threads = index.into_iter().chain(backup.into_iter().flat_map(Backup::runs));
    threads.fold(table, |table, (name, runs)| table.with_thread(name, runs))
}

/// The background jobs of the running server, as a title and rows for `doctor`; only a title if no server runs.
pub(crate) fn report(config: &Config) -> (String, Vec<Vec<String>>) {
    match SavedJobStates::read(&states_file(config)) {
        Ok(Some((states, age))) => {
            let title = format!("background jobs of the server, {} ago:", seconds(age));
            (title, states.jobs.iter().map(|job| columns(job, age)).collect())
        }
        Ok(None) => ("background jobs: no server is running".to_owned(), Vec::new()),
        Err(error) => (format!("background jobs: their states cannot be read: {error}"), Vec::new()),
    }
}

/// Name, next run, last run and result of a job whose state has this age.
fn columns(JobState { name, runs: job, runs_elsewhere }: &JobState, age: Duration) -> Vec<String> {
    let result = match (&job.last_error, job.n_failures) {
        (Some(error), 1..) => {
            let error = error.replace(char::is_control, " ");
            format!("failing ({} in a row): {error}", job.n_failures)
        }
        _ if job.n_runs > 0 => "good".to_owned(),
        _ => "has not run yet".to_owned(),
    };
    let last = match (job.since_last_run, job.duration) {
        (Some(_), _) if job.is_running => String::new(),
        (Some(since), Some(took)) => format!("last run {} ago, took {} ms", seconds(since + age), took.as_millis()),
        _ => String::new(),
    };
    if let Some(server) = runs_elsewhere {
        let server = if server.is_empty() { "another server" } else { server };
        return vec![name.to_string(), format!("runs on {}", server.replace(char::is_control, " ")), last, result];
    }
    let next = match (job.is_running, job.until_next_run, job.since_last_run) {
        (true, _, Some(since)) => format!("running for {}", seconds(since + age)),
        (_, Some(until), _) => format!("next in {}", seconds(until.saturating_sub(age))),
        _ => "next when something is to be done".to_owned(),
    };
    vec![name.to_string(), next, last, result]
}

fn seconds(time: Duration) -> String {
    match time.as_secs() {
        n if n < 120 => format!("{n} s"),
        n if n < 7_200 => format!("{} min", n / 60),
        n => format!("{} h", n / 3_600),
    }
}

#[cfg(test)]
mod tests {
    use svc_metrics::RunReport;

    use super::*;

    #[test]
    fn jobs_are_described_with_result_last_and_next_run() {
        const AGE: Duration = Duration::from_secs(2);
        let state = |runs: &RunReport| JobState { name: "job".into(), runs: runs.clone(), runs_elsewhere: None };
        let elsewhere =
            |server: &str| JobState { runs_elsewhere: Some(server.to_owned()), ..state(&RunReport::default()) };
        let columns = |runs: &RunReport| columns(&state(runs), AGE);
        let job = RunReport { until_next_run: Some(Duration::from_secs(602)), ..RunReport::default() };
        assert_eq!(columns(&job), ["job", "next in 10 min", "", "has not run yet"]);
        let (second, took) = (Some(Duration::from_secs(1)), Some(Duration::from_millis(2)));
        let ran = RunReport { n_runs: 1, since_last_run: second, duration: took, ..job };
        let last = "last run 3 s ago, took 2 ms";
        assert_eq!(columns(&ran), ["job", "next in 10 min", last, "good"]);
        let waits = RunReport { until_next_run: None, ..ran.clone() };
        assert_eq!(columns(&waits), ["job", "next when something is to be done", last, "good"]);
        let runs = RunReport { is_running: true, ..waits.clone() };
        assert_eq!(columns(&runs), ["job", "running for 3 s", "", "good"]);
        let recovered = RunReport { last_error: Some("full".to_owned()), ..waits };
        assert_eq!(columns(&recovered)[3], "good");
        for (server, shown) in [("web2, process 7", "runs on web2, process 7"), ("", "runs on another server")] {
            assert_eq!(super::columns(&elsewhere(server), AGE)[..2], ["job", shown]);
        }
        let failing = RunReport { n_failures: 3, ..recovered };
        assert_eq!(columns(&failing)[3], "failing (3 in a row): full");
    }
}
