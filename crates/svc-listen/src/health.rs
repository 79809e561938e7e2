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

/// A router for the checks. `read` reads the database, on a thread of its own, and returns why the process cannot serve.
pub fn router(read: impl Fn() -> Result<(), &'static str> + Send + Sync + 'static) -> Router {
    let readiness = Readiness::new(read);
    Router::new()
        .route(ALIVE, get(|| async { response(StatusCode::OK, "ok\n") }))
        .route(READY, get(async |State(readiness): State<Arc<Readiness>>| readiness.respond().await))
        .with_state(Arc::new(readiness))
}

/// The result of reading the database; `None` while it is being read.
type DatabaseCheck = Option<Result<(), &'static str>>;

/// Whether the process can serve. A database may take any time to respond, so one thread reads it at a time, and all requests
/// wait for its result, but not longer than [`LIMIT`].
pub struct Readiness {
    read: Arc<dyn Fn() -> Result<(), &'static str> + Send + Sync>,
    running: Mutex<Option<watch::Receiver<DatabaseCheck>>>,
}

impl Readiness {
    /// `read` reads the database, and returns why the process cannot serve. It may block.
    pub fn new(read: impl Fn() -> Result<(), &'static str> + Send + Sync + 'static) -> Self {
        Readiness { read: Arc::new(read), running: Mutex::new(None) }
    }

    /// Reads the database.
    ///
    /// # Errors
    /// Why the process cannot serve.
    pub async fn check(&self) -> Result<(), &'static str> {
        let mut result = self.join();
        let found = tokio::time::timeout(LIMIT, result.wait_for(Option::is_some)).await;
        match found.map(|found| found.map(|found| *found)) {
            Ok(Ok(Some(read))) => read,
            Ok(_) => Err("the database cannot be read"),
            Err(_) => Err("the database does not respond"),
        }
    }

    async fn respond(&self) -> Response {
        match self.check().await {
            Ok(()) => response(StatusCode::OK, "ok\n"),
            Err(why) => response(StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
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
        let read = Arc::clone(&self.read);
        // If the system starts no thread, the sender is dropped.
        let started = std::thread::Builder::new().name("readyz".to_owned()).spawn(move || {
            sender.send_replace(Some(read()));
        });
        if let Err(error) = started {
            tracing::warn!(%error, "cannot start a thread for /readyz");
        }
        running.insert(result).clone()
    }
}

/// A response with a line of text, which must not be cached.
pub fn response(status: StatusCode, text: impl Into<String>) -> Response {
    (status, [(header::CACHE_CONTROL, "no-store")], text.into()).into_response()
}
