//! Counts requests in progress, so that shutdown can wait for them.
//!
//! A task that still runs when the runtime shuts down panics at its next timer. The server therefore cancels its remaining
//! requests, and waits for them, before the runtime ends.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::Request,
    middleware::{Next, from_fn},
    response::{IntoResponse as _, Response},
};
use http::StatusCode;
use tokio::sync::watch;

/// How long shutdown waits for cancelled requests. No read of the database takes longer.
const LAST: Duration = Duration::from_secs(20);

/// How long shutdown waits for connections after their requests have ended.
const CONNECTIONS: Duration = Duration::from_millis(500);

/// The requests of one server. Cheap to clone.
#[derive(Clone, Debug)]
pub struct InFlight {
    count: Arc<watch::Sender<usize>>,
    ended: Arc<watch::Sender<bool>>,
}

/// A request in progress, until this is dropped.
struct Counted(Arc<watch::Sender<usize>>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|n| *n -= 1);
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
        InFlight { count: Arc::new(watch::Sender::new(0)), ended: Arc::new(watch::Sender::new(false)) }
    }

    /// Wraps a router to count its requests.
    pub fn count(&self, router: Router) -> Router {
        let requests = self.clone();
        router.layer(from_fn(move |request: Request, next: Next| requests.clone().run(next.run(request))))
    }

    async fn run(self, response: impl Future<Output = Response>) -> Response {
        self.count.send_modify(|n| *n += 1);
        let _counted = Counted(Arc::clone(&self.count));
        let mut ended = self.ended.subscribe();
        tokio::select! {
            biased;
            response = response => response,
            _ = ended.wait_for(|ended| *ended) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        }
    }

    /// Cancels all requests at their next await point, and waits until they have ended and their connections are closed.
    pub async fn end(&self) {
        self.ended.send_replace(true);
        let mut count = self.count.subscribe();
        if tokio::time::timeout(LAST, count.wait_for(|n| *n == 0)).await.is_err() {
            tracing::warn!(requests = *self.count.borrow(), "stopped with requests still in progress");
        }
        let until = tokio::time::Instant::now() + CONNECTIONS;
        let runtime = tokio::runtime::Handle::current();
        while runtime.metrics().num_alive_tasks() > 0 && tokio::time::Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::{body::Body, routing::get};
    use tower::ServiceExt as _;

    use super::*;

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
        let app = requests.count(Router::new().route("/", blocks));
        let response = tokio::spawn(app.oneshot(Request::new(Body::empty())));
        tokio::task::block_in_place(|| wait.recv()).unwrap();
        requests.end().await;
        assert_eq!(*requests.count.borrow(), 0);
        assert_eq!(response.await.unwrap().unwrap().status(), 503);
    }
}
