//! Health checks for load balancers and supervisors: `/healthz` responds while the process runs, `/readyz` while it can also read
//! its data.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    extract::State,
    response::{IntoResponse, Response},
    routing::get,
};
use http::{StatusCode, header};
use tokio::sync::watch;

/// The path of the check whether the process runs.
pub const ALIVE: &str = "/healthz";
/// The path of the check whether the process can respond to requests.
pub const READY: &str = "/readyz";

/// The time after which a database that has not responded counts as unavailable. Probes usually wait a few seconds.
pub const LIMIT: Duration = Duration::from_millis(1_500);

/// Whether a request with this path is a health check.
pub fn is_check(path: &str) -> bool {
    path == ALIVE || path == READY
}

/// A router for the checks. `is_there` reads the database, on a thread of its own: whether it contains what the process serves, or an error.
pub fn router(is_there: impl Fn() -> Result<bool, ()> + Send + Sync + 'static) -> Router {
    let readiness = Readiness { is_there: Arc::new(is_there), running: Mutex::new(None) };
    Router::new()
        .route(ALIVE, get(|| async { response(StatusCode::OK, "ok\n") }))
        .route(READY, get(async |State(readiness): State<Arc<Readiness>>| readiness.check().await))
        .with_state(Arc::new(readiness))
}

/// The result of reading the database: whether it contains a site. `None` while it is being read.
type DatabaseCheck = Option<Result<bool, ()>>;

/// Reads the database for `/readyz`. A database may take any time to respond, so one thread reads it at a time, and all requests
/// wait for its result, but not longer than the limit.
struct Readiness {
    is_there: Arc<dyn Fn() -> Result<bool, ()> + Send + Sync>,
    running: Mutex<Option<watch::Receiver<DatabaseCheck>>>,
}

impl Readiness {
    async fn check(&self) -> Response {
        let mut result = self.join();
        let found = tokio::time::timeout(LIMIT, result.wait_for(Option::is_some)).await;
        match found.map(|found| found.map(|found| *found)) {
            Ok(Ok(Some(Ok(true)))) => response(StatusCode::OK, "ok\n"),
            Ok(Ok(Some(Ok(false)))) => response(StatusCode::SERVICE_UNAVAILABLE, "the database contains no site\n"),
            Ok(_) => response(StatusCode::SERVICE_UNAVAILABLE, "the database cannot be read\n"),
            Err(_) => response(StatusCode::SERVICE_UNAVAILABLE, "the database does not respond\n"),
        }
    }

    /// The result of the reading in progress, or of a new one.
    fn join(&self) -> watch::Receiver<DatabaseCheck> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        // Without its sender, the thread has ended.
        if let Some(result) = running.as_ref().filter(|result| result.has_changed().is_ok()) {
            return result.clone();
        }
        let (sender, result) = watch::channel(None);
        let is_there = Arc::clone(&self.is_there);
        // If the system starts no thread, the sender is dropped.
        let started = std::thread::Builder::new().name("readyz".to_owned()).spawn(move || {
            sender.send_replace(Some(is_there()));
        });
        if let Err(error) = started {
            tracing::warn!(%error, "cannot start a thread for /readyz");
        }
        running.insert(result).clone()
    }
}

/// A response with a line of text, which must not be cached.
pub fn response(status: StatusCode, text: &'static str) -> Response {
    (status, [(header::CACHE_CONTROL, "no-store")], text).into_response()
}
