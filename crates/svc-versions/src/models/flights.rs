//! Single flight: at most one caller makes a value at a time, and nobody waits for one that is gone.

use std::sync::{
    Arc,
    // What the model itself observes is not scheduled, so that it has fewer schedules.
    atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
};

use futures_util::future::{Either, select};
use shuttle::future::{block_on, spawn, yield_now};

use super::{in_all_schedules, in_many_schedules};
use crate::{Flight, Flights};

/// What a caller does with the value of the only key.
#[derive(Clone, Copy)]
enum Caller {
    /// Makes it, or waits for it.
    Patient,
    /// As the former, but is cancelled while it makes it for the first time.
    Cancelled,
    /// Makes it, or waits for it for a limited time.
    Hasty,
}

/// Values are numbers, each higher than those before.
#[derive(Default)]
struct Site {
    flights: Flights<(), u64>,
    is_made: AtomicBool,
    last: AtomicU64,
    /// The last value that was finished before some caller joined.
    finished: AtomicU64,
}

impl Site {
    /// Returns when the caller has a value, or has given up.
    async fn call(&self, caller: Caller) {
        let mut is_cancelled = matches!(caller, Caller::Cancelled);
        loop {
            let finished = self.finished.load(SeqCst);
            match self.flights.join(()) {
                Flight::Lead(leader) => {
                    assert!(!self.is_made.swap(true, SeqCst), "two callers make the value");
                    let value = self.last.fetch_add(1, SeqCst) + 1;
                    yield_now().await;
                    self.is_made.store(false, SeqCst);
                    if std::mem::take(&mut is_cancelled) {
                        drop(leader);
                        continue;
                    }
                    leader.finish(value);
                    self.finished.fetch_max(value, SeqCst);
                    return;
                }
                Flight::Follow(follower) => {
                    let outcome = match caller {
                        Caller::Hasty => match select(Box::pin(follower.outcome()), Box::pin(yield_now())).await {
                            Either::Left((outcome, _)) => outcome,
                            Either::Right(_) => return,
                        },
                        Caller::Patient | Caller::Cancelled => follower.outcome().await,
                    };
                    if let Some(value) = outcome {
                        assert!(value > finished, "{value} is of a flight before {finished}");
                        return;
                    }
                }
            }
        }
    }
}

/// Runs each caller as a task of its own. A caller that waits for ever is found as a deadlock.
fn run(callers: &[Caller]) {
    let site = Arc::new(Site::default());
    let spawn = |caller: &Caller| {
        let (site, caller) = (Arc::clone(&site), *caller);
        spawn(async move { site.call(caller).await })
    };
    let tasks: Vec<_> = callers.iter().map(spawn).collect();
    tasks.into_iter().for_each(|task| block_on(task).unwrap());
    assert!(matches!(site.flights.join(()), Flight::Lead(_)), "a flight is left over");
}

#[test]
fn callers_share_a_value() {
    in_all_schedules(|| run(&[Caller::Patient, Caller::Patient]));
}

#[test]
fn a_leader_is_cancelled() {
    in_all_schedules(|| run(&[Caller::Cancelled, Caller::Patient]));
}

#[test]
fn a_follower_gives_up() {
    in_all_schedules(|| run(&[Caller::Patient, Caller::Hasty]));
}

#[test]
fn many_callers() {
    in_many_schedules(|| run(&[Caller::Cancelled, Caller::Patient, Caller::Hasty, Caller::Patient]));
}
