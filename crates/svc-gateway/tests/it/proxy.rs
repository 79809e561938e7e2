//! Forwarding: streams, retries, limits and failures.

use std::{
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::Request;
use http_body_util::{BodyExt as _, Full, StreamBody};
use svc_gateway::{BoxError, Failure, Origin, ProxyLimits, boxed, empty};
use tracing_subscriber::{
    layer::{self, Layer, SubscriberExt as _},
    registry,
};

use crate::upstream::{proxy, start};

const ORIGIN: Origin = Origin { address: std::net::IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7)), tls: true };

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nSet-Cookie: a=1\r\n\
                  Set-Cookie: b=2\r\n\r\nok";

fn get(path: &str) -> Request<svc_gateway::Body> {
    Request::get(path).header("host", "example.org").body(empty()).unwrap()
}

#[tokio::test]
async fn requests_are_forwarded_unchanged() {
    let address = start(|_, exchange| {
        let head = exchange.head.clone();
        exchange.send(OK);
        assert!(head.starts_with("PUT /a%2Fb/?x[]=1&y=%20 HTTP/1.1\r\n"), "{head}");
        let body = exchange.read(5);
        assert_eq!(body, b"hello");
        for line in ["host: example.org", "x-forwarded-for: 192.0.2.7", "x-forwarded-proto: https", "cookie: c=1"] {
            assert!(head.to_ascii_lowercase().contains(line), "{head}");
        }
        true
    });
    let request = Request::put("/a%2Fb/?x[]=1&y=%20")
        .header("host", "example.org")
        .header("cookie", "c=1")
        .header("content-length", "5")
        .body(boxed(Full::new(Bytes::from("hello"))))
        .unwrap();
    let response = proxy(address, ProxyLimits::default()).forward(request, ORIGIN).await.unwrap();
    assert!(response.headers().get("x-hop").is_none() && response.headers().get("connection").is_none());
    assert_eq!(response.headers().get_all("set-cookie").iter().count(), 2);
    assert_eq!(response.headers()["via"], "1.1 test-1");
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "ok");
}

#[tokio::test]
async fn files_that_the_web_server_sends_are_its_own() {
    let address = start(|_, exchange| {
        exchange
            .send("HTTP/1.1 200 OK\r\nX-Accel-Redirect: /a\r\nX-Sendfile: /etc/passwd\r\nContent-Length: 0\r\n\r\n");
        true
    });
    let response = proxy(address, ProxyLimits::default()).forward(get("/"), ORIGIN).await.unwrap();
    assert_eq!(
        (&response.headers()["x-accel-redirect"], &response.headers()["x-sendfile"]),
        (&"/a".parse().unwrap(), &"/etc/passwd".parse().unwrap())
    );
}

#[tokio::test]
async fn bodies_are_streamed_in_both_directions() {
    // The upstream handles each part of the body before the next one is sent.
    let address = start(|_, exchange| {
        exchange.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        for _ in 0..3 {
            let part = exchange.read("3\r\nabc\r\n".len());
            exchange.send(std::str::from_utf8(&part).unwrap());
        }
        exchange.send("0\r\n\r\n");
        false
    });
    let (parts, received) = tokio::sync::mpsc::channel::<Bytes>(1);
    let body = stream::unfold(received, |mut received| async {
        let part = received.recv().await?;
        Some((Ok::<_, BoxError>(http_body::Frame::data(part)), received))
    });
    let request = Request::post("/").header("host", "h").body(boxed(StreamBody::new(body.boxed()))).unwrap();
    let proxy = proxy(address, ProxyLimits::default());
    parts.send(Bytes::from("abc")).await.unwrap();
    let mut body = proxy.forward(request, ORIGIN).await.unwrap().into_body();
    for i in 0..3 {
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "abc");
        if i < 2 {
            parts.send(Bytes::from("abc")).await.unwrap();
        }
    }
    drop(parts);
    assert!(body.frame().await.is_none());
}

#[tokio::test]
async fn only_safe_requests_are_sent_again() {
    let address = start(|number, exchange| {
        if number % 2 == 1 {
            exchange.send(OK);
        }
        number % 2 == 1
    });
    let proxy = proxy(address, ProxyLimits::default());
    assert_eq!(proxy.forward(get("/"), ORIGIN).await.unwrap().status(), 200, "the second attempt");
    let post = || Request::post("/").header("host", "h").header("content-length", "0").body(empty()).unwrap();
    // The pooled connection is still open, so the request reaches the upstream, which closes the connection.
    assert_eq!(proxy.forward(post(), ORIGIN).await.err(), Some(Failure::Unreachable), "it may have been processed");
}

#[tokio::test]
async fn an_upstream_that_is_away_or_silent() {
    let limits = ProxyLimits {
        response: Duration::from_millis(200),
        idle: Duration::from_millis(200),
        ..ProxyLimits::default()
    };
    let silent = start(|_, _| {
        std::thread::sleep(Duration::from_secs(2));
        false
    });
    assert_eq!(proxy(silent, limits).forward(get("/"), ORIGIN).await.err(), Some(Failure::Timeout));

    let stalls = start(|_, exchange| {
        exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
        std::thread::sleep(Duration::from_secs(2));
        false
    });
    let response = proxy(stalls, limits).forward(get("/"), ORIGIN).await.unwrap();
    assert!(response.into_body().collect().await.is_err(), "a broken body is not a complete one");

    assert!(proxy(stalls, limits).connects().await);
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(!proxy(closed, limits).connects().await);
    assert_eq!(proxy(closed, limits).forward(get("/"), ORIGIN).await.err(), Some(Failure::Unreachable));
}

