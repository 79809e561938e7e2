//! The job by which the servers on one database limit log-in attempts together.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use svc_auth::{RandomSourceError, Secret, random_text};
use svc_site::{
    Site,
    jobs::{Job, Next, Outcome, RunsOn},
};
use svc_store::login_attempts;
use svc_versions::Context;

use crate::Attempts;

/// How often servers exchange what they have counted.
const INTERVAL: Duration = Duration::from_secs(1);

/// Length of the name of a server, which is random.
const NAME_LENGTH: usize = 16;

/// Adds what this server has counted to the database, and counts what others have added. A log-in does not wait for it, and without the
/// database each server limits attempts by itself.
pub struct ShareAttempts {
    site: Arc<Site>,
    attempts: Arc<Attempts>,
    name: Secret,
    /// The last entry that was read.
    last: AtomicI64,
}

impl ShareAttempts {
    /// The job of a server.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn new(site: Arc<Site>, attempts: Arc<Attempts>) -> Result<Self, RandomSourceError> {
        Ok(ShareAttempts { site, attempts, name: random_text(NAME_LENGTH)?, last: AtomicI64::new(0) })
    }
}

impl Job for ShareAttempts {
    fn name(&self) -> &'static str {
        "share-login-attempts"
    }

    fn runs_on(&self) -> RunsOn {
        RunsOn::EachServer
    }

    async fn run(&self, cx: &Context) -> Outcome {
        let store = &self.site.store;
        let counted = self.attempts.take_unshared();
        let now = self.site.clock().and_utc().timestamp();
        if !counted.is_empty() {
            let (name, added) = (self.name.expose().to_owned(), counted.clone());
            let done = store.write(cx, move |tx| login_attempts::add(tx, &name, &added, now)).await;
            if let Err(error) = done {
                self.attempts.keep_unshared(counted);
                return Err(error.into());
            }
        }
        let after = self.last.load(Ordering::Relaxed);
        let (counted, last) = store.read(cx, |db| login_attempts::of_others(db, self.name.expose(), after, now))?;
        counted.iter().for_each(|counted| self.attempts.count_of_others(counted));
        self.last.store(last, Ordering::Relaxed);
        Ok(Next::After(INTERVAL))
    }
}
