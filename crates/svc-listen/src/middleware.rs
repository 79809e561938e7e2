//! Middleware for all requests: see [`middleware_stack`] for the order.

use std::any::Any;

use axum::{
    Router,
    body::Body,
    extract::Request,
    middleware::{Next, from_fn, from_fn_with_state, map_response},
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use tower_http::{
    CompressionLevel,
    catch_panic::CatchPanicLayer,
    compression::{
        CompressionLayer,
        predicate::{NotForContentType, Predicate, SizeAbove},
    },
    limit::RequestBodyLimitLayer,
    sensitive_headers::SetSensitiveRequestHeadersLayer,
    timeout::TimeoutLayer,
};

use crate::{
    forwarding::{self, Forwarding},
    limits::Limits,
    log,
};

/// Minimum size for compression, in bytes. Compressing smaller bodies costs more than it saves.
const COMPRESS_FROM: u64 = 1024;

/// Compression level. Brotli above 5 costs more time than the network saves.
const EFFORT: i32 = 4;

/// `Retry-After` of 503 responses, in seconds.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("5");

/// Wraps a router in middleware, outermost first: client address, request id and log, compression, `Retry-After`, panic handler,
/// time limit, body limit.
pub fn middleware_stack(router: Router, limits: &Limits) -> Router {
    let images = NotForContentType::const_new("image/");
    let media = NotForContentType::const_new("video/").and(NotForContentType::const_new("audio/"));
    let compression = CompressionLayer::new()
        .quality(CompressionLevel::Precise(EFFORT))
        .compress_when(SizeAbove::new(COMPRESS_FROM).and(images).and(media));
    let body = usize::try_from(limits.body).unwrap_or(usize::MAX);
    router
        .layer(RequestBodyLimitLayer::new(body))
        .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, limits.request))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(map_response(retry_after))
        .layer(compression)
        .layer(from_fn(encoding))
        .layer(from_fn(log::record))
        .layer(from_fn_with_state(Forwarding::new(&limits.trusted), forwarding::identify))
        .layer(SetSensitiveRequestHeadersLayer::new([
            header::AUTHORIZATION,
            header::COOKIE,
            header::PROXY_AUTHORIZATION,
        ]))
}

/// Disables compression for requests that do not accept it. A client that rejects even uncompressed bodies gets one, not a 406
/// after its change was made. A response that was not compressed does not vary by encoding, so `Vary` of the REST API is
/// unchanged.
async fn encoding(mut request: Request, next: Next) -> Response {
    let accepts_compression = request.headers().get_all(header::ACCEPT_ENCODING).iter().any(|v| {
        v.to_str()
            .is_ok_and(|v| v.split(',').any(|e| matches!(e.split(';').next().unwrap_or("").trim(), "gzip" | "br")))
    });
    if !accepts_compression {
        request.headers_mut().remove(header::ACCEPT_ENCODING);
    }
    let mut response = next.run(request).await;
    if !response.headers().contains_key(header::CONTENT_ENCODING) {
        let others: Vec<HeaderValue> = response
            .headers()
            .get_all(header::VARY)
            .iter()
            .filter(|v| !v.as_bytes().eq_ignore_ascii_case(b"accept-encoding"))
            .cloned()
            .collect();
        response.headers_mut().remove(header::VARY);
        for value in others {
            response.headers_mut().append(header::VARY, value);
        }
    }
    response
}

/// Adds `Retry-After` to 503 responses: the database is restarting, or the server is overloaded.
async fn retry_after(mut response: Response) -> Response {
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().entry(header::RETRY_AFTER).or_insert(RETRY_AFTER);
    }
    response
}

/// Converts a panic to a 500 response without details.
fn panicked(payload: Box<dyn Any + Send + 'static>) -> Response<Body> {
    tracing::error!("a request handler panicked: {}", log::panic_message(&*payload));
    (StatusCode::INTERNAL_SERVER_ERROR, "Internal server error.\n").into_response()
}