#[tokio::test]
async fn a_slow_upload_is_not_late_while_it_makes_progress() {
    let address = start(|_, exchange| {
        exchange.read("1\r\na\r\n".len() * 5 + "0\r\n\r\n".len());
        exchange.send(OK);
        true
    });
    let limits = ProxyLimits { response: Duration::from_millis(300), ..ProxyLimits::default() };
    let parts = stream::unfold(0, |i| async move {
        tokio::time::sleep(Duration::from_millis(120)).await;
        (i < 5).then(|| (Ok::<_, BoxError>(http_body::Frame::data(Bytes::from("a"))), i + 1))
    });
    let request = Request::post("/").header("host", "h").body(boxed(StreamBody::new(parts.boxed()))).unwrap();
    assert_eq!(proxy(address, limits).forward(request, ORIGIN).await.unwrap().status(), 200);
}

#[tokio::test]
async fn slots_are_bounded_and_held_until_the_body_ends() {
    let address = start(|_, exchange| {
        exchange.send(OK);
        true
    });
    let proxy =
        proxy(address, ProxyLimits { requests: 1, response: Duration::from_millis(200), ..ProxyLimits::default() });
    let first = proxy.forward(get("/"), ORIGIN).await.unwrap();
    assert_eq!(proxy.forward(get("/"), ORIGIN).await.err(), Some(Failure::Busy));
    drop(first);
    assert!(proxy.forward(get("/"), ORIGIN).await.is_ok());
}

#[tokio::test]
async fn requests_that_must_not_be_forwarded() {
    let proxy = proxy(start(|_, _| panic!("nothing is forwarded")), ProxyLimits::default());
    let looping = Request::get("/").header("via", "1.1 other, 1.1 test-1").body(empty()).unwrap();
    assert_eq!(proxy.forward(looping, ORIGIN).await.err(), Some(Failure::Loop));
    let trace = Request::builder().method("TRACE").uri("/").body(empty()).unwrap();
    assert_eq!(proxy.forward(trace, ORIGIN).await.err(), Some(Failure::Method));
    let hosts = Request::get("/").header("host", "a.example").header("host", "b.example").body(empty()).unwrap();
    assert_eq!(proxy.forward(hosts, ORIGIN).await.err(), Some(Failure::InvalidHead));
}

/// Counts the warnings of the proxy.
struct Warnings(Arc<AtomicUsize>);

impl<S: tracing::Subscriber> Layer<S> for Warnings {
    fn on_event(&self, event: &tracing::Event<'_>, _: layer::Context<'_, S>) {
        let is_ours = event.metadata().target() == "svc_gateway::proxy";
        self.0.fetch_add(usize::from(is_ours && *event.metadata().level() == tracing::Level::WARN), Relaxed);
    }
}

#[tokio::test(start_paused = true)]
async fn loops_are_logged_once_per_minute() {
    let n_logged = Arc::new(AtomicUsize::new(0));
    let _log = tracing::subscriber::set_default(registry().with(Warnings(Arc::clone(&n_logged))));
    let proxy = proxy(start(|_, _| panic!("nothing is forwarded")), ProxyLimits::default());
    for (wait, expected) in [(0, 1), (0, 1), (30, 1), (29, 1), (2, 2), (0, 2)] {
        tokio::time::advance(Duration::from_secs(wait)).await;
        for _ in 0..10 {
            let looping = Request::get("/").header("via", "1.1 test-1").body(empty()).unwrap();
            assert_eq!(proxy.forward(looping, ORIGIN).await.err(), Some(Failure::Loop));
        }
        assert_eq!(n_logged.load(Relaxed), expected, "after {wait} more seconds");
    }
}

#[tokio::test]
async fn a_change_of_the_protocol_is_no_response() {
    let address = start(|_, exchange| {
        exchange.send("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n");
        false
    });
    let failure = proxy(address, ProxyLimits::default()).forward(get("/"), ORIGIN).await.err();
    assert_eq!(failure.map(Failure::status), Some(http::StatusCode::BAD_GATEWAY));
}

#[tokio::test]
async fn a_broken_request_body_is_the_fault_of_the_client() {
    let address = start(|_, exchange| {
        let mut byte = [0];
        while std::io::Read::read(&mut exchange.stream, &mut byte).is_ok_and(|n| n > 0) {}
        false
    });
    let proxy = proxy(address, ProxyLimits::default());
    let parts = || {
        stream::iter([Ok(http_body::Frame::data(Bytes::from("abc"))), Err::<_, BoxError>("the client is gone".into())])
    };
    let request = Request::post("/").header("host", "h").body(boxed(StreamBody::new(parts()))).unwrap();
    assert_eq!(proxy.forward(request, ORIGIN).await.err(), Some(Failure::Unreadable));
    let limited = http_body_util::Limited::new(Full::new(Bytes::from("12345")), 3);
    let request = Request::post("/").header("host", "h").body(boxed(limited)).unwrap();
    assert_eq!(proxy.forward(request, ORIGIN).await.err(), Some(Failure::TooLarge));
}
