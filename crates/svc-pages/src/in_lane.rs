//! Runs requests in the threads for requests that read or write data: expensive ones have lanes of their own, so that they cannot delay
//! others.

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
use http_body::Body as _;
use svc_http::{Overloaded, Runner};
use svc_site::url_resolver;
use tokio::sync::Semaphore;

/// Maximum size of a form of the site's pages, in bytes. Comments are the largest.
const FORM_LIMIT: usize = 1 << 20;

/// Permits for larger forms, which are posts from the admin: the user is not known before the form is read.
static LARGE_FORMS: Semaphore = Semaphore::const_new(8);

/// Where [`in_lane`] runs requests.
#[derive(Clone)]
pub struct PageLane {
    /// The lanes.
    pub runner: Arc<dyn Runner>,
    /// Maximum size of a large form, in bytes.
    pub max_form: usize,
}

/// Runs requests for pages and forms in the lanes.
pub async fn in_lane(State(lane): State<PageLane>, request: Request, next: Next) -> Response {
    let (mut head, body) = request.into_parts();
    let PageLane { runner, max_form } = lane;
    let cx = runner.context(&head);
    head.extensions.insert(cx.clone());
    // A slow client must not occupy a lane while it sends its form.
    let is_large = body.size_hint().exact().is_some_and(|size| size > FORM_LIMIT as u64);
    let permit = if is_large { LARGE_FORMS.try_acquire().map(Some) } else { Ok(None) };
    let Ok(_permit) = permit else { return StatusCode::SERVICE_UNAVAILABLE.into_response() };
    let limit = if is_large { max_form } else { FORM_LIMIT };
    let Ok(form) = axum::body::to_bytes(body, limit).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let request = Request::from_parts(head.clone(), Body::from(form));
    let work = async move { AssertUnwindSafe(cx.run(next.run(request))).catch_unwind().await };
    let cost = url_resolver::cost(head.uri.path(), head.uri.query().unwrap_or_default());
    match svc_http::run(&*runner, cost, work).await {
        Ok(Ok(response)) => response,
        // For the middleware that responds to panics.
        Ok(Err(panic)) => resume_unwind(panic),
        Err(Overloaded) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}
