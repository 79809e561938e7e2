//! Sends deliveries.

use std::{sync::Arc, time::Duration};

use svc_fetch::{FetchError, FetchedResponse, Post};
use svc_outbox::Message;
use svc_site::{
    Site, SiteResult,
    jobs::{Attempt, Courier},
};
use svc_store::Tx;
use svc_versions::Context;

use super::{Webhook, deliveries, sign, stored};
use crate::received::{excerpt, without_response};

/// The pauses between attempts, two days in all.
const SCHEDULE: [Duration; 9] = [
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_mins(5),
    Duration::from_mins(30),
    Duration::from_hours(2),
    Duration::from_hours(5),
    Duration::from_hours(10),
    Duration::from_hours(10),
    Duration::from_hours(10),
];

/// A webhook whose deliveries have failed for this time, in seconds, is switched off.
const MAX_FAILING: i64 = 5 * 86_400;

/// How long deliveries are kept.
const RETENTION: Duration = Duration::from_hours(7 * 24);

/// Time limit for the response of a receiver. It has to accept a delivery, not to act on it.
const RESPONSE: Duration = Duration::from_secs(15);

/// Sends deliveries to the receivers of webhooks.
pub struct Webhooks(pub Arc<Site>);

impl Courier for Webhooks {
    const QUEUE: &'static str = deliveries::QUEUE;
    const JOB: &'static str = "send-webhooks";
    const TIMEOUT: Duration = Duration::from_secs(20);

    fn retention(&self) -> Duration {
        RETENTION
    }

    fn schedule(&self) -> &[Duration] {
        &SCHEDULE
    }

    async fn deliver(&self, cx: &Context, message: &Message) -> Attempt {
        let Some(payload) = deliveries::payload(message) else { return Attempt::Refused("not readable".to_owned()) };
        let found = self.0.read(cx, stored::list);
        let hook = match found {
            Ok(hooks) => hooks.into_iter().find(|hook| hook.id == payload.webhook),
            Err(error) => return failed(error.message().to_owned(), None),
        };
        let Some(hook) = hook else { return Attempt::Refused("the webhook was deleted".to_owned()) };
        if !hook.active {
            return Attempt::Refused("the webhook is switched off".to_owned());
        }
        let now = self.0.clock().and_utc().timestamp();
        let began = std::time::Instant::now();
        let response = self.0.services.http_client.post(request(&hook, &message.id, &payload.body, now)).await;
        let attempt = judge(response, began.elapsed());
        self.record(cx, &hook, &attempt, now).await;
        attempt
    }
}

impl Webhooks {
    /// Records whether the receiver works, if that has changed, and switches a webhook off that has failed for too long.
    async fn record(&self, cx: &Context, hook: &Webhook, attempt: &Attempt, now: i64) {
        let id = hook.id.clone();
        let done = match (attempt, hook.failing_since) {
            (Attempt::Delivered(_), None) => return,
            (Attempt::Delivered(_), Some(_)) => self.change(cx, move |tx| stored::set_working(tx, &id)).await,
            (Attempt::Refused(reason), _) if reason.starts_with(GONE) => {
                let reason = "the receiver has answered that it does not want deliveries any more (410)";
                tracing::warn!(webhook = hook.id, url = hook.url, "switched off a webhook: {reason}");
                self.change(cx, move |tx| stored::switch_off(tx, &id, reason)).await
            }
            (_, None) => self.change(cx, move |tx| stored::set_failing(tx, &id, now)).await,
            (_, Some(since)) if now - since >= MAX_FAILING => {
                tracing::warn!(webhook = hook.id, url = hook.url, "switched off a webhook whose deliveries fail");
                self.change(cx, move |tx| stored::switch_off(tx, &id, "deliveries have failed for five days")).await
            }
            (_, Some(_)) => return,
        };
        if let Err(error) = done {
            tracing::warn!(webhook = hook.id, error = error.message(), "cannot record the state of a webhook");
        }
    }

    async fn change(
        &self,
        cx: &Context,
        change: impl Fn(&mut Tx) -> SiteResult<Option<Webhook>> + Send + 'static,
    ) -> Result<(), svc_schema::Error> {
        self.0.write(cx, move |tx| change(tx).map(drop)).await
    }
}

/// The request of a delivery.
fn request(hook: &Webhook, id: &str, body: &str, now: i64) -> Post {
    let signatures = hook.secrets.iter().filter_map(|secret| sign::signature(secret, id, now, body));
    let signatures = signatures.collect::<Vec<_>>().join(" ");
    Post::new(&hook.url, body)
        .within(RESPONSE)
        .header("content-type", "application/json")
        .header("webhook-id", id)
        .header("webhook-timestamp", now.to_string())
        .header("webhook-signature", signatures)
}

fn failed(reason: String, retry_after: Option<Duration>) -> Attempt {
    Attempt::Failed { reason, retry_after }
}

/// The status with which a receiver asks for no more deliveries.
const GONE: &str = "410";

/// What a response means.
fn judge(response: Result<FetchedResponse, FetchError>, took: Duration) -> Attempt {
    let response = match response {
        Ok(response) => response,
        Err(error) => return without_response(&error),
    };
    let record = format!("{} in {} ms: {}", response.status, took.as_millis(), excerpt(&response));
    match response.status {
        200..300 => Attempt::Delivered(record),
        410 => Attempt::Refused(record),
        300..400 => failed(format!("{record} (redirects are not followed)"), None),
        _ => {
            let seconds = response.header("retry-after").trim().parse().ok();
            failed(record, seconds.map(Duration::from_secs))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_decide_what_becomes_of_a_delivery() {
        let judged = |status, headers: &[(&'static str, &'static str)]| {
            let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
            judge(Ok(FetchedResponse { status, headers, body: b"text".to_vec(), url: String::new() }), Duration::ZERO)
        };
        assert_eq!(judged(204, &[]), Attempt::Delivered("204 in 0 ms: text".to_owned()));
        assert_eq!(judged(410, &[]), Attempt::Refused("410 in 0 ms: text".to_owned()));
        let after = |attempt| match attempt {
            Attempt::Failed { retry_after, .. } => retry_after,
            other => panic!("{other:?}"),
        };
        assert_eq!(after(judged(302, &[("location", "http://127.0.0.1/")])), None);
        assert_eq!(after(judged(503, &[("retry-after", "30")])), Some(Duration::from_secs(30)));
        assert_eq!(after(judged(404, &[])), None);
        let refused = judge(Err(FetchError::ForbiddenPort(25)), Duration::ZERO);
        assert!(matches!(refused, Attempt::Refused(_)));
        assert!(matches!(judge(Err(FetchError::Unresolved), Duration::ZERO), Attempt::Failed { .. }));
    }

    #[test]
    fn the_schedule_is_from_seconds_to_hours() {
        assert_eq!((SCHEDULE[0], SCHEDULE[SCHEDULE.len() - 1]), (Duration::from_secs(5), Duration::from_hours(10)));
        assert!(SCHEDULE.is_sorted());
    }
}
