//! The job that publishes scheduled posts.

use std::{sync::Arc, time::Duration};

use chrono::{NaiveDateTime, TimeDelta};
use svc_versions::Context;
use tokio::sync::Notify;

use super::{Job, Next, Outcome, RunsOn};
use crate::{Site, schedule::publish_due};

/// Maximum time between two runs.
const INTERVAL: Duration = Duration::from_secs(60);

/// Minimum time between two runs, in case a post cannot be published.
const PAUSE: Duration = Duration::from_millis(200);

/// Publishes posts when they are due. It also runs at a regular interval, since other programs may schedule posts in the
/// same database.
pub struct PublishPosts(pub Arc<Site>);

impl Job for PublishPosts {
    fn name(&self) -> &'static str {
        "publish-posts"
    }

    fn runs_on(&self) -> RunsOn {
        RunsOn::OneServer
    }

    fn wake(&self) -> Option<&Notify> {
        Some(self.0.scheduled.notify())
    }

    fn max_backoff(&self) -> Duration {
        INTERVAL
    }

    async fn run(&self, cx: &Context) -> Outcome {
        let run = publish_due(cx, &self.0, self.0.clock()).await?;
        if run.published > 0 {
            tracing::info!(published = run.published, "published scheduled posts");
        }
        Ok(Next::After(pause(self.0.clock(), run.next)))
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
