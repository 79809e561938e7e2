//! The body of a response: bytes, or parts that are read while they are sent.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::stream::BoxStream;
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use svc_routing::MadeBody;

/// The body of a response.
pub struct ResponseBody(BodyKind);

enum BodyKind {
    Whole(Full<Bytes>),
    Parts {
        /// Bytes that are still to come.
        left: u64,
        parts: BoxStream<'static, io::Result<Bytes>>,
    },
}

impl Default for ResponseBody {
    /// An empty body.
    fn default() -> Self {
        ResponseBody(BodyKind::Whole(Full::default()))
    }
}

impl From<Full<Bytes>> for ResponseBody {
    fn from(whole: Full<Bytes>) -> Self {
        ResponseBody(BodyKind::Whole(whole))
    }
}

impl From<MadeBody> for ResponseBody {
    fn from(made: MadeBody) -> Self {
        ResponseBody(BodyKind::Parts { left: made.size, parts: made.parts })
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseBody").field("size", &self.size_hint().exact()).finish_non_exhaustive()
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match &mut self.0 {
            BodyKind::Whole(whole) => Pin::new(whole).poll_frame(context).map_err(|never| match never {}),
            BodyKind::Parts { left, parts } => Poll::Ready(match ready!(parts.as_mut().poll_next(context)) {
                Some(Ok(part)) => {
                    *left = left.saturating_sub(part.len() as u64);
                    Some(Ok(Frame::data(part)))
                }
                Some(Err(error)) => Some(Err(error)),
                None => None,
            }),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            BodyKind::Whole(whole) => whole.is_end_stream(),
            BodyKind::Parts { left, .. } => *left == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            BodyKind::Whole(whole) => whole.size_hint(),
            BodyKind::Parts { left, .. } => SizeHint::with_exact(*left),
        }
    }
}
