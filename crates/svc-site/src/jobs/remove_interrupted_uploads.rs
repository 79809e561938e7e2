//! The job that removes the files of interrupted uploads.

use std::{sync::Arc, time::Duration};

use svc_store::posts;
use svc_versions::Context;

use super::{Job, Next, Outcome, RunsOn};
use crate::Site;

/// Removes the files of uploads that were interrupted by the end of an earlier process, unless an attachment refers to
/// them. It runs once.
pub struct RemoveInterruptedUploads(pub Arc<Site>);

impl Job for RemoveInterruptedUploads {
    fn name(&self) -> &'static str {
        "remove-interrupted-uploads"
    }

    fn runs_on(&self) -> RunsOn {
        RunsOn::EachServer
    }

    fn max_backoff(&self) -> Duration {
        Duration::from_hours(1)
    }

    async fn run(&self, _cx: &Context) -> Outcome {
        let store = &self.0.store;
        let is_used = |paths: &[String]| store.read_blocking(|db| posts::is_attached_file(db, paths));
        let n_removed = self.0.services.uploads.remove_interrupted(is_used).await?;
        if n_removed > 0 {
            tracing::info!(uploads = n_removed, "removed the files of interrupted uploads");
        }
        Ok(Next::Never)
    }
}
