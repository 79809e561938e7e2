//! The job that delivers the messages of a queue of the outbox.

use std::{
    collections::{HashMap, hash_map::RandomState},
    hash::BuildHasher as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::FutureExt as _;
use svc_outbox::{Claim, Message, OUTBOX, Outcome, TABLE, Time};
use svc_store::{ChangeRecord, Store, Subscriber};
use svc_versions::Context;
use tokio::{
    sync::Notify,
    task::JoinSet,
    time::{Instant, timeout},
};

use super::{Job, Next, Outcome as RunOutcome, RunsOn};

/// Maximum number of messages of a lane that are delivered at once.
const PER_LANE: u64 = 4;

/// Maximum number of messages that are delivered at once. It is not exact: a claim may exceed it by the messages of its lanes.
const MAX_IN_FLIGHT: usize = 64;

/// Maximum time between two looks at the table, in case another server stores messages.
const INTERVAL: Duration = Duration::from_secs(15);

/// How much longer than an attempt its lease is.
const LEASE_MARGIN: Duration = Duration::from_secs(5);

/// Time between two deletions of old messages.
const DELETE_INTERVAL: Duration = Duration::from_mins(10);

/// What happened when a [`Courier`] tried to deliver a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// The receiver has accepted it. The text is kept for the record.
    Delivered(String),
    /// It failed and may succeed later: after the time that the receiver has named, if it has named one, or else after the next
    /// time of the [schedule](Courier::schedule).
    Failed {
        /// Why, for the record.
        reason: String,
        /// The time that the receiver has named.
        retry_after: Option<Duration>,
    },
    /// It can never succeed.
    Refused(String),
}

/// Delivers the messages of a queue.
pub trait Courier: Send + Sync + 'static {
    /// The name of the queue.
    const QUEUE: &'static str;

    /// The name of the job in logs, such as `send-mails`.
    const JOB: &'static str;

    /// How long an attempt may take.
    const TIMEOUT: Duration;

    /// How long messages are kept after they were delivered or given up.
    fn retention(&self) -> Duration;

    /// The pauses after failures, in order. A message that fails after the last one is given up.
    fn schedule(&self) -> &[Duration];

    /// Tries to deliver a message. It may have been delivered before, if the process has died since.
    fn deliver(&self, cx: &Context, message: &Message) -> impl Future<Output = Attempt> + Send;

    /// Called after a message was given up.
    fn given_up(&self, _message: &Message) {}
}

/// Delivers the messages of a queue, some at a time: at once when they are stored, and again after failures. A slow or dead
/// receiver delays only its own lane.
pub struct Deliver<C> {
    store: Store,
    courier: Arc<C>,
    wake: Arc<Notify>,
    in_flight: Mutex<JoinSet<()>>,
    /// The number of messages that are being delivered, by lane.
    lanes: Arc<Mutex<HashMap<String, u64>>>,
    /// When old messages were deleted last.
    deleted: Mutex<Option<Instant>>,
}

impl<C: Courier> Deliver<C> {
    /// The job of this courier. Creates the table of messages if it is missing.
    ///
    /// # Errors
    /// If the table cannot be created.
    pub fn new(store: &Store, courier: C) -> svc_store::Result<Self> {
        store.create_own_table(&TABLE)?;
        let wake = Arc::new(Notify::new());
        store.subscribe(Arc::new(Waker(Arc::clone(&wake))));
        let (in_flight, lanes, deleted) = (Mutex::default(), Arc::default(), Mutex::default());
        Ok(Deliver { store: store.clone(), courier: Arc::new(courier), wake, in_flight, lanes, deleted })
    }

