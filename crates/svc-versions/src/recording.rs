//! Records what the code on this thread depends on.

use std::cell::{Cell, RefCell};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::{Dependencies, Key, Stamp};

thread_local! {
    /// The recordings in progress on this thread, innermost last.
    static RECORDINGS: RefCell<Vec<Dependencies>> = const { RefCell::new(Vec::new()) };
    /// The stamp of the request that this thread handles.
    static STAMP: Cell<Option<Stamp>> = const { Cell::new(None) };
    /// Whether this thread polls a future within [`scope`].
    static IN_SCOPE: Cell<bool> = const { Cell::new(false) };
}

fn recording(change: impl FnOnce(&mut Dependencies)) {
    RECORDINGS.with_borrow_mut(|recordings| {
        if let Some(innermost) = recordings.last_mut() {
            change(innermost);
        }
    });
}

/// Records that the current computation depends on a key. Without a recording, this does nothing.
pub fn depends_on(key: Key) {
    recording(|recording| recording.add(key));
}

/// Records that the result of the current computation is valid for at most this long, because it depends on the time, on
/// files, or on something else whose changes are not observed.
pub fn expires_in(time: Duration) {
    recording(|recording| recording.expire(Instant::now() + time));
}

/// Records that the result of the current computation must not be cached.
pub fn never() {
    recording(Dependencies::never);
}

/// Records that the result of the current computation depends on the request that it is made for: on its URL, its session,
/// or the other parts of the response. The response can be cached for equal requests, but its parts cannot be shared.
pub fn depends_on_request() {
    recording(Dependencies::of_request);
}

/// Records that the current computation uses a value with these dependencies.
pub fn record(dependencies: &Dependencies) {
    recording(|recording| recording.extend(dependencies));
}

/// Computes a value and returns it with what it depends on. An enclosing recording depends on the same.
pub fn capture<T>(compute: impl FnOnce() -> T) -> (T, Dependencies) {
    let frame = Frame::open(Dependencies::default());
    let value = compute();
    let mut dependencies = frame.close();
    dependencies.finish();
    record(&dependencies);
    (value, dependencies)
}

/// Computes a value whose dependencies the caller records itself.
pub fn unrecorded<T>(compute: impl FnOnce() -> T) -> T {
    let frame = Frame::open(Dependencies::default());
    let value = compute();
    drop(frame);
    value
}

/// Awaits a future and returns its output with what it depends on. An enclosing recording depends on the same.
///
/// The future has a [stamp](current_stamp): that of the enclosing scope, or `stamp`.
pub async fn scope<F: Future>(stamp: Option<Stamp>, future: F) -> (F::Output, Dependencies) {
    Scope { future: pin!(future), dependencies: Dependencies::default(), stamp: current_stamp().or(stamp) }.await
}

/// The future of [`scope`].
#[derive(Debug)]
pub struct Scope<'f, F> {
    future: Pin<&'f mut F>,
    dependencies: Dependencies,
    stamp: Option<Stamp>,
}

impl<F: Future> Future for Scope<'_, F> {
    type Output = (F::Output, Dependencies);

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let frame = Frame::open(std::mem::take(&mut this.dependencies));
        let outer = Entered { stamp: STAMP.replace(this.stamp), in_scope: IN_SCOPE.replace(true) };
        let polled = this.future.as_mut().poll(context);
        this.stamp = STAMP.get();
        drop(outer);
        this.dependencies = frame.close();
        polled.map(|output| {
            let mut dependencies = std::mem::take(&mut this.dependencies);
            dependencies.finish();
            record(&dependencies);
            (output, dependencies)
        })
    }
}

/// The stamp of the request that this thread handles: everything that it reads is at least as new. Values computed from
/// what it reads are cached with this stamp, and cached values are used if they are valid at it.
pub fn current_stamp() -> Option<Stamp> {
    STAMP.get()
}

/// Replaces the stamp of the request that this thread handles: what it reads from now on is at least as new as `stamp`.
/// Without a request, this does nothing.
pub fn renew_stamp(stamp: Option<Stamp>) {
    // Elsewhere nothing would reset it.
    if IN_SCOPE.get() {
        STAMP.set(stamp);
    }
}

/// Restores the stamp of the enclosing scope, also after a panic.
struct Entered {
    stamp: Option<Stamp>,
    in_scope: bool,
}

