//! FastCGI with an upstream that plays a script: ends, limits, retries and failures.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use svc_gateway::{Failure, Options, Origin, Proxy, ProxyLimits, Site, boxed, empty};

const ORIGIN: Origin = Origin { address: std::net::IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7)), tls: true };

const STDIN: u8 = 5;
const STDOUT: u8 = 6;
const STDERR: u8 = 7;

/// A connection with a request that has been read.
struct Exchange {
    stream: TcpStream,
    /// Contents of all records of parameters.
    params: Vec<u8>,
    body: Vec<u8>,
}

impl Exchange {
    fn record(&mut self, kind: u8, content: &[u8]) {
        let length = u16::try_from(content.len()).unwrap().to_be_bytes();
        // Three bytes of padding. The proxy may have given up.
        let header = [1, kind, 0, 1, length[0], length[1], 3, 0];
        let _ = self.stream.write_all(&[&header[..], content, b"pad"].concat());
    }

    fn out(&mut self, text: &str) {
        self.record(STDOUT, text.as_bytes());
    }

    fn end(&mut self, protocol_status: u8) {
        self.record(3, &[0, 0, 0, 0, protocol_status, 0, 0, 0]);
    }

    /// Waits until the proxy closes the connection.
    fn is_closed(&mut self) -> bool {
        matches!(self.stream.read(&mut [0]), Ok(0))
    }
}

/// Reads a request to the end of its body.
fn read_request(mut stream: TcpStream) -> Option<Exchange> {
    let (mut params, mut body) = (Vec::new(), Vec::new());
    loop {
        let mut header = [0; 8];
        stream.read_exact(&mut header).ok()?;
        let mut content = vec![0; usize::from(u16::from_be_bytes([header[4], header[5]])) + usize::from(header[6])];
        stream.read_exact(&mut content).ok()?;
        match header[1] {
            4 => params.extend(content),
            STDIN if content.is_empty() => return Some(Exchange { stream, params, body }),
            STDIN => body.extend(content),
            _ => {}
        }
    }
}

/// A proxy to a server that calls `respond` for each request, with their number.
fn start(limits: ProxyLimits, respond: impl Fn(usize, &mut Exchange) + Send + Sync + 'static) -> Proxy {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let upstream = format!("fastcgi://{}", listener.local_addr().unwrap()).parse().unwrap();
    let respond = Arc::new((respond, AtomicUsize::new(0)));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let respond = Arc::clone(&respond);
            thread::spawn(move || {
                stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
                if let Some(mut exchange) = read_request(stream) {
                    (respond.0)(respond.1.fetch_add(1, Ordering::SeqCst), &mut exchange);
                }
            });
        }
    });
    // There are no files, so that each request is one for `index.php`.
    let site = Site { root: "/nowhere".into(), ..Site::default() };
    Proxy::new(upstream, "test-1", Options { limits, site })
}

fn get() -> Request<svc_gateway::Body> {
    Request::get("/a/?b").header("host", "example.org").body(empty()).unwrap()
}

fn post(body: impl Into<Bytes>) -> Request<svc_gateway::Body> {
    Request::post("/").header("host", "h").body(boxed(Full::new(body.into()))).unwrap()
}

async fn failure(proxy: &Proxy, request: Request<svc_gateway::Body>) -> Option<Failure> {
    proxy.forward(request, ORIGIN).await.err()
}

#[tokio::test]
async fn a_response_in_several_records() {
    let (seen, mut closed) = tokio::sync::mpsc::unbounded_channel();
    let proxy = start(ProxyLimits::default(), move |_, exchange| {
        let has_url = exchange.params.windows(18).any(|part| part == b"\x0b\x05REQUEST_URI/a/?b");
        exchange.record(STDERR, b"PHP Notice:  something\n");
        exchange.out("Status: 201 Created\r\nSet-Coo");
        exchange.out("kie: a=1\r\nSet-Cookie: b=2\r\nConnection: X-Hop\r\nX-Hop: 1\r\nX-Accel-Expires: 5\r\n\r");
        exchange.out("\nhal");
        exchange.record(STDERR, b"PHP Warning:  something\n");
        exchange.out("");
        exchange.out("lo");
        exchange.end(0);
        seen.send((has_url, exchange.is_closed())).unwrap();
    });
    let response = proxy.forward(get(), ORIGIN).await.unwrap();
    assert_eq!(response.status(), 201);
    assert_eq!(response.headers().get_all("set-cookie").iter().collect::<Vec<_>>(), ["a=1", "b=2"]);
    for absent in ["connection", "x-hop", "x-accel-expires", "via", "status"] {
        assert!(!response.headers().contains_key(absent), "{absent}");
    }
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "hallo");
    assert_eq!(closed.recv().await, Some((true, true)), "the process is free for another request");
}