    fn in_flight(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Claims what is due and begins to deliver it.
    async fn begin(&self, cx: &Context) -> svc_store::Result<()> {
        let n_in_flight = {
            let mut in_flight = self.in_flight();
            while in_flight.try_join_next().is_some() {}
            in_flight.len()
        };
        if n_in_flight >= MAX_IN_FLIGHT {
            return Ok(());
        }
        let in_progress = lock(&self.lanes).clone();
        let claim = Claim { queue: C::QUEUE, per_lane: PER_LANE, in_progress, lease: C::TIMEOUT + LEASE_MARGIN };
        let claimed = self.store.write(cx, move |tx| svc_outbox::claim(tx, &claim, Time::now())).await?;
        let mut in_flight = self.in_flight();
        for message in claimed {
            let (store, courier) = (self.store.clone(), Arc::clone(&self.courier));
            let (busy, wake) = (Busy::begin(&self.lanes, &message.lane), Arc::clone(&self.wake));
            // Without the fence of the run: the outcome is recorded even if another server runs the job by then. The message's own
            // lease keeps others from it.
            let cx = Context::background();
            in_flight.spawn(async move {
                deliver(&cx, &store, &*courier, message).await;
                // In this order: the lane has room when the job looks.
                drop(busy);
                wake.notify_one();
            });
        }
        Ok(())
    }

    /// Deletes old messages from time to time.
    async fn delete_old(&self, cx: &Context) -> svc_store::Result<()> {
        let is_due = {
            let deleted = self.deleted.lock().unwrap_or_else(PoisonError::into_inner);
            deleted.is_none_or(|at| at.elapsed() >= DELETE_INTERVAL)
        };
        if !is_due {
            return Ok(());
        }
        let retention = self.courier.retention();
        let delete = move |tx: &mut _| svc_outbox::delete_finished(tx, C::QUEUE, Time::now() - retention);
        if self.store.write(cx, delete).await? == 0 {
            *self.deleted.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        }
        Ok(())
    }
}

fn lock(lanes: &Mutex<HashMap<String, u64>>) -> MutexGuard<'_, HashMap<String, u64>> {
    lanes.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A message of a lane that is being delivered, until this is dropped.
struct Busy {
    lanes: Arc<Mutex<HashMap<String, u64>>>,
    lane: String,
}

impl Busy {
    fn begin(lanes: &Arc<Mutex<HashMap<String, u64>>>, lane: &str) -> Self {
        *lock(lanes).entry(lane.to_owned()).or_default() += 1;
        Busy { lanes: Arc::clone(lanes), lane: lane.to_owned() }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut lanes = lock(&self.lanes);
        if let Some(n) = lanes.get_mut(&self.lane) {
            *n -= 1;
            if *n == 0 {
                lanes.remove(&self.lane);
            }
        }
    }
}

impl<C: Courier> Job for Deliver<C> {
    fn name(&self) -> &'static str {
        C::JOB
    }

    fn runs_on(&self) -> RunsOn {
        RunsOn::OneServer
    }

    fn wake(&self) -> Option<&Notify> {
        Some(&self.wake)
    }

    async fn run(&self, cx: &Context) -> RunOutcome {
        // A look at the table first: usually nothing is due, and a transaction would wait for other writers.
        let due = self.store.read(cx, |db| svc_outbox::next_due(db, C::QUEUE))?;
        if due.is_some_and(|due| due <= Time::now()) {
            self.begin(cx).await?;
        }
        self.delete_old(cx).await?;
        let next = self.store.read(cx, |db| svc_outbox::next_due(db, C::QUEUE))?;
        // What is due and not claimed waits for its lane or for an earlier message. The end of that delivery wakes the job.
        let until = next.map(|due| due.since(Time::now())).filter(|until| !until.is_zero());
        Ok(Next::After(until.map_or(INTERVAL, |until| until.min(INTERVAL))))
    }

    async fn stop(&self) {
        let mut in_flight = std::mem::take(&mut *self.in_flight());
        while in_flight.join_next().await.is_some() {}
    }
}

/// Wakes the job when messages were stored or delivered.
struct Waker(Arc<Notify>);

impl Subscriber for Waker {
    fn committed(&self, changes: &ChangeRecord) {
        if changes.kinds().any(|rows| rows == OUTBOX) {
            self.0.notify_one();
        }
    }
}

