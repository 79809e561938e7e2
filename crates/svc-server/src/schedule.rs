//! The background tasks of a site.
//!
//! One publishes scheduled posts: when they are due, and at a regular interval, since other programs may schedule posts
//! in the same database. On start it removes the files of interrupted uploads. One looks for changed files of the theme. One
//! corrects the numbers of posts per term once a day, and rests much longer than it works.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use chrono::{NaiveDateTime, TimeDelta};
use svc_controllers::RestSite;
use svc_site::{schedule, terms::counts::CountCheck};
use svc_versions::Context;
use tokio::task::JoinHandle;

/// Maximum time between two runs.
const INTERVAL: Duration = Duration::from_secs(60);

/// Time between two checks of the theme's files.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);

/// Minimum time between two runs, in case a post cannot be published.
const PAUSE: Duration = Duration::from_millis(200);

/// Time from the start to the first check of term counts.
const FIRST_CHECK: Duration = Duration::from_mins(10);

/// Time between two checks of term counts.
const CHECK_INTERVAL: Duration = Duration::from_hours(24);

/// Minimum time between two steps of a check.
const CHECK_PAUSE: Duration = Duration::from_millis(100);

/// How much longer a check rests than it works.
const REST: u32 = 50;

/// The tasks. They stop when this is dropped.
#[derive(Debug)]
#[must_use = "the tasks stop when this is dropped"]
pub struct Schedule {
    publish: JoinHandle<()>,
    watch: JoinHandle<()>,
    check: JoinHandle<()>,
}

impl Schedule {
    /// Starts the tasks.
    pub(crate) fn start(site: Arc<RestSite>) -> Self {
        let watch = tokio::spawn(watch_theme(Arc::clone(&site)));
        let check = tokio::spawn(check_counts(Arc::clone(&site)));
        let publish = tokio::spawn(async move {
            let cx = Context::background();
            svc_site::media::delete::remove_interrupted_uploads(&site).await;
            loop {
                let now = site.clock();
                let next = match schedule::publish_due(&cx, &site.site, now).await {
                    Ok(round) => {
                        if round.published > 0 {
                            tracing::info!(published = round.published, "published scheduled posts");
                        }
                        round.next
                    }
                    // The cause was logged where it became an API error.
                    Err(_) => None,
                };
                // Scheduling a post wakes the task.
                let woken = site.scheduled.notified();
                drop(tokio::time::timeout(pause(site.clock(), next), woken).await);
            }
        });
        Schedule { publish, watch, check }
    }
}

impl Schedule {
    /// Stops the tasks and waits for their end.
    pub async fn stop(mut self) {
        for task in [&mut self.publish, &mut self.watch, &mut self.check] {
            task.abort();
            // The result is always a cancellation.
            drop(task.await);
        }
    }
}

impl Drop for Schedule {
    fn drop(&mut self) {
        self.publish.abort();
        self.watch.abort();
        self.check.abort();
    }
}

/// Checks the files of the theme regularly, so that responses that depend on them are cached until they change.
async fn watch_theme(site: Arc<RestSite>) {
    loop {
        let site = Arc::clone(&site);
        let watched = tokio::task::spawn_blocking(move || site.watch_theme(&Context::background()));
        // Without settings, responses depend on the theme for a second only.
        drop(watched.await);
        tokio::time::sleep(WATCH_INTERVAL).await;
    }
}

/// Checks the numbers of posts per term, again and again.
async fn check_counts(site: Arc<RestSite>) {
    let mut next = FIRST_CHECK;
    loop {
        tokio::time::sleep(next).await;
        next = CHECK_INTERVAL;
        let mut check = CountCheck::default();
        loop {
            let started = Instant::now();
            match check.step(&Context::background(), &site.site).await {
                Ok(None) => {}
                Ok(Some(n_corrected)) => {
                    if n_corrected > 0 {
                        tracing::info!(n_corrected, "corrected numbers of posts per term");
                    }
                    break;
                }
                // The cause was logged where it became an API error.
                Err(_) => break,
            }
            tokio::time::sleep((started.elapsed() * REST).max(CHECK_PAUSE)).await;
        }
    }
}

/// Time to sleep until the next post is due.
fn pause(now: NaiveDateTime, next: Option<NaiveDateTime>) -> Duration {
    let until = next.map_or(TimeDelta::MAX, |next| next - now);
    until.to_std().unwrap_or(PAUSE).clamp(PAUSE, INTERVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeps_until_the_next_post_is_due() {
        let now = NaiveDateTime::default();
        let in_seconds = |n: i64| Some(now + TimeDelta::seconds(n));
        for (next, expected) in [
            (None, INTERVAL),
            (in_seconds(7), Duration::from_secs(7)),
            (in_seconds(3600), INTERVAL),
            (in_seconds(0), PAUSE),
            (in_seconds(-3600), PAUSE),
        ] {
            assert_eq!(pause(now, next), expected, "{next:?}");
        }
    }
}