#[tokio::test]
async fn a_body_is_sent_as_a_whole() {
    let proxy = start(ProxyLimits::default(), |_, exchange| {
        let received = format!("X: y\n\n{} {}", exchange.body.len(), exchange.body.iter().all(|byte| *byte == b'x'));
        exchange.out(&received);
        exchange.end(0);
    });
    for size in [0, 1, 40_000, 500_000] {
        let response = proxy.forward(post("x".repeat(size)), ORIGIN).await.unwrap();
        assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), format!("{size} true"));
    }
}

#[tokio::test]
async fn ends_that_are_no_responses() {
    for (protocol_status, expected) in
        [(0, Failure::Unreachable), (1, Failure::Unreachable), (2, Failure::Busy), (3, Failure::Unreachable)]
    {
        let proxy = start(ProxyLimits::default(), move |_, exchange| exchange.end(protocol_status));
        assert_eq!(failure(&proxy, get()).await, Some(expected), "{protocol_status}");
    }
    for head in ["no header\r\n\r\n", "Status: 101\r\n\r\n", "\r\n\r\n"] {
        let requests = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&requests);
        let proxy = start(ProxyLimits::default(), move |_, exchange| {
            seen.fetch_add(1, Ordering::SeqCst);
            exchange.out(head);
            exchange.end(0);
        });
        assert_eq!(failure(&proxy, get()).await, Some(Failure::Unreachable), "{head}");
        assert_eq!(requests.load(Ordering::SeqCst), 1, "a response that is not valid is not requested again");
    }
    let proxy = start(ProxyLimits::default(), |_, exchange| {
        let _ = exchange.stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    assert_eq!(failure(&proxy, get()).await, Some(Failure::Unreachable), "not a FastCGI server");
    let proxy = start(ProxyLimits::default(), |_, exchange| {
        for _ in 0..40 {
            exchange.out(&format!("X: {}\r\n", "a".repeat(8000)));
        }
    });
    assert_eq!(failure(&proxy, get()).await, Some(Failure::Unreachable), "an endless head");
}

#[tokio::test]
async fn a_body_without_its_end_is_an_error() {
    for (text, protocol_status) in
        [("X: y\n\nhalf", None), ("X: y\n\nhalf", Some(3)), ("Content-Length: 9\n\nhalf", Some(0))]
    {
        let proxy = start(ProxyLimits::default(), move |_, exchange| {
            exchange.out(text);
            if let Some(status) = protocol_status {
                exchange.end(status);
            }
        });
        let response = proxy.forward(get(), ORIGIN).await.unwrap();
        assert!(response.into_body().collect().await.is_err(), "{text:?} {protocol_status:?}");
    }
    let proxy = start(ProxyLimits::default(), |_, exchange| {
        exchange.out("Content-Length: 4\n\nfull and more");
        exchange.out("even more");
        exchange.end(0);
    });
    let response = proxy.forward(get(), ORIGIN).await.unwrap();
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "full", "what exceeds the length is cut off");
}

#[tokio::test]
async fn only_safe_requests_without_a_body_are_sent_again() {
    let served = |n: usize, exchange: &mut Exchange| {
        if n % 2 == 1 {
            exchange.out("X: y\n\nok");
            exchange.end(0);
        }
    };
    let proxy = start(ProxyLimits::default(), served);
    assert_eq!(proxy.forward(get(), ORIGIN).await.unwrap().status(), 200, "the second attempt");
    let proxy = start(ProxyLimits::default(), served);
    assert_eq!(failure(&proxy, post("")).await, Some(Failure::Unreachable), "it may have been processed");
    let requests = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&requests);
    let proxy = start(ProxyLimits::default(), move |_, _| {
        seen.fetch_add(1, Ordering::SeqCst);
    });
    assert_eq!(failure(&proxy, get()).await, Some(Failure::Unreachable));
    assert_eq!(requests.load(Ordering::SeqCst), 2, "twice at most");
    // A script that runs for some time and then fails would fail again.
    let proxy = start(ProxyLimits::default(), |n, exchange| {
        if n == 0 {
            thread::sleep(Duration::from_millis(1100));
        } else {
            exchange.out("X: y\n\nok");
            exchange.end(0);
        }
    });
    assert_eq!(failure(&proxy, get()).await, Some(Failure::Unreachable));
}