/// Delivers a message and records the outcome.
async fn deliver<C: Courier>(cx: &Context, store: &Store, courier: &C, message: Message) {
    let attempt = timeout(C::TIMEOUT, courier.deliver(cx, &message));
    let attempt = std::panic::AssertUnwindSafe(attempt).catch_unwind().await;
    let attempt = match attempt {
        Ok(Ok(attempt)) => attempt,
        Ok(Err(_)) => Attempt::Failed { reason: "no response in time".to_owned(), retry_after: None },
        Err(_) => Attempt::Failed { reason: "the delivery failed unexpectedly".to_owned(), retry_after: None },
    };
    let outcome = outcome(attempt, message.attempts, courier.schedule());
    log::<C>(&message, &outcome);
    let (finished, recorded) = (message.clone(), outcome.clone());
    // If this fails, the lease ends, and the message is delivered again: receivers recognize its id.
    match store.write(cx, move |tx| svc_outbox::finish(tx, &finished, &recorded, Time::now())).await {
        Ok(true) if matches!(outcome, Outcome::Dead(_)) => courier.given_up(&message),
        Ok(_) => {}
        Err(error) => tracing::warn!(queue = C::QUEUE, message = message.id, %error, "cannot record a delivery"),
    }
}

fn log<C: Courier>(message: &Message, outcome: &Outcome) {
    let (queue, id, attempts) = (C::QUEUE, &message.id, message.attempts);
    match outcome {
        Outcome::Delivered(result) => tracing::debug!(queue, message = id, attempts, result, "delivered"),
        Outcome::Retry(reason, after) => {
            tracing::info!(queue, message = id, attempts, reason, ?after, "a delivery failed; it is repeated");
        }
        Outcome::Dead(reason) => tracing::warn!(queue, message = id, attempts, reason, "a delivery was given up"),
    }
}

/// What becomes of a message after this attempt.
fn outcome(attempt: Attempt, attempts: u32, schedule: &[Duration]) -> Outcome {
    match attempt {
        Attempt::Delivered(text) => Outcome::Delivered(text),
        Attempt::Refused(reason) => Outcome::Dead(reason),
        Attempt::Failed { reason, retry_after } => {
            let at = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX);
            let (Some(pause), Some(longest)) = (schedule.get(at), schedule.iter().max()) else {
                return Outcome::Dead(reason);
            };
            let pause =
                retry_after.map_or_else(|| jittered(*pause), |named| named.clamp(*pause, (*longest).max(*pause)));
            Outcome::Retry(reason, pause)
        }
    }
}

