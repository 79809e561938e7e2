//! Activity of a connection: its requests in progress, and how long the server has waited for the client.
//!
//! The socket, the request bodies and the response bodies of a connection report to one [`Activity`]. There are no timers:
//! `connections.rs` checks every activity a few times per second and closes connections that are too slow.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    sync::{Notify, watch},
};

use crate::limits::ConnectionLimits;

/// A client that transfers this many bytes per second is never too slow: each byte offsets a millisecond of waiting.
const BYTES_PER_SECOND: u64 = 1_000;

/// How long after its start a connection may wait for its first request although the server is stopping. The client cannot know that yet.
const FIRST_REQUEST: Duration = Duration::from_secs(1);

/// Maximum duration of a graceful close.
pub(crate) const CLOSE_TIME: Duration = Duration::from_millis(500);

/// How a connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Close {
    /// As the protocol requires, for clients that behaved well.
    Gracefully,
    /// Immediately.
    Now,
}

/// The state of one connection, shared by its socket, its bodies and the sweeper.
pub(crate) struct Activity {
    state: Mutex<State>,
    closing: Notify,
}

struct State {
    opened: Instant,
    /// Requests whose response is not completely written.
    n_in_progress: usize,
    has_served: bool,
    is_http2: bool,
    /// Whether the server has tried to read a request without finding data.
    has_read_all: bool,
    /// When the last request ended, or the connection was opened.
    idle_since: Instant,
    /// When the first byte of the next request arrived.
    head_since: Option<Instant>,
    /// Waiting for the rest of a request body.
    body: Waiting,
    /// Waiting for the socket to take more bytes.
    write: Waiting,
    /// Waiting for the client to request more of a response: HTTP/2 clients can pause a response without pausing the socket.
    unread: Waiting,
    close: Option<Close>,
}

/// How long the server has waited, minus the time that transferred bytes offset.
#[derive(Default)]
struct Waiting {
    n_waiting: usize,
    since: Option<Instant>,
    before: Duration,
}

impl Waiting {
    fn begin(&mut self, now: Instant) {
        self.n_waiting += 1;
        self.since.get_or_insert(now);
    }

    fn end(&mut self, now: Instant) {
        self.before = self.lag(now);
        self.n_waiting = self.n_waiting.saturating_sub(1);
        self.since = (self.n_waiting > 0).then_some(now);
    }

    fn received(&mut self, now: Instant, n_bytes: usize) {
        let credit = Duration::from_micros((n_bytes as u64).saturating_mul(1_000_000 / BYTES_PER_SECOND));
        self.before = self.lag(now).saturating_sub(credit);
        self.since = self.since.map(|_| now);
    }

    /// How far the client is behind, including previous waits.
    fn lag(&self, now: Instant) -> Duration {
        self.before + self.since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }
}

