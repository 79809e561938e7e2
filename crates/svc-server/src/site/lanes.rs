//! Threads for requests that read or write data: expensive requests have lanes of their own, so that they cannot delay others.

use std::{
    panic::{AssertUnwindSafe, resume_unwind},
    sync::Arc,
};

use axum::{
    body::Body,
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use futures_util::FutureExt as _;
use http::StatusCode;
use svc_http::{Lanes, Overloaded, Runner};

use crate::error::{Error, Result};

/// Maximum size of a form of the site's pages, in bytes. Comments are the largest.
const FORM_LIMIT: usize = 1 << 20;

/// Starts the threads.
///
/// # Errors
/// If the system refuses to start threads.
pub(super) fn start() -> Result<Lanes> {
    Lanes::start().map_err(Error::io("cannot start threads"))
}

/// Runs requests for pages and forms in the lanes.
pub(super) async fn in_lane(State(lanes): State<Arc<dyn Runner>>, request: Request, next: Next) -> Response {
    let (mut head, body) = request.into_parts();
    let cx = lanes.context(&head);
    head.extensions.insert(cx.clone());
    // A slow client must not occupy a lane while it sends its form.
    let Ok(form) = axum::body::to_bytes(body, FORM_LIMIT).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let request = Request::from_parts(head.clone(), Body::from(form));
    let work = async move { AssertUnwindSafe(cx.run(next.run(request))).catch_unwind().await };
    match svc_http::run(&*lanes, svc_pages::cost(&head.uri), work).await {
        Ok(Ok(response)) => response,
        // For the middleware that responds to panics.
        Ok(Err(panic)) => resume_unwind(panic),
        Err(Overloaded) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}
