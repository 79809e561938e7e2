//! The job that corrects the numbers of posts per term.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use svc_versions::Context;

use super::{Job, Next, Outcome, RunsOn};
use crate::{Site, terms::counts::CountCheck};

/// Time from the start to the first check.
const FIRST_CHECK: Duration = Duration::from_mins(10);

/// Time between two checks.
const CHECK_INTERVAL: Duration = Duration::from_hours(24);

/// Minimum time between two steps of a check.
const STEP_PAUSE: Duration = Duration::from_millis(100);

/// How much longer a check rests than it works.
const REST: u32 = 50;

/// Checks the numbers of posts per term once a day. A run is one step of a check.
pub struct CheckTermCounts {
    site: Arc<Site>,
    check: Mutex<CountCheck>,
}

impl CheckTermCounts {
    /// The job for this site.
    pub fn new(site: Arc<Site>) -> Self {
        CheckTermCounts { site, check: Mutex::default() }
    }

    fn check(&self) -> MutexGuard<'_, CountCheck> {
        self.check.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Job for CheckTermCounts {
    fn name(&self) -> &'static str {
        "check-term-counts"
    }

    fn runs_on(&self) -> RunsOn {
        RunsOn::OneServer
    }

    fn first_run(&self) -> Duration {
        FIRST_CHECK
    }

    fn max_backoff(&self) -> Duration {
        Duration::from_hours(1)
    }

    async fn run(&self, cx: &Context) -> Outcome {
        let started = Instant::now();
        // A step that fails is repeated.
        let mut check = *self.check();
        let Some(n_corrected) = check.step(cx, &self.site).await? else {
            *self.check() = check;
            return Ok(Next::After((started.elapsed() * REST).max(STEP_PAUSE)));
        };
        *self.check() = CountCheck::default();
        if n_corrected > 0 {
            tracing::info!(n_corrected, "corrected numbers of posts per term");
        }
        Ok(Next::After(CHECK_INTERVAL))
    }
}