impl Activity {
    pub(crate) fn new(now: Instant) -> Self {
        Activity {
            state: Mutex::new(State {
                opened: now,
                n_in_progress: 0,
                has_served: false,
                is_http2: false,
                has_read_all: false,
                idle_since: now,
                head_since: None,
                body: Waiting::default(),
                write: Waiting::default(),
                unread: Waiting::default(),
                close: None,
            }),
            closing: Notify::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request until the guard is dropped.
    pub(crate) fn begin_request(self: &Arc<Self>, version: http::Version) -> InProgress {
        let mut state = self.state();
        state.n_in_progress += 1;
        state.has_served = true;
        state.is_http2 = version == http::Version::HTTP_2;
        state.head_since = None;
        InProgress(Arc::clone(self))
    }

    /// Whether a request is in progress.
    pub(crate) fn is_busy(&self) -> bool {
        self.state().n_in_progress > 0
    }

    /// How long a server that is stopping waits for the first request; `None` if it has begun, or has not within a second.
    fn first_request_within(&self) -> Option<Duration> {
        let state = self.state();
        let left = FIRST_REQUEST.checked_sub(state.opened.elapsed()).filter(|left| !left.is_zero());
        left.filter(|_| !state.has_served)
    }

    /// Ready when the server is stopping, as `stopped` says, and the connection need not stay open for its first request.
    pub(crate) async fn until_stop(&self, stopped: &mut watch::Receiver<()>) {
        let _stopping = stopped.changed().await;
        if let Some(left) = self.first_request_within() {
            // Allocated, since only few connections need it.
            let mut sleep = Box::pin(tokio::time::sleep(left));
            // The first request begins while the connection is polled, by the same task.
            std::future::poll_fn(|context| match self.first_request_within() {
                None => Poll::Ready(()),
                Some(_) => sleep.as_mut().poll(context),
            })
            .await;
        }
    }

    /// Requests that the connection's task closes it.
    pub(crate) fn close(&self, how: Close) {
        let mut state = self.state();
        if state.close != Some(Close::Now) {
            state.close = Some(how);
            self.closing.notify_one();
        }
    }

    /// Closes the connection in favour of a new one: immediately, unless it has served a request.
    pub(crate) fn make_room(&self) {
        let state = self.state();
        let how = if state.has_served && state.n_in_progress == 0 { Close::Gracefully } else { Close::Now };
        drop(state);
        self.close(how);
    }

    /// Ready when the connection should be closed. For one waiting task.
    pub(crate) async fn close_requested(&self) -> Close {
        loop {
            // The guard must not live across the await.
            let close = self.state().close.take();
            if let Some(how) = close {
                return how;
            }
            self.closing.notified().await;
        }
    }

    /// Why the connection should be closed now, if it should.
    pub(crate) fn verdict(&self, now: Instant, limits: &ConnectionLimits) -> Option<&'static str> {
        let state = self.state();
        let since = |time: Instant| now.saturating_duration_since(time);
        if state.n_in_progress == 0 {
            if !state.has_served && since(state.opened) >= limits.header {
                return Some("no request within the time limit");
            }
            // Bytes on an HTTP/2 connection may be pings.
            if !state.is_http2 && state.head_since.is_some_and(|head| since(head) >= limits.header) {
                return Some("the request head was sent too slowly");
            }
            if since(state.idle_since) >= limits.idle {
                return Some("idle");
            }
        }
        let reasons = [
            (&state.body, "the request body was sent too slowly"),
            (&state.write, "the client did not read the response"),
            (&state.unread, "the client did not request the rest of the response"),
        ];
        let slow = reasons.into_iter().find(|(waiting, _)| waiting.lag(now) >= limits.stall);
        slow.map(|(_, reason)| reason)
    }

    /// How long the connection has been idle: no request in progress, and nothing to read or write.
    pub(crate) fn idle_for(&self, now: Instant) -> Option<Duration> {
        let state = self.state();
        let is_idle = state.n_in_progress == 0 && state.has_read_all && state.write.since.is_none();
        is_idle.then(|| now.saturating_duration_since(state.idle_since))
    }

    /// How far the client of a request in progress is behind: see [`BYTES_PER_SECOND`].
    pub(crate) fn behind(&self, now: Instant) -> Duration {
        let state = self.state();
        let waiting = [&state.body, &state.write, &state.unread].into_iter().filter(|waiting| waiting.since.is_some());
        waiting.map(|waiting| waiting.lag(now)).max().unwrap_or_default()
    }
}

/// A request in progress.
pub(crate) struct InProgress(Arc<Activity>);

impl Drop for InProgress {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.n_in_progress = state.n_in_progress.saturating_sub(1);
        if state.n_in_progress == 0 {
            state.idle_since = Instant::now();
            state.head_since = None;
            state.body = Waiting::default();
            state.unread = Waiting::default();
        }
    }
}

/// Maximum number of bytes that a connection writes before it yields. Otherwise a large file would fill the socket's buffer at
/// once, and a thousand such connections would delay a small response by seconds.
const WRITE_TURN: usize = 256 << 10;

