//! Health checks for load balancers and supervisors: `/healthz` responds while the process runs, `/readyz` while it can also read
//! its database. They are below no path of the site, and have no page.

use std::sync::Arc;

use axum::{
    Router,
    extract::State,
    middleware::from_fn_with_state,
    response::{IntoResponse, Response},
    routing::get,
};
use http::{StatusCode, header};
use svc_controllers::RestSite;
use svc_http::Runner;

use super::lanes;

const ALIVE: &str = "/healthz";
const READY: &str = "/readyz";

/// Whether a request with this path is a health check.
pub(super) fn is_check(path: &str) -> bool {
    path == ALIVE || path == READY
}

/// A router for the checks.
pub(super) fn router(site: Arc<RestSite>, runner: Arc<dyn Runner>) -> Router {
    let ready = Router::new().route(READY, get(ready)).layer(from_fn_with_state(runner, lanes::in_lane));
    Router::new().route(ALIVE, get(|| async { response(StatusCode::OK, "ok\n") })).merge(ready.with_state(site))
}

/// Reads from the database. The error has been logged by the requests that failed.
async fn ready(State(site): State<Arc<RestSite>>) -> Response {
    let found = site.store.read(|db| {
        let table = format!("{}options", db.prefix());
        db.table_exists(&table)
    });
    match found {
        Ok(true) => response(StatusCode::OK, "ok\n"),
        Ok(false) => response(StatusCode::SERVICE_UNAVAILABLE, "the database contains no site\n"),
        Err(_) => response(StatusCode::SERVICE_UNAVAILABLE, "the database cannot be read\n"),
    }
}

fn response(status: StatusCode, text: &'static str) -> Response {
    (status, [(header::CACHE_CONTROL, "no-store")], text).into_response()
}
