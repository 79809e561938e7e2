//! Bodies in transit: both directions are streamed, and waits for the upstream are bounded.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use http_body_util::{BodyExt as _, Empty, LengthLimitError, combinators::UnsyncBoxBody};
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, Sleep, sleep, sleep_until},
};

use crate::failure::Failure;

/// The error of a body.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The body of forwarded requests and of responses.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

/// A body without content.
pub fn empty() -> Body {
    Empty::new().map_err(|never| match never {}).boxed_unsync()
}

/// A body of any type, to be forwarded.
pub fn boxed<B>(body: B) -> Body
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    body.map_err(Into::into).boxed_unsync()
}

/// The state of an upload, shared between its body and the task that waits for the response.
pub(crate) struct Progress {
    start: Instant,
    /// Milliseconds from the start to the last part of the body.
    last: AtomicU64,
    /// 0, or why the body ended early: 1 if it exceeded the limit of the server, 2 if the client closed the connection or the body is invalid.
    broken: AtomicU8,
}

impl Progress {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Progress { start: Instant::now(), last: AtomicU64::new(0), broken: AtomicU8::new(0) })
    }

    /// When the last part of the body was sent, or the request started.
    fn last(&self) -> Instant {
        self.start + Duration::from_millis(self.last.load(Ordering::Relaxed))
    }

    /// Why the body ended early, if it did.
    pub(crate) fn failure(&self) -> Option<Failure> {
        match self.broken.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Failure::TooLarge),
            _ => Some(Failure::Unreadable),
        }
    }

    /// Waits for a response. `None` if there is none for this time after the last part of the request.
    pub(crate) async fn within<T>(&self, limit: Duration, response: impl Future<Output = T>) -> Option<T> {
        let mut response = std::pin::pin!(response);
        loop {
            tokio::select! {
                response = &mut response => return Some(response),
                () = sleep_until(self.last() + limit) => {
                    if self.last() + limit <= Instant::now() {
                        return None;
                    }
                }
            }
        }
    }

    /// Records that a part of the body was sent.
    pub(crate) fn advance(&self) {
        let elapsed = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(elapsed, Ordering::Relaxed);
    }

    fn fail(&self, error: &(dyn std::error::Error + 'static)) {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if error.is::<LengthLimitError>() {
                return self.broken.store(1, Ordering::Relaxed);
            }
            cause = error.source();
        }
        self.broken.store(2, Ordering::Relaxed);
    }
}

/// The body of a request on its way to the upstream. It records its progress.
pub(crate) struct Upload {
    inner: Body,
    progress: Arc<Progress>,
}

impl Upload {
    pub(crate) fn new(inner: Body, progress: Arc<Progress>) -> Self {
        Upload { inner, progress }
    }
}

impl http_body::Body for Upload {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(context);
        if polled.is_ready() {
            self.progress.advance();
        }
        polled.map(|frame| frame.map(|frame| frame.inspect_err(|error| self.progress.fail(&**error))))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// The upstream sent nothing for too long in the middle of a body.
#[derive(Debug, thiserror::Error)]
#[error("the upstream stopped sending")]
struct Stalled;

/// The body of a response on its way to the client. It occupies a slot of the proxy until it ends.
pub(crate) struct Download<B> {
    inner: B,
    /// Time limit between two parts. A client that reads slowly is not counted: only waits for the upstream are.
    idle: Duration,
    timer: Option<Pin<Box<Sleep>>>,
    _slot: OwnedSemaphorePermit,
}

impl<B> Download<B> {
    pub(crate) fn new(inner: B, idle: Duration, slot: OwnedSemaphorePermit) -> Self {
        Download { inner, idle, timer: None, _slot: slot }
    }
}

impl<B> http_body::Body for Download<B>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.inner).poll_frame(context) {
            self.timer = None;
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let idle = self.idle;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(idle)));
        timer.as_mut().poll(context).map(|()| Some(Err(Stalled.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
