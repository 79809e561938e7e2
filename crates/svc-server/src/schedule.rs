//! The task that publishes posts when their time comes: at that moment, and now and then besides, since other programs
//! write to the same database. When it starts, it removes the files of uploads that an earlier run did not finish.

use std::{sync::Arc, time::Duration};

use chrono::{NaiveDateTime, TimeDelta};
use svc_controllers::RestSite;
use svc_site::schedule;
use tokio::task::JoinHandle;

/// How long it sleeps at most.
const INTERVAL: Duration = Duration::from_secs(60);

/// How long it sleeps at least: so a post that cannot be published does not keep it busy.
const PAUSE: Duration = Duration::from_millis(200);

/// The task; it ends when this is dropped.
#[derive(Debug)]
#[must_use = "the task ends when this is dropped"]
pub struct Schedule(JoinHandle<()>);

impl Schedule {
    /// Starts the task on this site.
    pub(crate) fn start(site: Arc<RestSite>) -> Self {
        Schedule(tokio::spawn(async move {
            svc_site::media::delete::remove_interrupted_uploads(&site).await;
            loop {
                let now = site.now();
                let next = match schedule::publish_due(&site.site, now).await {
                    Ok(round) => {
                        if round.published > 0 {
                            tracing::info!(published = round.published, "scheduled posts");
                        }
                        round.next
                    }
                    // Its cause has been logged where it became an error of the interface.
                    Err(_) => None,
                };
                // Whoever schedules a post in the meantime wakes the task.
                let woken = site.scheduled.notified();
                drop(tokio::time::timeout(pause(site.now(), next), woken).await);
            }
        }))
    }
}

impl Schedule {
    /// Ends the task, and waits until it has ended.
    pub async fn stop(mut self) {
        self.0.abort();
        // It was aborted, so there is nothing to learn from how it ended.
        drop((&mut self.0).await);
    }
}

impl Drop for Schedule {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// How long to sleep until the next post is due.
fn pause(now: NaiveDateTime, next: Option<NaiveDateTime>) -> Duration {
    let until = next.map_or(TimeDelta::MAX, |next| next - now);
    until.to_std().unwrap_or(PAUSE).clamp(PAUSE, INTERVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_sleeps_until_the_next_post_is_due_and_no_longer_than_the_interval() {
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
