//! The job that holds the lease of the jobs for one server.

use std::{sync::Arc, time::Duration};

use svc_store::Lease;
use svc_versions::Context;

use super::{Job, Next, Outcome, RunsOn};

/// Renews the lease, or takes it when the server that holds it is gone.
pub(super) struct HoldLease(pub(super) Arc<Lease>);

impl Job for HoldLease {
    fn name(&self) -> &'static str {
        "hold-lease"
    }

    fn runs_on(&self) -> RunsOn {
        RunsOn::EachServer
    }

    fn max_backoff(&self) -> Duration {
        Duration::from_secs(1)
    }

    async fn run(&self, cx: &Context) -> Outcome {
        Ok(Next::After(self.0.look(cx).await?))
    }
}
