//! Who receives which frames: each subscriber has every event after the one that it knows, in order and once.
//!
//! Knows no log and no event. Whoever reads the log takes the position and the groups ([`Subscribers::begin`]), makes a frame for each
//! group, and sends them ([`Subscribers::send`]).

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::broadcast;

#[cfg(all(test, feature = "models"))]
use shuttle::sync::{Mutex, MutexGuard};
#[cfg(not(all(test, feature = "models")))]
use std::sync::{Mutex, MutexGuard};

/// Time between two signs of life.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Frames that a subscriber may be behind before its stream ends.
const MAX_BEHIND: usize = 64;

/// The events of a step, as server-sent events.
#[derive(Debug, Default)]
pub struct Frame {
    /// Each event with its number.
    events: Vec<(i64, String)>,
    /// All of it.
    whole: bytes::Bytes,
}

impl Frame {
    /// A frame of these events, each with its number.
    pub(crate) fn new(events: Vec<(i64, String)>) -> Self {
        let whole: String = events.iter().map(|(_, text)| text.as_str()).collect();
        Frame { events, whole: whole.into() }
    }

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

/// The frames of a step, by group; `None` ends the streams of a group.
pub(crate) type Frames<G> = HashMap<G, Option<Frame>>;

/// The subscribers, in groups that receive the same frames.
pub(crate) struct Subscribers<G>(Mutex<State<G>>);

struct State<G> {
    /// The events up to this number were sent. `None` without subscribers.
    position: Option<i64>,
    groups: HashMap<G, broadcast::Sender<Arc<Frame>>>,
    last_sign: Option<Instant>,
    closed: bool,
}

impl<G: Copy + Eq + Hash> Subscribers<G> {
    pub(crate) fn new() -> Self {
        Subscribers(Mutex::new(State { position: None, groups: HashMap::new(), last_sign: None, closed: false }))
    }

    fn state(&self) -> MutexGuard<'_, State<G>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribes a member of a group that knows the events up to a number. Also returns whether it is the first subscriber, for whom
    /// the log must be read again.
    ///
    /// # Errors
    /// If events in between were sent already, or the streams have ended.
    pub(crate) fn subscribe(&self, group: G, last: i64) -> Result<(Subscription, bool), NotSubscribed> {
        let mut state = self.state();
        if state.closed {
            return Err(NotSubscribed::Closed);
        }
        let is_first = state.position.is_none();
        let position = *state.position.get_or_insert(last);
        if position > last {
            return Err(NotSubscribed::Behind(position));
        }
        let group = state.groups.entry(group).or_insert_with(|| broadcast::channel(MAX_BEHIND).0);
        Ok((group.subscribe(), is_first))
    }

    /// Where to continue, and for which groups. `None` without subscribers.
    pub(crate) fn begin(&self) -> Option<(i64, Vec<G>)> {
        let mut state = self.state();
        state.groups.retain(|_, group| group.receiver_count() > 0);
        if state.groups.is_empty() {
            state.position = None;
        }
        Some((state.position?, state.groups.keys().copied().collect()))
    }

    /// Sends the events up to a number.
    ///
    /// # Errors
    /// If others have subscribed since [`begin`](Self::begin), who expect these events as well: their groups. Nothing is sent.
    pub(crate) fn send(&self, frames: Frames<G>, last: i64) -> Result<(), (Frames<G>, Vec<G>)> {
        let mut state = self.state();
        let others: Vec<G> = state.groups.keys().filter(|group| !frames.contains_key(group)).copied().collect();
        if !others.is_empty() {
            return Err((frames, others));
        }
        for (group, frame) in frames {
            match frame {
                None => drop(state.groups.remove(&group)),
                Some(frame) if frame.whole.is_empty() => {}
                Some(frame) => drop(state.groups.get(&group).map(|group| group.send(Arc::new(frame)))),
            }
        }
        state.position = Some(last);
        let now = Instant::now();
        if state.last_sign.is_none_or(|sign| now.duration_since(sign) >= KEEP_ALIVE) {
            state.last_sign = Some(now);
            // With the number, so that a client that reconnects does not read what it may not see again.
            let whole = format!(": keep-alive\nid: {last}\n\n").into();
            let sign = Arc::new(Frame { events: Vec::new(), whole });
            state.groups.values().for_each(|group| drop(group.send(Arc::clone(&sign))));
        }
        Ok(())
    }

    /// Ends all streams.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.groups.clear();
    }
}
