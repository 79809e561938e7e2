//! Targets for requests: dispatch, parameters, and requests that a gateway forwards.

use std::{
    cell::OnceCell,
    io::{Read as _, Write as _},
    net::{IpAddr, Ipv4Addr, TcpListener},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use serde_json::json;
use svc_gateway::{Origin, Proxy, ProxyLimits};
use svc_http::RestService;
use svc_routing::{Registry, Request, Response, Route, Server, on, public};
use svc_schema::{
    Args,
    build::{array, boolean, integer, object, string},
};
use tokio::runtime::Runtime;
use tower::ServiceExt as _;

use super::{first_line, text};

/// Maximum number of values in a body.
const MAX_VALUES: usize = 10_000;

async fn echo(req: Request) -> svc_routing::Result {
    let args: Vec<_> = req.sent_args().into_iter().map(|(name, value)| json!([name, value])).collect();
    Ok(Response::new(json!({ "args": args })))
}

/// A server with a route for each kind of argument.
fn server() -> Server {
    let args = || {
        Args::new()
            .with("number", integer().range(1..=100).default(10))
            .with("list", array(integer()))
            .with("choice", string().one_of(["a", "b"]))
            .with("date", string().format("date-time"))
            .with("flag", boolean())
            .with("meta", object([("color", string().format("hex-color")), ("sizes", array(string()))]))
    };
    let mut registry = Registry::new();
    for pattern in ["/items", r"/items/(?P<id>[\d]+)", r"/items/(?P<slug>[\w-]+)/parts/(?P<part>.+)"] {
        let route = Route::new(pattern).endpoint(on("GET", echo, public).args(args()));
        let route = route.endpoint(on("POST", echo, public).args(args()));
        registry.route("fuzz/v1", route).expect("the route has a namespace and a path");
    }
    registry.build()
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// Dispatches a request in process: the first line is the method, the route and the query, the rest a JSON body. Nothing is an error
/// of the server.
pub fn dispatch(data: &[u8]) {
    thread_local! {
        static SERVER: OnceCell<(Runtime, Server)> = const { OnceCell::new() };
    }
    SERVER.with(|server| {
        let (runtime, server) = server.get_or_init(|| (runtime(), self::server()));
        let (first, body) = first_line(data);
        let first = text(first);
        let (method, target) = first.split_once(' ').unwrap_or(("GET", &first));
        let (route, query) = target.split_once('?').unwrap_or((target, ""));
        let Ok(method) = method.parse() else { return };
        let request =
            Request::new(method, route).with_query_string(query).with_header("content-type", "application/json");
        let request = request.with_body_bounded(Bytes::copy_from_slice(body), MAX_VALUES);
        let served = runtime.block_on(server.serve(request));
        assert_ne!(served.status.as_u16(), 500, "{first}");
    });
}

/// Sends parameters through the whole service: the first line is the query, the second the type of the body, the rest the body.
pub fn parameters(data: &[u8]) {
    thread_local! {
        static SERVICE: OnceCell<(Runtime, RestService)> = const { OnceCell::new() };
    }
    SERVICE.with(|service| {
        let (runtime, service) = service.get_or_init(|| (runtime(), RestService::new(server())));
        let (query, rest) = first_line(data);
        let (kind, body) = first_line(rest);
        let request = http::Request::post(format!("/svc-json/fuzz/v1/items?{}", text(query)))
            .header("content-type", kind)
            .body(Full::new(Bytes::copy_from_slice(body)));
        let Ok(request) = request else { return };
        runtime.block_on(async {
            let response = service.clone().oneshot(request).await.expect("the service is infallible");
            assert_ne!(response.status().as_u16(), 500, "{}", text(data));
            response.into_body().collect().await.map(drop).unwrap_or_default();
        });
    });
}

/// Forwards a request to a server that records what it gets. The first line is the method and the target, the others are headers.
pub fn gateway_requests(data: &[u8]) {
    thread_local! {
        static GATEWAY: OnceCell<(Runtime, Proxy, Receiver<Vec<u8>>)> = const { OnceCell::new() };
    }
    GATEWAY.with(|gateway| {
        let (runtime, proxy, heads) = gateway.get_or_init(|| {
            let (address, heads) = upstream();
            let limits = ProxyLimits { response: Duration::from_secs(5), ..ProxyLimits::default() };
            let upstream = format!("http://{address}").parse().expect("a URL");
            (runtime(), Proxy::new(upstream, "fuzz", limits), heads)
        });
        let Some(request) = request(data) else { return };
        let origin = Origin { address: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7)), tls: true };
        let answered = runtime.block_on(async {
            let response = proxy.forward(request, origin).await.ok()?;
            response.into_body().collect().await.ok()
        });
        // An earlier request may have been sent without a response.
        let Some(head) = heads.try_iter().last().filter(|_| answered.is_some()) else { return };
        check_head(&head);
    });
}

/// A request of these lines; `None` if HTTP does not allow it.
fn request(data: &[u8]) -> Option<http::Request<svc_gateway::Body>> {
    let (first, mut rest) = first_line(data);
    let first = std::str::from_utf8(first).ok()?;
    let (method, target) = first.split_once(' ')?;
    let mut request = http::Request::builder().method(method).uri(target);
    while !rest.is_empty() {
        let (line, next) = first_line(rest);
        let colon = line.iter().position(|b| *b == b':')?;
        request = request.header(&line[..colon], line[colon + 1..].trim_ascii());
        rest = next;
    }
    request.body(svc_gateway::empty()).ok()
}

/// Asserts the properties that the upstream relies on.
fn check_head(head: &[u8]) {
    let head = String::from_utf8_lossy(head);
    let (request, headers) = head.split_once("\r\n").expect("a request line");
    let mut words = request.split(' ');
    let target = words.nth(1).unwrap_or_default();
    assert!(target.starts_with('/') || target == "*", "the target of {head:?}");
    assert_eq!((words.next(), words.next()), (Some("HTTP/1.1"), None), "{head:?}");
    let names: Vec<String> = headers
        .trim_end_matches("\r\n")
        .split("\r\n")
        .map(|line| line.split_once(':').expect("a header").0.to_ascii_lowercase())
        .collect();
    for name in [
        "host",
        "content-length",
        "transfer-encoding",
        "x-forwarded-for",
        "x-forwarded-proto",
        "x-forwarded-host",
        "forwarded",
    ] {
        assert!(names.iter().filter(|known| *known == name).count() <= 1, "several {name}: {head:?}");
    }
    let lines = headers.to_ascii_lowercase();
    assert!(
        lines.contains("x-forwarded-for: 192.0.2.7\r\n") && lines.contains("x-forwarded-proto: https\r\n"),
        "{head:?}"
    );
    let forbidden = ["te", "upgrade", "keep-alive", "proxy", "proxy-authorization", "expect", "trailer"];
    for name in &names {
        assert!(!name.contains('_') && !forbidden.contains(&name.as_str()), "{name} in {head:?}");
    }
}

/// A web server that returns empty responses. Returns its address and the heads of the requests.
fn upstream() -> (std::net::SocketAddr, Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (sender, heads) = channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            drop(stream.set_read_timeout(Some(Duration::from_secs(5))));
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
                head.push(byte[0]);
            }
            let is_whole = head.ends_with(b"\r\n\r\n");
            if is_whole && sender.send(head).is_err() {
                return;
            }
            drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
        }
    });
    (address, heads)
}
