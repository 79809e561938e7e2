//! The middleware around all responses.

use std::time::Duration;

use axum::{
    Router,
    body::Body,
    extract::Request,
    routing::{any, get},
};
use http_body_util::BodyExt;
use svc_listen::{AccessLog, Compression, ConnectionLimits, Running, Stack, bind, middleware_stack};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tower::ServiceExt;

fn app(limits: &ConnectionLimits) -> Stack<Router> {
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
    middleware_stack(router, limits, AccessLog::default(), Compression::default())
}

async fn send(
    app: Stack<Router>,
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
async fn responses_of_the_middleware_are_counted() {
    let limits = ConnectionLimits { body: 10, request: Duration::from_millis(20), ..ConnectionLimits::default() };
    let counted: std::sync::Arc<std::sync::Mutex<Vec<String>>> = std::sync::Arc::default();
    let counts = std::sync::Arc::clone(&counted);
    let app = app(&limits).count_refused(move |method, status, took| {
        assert!(took < Duration::from_secs(60));
        counts.lock().unwrap().push(format!("{method} {}", status.as_u16()));
    });
    for (path, body) in
        [("/small", vec![]), ("/none", vec![]), ("/panic", vec![]), ("/slow", vec![]), ("/body", vec![0; 20])]
    {
        let length = body.len().to_string();
        send(app.clone(), path, &[("content-length", &length)], body).await;
    }
    assert_eq!(*counted.lock().unwrap(), ["GET 500", "GET 503", "GET 413"]);
}

#[tokio::test]
async fn compresses_large_responses_on_request() {
    #[rustfmt::skip]
    let rows = [
        ("/large", "gzip", Some("gzip")), ("/large", "br;q=1.0, gzip;q=0.5", Some("br")), ("/large", "identity", None),
        ("/large", "identity;q=0", None), ("/small", "gzip", None),
    ];
    for (path, accept, encoding) in rows {
        let (parts, _) = send(app(&ConnectionLimits::default()), path, &[("accept-encoding", accept)], vec![]).await;
        let got = |name: &str| parts.headers.get(name).map(|v| v.to_str().unwrap().to_owned());
        assert_eq!(parts.status, 200);
        assert_eq!(got("content-encoding").as_deref(), encoding, "{path} {accept}");
        assert_eq!(got("vary").is_some(), encoding.is_some(), "{path} {accept}");
    }
}

#[tokio::test]
async fn panics_become_500_without_details() {
    let (parts, body) = send(app(&ConnectionLimits::default()), "/panic", &[], vec![]).await;
    assert_eq!(parts.status, 500);
    assert!(!String::from_utf8(body).unwrap().contains("boom"));
}

#[tokio::test]
async fn rejects_bodies_above_the_limit() {
    let small = ConnectionLimits { body: 1024, ..ConnectionLimits::default() };
    assert_eq!(send(app(&small), "/body", &[], vec![0; 1024]).await.1, b"1024");
    assert_eq!(send(app(&small), "/body", &[], vec![0; 1025]).await.0.status, 413);
    assert_eq!(send(app(&small), "/body", &[("content-length", "2000")], vec![0; 10]).await.0.status, 413);
}

#[tokio::test]
async fn heads_that_http_does_not_allow_are_rejected() {
    let router = Router::new().fallback(any(|request: Request| async move {
        request.headers().get("host").map_or(String::new(), |host| host.to_str().unwrap().to_owned())
    }));
    let limits = ConnectionLimits::default();
    let app = middleware_stack(router, &limits, AccessLog::default(), Compression::default());
    let server = Running::start(bind("127.0.0.1:0").await.unwrap(), app, limits).unwrap();
    for (request, expected) in [
        ("GET / HTTP/1.1\r\nHost: a.example\r\n", "200 a.example"),
        ("GET http://b.example/x HTTP/1.1\r\nHost: a.example\r\n", "200 b.example"),
        ("GET / HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n", "400 "),
        ("GET / HTTP/1.1\r\nHost: a@127.0.0.1:22\r\n", "400 "),
        ("POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n", "200 a.example"),
        ("POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: gzip, chunked\r\n", "501 "),
    ] {
        let mut stream = tokio::net::TcpStream::connect(server.address()).await.unwrap();
        let body = if request.contains("chunked") { "0\r\n\r\n" } else { "" };
        stream.write_all(format!("{request}Connection: close\r\n\r\n{body}").as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        let status = text.split(' ').nth(1).unwrap_or_default();
        let body = text.split("\r\n\r\n").nth(1).unwrap_or_default();
        assert_eq!(format!("{status} {body}"), expected, "{request}");
    }
    server.stop().await;
}

#[tokio::test(start_paused = true)]
async fn requests_time_out() {
    let limits = ConnectionLimits { request: Duration::from_secs(2), ..ConnectionLimits::default() };
    let (parts, _) = send(app(&limits), "/slow", &[], vec![]).await;
    assert_eq!((parts.status.as_u16(), parts.headers["retry-after"].to_str().unwrap()), (503, "5"));
}

#[tokio::test]
async fn each_response_has_an_id() {
    let (parts, _) = send(app(&ConnectionLimits::default()), "/small", &[("x-request-id", "mine")], vec![]).await;
    let id = parts.headers["x-request-id"].to_str().unwrap();
    assert!(id.len() == 32 && id != "mine");
}
