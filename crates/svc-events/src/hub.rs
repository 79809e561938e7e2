//! Sends new events to subscribers. Each event is looked up once for all anonymous subscribers, and once for each user among the others.

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use svc_auth::Caller;
use svc_model::UserId;
use svc_site::{
    Site,
    blocking::run_blocking,
    comments::moderation,
    jobs::{Job, Next, Outcome, RunsOn},
};
use svc_store::{ChangeRecord, Subscriber};
use svc_versions::Context;
use tokio::sync::Notify;

use crate::{
    source::{Batch, EventSource, From},
    subscribers::{Frames, Subscribers},
};

pub use crate::subscribers::{Frame, NotSubscribed, Subscription};

/// Maximum number of entries of the log per step.
const STEP: u32 = 500;

/// How often the log is read while there are subscribers, for changes of other programs. Own changes are sent at once.
const INTERVAL: Duration = Duration::from_secs(1);

/// Pause before a step, so that many changes are sent together.
const GATHER: Duration = Duration::from_millis(20);

/// Sends new events to subscribers. Cheap to clone; a job of the site.
#[derive(Clone)]
pub struct Hub(Arc<Inner>);

struct Inner {
    source: EventSource,
    wake: Notify,
    subscribers: Subscribers<UserId>,
}

impl Hub {
    /// A hub for the events of a source, which must be run as a job.
    pub fn new(source: EventSource) -> Self {
        let hub = Hub(Arc::new(Inner { source, wake: Notify::new(), subscribers: Subscribers::new() }));
        let site = Arc::clone(hub.0.source.site());
        site.store.subscribe(Arc::new(WakeUp(Arc::downgrade(&hub.0))));
        hub
    }

    /// Subscribes a user (0 for anonymous callers) that knows the events up to a number.
    ///
    /// # Errors
    /// If events in between were sent already, or the hub is closed.
    pub fn subscribe(&self, user: UserId, last: i64) -> Result<Subscription, NotSubscribed> {
        let (subscription, is_first) = self.0.subscribers.subscribe(user, last)?;
        if is_first {
            self.0.wake.notify_one();
        }
        Ok(subscription)
    }

    /// Ends all streams.
    pub fn close(&self) {
        self.0.subscribers.close();
    }
}

/// An event as a server-sent event. The id is its number, with which a client continues.
pub fn server_sent(event: &Value) -> String {
    let (seq, kind) = (&event["seq"], event["kind"].as_str().unwrap_or_default());
    format!("id: {seq}\nevent: {kind}\ndata: {event}\n\n")
}

impl Inner {
    /// Sends the next events. Returns whether there are more, or `None` without subscribers.
    fn step(&self, cx: &Context) -> Result<Option<bool>, svc_schema::Error> {
        let Some((position, mut users)) = self.subscribers.begin() else { return Ok(None) };
        let Some(batch) = self.source.read(cx, From::After(position), STEP)? else { return Ok(None) };
        let mut frames = Frames::new();
        loop {
            for user in users.drain(..) {
                frames.insert(user, self.frame(cx, &batch, user)?);
            }
            match self.subscribers.send(frames, batch.last) {
                Ok(()) => return Ok(Some(batch.more)),
                Err((of_others, others)) => (frames, users) = (of_others, others),
            }
        }
    }

    /// The events that a user sees; `None` if the user does not exist any more.
    fn frame(&self, cx: &Context, batch: &Batch, user: UserId) -> Result<Option<Frame>, svc_schema::Error> {
        if batch.events.is_empty() {
            return Ok(Some(Frame::default()));
        }
        let site: &Site = self.source.site();
        let caller = match user.is_none() {
            true => Some(Caller::default()),
            // With the rights that the user has now.
            false => site.read(cx, |db| moderation::user(db, batch.settings(), user))?,
        };
        let Some(caller) = caller else { return Ok(None) };
        let viewer = batch.viewer();
        let seen =
            batch.events.iter().filter_map(|event| Some((event.seq, server_sent(&viewer.json(&caller, event)?))));
        Ok(Some(Frame::new(seen.collect())))
    }
}

impl Job for Hub {
    fn name(&self) -> &'static str {
        "send-events"
    }

    fn runs_on(&self) -> RunsOn {
        RunsOn::EachServer
    }

    fn wake(&self) -> Option<&Notify> {
        Some(&self.0.wake)
    }

    fn max_backoff(&self) -> Duration {
        INTERVAL
    }

    async fn run(&self, cx: &Context) -> Outcome {
        tokio::time::sleep(GATHER).await;
        let (hub, cx) = (Arc::clone(&self.0), cx.clone());
        Ok(match run_blocking(move || hub.step(&cx)).await?? {
            None => Next::Never,
            Some(true) => Next::After(Duration::ZERO),
            Some(false) => Next::After(INTERVAL),
        })
    }
}

/// Wakes a hub after each transaction of this process.
struct WakeUp(std::sync::Weak<Inner>);

impl Subscriber for WakeUp {
    fn committed(&self, _: &ChangeRecord) {
        if let Some(hub) = self.0.upgrade() {
            hub.wake.notify_one();
        }
    }
}
