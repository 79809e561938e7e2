//! Models that shuttle runs under many schedules: `cargo xtask models`.
//!
//! The guarantee that is checked: a subscriber has each event after the one that it knows, in order and once, whenever it subscribes and
//! whoever else comes and goes.

use std::sync::Arc;

use shuttle::{
    Runner,
    scheduler::DfsScheduler,
    sync::Mutex,
    thread::{self, JoinHandle},
};

use crate::subscribers::{Frame, Frames, NotSubscribed, Subscribers, Subscription};

/// Schedules of each kind.
const SCHEDULES: usize = 5_000;

/// Schedules with at most this many changes of threads at chosen points find most faults.
const DEPTH: usize = 3;

/// More schedules than a model has that runs in all of them.
const MAX_SCHEDULES: usize = 1_000_000;

/// Maximum number of events of a step.
const STEP: usize = 2;

/// A log of events with the numbers from 1, and its subscribers in groups.
struct Site {
    log: Mutex<i64>,
    subscribers: Subscribers<u8>,
}

impl Site {
    fn new() -> Arc<Self> {
        Arc::new(Site { log: Mutex::new(0), subscribers: Subscribers::new() })
    }

    fn write(&self) {
        *self.log.lock().unwrap() += 1;
    }

    /// The numbers of the events after this one, at most those of a step.
    fn read(&self, after: i64) -> Vec<i64> {
        let last = *self.log.lock().unwrap();
        (after + 1..=last).take(STEP).collect()
    }

    /// Sends the next events, as the hub does. Returns whether there were some.
    fn step(&self) -> bool {
        let Some((position, mut groups)) = self.subscribers.begin() else { return false };
        let events = self.read(position);
        let last = events.last().copied().unwrap_or(position);
        let mut frames = Frames::new();
        loop {
            let frame = || Frame::new(events.iter().map(|n| (*n, format!("{n} "))).collect());
            frames.extend(groups.drain(..).map(|group| (group, Some(frame()))));
            match self.subscribers.send(frames, last) {
                Ok(()) => return !events.is_empty(),
                Err((of_others, others)) => (frames, groups) = (of_others, others),
            }
        }
    }

    /// Subscribes with the events up to `last`, as a stream does: what was sent already is read from the log first.
    fn subscribe(&self, group: u8, mut last: i64) -> Subscriber {
        let mut seen = Vec::new();
        loop {
            match self.subscribers.subscribe(group, last) {
                Ok((subscription, _)) => return Subscriber { subscription, last, seen },
                Err(NotSubscribed::Closed) => panic!("nobody closes the streams"),
                Err(NotSubscribed::Behind(position)) => {
                    while last < position {
                        let events = self.read(last);
                        last = *events.last().expect("events that were sent are in the log");
                        seen.extend(events);
                    }
                }
            }
        }
    }
}

struct Subscriber {
    subscription: Subscription,
    /// The last event that it knew when it subscribed.
    last: i64,
    seen: Vec<i64>,
}

impl Subscriber {
    /// All events that it has received.
    fn into_events(mut self) -> Vec<i64> {
        while let Ok(frame) = self.subscription.try_recv() {
            let text = String::from_utf8(frame.after(self.last).to_vec()).unwrap();
            let events = text.lines().filter(|line| !line.is_empty() && !line.starts_with([':', 'i']));
            self.seen.extend(events.flat_map(str::split_whitespace).map(|n| n.parse::<i64>().unwrap()));
        }
        self.seen
    }
}

fn spawn<T: Send + 'static>(site: &Arc<Site>, work: impl FnOnce(&Site) -> T + Send + 'static) -> JoinHandle<T> {
    let site = Arc::clone(site);
    thread::spawn(move || work(&site))
}

/// Runs steps until all is sent, and compares what the subscribers have received with the log after `first`.
fn check(site: &Site, subscribers: Vec<Subscriber>, first: i64) {
    while site.step() {}
    let last = *site.log.lock().unwrap();
    let expected: Vec<i64> = (first + 1..=last).collect();
    for subscriber in subscribers {
        assert_eq!(subscriber.into_events(), expected);
    }
}

#[test]
fn a_subscriber_comes_during_a_step() {
    let model = || {
        let site = Site::new();
        let early = site.subscribe(1, 0);
        site.write();
        let step = spawn(&site, |site| site.step());
        let late = spawn(&site, |site| site.subscribe(2, 0));
        step.join().unwrap();
        check(&site, vec![early, late.join().unwrap()], 0);
    };
    let n = Runner::new(DfsScheduler::new(Some(MAX_SCHEDULES), false), shuttle::Config::default()).run(model);
    println!("{n} schedules");
    assert!(n < MAX_SCHEDULES, "the model has more schedules than {MAX_SCHEDULES}");
}

#[test]
fn subscribers_come_and_go_while_events_are_written_and_sent() {
    let model = || {
        let site = Site::new();
        site.write();
        let writes = spawn(&site, |site| (0..3).for_each(|_| site.write()));
        let steps = spawn(&site, |site| {
            for _ in 0..3 {
                site.step();
            }
        });
        // The last subscriber of a group that goes ends the group.
        let gone = spawn(&site, |site| drop(site.subscribe(2, 1)));
        let subscribers: Vec<_> = [1, 2].map(|group| spawn(&site, move |site| site.subscribe(group, 1))).into();
        [writes, steps, gone].into_iter().for_each(|thread| thread.join().unwrap());
        let subscribers = subscribers.into_iter().map(|thread| thread.join().unwrap()).collect();
        check(&site, subscribers, 1);
    };
    shuttle::check_random(model, SCHEDULES);
    shuttle::check_pct(model, SCHEDULES, DEPTH);
}
