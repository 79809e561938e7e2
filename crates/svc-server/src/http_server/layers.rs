//! What surrounds every answer: see [`middleware_stack`] for the order.

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

use super::{Forwarding, client, log};
use crate::config::Config;

/// Bodies below this size are sent as they are, in bytes: compressing them costs more than it saves.
const COMPRESS_FROM: u64 = 1024;

/// Effort of compression. Brotli above 5 costs more time than the network saves.
const EFFORT: i32 = 4;

/// When a client may ask again for what cannot be answered now, in seconds.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("5");

/// Puts around a router, from the outside in: client address, request id and log, compression, when to ask again, panic
/// safety, time limit, body limit.
pub fn middleware_stack(router: Router, config: &Config) -> Router {
    let images = NotForContentType::const_new("image/");
    let media = NotForContentType::const_new("video/").and(NotForContentType::const_new("audio/"));
    let compression = CompressionLayer::new()
        .quality(CompressionLevel::Precise(EFFORT))
        .compress_when(SizeAbove::new(COMPRESS_FROM).and(images).and(media));
    let limit = usize::try_from(config.limits.body).unwrap_or(usize::MAX);
    router
        .layer(RequestBodyLimitLayer::new(limit))
        .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, config.limits.request))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(map_response(retry_after))
        .layer(compression)
        .layer(from_fn(encoding))
        .layer(from_fn(log::record))
        .layer(from_fn_with_state(Forwarding::new(&config.trusted_proxies), client::identify))
        .layer(SetSensitiveRequestHeadersLayer::new([
            header::AUTHORIZATION,
            header::COOKIE,
            header::PROXY_AUTHORIZATION,
        ]))
}

/// Keeps the compression layer out of requests that did not ask for it. A client that refuses even plain bodies gets a
/// plain one, not a 406 after its change was made; and an answer that was not compressed does not vary by encoding, so
/// that what the interface says in `Vary` stays as it said it.
async fn encoding(mut request: Request, next: Next) -> Response {
    let asked = request.headers().get_all(header::ACCEPT_ENCODING).iter().any(|v| {
        v.to_str()
            .is_ok_and(|v| v.split(',').any(|e| matches!(e.split(';').next().unwrap_or("").trim(), "gzip" | "br")))
    });
    if !asked {
        request.headers_mut().remove(header::ACCEPT_ENCODING);
    }
    let mut response = next.run(request).await;
    if !response.headers().contains_key(header::CONTENT_ENCODING) {
        let kept: Vec<HeaderValue> = response
            .headers()
            .get_all(header::VARY)
            .iter()
            .filter(|v| !v.as_bytes().eq_ignore_ascii_case(b"accept-encoding"))
            .cloned()
            .collect();
        response.headers_mut().remove(header::VARY);
        for value in kept {
            response.headers_mut().append(header::VARY, value);
        }
    }
    response
}

/// What is not available now will be: the database restarts, or too much is asked at once.
async fn retry_after(mut response: Response) -> Response {
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().entry(header::RETRY_AFTER).or_insert(RETRY_AFTER);
    }
    response
}

/// The last resort: the service and the pages answer their own panics; what comes here tells nothing but that it came.
fn panicked(payload: Box<dyn Any + Send + 'static>) -> Response<Body> {
    tracing::error!("a request handler panicked: {}", crate::logs::message(&*payload));
    (StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong on this server.\n").into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::{any, get};
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    fn app(variables: &[(&str, &str)]) -> Router {
        let variables = variables.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let sources = crate::config::Sources { folder: "/nowhere".into(), variables, flags: Vec::new() };
        let config = Config::load(&sources).unwrap();
        let router = Router::new()
            .route("/large", get(|| async { "x".repeat(5000) }))
            .route("/small", get(|| async { "x" }))
            .route(
                "/panic",
                get(|| async {
                    if true {
                        panic!("boom")
                    }
                }),
            )
            .route("/slow", get(std::future::pending::<()>))
            .route("/body", any(|body: axum::body::Bytes| async move { body.len().to_string() }));
        middleware_stack(router, &config)
    }

    async fn send(
        app: Router,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> (http::response::Parts, Vec<u8>) {
        let mut request = Request::builder().uri(path);
        for (k, v) in headers {
            request = request.header(*k, *v);
        }
        let (parts, body) = app.oneshot(request.body(Body::from(body)).unwrap()).await.unwrap().into_parts();
        (parts, body.collect().await.unwrap().to_bytes().to_vec())
    }

    #[tokio::test]
    async fn compresses_what_is_large_and_asked_for() {
        #[rustfmt::skip]
        let rows = [
            ("/large", "gzip", Some("gzip")), ("/large", "br;q=1.0, gzip;q=0.5", Some("br")), ("/large", "identity", None),
            ("/large", "identity;q=0", None), ("/small", "gzip", None),
        ];
        for (path, accept, encoding) in rows {
            let (parts, _) = send(app(&[]), path, &[("accept-encoding", accept)], vec![]).await;
            let got = |name: &str| parts.headers.get(name).map(|v| v.to_str().unwrap().to_owned());
            assert_eq!(parts.status, 200);
            assert_eq!(got("content-encoding").as_deref(), encoding, "{path} {accept}");
            assert_eq!(got("vary").is_some(), encoding.is_some(), "{path} {accept}");
        }
    }

    #[tokio::test]
    async fn a_panic_is_a_500_that_tells_nothing() {
        let (parts, body) = send(app(&[]), "/panic", &[], vec![]).await;
        assert_eq!(parts.status, 500);
        assert!(!String::from_utf8(body).unwrap().contains("boom"));
    }

    #[tokio::test]
    async fn a_body_above_the_limit_is_refused() {
        let small = [("SVC_LIMITS_BODY", "1KB")];
        assert_eq!(send(app(&small), "/body", &[], vec![0; 1024]).await.1, b"1024");
        assert_eq!(send(app(&small), "/body", &[], vec![0; 1025]).await.0.status, 413);
        assert_eq!(send(app(&small), "/body", &[("content-length", "2000")], vec![0; 10]).await.0.status, 413);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_takes_too_long_is_ended() {
        let (parts, _) = send(app(&[("SVC_LIMITS_REQUEST_SECONDS", "2")]), "/slow", &[], vec![]).await;
        assert_eq!((parts.status.as_u16(), parts.headers["retry-after"].to_str().unwrap()), (503, "5"));
    }

    #[tokio::test]
    async fn each_answer_has_an_id_of_its_own() {
        let (parts, _) = send(app(&[]), "/small", &[("x-request-id", "mine")], vec![]).await;
        let id = parts.headers["x-request-id"].to_str().unwrap();
        assert!(id.len() == 32 && id != "mine");
    }
}