/// Changes a pause by up to a tenth, so that the messages of an outage are not all repeated at once.
fn jittered(pause: Duration) -> Duration {
    let random = RandomState::new().hash_one(pause) % 2_001;
    pause.mul_f64(0.9 + f64::from(u32::try_from(random).unwrap_or_default()) / 10_000.0)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use svc_outbox::{NewMessage, Page, State};
    use svc_store::{DatabaseUrl, StoreConfig};

    use super::*;
    use crate::jobs::JobTable;

    const SCHEDULE: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(20)];

    /// Behaves as the payload says.
    #[derive(Default)]
    struct Probe {
        delivered: Arc<Mutex<Vec<String>>>,
        given_up: Arc<AtomicUsize>,
    }

    impl Courier for Probe {
        const QUEUE: &'static str = "probe";
        const JOB: &'static str = "deliver-probes";
        const TIMEOUT: Duration = Duration::from_secs(20);

        fn retention(&self) -> Duration {
            Duration::from_secs(3_600)
        }

        fn schedule(&self) -> &[Duration] {
            &SCHEDULE
        }

        async fn deliver(&self, _: &Context, message: &Message) -> Attempt {
            match message.payload.as_str() {
                "hang" => std::future::pending().await,
                "panic" => panic!("a mistake"),
                "refuse" => Attempt::Refused("no".to_owned()),
                "fail once" if message.attempts == 1 => {
                    Attempt::Failed { reason: "busy".to_owned(), retry_after: Some(Duration::from_secs(60)) }
                }
                _ => {
                    self.delivered.lock().unwrap().push(message.id.clone());
                    Attempt::Delivered("ok".to_owned())
                }
            }
        }

        fn given_up(&self, _: &Message) {
            self.given_up.fetch_add(1, Relaxed);
        }
    }

    async fn put(store: &Store, id: &'static str, lane: &'static str, payload: &'static str) {
        let message = NewMessage { queue: Probe::QUEUE, id, lane, key: "", payload };
        let put = move |tx: &mut _| svc_outbox::put(tx, &message, Time::now());
        store.write(&Context::background(), put).await.unwrap();
    }

    fn in_state(store: &Store, state: State) -> Vec<String> {
        let page = Page { state: Some(state), limit: 10, ..Page::default() };
        let found = store.read_blocking(|db| svc_outbox::list(db, Probe::QUEUE, &page)).unwrap();
        found.into_iter().map(|message| message.id).collect()
    }

    /// Waits until this many messages are in a state.
    async fn wait_for(store: &Store, state: State, n: usize) -> Vec<String> {
        for _ in 0..6_000 {
            let found = in_state(store, state);
            if found.len() == n {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{state:?}: {:?}", in_state(store, state));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn delivers_what_is_stored_whatever_becomes_of_others() {
        let store = Store::open(&StoreConfig::new(DatabaseUrl::Temporary)).unwrap();
        let probe = Probe::default();
        let (delivered, given_up) = (Arc::clone(&probe.delivered), Arc::clone(&probe.given_up));
        let supervisor = JobTable::new().with(Deliver::new(&store, probe).unwrap()).start();
        for id in ["hang 1", "hang 2", "hang 3", "hang 4", "hang 5"] {
            put(&store, id, "slow", "hang").await;
        }
        put(&store, "refused", "", "refuse").await;
        put(&store, "panics", "", "panic").await;
        put(&store, "busy", "", "fail once").await;
        put(&store, "fine", "quick", "").await;
        assert_eq!(wait_for(&store, State::Delivered, 2).await, ["fine", "busy"]);
        // A mistake is no reason to lose a message at once.
        assert_eq!(wait_for(&store, State::Dead, 2).await, ["panics", "refused"]);
        assert_eq!(wait_for(&store, State::Waiting, 5).await.len(), 5);
        let mut ids = delivered.lock().unwrap().clone();
        ids.sort();
        assert_eq!((ids, given_up.load(Relaxed)), (vec!["busy".to_owned(), "fine".to_owned()], 2));
        drop(supervisor);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_lane_has_a_few_messages_in_progress() {
        let store = Store::open(&StoreConfig::new(DatabaseUrl::Temporary)).unwrap();
        let supervisor = JobTable::new().with(Deliver::new(&store, Probe::default()).unwrap()).start();
        for id in ["1", "2", "3", "4", "5", "6", "7", "8", "9"] {
            put(&store, id, "slow", "hang").await;
        }
        put(&store, "fine", "quick", "").await;
        wait_for(&store, State::Delivered, 1).await;
        let page = Page { limit: 20, ..Page::default() };
        let all = store.read_blocking(|db| svc_outbox::list(db, Probe::QUEUE, &page)).unwrap();
        let begun = all.iter().filter(|message| message.lane == "slow" && message.attempts > 0).count();
        assert_eq!(begun, usize::try_from(PER_LANE).unwrap());
        drop(supervisor);
    }

    #[test]
    fn pauses_follow_the_schedule_or_the_receiver() {
        let schedule = [Duration::from_secs(5), Duration::from_secs(300)];
        let failed =
            |after: Option<u64>| Attempt::Failed { reason: String::new(), retry_after: after.map(Duration::from_secs) };
        let pause = |after, attempts| match outcome(failed(after), attempts, &schedule) {
            Outcome::Retry(_, pause) => Some(pause.as_secs_f64()),
            _ => None,
        };
        assert!((4.5..=5.5).contains(&pause(None, 1).unwrap()));
        assert!((270.0..=330.0).contains(&pause(None, 2).unwrap()));
        assert_eq!(pause(None, 3), None);
        // A receiver can neither shorten nor stretch the schedule.
        assert_eq!(
            (pause(Some(0), 1), pause(Some(60), 1), pause(Some(9_999), 1)),
            (Some(5.0), Some(60.0), Some(300.0))
        );
    }
}
