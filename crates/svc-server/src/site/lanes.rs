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
use http::{Method, StatusCode, request::Parts};
use serde_json::Value;
use svc_http::{Lanes, Overloaded, Runner};

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
    Lanes::start(is_expensive).map_err(Error::io("cannot start threads"))
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
    match svc_http::run(&*lanes, &head, work).await {
        Ok(Ok(response)) => response,
        // For the middleware that responds to panics.
        Ok(Err(panic)) => resume_unwind(panic),
        Err(Overloaded) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

/// Whether a request may search texts or read a page far into a list. Queries are read as PHP reads them.
fn is_expensive(request: &Parts) -> bool {
    let query = svc_php::query::parse(request.uri.query().unwrap_or_default().as_bytes());
    let text = |name: &str| query.get(name).and_then(Value::as_str);
    let number = |name: &str| text(name).and_then(|value| value.trim().parse::<u64>().ok());
    let mut segments = request.uri.path().split('/').skip_while(|segment| !matches!(*segment, "search" | "page"));
    let (is_search_page, page_of_path) = match (segments.next(), segments.next()) {
        (Some("search"), Some(_)) => (true, None),
        (Some(_), Some(page)) => (false, page.parse().ok()),
        _ => (false, None),
    };
    let is_search = is_search_page
        || ["search", "s"].iter().any(|name| query.get(*name).is_some_and(|value| value != ""))
        || text("orderby") == Some("relevance");
    let page = number("page").or_else(|| number("paged")).or(page_of_path).unwrap_or(1);
    let is_deep = page.saturating_mul(number("per_page").unwrap_or(10)) > DEEP
        || number("offset").is_some_and(|offset| offset > DEEP);
    // Then the parameters of a list may be in a body. Editors send `PUT` and `DELETE` this way.
    let header = request.headers.get("x-http-method-override").and_then(|value| value.to_str().ok());
    let reads_by_post = text("_method").or(header).is_some_and(|method| method.eq_ignore_ascii_case("GET"));
    is_search || is_deep || request.method == Method::POST && reads_by_post
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
            ("/page/501/", true),
            ("/page/2/", false),
            ("/search/a/", true),
            ("/blog/search/a/feed/", true),
            ("/svc-json/svc/v2/search", false),
            ("/?%73=a", true),
            ("/svc-json/svc/v2/posts?searc%68=a", true),
            ("/svc-json/svc/v2/posts?search[]=a", true),
            ("/svc-json/svc/v2/posts?per_page=100&page=1&page=55", true),
            ("/svc-json/svc/v2/posts/search", false),
        ] {
            let (head, ()) = http::Request::get(url).body(()).unwrap().into_parts();
            assert_eq!(is_expensive(&head), expected, "{url}");
        }
    }
    #[test]
    fn lists_by_post_are_expensive() {
        for (query, header, expected) in
            [("", "GET", true), ("", "PUT", false), ("?_method=get", "PUT", true), ("?_method=DELETE", "", false)]
        {
            let request = http::Request::post(format!("/svc-json/svc/v2/posts{query}"));
            let (head, ()) = request.header("x-http-method-override", header).body(()).unwrap().into_parts();
            assert_eq!(is_expensive(&head), expected, "{query} {header}");
        }
    }
}
