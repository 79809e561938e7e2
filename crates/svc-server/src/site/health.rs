//! Health checks for load balancers and supervisors: `/healthz` responds while the process runs, `/readyz` while it can also read
//! its database. They are below no path of the site, and have no page.

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
use svc_site::Site;
use tokio::sync::watch;

pub(crate) const ALIVE: &str = "/healthz";
pub(crate) const READY: &str = "/readyz";

/// The time after which a database that has not responded counts as unavailable. Probes usually wait a few seconds.
pub(crate) const LIMIT: Duration = Duration::from_millis(1_500);

/// Whether a request with this path is a health check.
pub(super) fn is_check(path: &str) -> bool {
    path == ALIVE || path == READY
}

/// A router for the checks.
pub(super) fn router(site: Arc<Site>) -> Router {
    let readiness = Readiness { site, running: Mutex::new(None) };
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
    site: Arc<Site>,
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
        let site = Arc::clone(&self.site);
        // Errors are logged by the requests that fail. If the system starts no thread, the sender is dropped.
        let started = std::thread::Builder::new().name("readyz".to_owned()).spawn(move || {
            let found = site.store.read_blocking(|db| {
                let table = format!("{}options", db.prefix());
                db.table_exists(&table)
            });
            sender.send_replace(Some(found.map_err(drop)));
        });
        if let Err(error) = started {
            tracing::warn!(%error, "cannot start a thread for /readyz");
        }
        running.insert(result).clone()
    }
}

pub(crate) fn response(status: StatusCode, text: &'static str) -> Response {
    (status, [(header::CACHE_CONTROL, "no-store")], text).into_response()
}
