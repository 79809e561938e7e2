//! Single flight: of several callers that need the same value, one makes it and the others wait.

use std::{
    collections::{HashMap, hash_map::Entry},
    fmt,
    hash::Hash,
    sync::{Arc, PoisonError},
};

use futures_channel::oneshot;
use futures_util::{FutureExt as _, future::Shared};

use crate::sync::Mutex;

/// The values that are being made, by key. Cheap to clone.
///
/// At most one caller makes the value of a key at a time. What is made is not kept: put it into a cache before
/// [`Leader::finish`], or send it as the outcome. A caller that has missed the cache just before the value was stored may become
/// the next leader and make it again.
///
/// ```
/// # use svc_versions::{Flight, Flights};
/// # futures_util::future::FutureExt::now_or_never(async {
/// let flights = Flights::default();
/// let Flight::Lead(leader) = flights.join("/hello") else { panic!("nobody else makes it") };
/// let Flight::Follow(follower) = flights.join("/hello") else { panic!("the first caller makes it") };
/// leader.finish("<h1>Hello</h1>");
/// assert_eq!(follower.outcome().await, Some("<h1>Hello</h1>"));
/// # }).unwrap();
/// ```
pub struct Flights<K, T>(Arc<InProgress<K, T>>);

type InProgress<K, T> = Mutex<HashMap<K, Shared<oneshot::Receiver<T>>>>;

/// Whether a caller makes a value itself.
#[derive(Debug)]
pub enum Flight<K: Eq + Hash, T: Clone> {
    /// It makes the value. Others wait for it.
    Lead(Leader<K, T>),
    /// It waits for another caller.
    Follow(Follower<T>),
}

/// The caller that makes a value. Followers wait until this is [finished](Self::finish) or dropped, as it is when the caller panics or
/// is cancelled.
pub struct Leader<K: Eq + Hash, T: Clone> {
    flights: Flights<K, T>,
    key: K,
    /// `None` when it has ended.
    outcome: Option<oneshot::Sender<T>>,
}

/// A caller that waits for a leader. Dropping it, such as after a time limit, affects nobody else.
pub struct Follower<T: Clone>(Shared<oneshot::Receiver<T>>);

impl<K: Clone + Eq + Hash, T: Clone> Flights<K, T> {
    /// Begins to make the value of a key, or joins the caller that makes it.
    pub fn join(&self, key: K) -> Flight<K, T> {
        let mut in_progress = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match in_progress.entry(key) {
            Entry::Occupied(other) => Flight::Follow(Follower(other.get().clone())),
            Entry::Vacant(free) => {
                let (sender, receiver) = oneshot::channel();
                let key = free.key().clone();
                free.insert(receiver.shared());
                Flight::Lead(Leader { flights: self.clone(), key, outcome: Some(sender) })
            }
        }
    }
}

impl<K: Eq + Hash, T: Clone> Leader<K, T> {
    /// Sends the outcome to the followers. Callers that join afterwards begin again.
    pub fn finish(mut self, outcome: T) {
        if let Some(sender) = self.end() {
            // Fails if nobody waits.
            let _sent = sender.send(outcome);
        }
    }

    /// Ends the flight before its followers learn of it: one that joins again must not find the flight that has ended.
    fn end(&mut self) -> Option<oneshot::Sender<T>> {
        let sender = self.outcome.take()?;
        self.flights.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
        Some(sender)
    }
}

impl<K: Eq + Hash, T: Clone> Drop for Leader<K, T> {
    fn drop(&mut self) {
        drop(self.end());
    }
}

impl<T: Clone> Follower<T> {
    /// Waits for the leader and returns its outcome; `None` if it was dropped without one.
    pub async fn outcome(self) -> Option<T> {
        self.0.await.ok()
    }
}

impl<K, T> Clone for Flights<K, T> {
    fn clone(&self) -> Self {
        Flights(Arc::clone(&self.0))
    }
}

impl<K, T> Default for Flights<K, T> {
    fn default() -> Self {
        Flights(Arc::default())
    }
}

impl<K, T> fmt::Debug for Flights<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flights").finish_non_exhaustive()
    }
}

impl<K: Eq + Hash, T: Clone> fmt::Debug for Leader<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leader").finish_non_exhaustive()
    }
}

impl<T: Clone> fmt::Debug for Follower<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follower").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    fn lead(flights: &Flights<u8, u8>, key: u8) -> Leader<u8, u8> {
        match flights.join(key) {
            Flight::Lead(leader) => leader,
            Flight::Follow(_) => panic!("somebody leads"),
        }
    }

    fn follow(flights: &Flights<u8, u8>, key: u8) -> Follower<u8> {
        match flights.join(key) {
            Flight::Follow(follower) => follower,
            Flight::Lead(_) => panic!("nobody leads"),
        }
    }

    /// The outcome, if it does not have to be waited for.
    fn now(follower: Follower<u8>) -> Option<Option<u8>> {
        follower.outcome().now_or_never()
    }

    #[test]
    fn followers_have_the_outcome_of_their_leader() {
        let flights = Flights::default();
        let leader = lead(&flights, 1);
        let other_key = lead(&flights, 2);
        let followers = [follow(&flights, 1), follow(&flights, 1)];
        assert_eq!(now(follow(&flights, 1)), None, "it waits, and is dropped");
        leader.finish(7);
        assert_eq!(followers.map(now), [Some(Some(7)); 2]);
        let next = lead(&flights, 1);
        assert_eq!(now(follow(&flights, 1)), None, "the next flight has no outcome");
        assert_eq!(now(follow(&flights, 2)), None);
        drop((next, other_key));
        assert!(flights.0.lock().unwrap().is_empty());
    }

    #[test]
    fn a_leader_that_is_gone_has_no_outcome() {
        let flights = Flights::default();
        let leader = lead(&flights, 1);
        let follower = follow(&flights, 1);
        drop(leader);
        assert_eq!(now(follower), Some(None), "cancelled");

        let leader = lead(&flights, 1);
        let follower = follow(&flights, 1);
        let panicked = catch_unwind(AssertUnwindSafe(move || {
            let _leader = leader;
            panic!("while the value is made");
        }));
        assert!(panicked.is_err());
        assert_eq!(now(follower), Some(None));
        lead(&flights, 1);
    }
}
