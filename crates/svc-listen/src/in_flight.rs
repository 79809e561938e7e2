//! Counts requests in progress, so that shutdown can wait for them.
//!
//! A task that still runs when the runtime shuts down panics at its next timer. The server therefore cancels its remaining
//! requests, and waits for them, before the runtime ends.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use tokio::sync::{Notify, watch};

/// How long shutdown waits for cancelled requests. No read of the database takes longer.
const LAST: Duration = Duration::from_secs(20);

/// How long shutdown waits for connections after their requests have ended.
const CONNECTIONS: Duration = Duration::from_millis(500);

/// The requests of one server. Cheap to clone.
#[derive(Clone, Debug)]
pub struct InFlight {
    count: Arc<Count>,
    ended: Arc<watch::Sender<bool>>,
}

#[derive(Debug, Default)]
struct Count {
    n: AtomicUsize,
    connections: AtomicUsize,
    accepted: AtomicU64,
    /// Tasks of connections: one of each, and one of each stream of HTTP/2.
    tasks: AtomicUsize,
    /// Notified when no request is in progress.
    none: Notify,
}

/// A request in progress, until this is dropped.
struct Counted<'a>(&'a Count);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        if self.0.n.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.none.notify_waiters();
        }
    }
}

/// An open connection, until this is dropped.
pub(crate) struct Connected(Arc<Count>);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
        self.0.tasks.fetch_sub(1, Ordering::Release);
    }
}

/// Spawns the streams of an HTTP/2 connection, and counts them.
#[derive(Clone)]
pub(crate) struct StreamExecutor(Arc<Count>);

/// A task of a stream, until this is dropped.
struct Stream(Arc<Count>);

impl Drop for Stream {
    fn drop(&mut self) {
        self.0.tasks.fetch_sub(1, Ordering::Release);
    }
}

impl<F> hyper::rt::Executor<F> for StreamExecutor
where
    F: Future<Output: Send> + Send + 'static,
{
    fn execute(&self, stream: F) {
        self.0.tasks.fetch_add(1, Ordering::Relaxed);
        let counted = Stream(Arc::clone(&self.0));
        tokio::spawn(async move {
            let _counted = counted;
            stream.await
        });
    }
}

impl Default for InFlight {
    fn default() -> Self {
        Self::new()
    }
}

impl InFlight {
    /// No requests.
    pub fn new() -> Self {
        InFlight { count: Arc::default(), ended: Arc::new(watch::Sender::new(false)) }
    }

    /// Counts a connection until the result is dropped.
    pub(crate) fn connect(&self) -> Connected {
        self.count.connections.fetch_add(1, Ordering::Relaxed);
        self.count.accepted.fetch_add(1, Ordering::Relaxed);
        self.count.tasks.fetch_add(1, Ordering::Relaxed);
        Connected(Arc::clone(&self.count))
    }

    /// Spawns the streams of HTTP/2 connections.
    pub(crate) fn executor(&self) -> StreamExecutor {
        StreamExecutor(Arc::clone(&self.count))
    }

    /// Number of open connections.
    pub fn n_connections(&self) -> usize {
        self.count.connections.load(Ordering::Relaxed)
    }

    /// Number of connections that were accepted since the start.
    pub fn n_accepted(&self) -> u64 {
        self.count.accepted.load(Ordering::Relaxed)
    }

    /// Counts a request until its response is ready.
    pub(crate) async fn run<E>(&self, response: impl Future<Output = Result<Response, E>>) -> Result<Response, E> {
        self.count.n.fetch_add(1, Ordering::AcqRel);
        let _counted = Counted(&self.count);
        let ended = async {
            // The sender lives as long as `self`.
            drop(self.ended.subscribe().wait_for(|ended| *ended).await);
        };
        tokio::select! {
            biased;
            response = response => response,
            () = ended => Ok(StatusCode::SERVICE_UNAVAILABLE.into_response()),
        }
    }

    /// Cancels all requests at their next await point, and waits until they have ended and their connections are closed.
    pub async fn end(&self) {
        self.ended.send_replace(true);
        if tokio::time::timeout(LAST, self.none_left()).await.is_err() {
            tracing::warn!(requests = self.n_requests(), "stopped with requests still in progress");
        }
        let until = tokio::time::Instant::now() + CONNECTIONS;
        while self.count.tasks.load(Ordering::Acquire) > 0 && tokio::time::Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Number of requests in progress.
    pub fn n_requests(&self) -> usize {
        self.count.n.load(Ordering::Acquire)
    }

    async fn none_left(&self) {
        loop {
            // Registered before the check, so that no notification is missed.
            let mut none = std::pin::pin!(self.count.none.notified());
            none.as_mut().enable();
            if self.n_requests() == 0 {
                return;
            }
            none.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::{Router, body::Body, extract::Request, routing::get};
    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_stop_waits_for_connections_and_for_no_other_task() {
        use hyper::rt::Executor as _;
        let requests = InFlight::new();
        let other = tokio::spawn(std::future::pending::<()>());
        let (start, ended) = (std::time::Instant::now(), Arc::new(AtomicUsize::new(0)));
        requests.end().await;
        assert!(start.elapsed() < CONNECTIONS / 2, "{:?}", start.elapsed());
        let work = || {
            let ended = Arc::clone(&ended);
            async move {
                tokio::time::sleep(Duration::from_millis(50)).await;
                ended.fetch_add(1, Ordering::Relaxed);
            }
        };
        requests.executor().execute(work());
        let (connected, connection) = (requests.connect(), work());
        tokio::spawn(async move {
            let _connected = connected;
            connection.await;
        });
        requests.end().await;
        assert_eq!(ended.load(Ordering::Relaxed), 2);
        other.abort();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_stop_ends_requests_and_waits_for_the_one_that_blocks() {
        let requests = InFlight::new();
        let (started, wait) = std::sync::mpsc::channel();
        let blocks = get(move || async move {
            started.send(()).unwrap();
            tokio::task::block_in_place(|| std::thread::sleep(Duration::from_millis(200)));
            // A timer, which panics after the runtime has ended.
            tokio::time::sleep(Duration::from_secs(3600)).await;
        });
        let (app, counted) = (Router::new().route("/", blocks), requests.clone());
        let response = tokio::spawn(async move { counted.run(app.oneshot(Request::new(Body::empty()))).await });
        tokio::task::block_in_place(|| wait.recv()).unwrap();
        requests.end().await;
        assert_eq!(requests.n_requests(), 0);
        assert_eq!(response.await.unwrap().unwrap().status(), 503);
    }
}
