//! The body of a response.
//!
//! It is received ahead of the client, up to a limit, so that a slow client does not keep a process of php-fpm.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::{
    sync::{
        OwnedSemaphorePermit, Semaphore,
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    },
    task::JoinHandle,
};

use super::connection::FastCgiResponse;
use crate::body::BoxError;

/// Maximum number of bytes that are received ahead of the client.
const AHEAD: usize = 512 << 10;

/// Memory for a part besides its bytes, in bytes.
const PER_PART: usize = 128;

/// A task that is aborted when its owner is dropped.
pub(super) struct Task<T>(pub(super) JoinHandle<T>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The upstream closed the connection before the end of the response.
#[derive(Debug, thiserror::Error)]
#[error("the response of the upstream is not complete")]
pub(super) struct Incomplete;

/// A received part, or the end.
enum Event {
    /// A part, with its share of the limit.
    Part(Bytes, OwnedSemaphorePermit),
    End,
    Failed(BoxError),
}

/// The body of a response. Dropping it aborts the request.
pub(crate) struct FastCgiAnswer {
    /// The beginning, which was received with the head.
    first: Bytes,
    events: UnboundedReceiver<Event>,
    /// Bytes until the end of the body, if the script has set its length.
    remaining: Option<u64>,
    has_ended: bool,
    _receiver: Task<()>,
}

impl FastCgiAnswer {
    pub(super) fn new(response: FastCgiResponse, first: Bytes, length: Option<u64>) -> Self {
        let (sender, events) = unbounded_channel();
        let receiver = Task(tokio::spawn(receive(response, sender)));
        FastCgiAnswer { first, events, remaining: length, has_ended: false, _receiver: receiver }
    }
}

/// Receives a response, and closes the connection at its end.
async fn receive(mut response: FastCgiResponse, events: UnboundedSender<Event>) {
    let limit = Arc::new(Semaphore::new(AHEAD));
    loop {
        let event = match response.next().await {
            Ok(Some(part)) => {
                // A record is at most 64 KB.
                let size = (part.len() + PER_PART) as u32;
                let Ok(share) = Arc::clone(&limit).acquire_many_owned(size).await else { return };
                Event::Part(part, share)
            }
            Ok(None) => Event::End,
            Err(error) => Event::Failed(error),
        };
        let is_last = !matches!(event, Event::Part(..));
        if events.send(event).is_err() || is_last {
            return;
        }
    }
}

impl http_body::Body for FastCgiAnswer {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        while !self.has_ended {
            let mut part = match std::mem::take(&mut self.first) {
                first if !first.is_empty() => first,
                _ => match ready!(self.events.poll_recv(context)) {
                    Some(Event::Part(part, _share)) => part,
                    end => {
                        self.has_ended = true;
                        return Poll::Ready(match end {
                            Some(Event::End) if self.remaining.is_none_or(|n| n == 0) => None,
                            Some(Event::Failed(error)) => Some(Err(error)),
                            _ => Some(Err(Incomplete.into())),
                        });
                    }
                },
            };
            if let Some(remaining) = &mut self.remaining {
                // Bytes after the length would be the beginning of the next response for a client.
                part.truncate(usize::try_from(*remaining).unwrap_or(usize::MAX));
                *remaining -= part.len() as u64;
            }
            if !part.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(part))));
            }
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.has_ended
    }

    fn size_hint(&self) -> SizeHint {
        self.remaining.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
