//! Sends purges.

use std::{sync::Arc, time::Duration};

use svc_outbox::Message;
use svc_site::{
    Site,
    jobs::{Attempt, Courier},
};
use svc_versions::Context;

use super::{
    Receiver,
    queue::{Payload, QUEUE},
};
use crate::received::{excerpt, without_response};

/// The pauses between attempts, a day in all: after that, responses have expired.
const SCHEDULE: [Duration; 9] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_mins(5),
    Duration::from_mins(30),
    Duration::from_hours(2),
    Duration::from_hours(5),
    Duration::from_hours(16),
];

/// How long purges are kept for the record.
const RETENTION: Duration = Duration::from_hours(1);

/// Sends purges to the caches.
pub struct Purges {
    /// The site.
    pub site: Arc<Site>,
    /// The caches.
    pub receiver: Arc<Receiver>,
}

impl Courier for Purges {
    const QUEUE: &'static str = QUEUE;
    const JOB: &'static str = "send-purges";
    const TIMEOUT: Duration = Duration::from_secs(30);

    fn retention(&self) -> Duration {
        RETENTION
    }

    fn schedule(&self) -> &[Duration] {
        &SCHEDULE
    }

    async fn deliver(&self, _: &Context, message: &Message) -> Attempt {
        let Ok(Payload { tags }) = serde_json::from_str(&message.payload) else {
            return Attempt::Refused("not readable".to_owned());
        };
        let tags: Vec<String> = tags.into_iter().collect();
        for request in self.receiver.requests(&tags) {
            match self.site.services.http_client.post(request).await {
                Ok(response) if self.receiver.is_done(response.status) => {}
                Ok(response) => {
                    let reason = format!("{}: {}", response.status, excerpt(&response));
                    return Attempt::Failed { reason, retry_after: None };
                }
                Err(error) => return without_response(&error),
            }
        }
        Attempt::Delivered(format!("{} tags", tags.len()))
    }
}
