//! Limits how many reads of files go on at once, so that thousands of downloads do not take all threads from other requests.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::body::{Body, Bytes};
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::PollSemaphore;

/// Reads at once per processor core.
const READS_PER_CORE: usize = 2;

/// A queue for reads of local files. Reads take turns, first come, first served.
#[derive(Clone)]
pub(crate) struct DiskLane(Arc<Semaphore>);

impl DiskLane {
    pub(crate) fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        DiskLane(Arc::new(Semaphore::new(cores * READS_PER_CORE)))
    }

    /// Waits for a turn, which ends when the permit is dropped. `None` never happens: the semaphore is not closed.
    pub(crate) async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).acquire_owned().await.ok()
    }

    /// A body that takes a turn for each chunk that it reads.
    pub(crate) fn body(&self, body: Body) -> Body {
        Body::new(TurnBody { body, turns: PollSemaphore::new(Arc::clone(&self.0)), turn: None })
    }
}

struct TurnBody {
    body: Body,
    turns: PollSemaphore,
    /// The permit while a chunk is being read.
    turn: Option<OwnedSemaphorePermit>,
}

impl HttpBody for TurnBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.turn.is_none() {
            self.turn = ready!(self.turns.poll_acquire(cx));
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        self.turn = None;
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn a_body_waits_for_its_turn_and_keeps_its_length() {
        let lane = DiskLane(Arc::new(Semaphore::new(1)));
        let body = lane.body(Body::from("0123456789"));
        assert_eq!(body.size_hint().exact(), Some(10));
        let turn = lane.turn().await.unwrap();
        let reading = tokio::spawn(body.collect());
        tokio::task::yield_now().await;
        assert!(!reading.is_finished());
        drop(turn);
        assert_eq!(reading.await.unwrap().unwrap().to_bytes(), "0123456789");
        // The turn is free again.
        assert!(lane.turn().await.is_some());
    }
}
