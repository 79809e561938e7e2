//! The background jobs of a server in front of a WordPress.

use std::{sync::Arc, time::Duration};

use svc_bridge::Watch;
use svc_site::jobs::{Job, JobTable, Next, Outcome, RunsOn};
use svc_versions::Context;

/// Time between two looks while there are no news of writes.
const RETRY: Duration = Duration::from_secs(2);

/// Time between two reports.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// The jobs that look for news of writes, and write the report for `doctor`.
pub(super) fn table(watch: &Arc<Watch>) -> JobTable {
    JobTable::new().with(WatchWrites(Arc::clone(watch))).with(SaveReplayReport(Arc::clone(watch)))
}

/// Looks for the best news of writes. The feeds themselves have threads: they wait for the database in blocking reads.
struct WatchWrites(Arc<Watch>);

impl Job for WatchWrites {
    fn name(&self) -> &'static str {
        "watch-writes"
    }

    fn runs_on(&self) -> RunsOn {
        RunsOn::EachServer
    }

    fn max_backoff(&self) -> Duration {
        RETRY
    }

    async fn run(&self, _: &Context) -> Outcome {
        match self.0.look().await {
            Ok(pause) => Ok(Next::After(pause)),
            Err(why) => Err(format!("nothing is replayed: {why}").into()),
        }
    }
}

/// Writes what is replayed to a file for `doctor`.
struct SaveReplayReport(Arc<Watch>);

impl Job for SaveReplayReport {
    fn name(&self) -> &'static str {
        "save-replay-report"
    }

    fn runs_on(&self) -> RunsOn {
        RunsOn::EachServer
    }

    async fn run(&self, _: &Context) -> Outcome {
        self.0.write_report().await?;
        Ok(Next::After(REPORT_INTERVAL))
    }
}