impl Drop for Entered {
    fn drop(&mut self) {
        STAMP.set(self.stamp);
        IN_SCOPE.set(self.in_scope);
    }
}

/// A recording on the stack of this thread. Dropping it removes it, also after a panic.
struct Frame {
    depth: usize,
}

impl Frame {
    fn open(dependencies: Dependencies) -> Self {
        RECORDINGS.with_borrow_mut(|recordings| {
            recordings.push(dependencies);
            Frame { depth: recordings.len() }
        })
    }

    fn close(self) -> Dependencies {
        RECORDINGS.with_borrow_mut(|recordings| {
            recordings.truncate(self.depth);
            recordings.pop().unwrap_or_default()
        })
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        // After `close` the recording is gone already.
        RECORDINGS.with_borrow_mut(|recordings| recordings.truncate(self.depth - 1));
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Waker;

    use super::*;
    use crate::Versions;

    fn key(n: u32) -> Key {
        Key::of(&n)
    }

    fn sorted(keys: &[u32]) -> Vec<Key> {
        let mut keys: Vec<Key> = keys.iter().map(|n| key(*n)).collect();
        keys.sort_unstable();
        keys
    }

    #[test]
    fn inner_recordings_count_for_outer_ones() {
        depends_on(key(0));
        let (inner, outer) = capture(|| {
            depends_on(key(1));
            let ((), inner) = capture(|| {
                depends_on(key(2));
                depends_on(key(2));
                expires_in(Duration::from_hours(1));
            });
            inner
        });
        assert_eq!(inner.keys(), sorted(&[2]));
        assert_eq!(outer.keys(), sorted(&[1, 2]));
        assert!(outer.is_cacheable() && !outer.has_expired());
        let ((), expired) = capture(|| expires_in(Duration::ZERO));
        assert!(expired.has_expired());
        let ((), never) = capture(never);
        assert!(!never.is_cacheable());
        let ((), outer) = capture(|| capture(depends_on_request).0);
        assert!(outer.are_of_request() && outer.is_cacheable());
        let (value, outer) = capture(|| unrecorded(|| capture(|| depends_on(key(1))).1.len()));
        assert_eq!((value, outer.len()), (1, 0));
    }

    #[test]
    fn a_panic_leaves_no_recording() {
        let ((), outer) = capture(|| {
            let panicked = std::panic::catch_unwind(|| {
                capture(|| {
                    depends_on(key(1));
                    panic!("a mistake");
                })
            });
            assert!(panicked.is_err());
            depends_on(key(2));
        });
        assert_eq!(outer.keys(), sorted(&[2]));
        assert!(RECORDINGS.with_borrow(Vec::is_empty));
    }

    #[test]
    fn the_stamp_of_a_request_ends_with_it() {
        let versions = Versions::default();
        let renew = || renew_stamp(Some(versions.stamp()));
        capture(renew);
        assert_eq!(current_stamp(), None, "a recording outside of a request has no stamp");
        let mut scoped = pin!(scope(None, async {
            renew();
            current_stamp()
        }));
        let Poll::Ready((inside, _)) = scoped.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
            panic!("ready")
        };
        assert_eq!(inside, Some(versions.stamp()));
        assert_eq!(current_stamp(), None);
    }

    #[test]
    fn futures_record_only_while_they_are_polled() {
        let versions = Versions::default();
        versions.change_all();
        let mut polls = 0;
        let future = poll_fn(|_| {
            polls += 1;
            depends_on(key(polls));
            assert_eq!(current_stamp(), Some(versions.stamp()));
            if polls == 2 { Poll::Ready(()) } else { Poll::Pending }
        });
        let mut scoped = pin!(scope(Some(versions.stamp()), async {
            future.await;
            scope(None, async { depends_on(key(9)) }).await
        }));
        let mut context = Context::from_waker(Waker::noop());
        assert!(scoped.as_mut().poll(&mut context).is_pending());
        depends_on(key(5));
        assert_eq!(current_stamp(), None);
        let Poll::Ready((_, dependencies)) = scoped.as_mut().poll(&mut context) else { panic!("ready") };
        assert_eq!(dependencies.keys(), sorted(&[1, 2, 9]));
    }
}
