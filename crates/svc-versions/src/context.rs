//! The context of a request: how its client reached the site, what it has read, and what lives as long as it does.

use std::any::{Any, TypeId};
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::{Dependencies, Key, Transport, VersionStamp};

/// The context of a request, or of work that no request has caused. Everything that reads or writes takes it as an
/// argument: it decides what a read sees, and records what a response depends on. Cheap to clone; clones are the same context.
///
/// A request is handled by one task, so its context is used by one thread at a time. A task that is spawned needs a context
/// of its own: [`Context::background`], or [`Context::detached`] if its work is a part of the request.
#[derive(Clone)]
pub struct Context(Arc<Inner>);

/// How new the data must be that a request reads, as a [value of its context](Context::with). Without it, data is read where it is
/// written, and is current.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// At least as new as at this time, when the request came.
    Current(Instant),
    /// It may be older by a bounded time.
    Recent,
}

struct Inner {
    shared: Arc<Shared>,
    transport: Transport,
    /// The recordings in progress, innermost last.
    recordings: Arc<Mutex<Vec<Dependencies>>>,
    /// Values of [`Context::with`], by type. Those of this context follow those of the enclosing ones.
    values: Vec<AnyValue>,
}

/// What a context and its children share.
struct Shared {
    is_request: bool,
    may_block: bool,
    /// The id of the caller; zero if nobody is known.
    caller: AtomicI64,
    /// The time before the first read.
    stamp: Mutex<Option<VersionStamp>>,
    /// The stamp of the oldest data that was read, if it may be older than the request.
    oldest: Mutex<Option<Option<VersionStamp>>>,
    /// Values of [`Context::state`], by type.
    states: Mutex<Vec<AnyValue>>,
    /// Whether a future of [`Context::run`] is being polled.
    is_running: AtomicBool,
    /// What to do when the request waits.
    releases: Mutex<Vec<Release>>,
}

/// Releases what a request holds.
type Release = Box<dyn FnOnce() + Send>;

type AnyValue = (TypeId, Arc<dyn Any + Send + Sync>);

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (is_request, transport) = (self.is_request(), self.transport());
        f.debug_struct("Context")
            .field("is_request", &is_request)
            .field("transport", &transport)
            .finish_non_exhaustive()
    }
}

impl Context {
    /// The context of work that no request has caused, such as a command or a scheduled job. It records nothing unless
    /// [`capture`](Self::capture) is called, and each of its reads has a snapshot of its own.
    pub fn background() -> Self {
        Context::new(false, false, Transport::Plain)
    }

    /// The context of a new request.
    pub fn request(transport: Transport) -> Self {
        Context::new(true, false, transport)
    }

    /// The context of a new request on a thread that runs nothing but such requests, so that reads may block it.
    pub fn blocking_request(transport: Transport) -> Self {
        Context::new(true, true, transport)
    }

    fn new(is_request: bool, may_block: bool, transport: Transport) -> Self {
        let shared = Arc::new(Shared {
            is_request,
            may_block,
            caller: AtomicI64::new(0),
            stamp: Mutex::default(),
            oldest: Mutex::default(),
            states: Mutex::default(),
            is_running: AtomicBool::new(false),
            releases: Mutex::default(),
        });
        Context(Arc::new(Inner { shared, transport, recordings: Arc::default(), values: Vec::new() }))
    }

    /// The context of a part of this work that another thread does, or that has a transaction of its own: with the same
    /// transport, caller and [values](Self::with), but without anything that was read.
    pub fn detached(&self) -> Self {
        let detached = Context::new(false, false, self.transport());
        detached.0.shared.caller.store(self.0.shared.caller.load(Relaxed), Relaxed);
        detached.child_with(self.0.values.clone())
    }

    /// This context for a client with another transport: it reads from the same snapshot, and records nothing.
    #[must_use]
    pub fn over(&self, transport: Transport) -> Self {
        let (shared, values) = (Arc::clone(&self.0.shared), self.0.values.clone());
        Context(Arc::new(Inner { shared, transport, recordings: Arc::default(), values }))
    }