#[tokio::test]
async fn an_upstream_that_is_away_or_silent() {
    let limits = ProxyLimits {
        response: Duration::from_millis(200),
        idle: Duration::from_millis(200),
        ..ProxyLimits::default()
    };
    let (seen, mut closed) = tokio::sync::mpsc::unbounded_channel();
    let silent = start(limits, move |_, exchange| seen.send(exchange.is_closed()).unwrap());
    assert_eq!(failure(&silent, get()).await, Some(Failure::Timeout));
    assert_eq!(closed.recv().await, Some(true), "the request is aborted");
    let stalls = start(limits, |_, exchange| {
        exchange.out("X: y\n\nhalf");
        thread::sleep(Duration::from_secs(1));
    });
    let response = stalls.forward(get(), ORIGIN).await.unwrap();
    assert!(response.into_body().collect().await.is_err(), "a broken body is not a complete one");

    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let site = Site { root: "/nowhere".into(), ..Site::default() };
    for upstream in [format!("fastcgi://{closed}"), "fastcgi:/nowhere/php.sock".to_owned()] {
        let proxy = Proxy::new(upstream.parse().unwrap(), "p", Options { limits, site: site.clone() });
        assert_eq!(failure(&proxy, get()).await, Some(Failure::Unreachable), "{upstream}");
    }
    let no_root = Proxy::new(format!("fastcgi://{closed}").parse().unwrap(), "p", limits);
    assert_eq!(failure(&no_root, get()).await, Some(Failure::Unreachable));
}

#[tokio::test]
async fn a_client_that_leaves_aborts_the_request() {
    let (aborted, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let proxy = start(ProxyLimits::default(), move |_, exchange| {
        exchange.out("X: y\n\nfirst");
        aborted.send(exchange.is_closed()).unwrap();
    });
    let mut body = proxy.forward(get(), ORIGIN).await.unwrap().into_body();
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "first");
    drop(body);
    assert_eq!(seen.recv().await, Some(true));
}

#[tokio::test]
async fn requests_that_are_not_forwarded() {
    let site = Site { root: "/nowhere".into(), body: 10, ..Site::default() };
    let limits = ProxyLimits { response: Duration::from_millis(300), ..ProxyLimits::default() };
    let upstream: svc_gateway::Upstream = "fastcgi://127.0.0.1:1".parse().unwrap();
    let proxy = Proxy::new(upstream, "test-1", Options { limits, site });
    assert_eq!(failure(&proxy, post("x".repeat(11))).await, Some(Failure::TooLarge));
    let limited = http_body_util::Limited::new(Full::new(Bytes::from("12345")), 3);
    assert_eq!(failure(&proxy, Request::post("/").body(boxed(limited)).unwrap()).await, Some(Failure::TooLarge));
    let large = Request::get("/").header("x-large", "a".repeat(66_000)).body(empty()).unwrap();
    assert_eq!(failure(&proxy, large).await, Some(Failure::HeadTooLarge));
    let trace = Request::builder().method("TRACE").uri("/").body(empty()).unwrap();
    assert_eq!(failure(&proxy, trace).await, Some(Failure::Method));
    let traversal = proxy.forward(Request::get("/..%2fx").body(empty()).unwrap(), ORIGIN).await.unwrap();
    assert_eq!(traversal.status(), 400);
}

#[tokio::test]
async fn slots_are_bounded_and_held_until_the_body_ends() {
    let limits = ProxyLimits { requests: 1, response: Duration::from_millis(200), ..ProxyLimits::default() };
    let proxy = start(limits, |_, exchange| {
        exchange.out("X: y\n\nok");
        exchange.end(0);
    });
    let first = proxy.forward(get(), ORIGIN).await.unwrap();
    assert_eq!(failure(&proxy, get()).await, Some(Failure::Busy));
    drop(first);
    assert!(proxy.forward(get(), ORIGIN).await.is_ok());
}
