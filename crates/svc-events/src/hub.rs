//! Sends new events to subscribers. Each event is looked up once for all anonymous subscribers, and once for each user among the others.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use serde_json::Value;
use svc_auth::Caller;
use svc_model::UserId;
use svc_site::{
    Site,
    blocking::run_blocking,
    comments::moderation,
    jobs::{Job, Next, Outcome},
};
use svc_store::{ChangeRecord, Subscriber};
use svc_versions::Context;
use tokio::sync::{Notify, broadcast};

use crate::source::{Batch, EventSource, From};

/// Maximum number of entries of the log per step.
const STEP: u32 = 500;

/// How often the log is read while there are subscribers, for changes of other programs. Own changes are sent at once.
const INTERVAL: Duration = Duration::from_secs(1);

/// Pause before a step, so that many changes are sent together.
const GATHER: Duration = Duration::from_millis(20);

/// Time between two signs of life.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Steps that a subscriber may be behind before its stream ends.
const MAX_BEHIND: usize = 64;

/// Sends new events to subscribers. Cheap to clone; a job of the site.
#[derive(Clone)]
pub struct Hub(Arc<Inner>);

struct Inner {
    source: EventSource,
    wake: Notify,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The entries up to this number were sent. `None` without subscribers.
    position: Option<i64>,
    groups: HashMap<UserId, broadcast::Sender<Arc<Frame>>>,
    last_sign: Option<Instant>,
    closed: bool,
}

/// The events of a step, as server-sent events.
#[derive(Debug)]
pub struct Frame {
    /// Each event with its number.
    events: Vec<(i64, String)>,
    /// All of it.
    whole: bytes::Bytes,
}

impl Frame {
    /// What a subscriber that knows the events up to this number has to receive.
    pub fn after(&self, seq: i64) -> bytes::Bytes {
        if self.events.first().is_none_or(|(first, _)| *first > seq) {
            return self.whole.clone();
        }
        let rest: String = self.events.iter().filter(|(of, _)| *of > seq).map(|(_, text)| text.as_str()).collect();
        rest.into()
    }
}

/// Receives the events for a caller.
pub type Subscription = broadcast::Receiver<Arc<Frame>>;

/// Why a caller cannot subscribe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotSubscribed {
    /// Events after the caller's last one were sent already, up to this one: read them first.
    Behind(i64),
    /// The server is stopping.
    Closed,
}

impl Hub {
    /// A hub for the events of a source, which must be run as a job.
    pub fn new(source: EventSource) -> Self {
        let hub = Hub(Arc::new(Inner { source, wake: Notify::new(), state: Mutex::default() }));
        let site = Arc::clone(hub.0.source.site());
        site.store.subscribe(Arc::new(WakeUp(Arc::downgrade(&hub.0))));
        hub
    }

    /// Subscribes a user (0 for anonymous callers) that knows the events up to a number.
    ///
    /// # Errors
    /// If events in between were sent already, or the hub is closed.
    pub fn subscribe(&self, user: UserId, last: i64) -> Result<Subscription, NotSubscribed> {
        let mut state = self.0.state();
        if state.closed {
            return Err(NotSubscribed::Closed);
        }
        match state.position {
            Some(position) if position > last => return Err(NotSubscribed::Behind(position)),
            Some(_) => {}
            None => {
                state.position = Some(last);
                self.0.wake.notify_one();
            }
        }
        let group = state.groups.entry(user).or_insert_with(|| broadcast::channel(MAX_BEHIND).0);
        Ok(group.subscribe())
    }

    /// Ends all streams.
    pub fn close(&self) {
        let mut state = self.0.state();
        state.closed = true;
        state.groups.clear();
    }
}

/// An event as a server-sent event. The id is its number, with which a client continues.
pub fn server_sent(event: &Value) -> String {
    let (seq, kind) = (&event["seq"], event["kind"].as_str().unwrap_or_default());
    format!("id: {seq}\nevent: {kind}\ndata: {event}\n\n")
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where to continue, and for whom. `None` without subscribers.
    fn begin(&self) -> Option<(i64, Vec<UserId>)> {
        let mut state = self.state();
        state.groups.retain(|_, group| group.receiver_count() > 0);
        if state.groups.is_empty() {
            state.position = None;
        }
        Some((state.position?, state.groups.keys().copied().collect()))
    }

    /// Sends the next events. Returns whether there are more, or `None` without subscribers.
    fn step(&self, cx: &Context) -> Result<Option<bool>, svc_schema::Error> {
        let Some((position, mut users)) = self.begin() else { return Ok(None) };
        let Some(batch) = self.source.read(cx, From::After(position), STEP)? else { return Ok(None) };
        let mut frames = HashMap::new();
        loop {
            for user in users.drain(..) {
                frames.insert(user, self.frame(cx, &batch, user)?);
            }
            let mut state = self.state();
            // Whoever subscribed meanwhile expects these events as well.
            users = state.groups.keys().filter(|user| !frames.contains_key(user)).copied().collect();
            if users.is_empty() {
                state.send(frames, batch.last);
                return Ok(Some(batch.more));
            }
        }
    }

    /// The events that a user sees; `None` if the user does not exist any more.
    fn frame(&self, cx: &Context, batch: &Batch, user: UserId) -> Result<Option<Frame>, svc_schema::Error> {
        if batch.events.is_empty() {
            return Ok(Some(Frame { events: Vec::new(), whole: bytes::Bytes::new() }));
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
        let events: Vec<(i64, String)> = seen.collect();
        let whole: String = events.iter().map(|(_, text)| text.as_str()).collect();
        Ok(Some(Frame { events, whole: whole.into() }))
    }
}

impl State {
    fn send(&mut self, frames: HashMap<UserId, Option<Frame>>, last: i64) {
        for (user, frame) in frames {
            match frame {
                None => drop(self.groups.remove(&user)),
                Some(frame) if frame.whole.is_empty() => {}
                Some(frame) => drop(self.groups.get(&user).map(|group| group.send(Arc::new(frame)))),
            }
        }
        self.position = Some(last);
        let now = Instant::now();
        if self.last_sign.is_none_or(|sign| now.duration_since(sign) >= KEEP_ALIVE) {
            self.last_sign = Some(now);
            // With the number, so that a client that reconnects does not read what it may not see again.
            let whole = format!(": keep-alive\nid: {last}\n\n").into();
            let sign = Arc::new(Frame { events: Vec::new(), whole });
            self.groups.values().for_each(|group| drop(group.send(Arc::clone(&sign))));
        }
    }
}

impl Job for Hub {
    fn name(&self) -> &'static str {
        "send-events"
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
