//! Sends the mails of the queue.

use std::{sync::Arc, time::Duration};

use svc_mail::SendError;
use svc_outbox::Message;
use svc_versions::Context;

use super::{Attempt, Courier};
use crate::{
    Site,
    mail::{QUEUE, StoredMail},
};

const SECOND: u64 = 1;
const MINUTE: u64 = 60;
const HOUR: u64 = 3_600;

/// The pauses after failures: a mail server that is away for half a day loses no mail.
const SCHEDULE: [Duration; 8] = [
    Duration::from_secs(5 * SECOND),
    Duration::from_secs(30 * SECOND),
    Duration::from_secs(2 * MINUTE),
    Duration::from_secs(10 * MINUTE),
    Duration::from_secs(30 * MINUTE),
    Duration::from_secs(HOUR),
    Duration::from_secs(3 * HOUR),
    Duration::from_secs(10 * HOUR),
];

/// Time for which mails are kept after they were sent or given up.
const RETENTION: Duration = Duration::from_secs(7 * 24 * HOUR);

/// Sends mails with the site's mailer.
pub struct SendMails(pub Arc<Site>);

impl Courier for SendMails {
    const QUEUE: &'static str = QUEUE;
    const JOB: &'static str = "send-mails";
    const TIMEOUT: Duration = Duration::from_mins(1);

    fn retention(&self) -> Duration {
        RETENTION
    }

    fn schedule(&self) -> &[Duration] {
        &SCHEDULE
    }

    async fn deliver(&self, _: &Context, message: &Message) -> Attempt {
        let Some(mailer) = &self.0.services.mailer else {
            return Attempt::Failed { reason: "mail is not configured".to_owned(), retry_after: None };
        };
        let mail: StoredMail = match serde_json::from_str(&message.payload) {
            Ok(mail) => mail,
            Err(error) => return Attempt::Refused(format!("the stored mail cannot be read: {error}")),
        };
        match mailer.send(&message.id, &mail.with_key(self.0.keys())).await {
            Ok(reply) => Attempt::Delivered(reply),
            Err(SendError::Temporary(reason)) => Attempt::Failed { reason, retry_after: None },
            Err(SendError::Permanent(reason)) => Attempt::Refused(reason),
        }
    }
}