    /// This context without its recordings, for reads whose dependencies the caller records itself.
    #[must_use]
    pub fn without_recordings(&self) -> Self {
        self.child_with(self.0.values.clone())
    }

    fn child_with(&self, values: Vec<AnyValue>) -> Self {
        let (shared, transport) = (Arc::clone(&self.0.shared), self.transport());
        Context(Arc::new(Inner { shared, transport, recordings: Arc::default(), values }))
    }

    /// This context with a value that [`get`](Self::get) returns to what is called with it.
    #[must_use]
    pub fn with<T: Any + Send + Sync>(&self, value: T) -> Self {
        let mut values = self.0.values.clone();
        values.push((TypeId::of::<T>(), Arc::new(value)));
        let (shared, recordings) = (Arc::clone(&self.0.shared), Arc::clone(&self.0.recordings));
        Context(Arc::new(Inner { shared, transport: self.transport(), recordings, values }))
    }

    /// The innermost value of this type.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let (_, value) = self.0.values.iter().rev().find(|(of, _)| *of == TypeId::of::<T>())?;
        Arc::clone(value).downcast().ok()
    }

    /// What code of another layer keeps for the whole request, by its type.
    pub fn state<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let mut states = lock(&self.0.shared.states);
        let known = states.iter().find(|(of, _)| *of == TypeId::of::<T>()).map(|(_, state)| Arc::clone(state));
        let state = known.unwrap_or_else(|| {
            let state: Arc<dyn Any + Send + Sync> = Arc::new(T::default());
            states.push((TypeId::of::<T>(), Arc::clone(&state)));
            state
        });
        state.downcast().expect("states are found by their type")
    }

    /// Whether this is the context of a request, whose reads see one state of the data until it writes or waits.
    pub fn is_request(&self) -> bool {
        self.0.shared.is_request
    }

    /// Whether reads may block the thread.
    pub fn may_block(&self) -> bool {
        self.0.shared.may_block
    }

    /// The id of the user who sends the request, as [`set_caller`](Self::set_caller) has set it.
    pub fn caller(&self) -> Option<i64> {
        Some(self.0.shared.caller.load(Relaxed)).filter(|id| *id != 0)
    }

    /// Records who sends the request, once they are authenticated: changes are recorded as theirs. Zero is nobody.
    pub fn set_caller(&self, id: i64) {
        self.0.shared.caller.store(id, Relaxed);
    }

    /// How the client reached the site.
    pub fn transport(&self) -> Transport {
        self.0.transport
    }

    /// The time before the first read of the request: everything that it reads is at least as new. Values computed from what
    /// it reads are cached with this stamp, and cached values are used if they are valid at it.
    pub fn stamp(&self) -> Option<VersionStamp> {
        *lock(&self.0.shared.stamp)
    }

    /// Replaces the [stamp](Self::stamp): what the request reads from now on is at least as new. Without a request, this does
    /// nothing.
    pub fn renew_stamp(&self, stamp: Option<VersionStamp>) {
        if self.is_request() {
            *lock(&self.0.shared.stamp) = older(stamp, *lock(&self.0.shared.oldest));
        }
    }

    /// Records that what the request reads from now on is only as new as this stamp; `None` if it must not be cached. It is then the
    /// [stamp](Self::stamp) of the request, unless that is older.
    pub fn lower_stamp(&self, stamp: Option<VersionStamp>) {
        let mut oldest = lock(&self.0.shared.oldest);
        *oldest = Some(older(stamp, *oldest));
        let mut current = lock(&self.0.shared.stamp);
        *current = older(*current, *oldest);
    }

    /// The stamp with which a value is cached for which the request began to read after `begun`; `None` if it must not be cached.
    pub fn stamp_since(&self, begun: VersionStamp) -> Option<VersionStamp> {
        older(Some(begun), *lock(&self.0.shared.oldest))
    }

    /// Handles the request. What [`hold_until_waiting`](Self::hold_until_waiting) holds is released whenever the request
    /// waits for something, and at its end.
    pub async fn run<F: Future>(&self, request: F) -> F::Output {
        let mut request = pin!(request);
        poll_fn(move |task| {
            let _running = Running { shared: &self.0.shared, outer: self.0.shared.is_running.swap(true, Relaxed) };
            request.as_mut().poll(task)
        })
        .await
    }

    /// Calls `release` when the request waits for something, or ends. Returns false without calling it if nothing
    /// [runs](Self::run) the request: then the caller must not hold anything.
    pub fn hold_until_waiting(&self, release: impl FnOnce() + Send + 'static) -> bool {
        let is_running = self.0.shared.is_running.load(Relaxed);
        if is_running {
            lock(&self.0.shared.releases).push(Box::new(release));
        }
        is_running
    }

    fn recording(&self, change: impl FnOnce(&mut Dependencies)) {
        if let Some(innermost) = lock(&self.0.recordings).last_mut() {
            change(innermost);
        }
    }

    /// Records that the current computation depends on a key. Without a recording, this does nothing.
    pub fn depends_on(&self, key: Key) {
        self.recording(|recording| recording.add(key));
    }

    /// Records that the current computation depends on several keys.
    pub fn depends_on_all(&self, keys: impl IntoIterator<Item = Key>) {
        self.recording(|recording| keys.into_iter().for_each(|key| recording.add(key)));
    }

    /// Records that the result of the current computation is valid for at most this long, because it depends on the time or on
    /// something with a lifetime.
    pub fn expires_in(&self, time: Duration) {
        self.recording(|recording| recording.expire(Instant::now() + time));
    }

    /// Records that the result of the current computation is computed again after this time at the latest, because it depends
    /// on files or on something else whose changes are not observed. Caches in front of the server may keep it for longer.
    pub fn recheck_after(&self, time: Duration) {
        self.recording(|recording| recording.recheck(Instant::now() + time));
    }

    /// Records that the result of the current computation must not be cached.
    pub fn never(&self) {
        self.recording(Dependencies::never);
    }

    /// Records that the result of the current computation depends on the request that it is made for: on its URL, its session,
    /// or the other parts of the response. The response can be cached for equal requests, but its parts cannot be shared.
    pub fn depends_on_request(&self) {
        self.recording(Dependencies::of_request);
    }

    /// Records that the current computation uses a value with these dependencies.
    pub fn record(&self, dependencies: &Dependencies) {
        self.recording(|recording| recording.extend(dependencies));
    }

    /// Computes a value and returns it with what it depends on. An enclosing recording depends on the same.
    pub fn capture<T>(&self, compute: impl FnOnce() -> T) -> (T, Dependencies) {
        let (value, dependencies) = self.capture_only(compute);
        self.record(&dependencies);
        (value, dependencies)
    }

    /// Computes a value and returns it with what it depends on. An enclosing recording does not.
    pub fn capture_only<T>(&self, compute: impl FnOnce() -> T) -> (T, Dependencies) {
        let frame = Frame::open(self);
        let value = compute();
        let mut dependencies = frame.close();
        dependencies.finish();
        (value, dependencies)
    }

    /// Awaits a future that reads with the context that it is given, and returns its output with what that depends on. An
    /// enclosing recording of this context depends on the same.
    pub async fn scope<F: Future>(&self, run: impl FnOnce(Context) -> F) -> (F::Output, Dependencies) {
        let part = self.child_with(self.0.values.clone());
        lock(&part.0.recordings).push(Dependencies::default());
        let output = run(part.clone()).await;
        let mut dependencies = std::mem::take(&mut *lock(&part.0.recordings)).swap_remove(0);
        dependencies.finish();
        self.record(&dependencies);
        (output, dependencies)
    }
}

