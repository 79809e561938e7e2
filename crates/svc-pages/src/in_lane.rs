//! Runs requests in the threads for requests that read or write data: expensive ones have lanes of their own, so that they cannot delay
//! others.

use std::{
    panic::{AssertUnwindSafe, resume_unwind},
    sync::Arc,
    time::Instant,
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse as _, Response},
};
use futures_util::FutureExt as _;
use http::{StatusCode, request::Parts};
use http_body::Body as _;
use svc_http::{Cost, Overloaded, Runner};
use tokio::sync::Semaphore;

/// Maximum size of a form of the site's pages, in bytes. Comments are the largest.
const FORM_LIMIT: usize = 1 << 20;

/// Permits for larger forms, which are posts from the admin: the user is not known before the form is read.
static LARGE_FORMS: Semaphore = Semaphore::const_new(8);

/// Estimates the cost of a request. It must neither block nor read data.
type EstimateCost = dyn Fn(&Parts) -> Cost + Send + Sync;

/// The lanes for requests for pages and forms.
#[derive(Clone)]
pub struct PageLanes {
    /// The lanes.
    pub runner: Arc<dyn Runner>,
    /// Maximum size of a large form, in bytes.
    pub max_form: usize,
}

impl PageLanes {
    /// Runs all requests to these routes in the lane for their cost. The extensions of the request that `cost` gets contain its
    /// [context](svc_http::context_of).
    pub fn wrap(&self, router: Router, cost: impl Fn(&Parts) -> Cost + Send + Sync + 'static) -> Router {
        let cost: Arc<EstimateCost> = Arc::new(cost);
        router.layer(from_fn_with_state((self.clone(), cost), in_lane))
    }
}

async fn in_lane(
    State((lanes, cost)): State<(PageLanes, Arc<EstimateCost>)>,
    request: Request,
    next: Next,
) -> Response {
    let PageLanes { runner, max_form } = lanes;
    let (mut head, body) = request.into_parts();
    let cx = runner.context(&head, Instant::now());
    head.extensions.insert(cx.clone());
    // A slow client must not occupy a lane while it sends its form.
    let is_large = body.size_hint().exact().is_some_and(|size| size > FORM_LIMIT as u64);
    let permit = if is_large { LARGE_FORMS.try_acquire().map(Some) } else { Ok(None) };
    let Ok(_permit) = permit else { return StatusCode::SERVICE_UNAVAILABLE.into_response() };
    let limit = if is_large { max_form } else { FORM_LIMIT };
    let Ok(form) = axum::body::to_bytes(body, limit).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let cost = cost(&head);
    let request = Request::from_parts(head, Body::from(form));
    let work = async move { AssertUnwindSafe(cx.run(next.run(request))).catch_unwind().await };
    match svc_http::run(&*runner, cost, work).await {
        Ok(Ok(response)) => response,
        // For the middleware that responds to panics.
        Ok(Err(panic)) => resume_unwind(panic),
        Err(Overloaded) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}
