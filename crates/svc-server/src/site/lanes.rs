//! Threads for requests that read or write data: expensive requests have lanes of their own, so that they cannot delay others.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use http::{StatusCode, request::Parts};
use svc_http::{Lanes, Overloaded, Runner, Uncached};
use svc_render::feeds::within_own_fetch;
use svc_store::request_cache;

use crate::error::{Error, Result};

/// Maximum size of a form of the site's pages, in bytes. Comments are the largest.
const FORM_LIMIT: usize = 1 << 20;

/// Offset in a list from which a page of it is expensive.
const DEEP: u64 = 5_000;

/// Starts the threads.
///
/// # Errors
/// If the system refuses to start threads.
pub(super) fn start() -> Result<Lanes> {
    let lanes = Lanes::start(svc_store::may_block, is_expensive, |request, work| {
        let work = request_cache::scope(work);
        match request.extensions.get::<Uncached>() {
            // A request of this server to itself: it fetches no feeds.
            Some(Uncached) => Box::pin(within_own_fetch(work)),
            None => Box::pin(work),
        }
    });
    lanes.map_err(Error::io("cannot start threads"))
}

/// Runs requests for pages and forms in the lanes.
pub(super) async fn in_lane(State(lanes): State<Arc<dyn Runner>>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    // A slow client must not occupy a lane while it sends its form.
    let Ok(form) = axum::body::to_bytes(body, FORM_LIMIT).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let request = Request::from_parts(head.clone(), Body::from(form));
    let response = svc_http::run(&*lanes, &head, next.run(request)).await;
    response.unwrap_or_else(|Overloaded| StatusCode::SERVICE_UNAVAILABLE.into_response())
}

/// Whether a request searches texts or reads a page far into a list.
fn is_expensive(request: &Parts) -> bool {
    let pairs = || request.uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    let number = |name: &str| pairs().filter(|(key, _)| *key == name).find_map(|(_, value)| value.parse::<u64>().ok());
    let is_search = pairs().any(|(key, value)| match key {
        "search" | "s" => !value.is_empty(),
        "orderby" => value == "relevance",
        _ => false,
    });
    let first =
        number("page").or_else(|| number("paged")).unwrap_or(1).saturating_mul(number("per_page").unwrap_or(10));
    is_search || first > DEEP || number("offset").is_some_and(|offset| offset > DEEP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_and_deep_pages_are_expensive() {
        for (url, expected) in [
            ("/", false),
            ("/svc-json/svc/v2/posts?per_page=100&page=2", false),
            ("/svc-json/svc/v2/posts?per_page=100&page=51", true),
            ("/svc-json/svc/v2/posts?offset=5001", true),
            ("/svc-json/svc/v2/posts?search=", false),
            ("/svc-json/svc/v2/posts?search=a", true),
            ("/?rest_route=/svc/v2/search&search=a", true),
            ("/?s=a", true),
            ("/svc-json/svc/v2/posts?orderby=relevance", true),
            ("/?paged=501", true),
        ] {
            let (head, ()) = http::Request::get(url).body(()).unwrap().into_parts();
            assert_eq!(is_expensive(&head), expected, "{url}");
        }
    }
}
