//! Connections: limits, slow and idle clients, shutdown.

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, extract::ConnectInfo, routing::get};
use svc_listen::{ConnectionLimits, Running, bind};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::Notify,
};

/// Long enough for a connection to count as idle.
const IDLE: Duration = Duration::from_millis(60);

pub(crate) fn limits(connections: usize, seconds: u64) -> ConnectionLimits {
    let time = Duration::from_secs(seconds);
    ConnectionLimits {
        body: 1024,
        connections,
        connections_per_network: connections,
        header: time,
        idle: time,
        stall: time,
        request: time,
        shutdown: time,
        trusted: Vec::new(),
    }
}

pub(crate) async fn running(router: Router, limits: ConnectionLimits) -> Running {
    Running::start(bind("127.0.0.1:0").await.unwrap(), router, limits).unwrap()
}

async fn get_text(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

#[tokio::test]
async fn shutdown_waits_for_requests_in_progress() {
    let (started, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (b, g) = (started.clone(), go.clone());
    let slow = get(move || async move {
        b.notify_one();
        g.notified().await;
        "late"
    });
    let server = running(Router::new().route("/", slow), limits(4, 5)).await;
    let address = server.address();
    let response = tokio::spawn(get_text(address, "/"));
    started.notified().await;
    let stop = tokio::spawn(server.stop());
    tokio::task::yield_now().await;
    go.notify_one();
    assert!(response.await.unwrap().ends_with("late"));
    stop.await.unwrap();
    assert!(TcpStream::connect(address).await.is_err(), "the listener is closed");
}

#[tokio::test]
async fn idle_connections_do_not_delay_shutdown() {
    let server = running(Router::new(), limits(4, 60)).await;
    let _idle = TcpStream::connect(server.address()).await.unwrap();
    assert!(get_text(server.address(), "/").await.starts_with("HTTP/1.1 404"));
    tokio::time::timeout(Duration::from_secs(5), server.stop()).await.unwrap();
}

#[tokio::test]
async fn a_new_connection_may_send_its_first_request_during_shutdown() {
    let server = running(Router::new().route("/", get(|| async { "served" })), limits(4, 60)).await;
    let address = server.address();
    let mut stream = TcpStream::connect(address).await.unwrap();
    // Connections are accepted in order.
    assert!(get_text(address, "/").await.ends_with("served"));
    let stop = tokio::spawn(server.stop());
    // The listener closes when the server begins to stop.
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut text = String::new();
    tokio::time::timeout(Duration::from_secs(5), stream.read_to_string(&mut text)).await.unwrap().unwrap();
    assert!(text.ends_with("served"), "{text}");
    tokio::time::timeout(Duration::from_secs(5), stop).await.unwrap().unwrap();
}

/// Limits of 100 ms for slow clients.
pub(crate) fn strict() -> ConnectionLimits {
    let short = Duration::from_millis(100);
    ConnectionLimits { header: short, idle: short, stall: short, ..limits(8, 30) }
}

/// An application with a large response, and a route that reads its request.
fn app() -> Router {
    let large = get(|| async { vec![b'x'; 64 << 20] });
    let read = axum::routing::post(|body: axum::body::Bytes| async move { body.len().to_string() });
    Router::new().route("/", get(|| async { "small" })).route("/large", large).route("/read", read)
}

async fn is_closed(stream: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut rest)).await.is_ok()
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
/// HTTP/2 settings with an initial window of zero.
const NO_WINDOW: &[u8] = &[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0];
const PING: &[u8] = &[0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
/// `GET /` over HTTP on stream 1: `:method: GET`, `:scheme: http`, `:path: /`, `:authority: x`.
const GET: &[u8] = &[0, 0, 6, 1, 5, 0, 0, 0, 1, 0x82, 0x86, 0x84, 0x01, 0x01, b'x'];

#[tokio::test]
async fn closes_clients_that_stop_sending() {
    let server = running(app(), strict()).await;
    let rows: [(&str, &[&[u8]]); 7] = [
        ("nothing", &[]),
        ("half of the preface of HTTP/2", &[b"PRI * HTTP"]),
        ("half of a head", &[b"GET / HTTP/1.1\r\nHo"]),
        ("half of a second head", &[b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"GET / HT"]),
        ("no second request", &[b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"]),
        ("half of a body", &[b"POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345"]),
        ("no request over HTTP/2", &[PREFACE, SETTINGS]),
    ];
    for (what, sent) in rows {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        for bytes in sent {
            stream.write_all(bytes).await.unwrap();
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(is_closed(&mut stream).await, "{what}");
    }
    server.stop().await;
}

/// Sends `drip` over and over, and returns whether the server ends the connection.
async fn ends_despite(server: &Running, begin: &[&[u8]], drip: &[u8]) -> bool {
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let (mut input, mut output) = stream.into_split();
    for bytes in begin {
        output.write_all(bytes).await.unwrap();
    }
    let drip = drip.to_vec();
    let writer = tokio::spawn(async move {
        while output.write_all(&drip).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let mut sink = [0; 1024];
    let closed = async { while input.read(&mut sink).await.is_ok_and(|n| n > 0) {} };
    let ended = tokio::time::timeout(Duration::from_secs(5), closed).await.is_ok();
    writer.abort();
    ended
}

#[tokio::test]
async fn closes_clients_that_send_too_slowly() {
    let server = running(app(), strict()).await;
    let post = b"POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n";
    let rows: [(&str, &[&[u8]], &[u8]); 4] = [
        ("a head byte by byte", &[b"GET / HTTP/1.1\r\nX: "], b"x"),
        ("a body byte by byte", &[post], b"x"),
        ("pings before a request", &[PREFACE, SETTINGS], PING),
        ("pings after a request", &[PREFACE, SETTINGS, GET], PING),
    ];
    for (what, begin, drip) in rows {
        assert!(ends_despite(&server, begin, drip).await, "{what}");
    }
    server.stop().await;
}

#[tokio::test]
async fn closes_clients_that_do_not_read_the_response() {
    let (done, mut ended) = tokio::sync::mpsc::unbounded_channel::<()>();
    struct Guard(tokio::sync::mpsc::UnboundedSender<()>);
    impl Drop for Guard {
        fn drop(&mut self) {
            let _sent = self.0.send(());
        }
    }
    // A body that reports when the server drops it.
    let endless = get(move || {
        let guard = Guard(done.clone());
        let chunks = futures_util::stream::repeat_with(move || {
            let _alive = &guard;
            Ok::<_, Infallible>(bytes::Bytes::from_static(&[b'x'; 1 << 14]))
        });
        async move { axum::body::Body::from_stream(chunks) }
    });
    let server = running(Router::new().route("/", endless), strict()).await;
    for begin in [&[b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".as_slice()] as &[&[u8]], &[PREFACE, NO_WINDOW, GET]] {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        for bytes in begin {
            stream.write_all(bytes).await.unwrap();
        }
        tokio::time::timeout(Duration::from_secs(5), ended.recv()).await.expect("the server drops the response");
    }
    server.stop().await;
}

#[tokio::test]
async fn serves_slow_clients_that_make_progress() {
    // The limit is shorter than the transfer, but the client sends more than 1000 bytes per second.
    let server = running(app(), strict()).await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(b"POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n").await.unwrap();
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(40)).await;
        stream.write_all(&[b'x'; 100]).await.unwrap();
    }
    let mut response = vec![0; 12];
    stream.read_exact(&mut response).await.unwrap();
    assert_eq!(response, b"HTTP/1.1 200");
    server.stop().await;
}

#[tokio::test]
async fn closes_the_longest_idle_connection_if_all_are_taken() {
    let server = running(app(), ConnectionLimits { connections_per_network: 2, ..limits(3, 60) }).await;
    let mut silent = Vec::new();
    for _ in 0..2 {
        silent.push(TcpStream::connect(server.address()).await.unwrap());
        tokio::time::sleep(IDLE).await;
    }
    assert!(get_text(server.address(), "/").await.ends_with("small"), "the limit of a network");
    assert!(is_closed(&mut silent[0]).await, "the first was idle for longest");
    let alive = async { silent[1].read_u8().await };
    assert!(tokio::time::timeout(IDLE, alive).await.is_err(), "the second is still open");
    server.stop().await;

    let server = running(app(), ConnectionLimits { connections_per_network: 9, ..limits(2, 60) }).await;
    let mut first = TcpStream::connect(server.address()).await.unwrap();
    let _second = TcpStream::connect(server.address()).await.unwrap();
    tokio::time::sleep(IDLE).await;
    assert!(get_text(server.address(), "/").await.ends_with("small"), "the limit of all networks");
    assert!(is_closed(&mut first).await);
    server.stop().await;
}

#[tokio::test]
async fn idle_connections_that_have_served_requests_make_room() {
    let server = running(app(), ConnectionLimits { connections_per_network: 9, ..limits(2, 60) }).await;
    let mut served = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let mut response = Vec::new();
        while !response.ends_with(b"small") {
            assert_ne!(stream.read_buf(&mut response).await.unwrap(), 0);
        }
        served.push(stream);
    }
    let response = tokio::time::timeout(Duration::from_secs(5), get_text(server.address(), "/")).await;
    assert!(response.expect("a new client is served").ends_with("small"));
    server.stop().await;
}

#[tokio::test]
async fn requests_in_progress_do_not_make_room() {
    let begun = Arc::new(Notify::new());
    let notify = begun.clone();
    let endless = get(move || async move {
        notify.notify_one();
        std::future::pending::<()>().await;
    });
    let router = app().route("/endless", endless);
    let request = b"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n";
    let one = ConnectionLimits { connections_per_network: 1, shutdown: Duration::ZERO, ..limits(9, 60) };
    let server = running(router, one.clone()).await;
    let mut busy = TcpStream::connect(server.address()).await.unwrap();
    busy.write_all(request).await.unwrap();
    begun.notified().await;
    tokio::time::sleep(IDLE).await;
    let mut refused = TcpStream::connect(server.address()).await.unwrap();
    assert!(is_closed(&mut refused).await, "another connection of the same network");
    let alive = async { busy.read_u8().await };
    assert!(tokio::time::timeout(IDLE, alive).await.is_err(), "the request continues");
    server.stop().await;

    // Trusted proxies forward many clients.
    let trusted = ConnectionLimits { trusted: vec!["127.0.0.0/8".parse().unwrap()], ..one };
    let server = running(app(), trusted).await;
    let _idle =
        [TcpStream::connect(server.address()).await.unwrap(), TcpStream::connect(server.address()).await.unwrap()];
    tokio::time::sleep(IDLE).await;
    assert!(get_text(server.address(), "/").await.ends_with("small"));
    server.stop().await;
}

#[tokio::test]
async fn handlers_see_the_address_of_the_peer() {
    let peer = get(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.ip().to_string() });
    let server = running(Router::new().route("/", peer), limits(4, 5)).await;
    assert!(get_text(server.address(), "/").await.ends_with("127.0.0.1"));
    server.stop().await;
}

#[tokio::test]
async fn bind_reports_the_address() {
    let first = bind("127.0.0.1:0").await.unwrap();
    let address = first.local_addr().unwrap().to_string();
    let error = bind(&address).await.unwrap_err();
    assert_eq!(error.to_string(), format!("cannot listen on {address}"));
    let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<std::io::Error>());
    assert_eq!(cause.map(std::io::Error::kind), Some(std::io::ErrorKind::AddrInUse));
}
