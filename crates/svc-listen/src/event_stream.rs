//! Event streams without the buffers of a connection.
//!
//! hyper keeps a buffer of 16 KB for reading and one of 8 KB for writing for each connection with HTTP/1 whose version it detects, and
//! has no option for less. A stream of server-sent events stays open for hours, and mostly sends nothing. As soon as all is sent that it
//! begins with, its socket and its body are therefore taken out of hyper's connection, and [`EventStream::send`] sends what follows, as
//! chunks (RFC 9112, section 7.1). The connection ends with the response, which announces that.
//!
//! The two are taken when the connection is dropped, because hyper has no other way to get them back during a response. HTTP/2 is not
//! concerned: all streams of a connection share its buffers.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
    task::{Context, Poll, ready},
};

use axum::body::Body;
use bytes::{Buf as _, Bytes};
use http::{HeaderValue, Response, StatusCode, Version, header};
use http_body::{Body as _, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf};

use crate::{compression, tls::Stream};

/// The end of a body that is sent as chunks.
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// Whether a response to a request of this version, without a body, is an event stream that can be taken over: hyper sends it as chunks.
fn is_event_stream(version: Version, response: &Response<Body>) -> bool {
    let headers = response.headers();
    version == Version::HTTP_11
        && response.version() == Version::HTTP_11
        && response.status() == StatusCode::OK
        && response.body().size_hint().upper().is_none()
        && headers.get(header::CONTENT_TYPE).is_some_and(compression::is_events)
        && !headers.contains_key(header::CONTENT_LENGTH)
        && !headers.contains_key(header::TRANSFER_ENCODING)
}

/// When and how the parts of a connection are taken out of it. The parts report here when the connection's task polls them.
#[derive(Default)]
pub(crate) struct Takeover {
    phase: AtomicU8,
    left: Mutex<Left>,
}

/// No event stream, or it has data.
const BUSY: u8 = 0;
/// An event stream has no data, but hyper may have.
const NO_DATA: u8 = 1;
/// An event stream has no data, and all before is sent.
const ALL_SENT: u8 = 2;
/// The connection is being dropped: its parts are kept.
const LEAVING: u8 = 3;

/// The parts of a connection that was dropped.
#[derive(Default)]
struct Left {
    stream: Option<Stream>,
    body: Option<Body>,
}

impl Takeover {
    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Only the connection's task does this.
    fn enter(&self, phase: u8) {
        self.phase.store(phase, Ordering::Relaxed);
    }

    fn is_in(&self, phase: u8) -> bool {
        self.phase.load(Ordering::Relaxed) == phase
    }

    /// Lets the body of a response to a request of this version, without a body, survive its connection if it is an event stream.
    pub(crate) fn watch(self: &Arc<Self>, version: Version, mut response: Response<Body>) -> Response<Body> {
        if !is_event_stream(version, &response) {
            return response;
        }
        // A stream that is taken over ends its connection.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        response.map(|body| Body::new(DetachableBody { body, takeover: Arc::clone(self) }))
    }

    /// The body of an event stream was polled.
    fn body_polled(&self, is_pending: bool) {
        match is_pending {
            // hyper polls it again after it has sent all.
            true if self.is_due() => {}
            true => self.enter(NO_DATA),
            false => self.enter(BUSY),
        }
    }

    /// Whether the connection can be replaced by [`Takeover::take`].
    pub(crate) fn is_due(&self) -> bool {
        self.is_in(ALL_SENT)
    }

    /// Drops a connection except for its socket and its body.
    pub(crate) fn take(&self, connection: impl Sized) -> Option<EventStream> {
        self.enter(LEAVING);
        drop(connection);
        let Left { stream, body } = std::mem::take(&mut *self.left());
        Some(EventStream { stream: stream?, body: body?, does_read: true })
    }
}

/// The body of an event stream, which survives its connection if the connection is replaced.
struct DetachableBody {
    body: Body,
    takeover: Arc<Takeover>,
}

impl Drop for DetachableBody {
    fn drop(&mut self) {
        if self.takeover.is_in(LEAVING) {
            self.takeover.left().body = Some(std::mem::take(&mut self.body));
        }
    }
}

impl http_body::Body for DetachableBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        self.takeover.body_polled(frame.is_pending());
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The socket of a connection, which survives it if the connection is replaced.
pub(crate) struct Detachable {
    /// `None` only while this is dropped.
    stream: Option<Stream>,
    takeover: Arc<Takeover>,
}

impl Detachable {
    pub(crate) fn new(stream: Stream, takeover: Arc<Takeover>) -> Self {
        Detachable { stream: Some(stream), takeover }
    }

    fn stream(&mut self) -> io::Result<Pin<&mut Stream>> {
        self.stream.as_mut().map(Pin::new).ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl Drop for Detachable {
    fn drop(&mut self) {
        if self.takeover.is_in(LEAVING) {
            self.takeover.left().stream = self.stream.take();
        }
    }
}

impl AsyncRead for Detachable {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_read(context, buf)
    }
}

impl AsyncWrite for Detachable {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write(context, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write_vectored(context, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.as_ref().is_some_and(Stream::is_write_vectored)
    }

    /// hyper flushes its socket after it has written all that it has.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.stream()?.poll_flush(context))?;
        if self.takeover.is_in(NO_DATA) {
            self.takeover.enter(ALL_SENT);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_shutdown(context)
    }
}

/// An event stream of which the head is sent.
pub(crate) struct EventStream {
    stream: Stream,
    body: Body,
    does_read: bool,
}

impl EventStream {
    /// Sends what follows, until the body ends or the client closes the connection.
    ///
    /// # Errors
    /// If the connection or the body fails.
    pub(crate) async fn send(mut self) -> Result<(), axum::BoxError> {
        while let Some(data) = std::future::poll_fn(|context| self.poll_data(context)).await? {
            let size = format!("{:X}\r\n", data.len());
            let mut chunk = size.as_bytes().chain(data).chain(&b"\r\n"[..]);
            self.stream.write_all_buf(&mut chunk).await?;
            self.stream.flush().await?;
        }
        self.stream.write_all(LAST_CHUNK).await?;
        Ok(self.stream.shutdown().await?)
    }

    /// The next data, which is not empty; `None` after the last.
    fn poll_data(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, axum::BoxError>> {
        if self.does_read {
            let mut bytes = [0; 16];
            let mut buf = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.stream).poll_read(context, &mut buf) {
                Poll::Pending => {}
                Poll::Ready(Ok(())) if buf.filled().is_empty() => {
                    return Poll::Ready(Err("closed by the client".into()));
                }
                // Another request. It is not answered, because the response ends the connection.
                Poll::Ready(Ok(())) => self.does_read = false,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error.into())),
            }
        }
        loop {
            match ready!(Pin::new(&mut self.body).poll_frame(context)).transpose()? {
                Some(frame) => match frame.into_data() {
                    Ok(data) if data.is_empty() => {}
                    Ok(data) => return Poll::Ready(Ok(Some(data))),
                    // Events have none, and hyper sends them only to clients that accept them.
                    Err(_trailers) => {}
                },
                None => return Poll::Ready(Ok(None)),
            }
        }
    }
}