/// A poll of a request. The outermost one releases what is held when it ends, also after a panic.
struct Running<'c> {
    shared: &'c Shared,
    outer: bool,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.shared.is_running.store(self.outer, Relaxed);
        if !self.outer {
            let releases = std::mem::take(&mut *lock(&self.shared.releases));
            releases.into_iter().for_each(|release| release());
        }
    }
}

/// A recording of a context. Dropping it removes it, also after a panic.
struct Frame<'c> {
    context: &'c Context,
    depth: usize,
}

impl<'c> Frame<'c> {
    fn open(context: &'c Context) -> Self {
        let mut recordings = lock(&context.0.recordings);
        recordings.push(Dependencies::default());
        Frame { context, depth: recordings.len() }
    }

    fn close(self) -> Dependencies {
        let mut recordings = lock(&self.context.0.recordings);
        recordings.truncate(self.depth);
        recordings.pop().unwrap_or_default()
    }
}

impl Drop for Frame<'_> {
    fn drop(&mut self) {
        // After `close` the recording is gone already.
        lock(&self.context.0.recordings).truncate(self.depth - 1);
    }
}

/// The older of two stamps, if there is a second one.
fn older(stamp: Option<VersionStamp>, other: Option<Option<VersionStamp>>) -> Option<VersionStamp> {
    match other {
        Some(other) => stamp.zip(other).map(|(stamp, other)| stamp.min(other)),
        None => stamp,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::task::{Poll, Waker};

    use super::*;
    use crate::Versions;

    fn key(n: u64) -> Key {
        Key::of(&n)
    }

    fn sorted(keys: &[u64]) -> Vec<Key> {
        let mut keys: Vec<Key> = keys.iter().map(|n| key(*n)).collect();
        keys.sort_unstable();
        keys
    }

    /// The output of a future that is ready.
    fn now<F: Future>(future: F) -> F::Output {
        let Poll::Ready(output) = pin!(future).poll(&mut std::task::Context::from_waker(Waker::noop())) else {
            panic!("ready")
        };
        output
    }

    #[test]
    fn inner_recordings_count_for_outer_ones() {
        let cx = Context::background();
        cx.depends_on(key(0));
        let (inner, outer) = cx.capture(|| {
            cx.depends_on(key(1));
            let ((), inner) = cx.capture(|| {
                cx.depends_on_all([key(2), key(2)]);
                cx.expires_in(Duration::from_hours(1));
            });
            inner
        });
        assert_eq!(inner.keys(), sorted(&[2]));
        assert_eq!(outer.keys(), sorted(&[1, 2]));
        assert!(outer.is_cacheable() && !outer.has_expired());
        let ((), expired) = cx.capture(|| cx.expires_in(Duration::ZERO));
        assert!(expired.has_expired());
        let ((), rechecked) = cx.capture(|| cx.capture(|| cx.recheck_after(Duration::ZERO)).0);
        assert!(rechecked.has_expired() && rechecked.lifetime().is_none());
        assert_eq!(expired.lifetime(), Some(Duration::ZERO));
        let ((), never) = cx.capture(|| cx.never());
        assert!(!never.is_cacheable());
        let ((), outer) = cx.capture(|| cx.capture(|| cx.depends_on_request()).0);
        assert!(outer.are_of_request() && outer.is_cacheable());
        let (inner, outer) = cx.capture(|| cx.capture_only(|| cx.depends_on(key(1))).1.len());
        assert_eq!((inner, outer.len()), (1, 0));
    }

    #[test]
    fn a_panic_leaves_no_recording() {
        let cx = Context::background();
        let ((), outer) = cx.capture(|| {
            let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                cx.capture(|| {
                    cx.depends_on(key(1));
                    panic!("a mistake");
                })
            }));
            assert!(panicked.is_err());
            cx.depends_on(key(2));
        });
        assert_eq!(outer.keys(), sorted(&[2]));
        assert!(lock(&cx.0.recordings).is_empty());
    }

    #[test]
    fn parts_of_a_request_record_for_themselves_and_for_it() {
        let cx = Context::request(Transport::Tls);
        let mut polls = 0;
        let mut part = pin!(cx.scope(|part| async move {
            let twice = poll_fn(|_| {
                polls += 1;
                part.depends_on(key(polls));
                if polls == 2 { Poll::Ready(()) } else { Poll::Pending }
            });
            twice.await;
            let ((), inner) = part.scope(async |inner| inner.depends_on(key(9))).await;
            assert_eq!((inner.len(), part.transport()), (1, Transport::Tls));
        }));
        let mut waker = std::task::Context::from_waker(Waker::noop());
        assert!(part.as_mut().poll(&mut waker).is_pending());
        cx.depends_on(key(5));
        let Poll::Ready(((), dependencies)) = part.as_mut().poll(&mut waker) else { panic!("ready") };
        assert_eq!(dependencies.keys(), sorted(&[1, 2, 9]));
    }

    #[test]
    fn requests_have_stamps_and_states() {
        let versions = Versions::default();
        let (request, background) = (Context::request(Transport::Plain), Context::background());
        for cx in [&request, &background] {
            cx.renew_stamp(Some(versions.stamp()));
        }
        assert_eq!((request.stamp(), background.stamp()), (Some(versions.stamp()), None));
        assert_eq!(request.detached().stamp(), None);
        let over_tls = request.over(Transport::Tls);
        assert_eq!((over_tls.transport(), over_tls.stamp()), (Transport::Tls, request.stamp()));
        *lock(&request.state::<Mutex<u8>>()) = 7;
        let (in_part, _) = now(request.scope(|part| ready(*lock(&part.state::<Mutex<u8>>()))));
        assert_eq!((in_part, *lock(&request.detached().state::<Mutex<u8>>())), (7, 0));
    }

    #[test]
    fn what_was_read_from_older_data_is_cached_as_old() {
        let versions = Versions::default();
        let old = versions.stamp();
        versions.change([key(1)]).end();
        let new = versions.stamp();
        assert!(old < new);
        let cx = Context::request(Transport::Plain);
        cx.renew_stamp(Some(new));
        assert_eq!((cx.stamp(), cx.stamp_since(new)), (Some(new), Some(new)));
        cx.lower_stamp(Some(old));
        assert_eq!((cx.stamp(), cx.stamp_since(new)), (Some(old), Some(old)));
        // What was loaded is used for the rest of the request.
        cx.renew_stamp(Some(new));
        cx.lower_stamp(Some(new));
        assert_eq!((cx.stamp(), cx.stamp_since(new)), (Some(old), Some(old)));
        cx.lower_stamp(None);
        cx.renew_stamp(Some(new));
        assert_eq!((cx.stamp(), cx.stamp_since(new)), (None, None));
    }

    #[test]
    fn held_values_are_released_when_the_request_waits() {
        let cx = Context::request(Transport::Plain);
        assert!(!cx.hold_until_waiting(|| panic!("nothing runs the request")));
        let released = Arc::new(Mutex::new(0));
        let hold = |cx: &Context| {
            let released = Arc::clone(&released);
            cx.hold_until_waiting(move || *lock(&released) += 1)
        };
        let mut polls = 0;
        let twice = poll_fn(|_| {
            polls += 1;
            assert!(hold(&cx) && *lock(&released) == polls - 1);
            if polls == 2 { Poll::Ready(()) } else { Poll::Pending }
        });
        // Within another one, as pages are that the server requests from itself.
        let mut request = pin!(cx.run(cx.run(twice)));
        let mut waker = std::task::Context::from_waker(Waker::noop());
        assert!(request.as_mut().poll(&mut waker).is_pending());
        assert!(!cx.hold_until_waiting(|| panic!("the request waits")));
        assert!(request.as_mut().poll(&mut waker).is_ready());
        assert_eq!(*lock(&released), 2);
    }

    #[test]
    fn values_are_seen_by_what_is_called_with_them() {
        let outer = Context::request(Transport::Plain);
        let inner = outer.with(1_u8);
        assert_eq!(outer.capture(|| inner.depends_on(key(1))).1.len(), 1);
        assert_eq!((outer.get::<u8>(), inner.get::<u8>().as_deref()), (None, Some(&1)));
        assert_eq!(inner.with(2_u8).detached().get::<u8>().as_deref(), Some(&2));
        assert_eq!(inner.get::<u16>(), None);
    }
}