/// A socket that reports progress.
pub(crate) struct Socket {
    stream: TcpStream,
    activity: Arc<Activity>,
    is_write_blocked: bool,
    /// Bytes written in this turn: see [`WRITE_TURN`].
    n_written: usize,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, activity: Arc<Activity>) -> Self {
        Socket { stream, activity, is_write_blocked: false, n_written: 0 }
    }

    /// The first byte that the client sends, which is not read by this; `None` if the client sends nothing.
    pub(crate) async fn first_byte(&self) -> io::Result<Option<u8>> {
        // Meanwhile the connection is idle.
        self.activity.state().has_read_all = true;
        let mut first = [0];
        let n_bytes = self.stream.peek(&mut first).await?;
        Ok((n_bytes > 0).then_some(first[0]))
    }

    /// Whether the connection has used up its turn. Its task is then scheduled again, behind the others.
    fn ends_turn(&mut self, context: &Context<'_>) -> bool {
        let ends = self.n_written >= WRITE_TURN;
        if ends {
            self.n_written = 0;
            context.waker().wake_by_ref();
        }
        ends
    }

    fn wrote(&mut self, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &result {
            Poll::Pending => self.n_written = 0,
            Poll::Ready(done) => self.n_written += done.as_ref().unwrap_or(&0),
        }
        match &result {
            Poll::Pending if !self.is_write_blocked => {
                self.is_write_blocked = true;
                self.activity.state().write.begin(Instant::now());
            }
            Poll::Ready(done) if self.is_write_blocked => {
                self.is_write_blocked = false;
                let (now, mut state) = (Instant::now(), self.activity.state());
                state.write.received(now, *done.as_ref().unwrap_or(&0));
                state.write.end(now);
            }
            _ => {}
        }
        result
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(context, buf);
        let n_read = buf.filled().len() - before;
        let mut state = self.activity.state();
        // The last read before a connection becomes idle may happen while its request is still in progress.
        state.has_read_all = result.is_pending();
        if state.n_in_progress == 0 && n_read > 0 {
            state.head_since.get_or_insert_with(Instant::now);
        }
        drop(state);
        result
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.ends_turn(context) {
            return Poll::Pending;
        }
        let result = Pin::new(&mut self.stream).poll_write(context, buf);
        self.wrote(result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.ends_turn(context) {
            return Poll::Pending;
        }
        let result = Pin::new(&mut self.stream).poll_write_vectored(context, bufs);
        self.wrote(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// A request body that reports its progress.
pub(crate) struct RequestBody {
    inner: Incoming,
    activity: Arc<Activity>,
    is_waiting: bool,
}

impl RequestBody {
    pub(crate) fn new(inner: Incoming, activity: Arc<Activity>) -> Self {
        RequestBody { inner, activity, is_waiting: false }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let result = Pin::new(&mut self.inner).poll_frame(context);
        let now = Instant::now();
        match &result {
            Poll::Pending if !self.is_waiting => {
                self.is_waiting = true;
                self.activity.state().body.begin(now);
            }
            Poll::Pending => {}
            Poll::Ready(frame) => {
                let data = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref());
                let mut state = self.activity.state();
                state.body.received(now, data.map_or(0, Bytes::len));
                if self.is_waiting {
                    state.body.end(now);
                }
                drop(state);
                self.is_waiting = false;
            }
        }
        result
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if self.is_waiting {
            self.activity.state().body.end(Instant::now());
        }
    }
}

/// A response body that reports whether the client requests it. Its request is in progress until this is dropped.
///
/// Only HTTP/2 clients can pause a response without pausing the socket, so nothing is reported with HTTP/1.
pub(crate) struct ResponseBody {
    inner: axum::body::Body,
    request: InProgress,
    is_http2: bool,
    /// Bytes produced when more was last requested; `None` while no data is available.
    handed: Option<usize>,
}

impl ResponseBody {
    pub(crate) fn new(inner: axum::body::Body, request: InProgress, version: http::Version) -> Self {
        let is_http2 = version == http::Version::HTTP_2;
        if is_http2 {
            request.0.state().unread.begin(Instant::now());
        }
        ResponseBody { inner, request, is_http2, handed: is_http2.then_some(0) }
    }

    /// Records that the client has taken the data.
    fn taken(&mut self) {
        if let Some(n_bytes) = self.handed.take() {
            let (now, mut state) = (Instant::now(), self.request.0.state());
            state.unread.received(now, n_bytes);
            state.unread.end(now);
        }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.taken();
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(context));
        if let Some(Ok(frame)) = &frame
            && self.is_http2
        {
            let n_bytes = frame.data_ref().map_or(0, Bytes::len);
            self.request.0.state().unread.begin(Instant::now());
            self.handed = Some(n_bytes);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for ResponseBody {
    fn drop(&mut self) {
        self.taken();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_make_up_for_waiting() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let lag = |waiting: &Waiting, ms| waiting.lag(at(ms)).as_millis();
        let mut waiting = Waiting::default();
        waiting.begin(start);
        assert_eq!(lag(&waiting, 3_000), 3_000);
        waiting.received(at(3_000), 1_000);
        assert_eq!(lag(&waiting, 3_500), 2_500);
        // Surplus bytes are not credited.
        waiting.received(at(4_000), 1_000_000);
        assert_eq!(lag(&waiting, 4_100), 100);
        waiting.end(at(4_200));
        assert_eq!(lag(&waiting, 9_000), 200);
    }

    #[test]
    fn waiting_goes_on_until_all_waits_have_ended() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut waiting = Waiting::default();
        waiting.begin(start);
        waiting.begin(at(10));
        waiting.end(at(100));
        assert_eq!(waiting.lag(at(300)).as_millis(), 300);
    }
}
