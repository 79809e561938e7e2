//! A web server that represents a WordPress with the connector, and news that a test gives.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst},
    },
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::Response,
};
use futures_util::future::BoxFuture;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::HeaderValue;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use sha2::Sha256;
use svc_bridge::{
    Bridge, CACHE_STATUS, Settings,
    changes::{Changes, Position},
    feed::{Feed, Unknown},
    names::Name,
    record::Recorder,
};
use svc_gateway::{Origin, Proxy, ProxyLimits};

pub(crate) const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// What the server responds to a path.
#[derive(Clone, Default)]
pub(crate) struct Page {
    pub(crate) body: String,
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    /// The names that it reads; `None` for a response without a record.
    pub(crate) names: Option<Vec<&'static str>>,
    pub(crate) record: Value,
    /// What something else has sent in front of record and body.
    pub(crate) in_front: &'static str,
    /// Whether the body contains the client's program.
    pub(crate) has_agent: bool,
    /// Whether the body contains the number of the request.
    pub(crate) has_number: bool,
}

#[derive(Default)]
pub(crate) struct Php {
    pub(crate) pages: Mutex<HashMap<String, Page>>,
    pub(crate) requests: AtomicUsize,
    pub(crate) asked: Mutex<Vec<http::HeaderMap>>,
    pub(crate) slow: AtomicBool,
}

fn sign(text: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn respond(State(php): State<Arc<Php>>, request: Request) -> Response {
    let number = php.requests.fetch_add(1, SeqCst);
    if php.slow.load(SeqCst) {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let (headers, is_head) = (request.headers().clone(), request.method() == http::Method::HEAD);
    php.asked.lock().unwrap().push(headers.clone());
    let page = php.pages.lock().unwrap().get(request.uri().path()).cloned();
    let page = page.unwrap_or(Page { status: 404, body: "{}".to_owned(), ..Page::default() });
    let mut body = page.body.clone();
    if page.has_agent {
        body += headers.get("user-agent").map_or("", |value| value.to_str().unwrap());
    }
    if page.has_number {
        body += &number.to_string();
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = page.status.try_into().unwrap();
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
    for (name, value) in &page.headers {
        response.headers_mut().append(*name, value.parse().unwrap());
    }
    if let (Some(asked), Some(names)) = (headers.get("x-svc-record"), &page.names) {
        let nonce = asked.to_str().unwrap().split('.').nth(1).unwrap();
        let mut record = json!({"v": 2, "parts": names, "age": null, "store": true, "route": "/x", "user": 0});
        if let Some(more) = page.record.as_object() {
            record.as_object_mut().unwrap().extend(more.clone());
        }
        let record = record.to_string();
        body = format!("{:08}{}\n{record}{body}", record.len(), sign(&format!("svc-recorded\n{nonce}")));
        response.headers_mut().insert("x-svc-record", HeaderValue::from_static("1"));
    }
    *response.body_mut() = Body::from(format!("{}{body}", page.in_front));
    if is_head {
        // The server does not know the length of what PHP would send.
        *response.body_mut() = Body::from_stream(futures_util::stream::empty::<Result<Vec<u8>, std::io::Error>>());
        response.headers_mut().remove("x-svc-record");
    }
    response
}

/// News that a test gives.
#[derive(Default)]
pub(crate) struct News {
    pub(crate) changes: Changes,
    position: AtomicU64,
    /// Written, and not yet applied.
    waiting: Mutex<Vec<Name>>,
    pub(crate) is_away: AtomicBool,
    pub(crate) without_names: AtomicBool,
}

impl News {
    /// A write that was acknowledged, and of which the bridge learns when it looks.
    pub(crate) fn write(&self, name: &str) {
        self.waiting.lock().unwrap().push(Name::parse(name));
    }

    /// A write that a rendering has made.
    pub(crate) fn write_by_read(&self, name: &str) {
        let at = self.position.fetch_add(1, SeqCst) + 1;
        self.changes.changed_by_reads(&[Name::parse(name)], at);
    }

    fn apply(&self) -> Result<Position, Unknown> {
        if self.is_away.load(SeqCst) {
            return Err(Unknown("away".to_owned()));
        }
        let names = std::mem::take(&mut *self.waiting.lock().unwrap());
        if names.is_empty() {
            return Ok(self.position.load(SeqCst));
        }
        let at = self.position.fetch_add(1, SeqCst) + 1;
        self.changes.changed(&names, at);
        Ok(at)
    }
}

/// The same news for the bridge.
struct Shared(Arc<News>);

impl Feed for Shared {
    fn changes(&self) -> &Changes {
        &self.0.changes
    }

    fn catch_up(&self) -> BoxFuture<'_, Result<(), Unknown>> {
        Box::pin(async { self.0.apply().map(drop) })
    }

    fn visible(&self) -> BoxFuture<'_, Result<Position, Unknown>> {
        Box::pin(async { self.0.apply() })
    }

    fn has_names(&self) -> bool {
        !self.0.without_names.load(SeqCst)
    }

    fn describe(&self) -> String {
        "a test".to_owned()
    }
}

/// A bridge with its WordPress.
pub(crate) struct Site {
    pub(crate) bridge: Bridge,
    pub(crate) php: Arc<Php>,
    pub(crate) news: Arc<News>,
    server: tokio::task::JoinHandle<()>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// What a client got.
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) body: String,
    pub(crate) headers: http::HeaderMap,
}

impl Got {
    /// Whether the response was replayed.
    pub(crate) fn is_hit(&self) -> bool {
        self.headers[CACHE_STATUS] == "svc; hit"
    }
}

impl Site {
    pub(crate) async fn start(change: impl FnOnce(&mut Settings), has_connector: bool) -> Self {
        Site::start_with(change, has_connector, ProxyLimits::default()).await
    }

    pub(crate) async fn start_with(
        change: impl FnOnce(&mut Settings),
        has_connector: bool,
        limits: ProxyLimits,
    ) -> Self {
        let php = Arc::new(Php::default());
        let router = Router::new().fallback(respond).with_state(Arc::clone(&php));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let upstream = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let mut settings = Settings {
            urls: svc_routing::RouteUrls::new("", "wp-json"),
            pages: false,
            age: std::time::Duration::from_secs(60),
            ages: Vec::new(),
            never: Vec::new(),
            memory: 1 << 20,
            checks: 0,
            max_body: 10_000,
        };
        change(&mut settings);
        let proxy = Proxy::new(upstream, "test", limits);
        let recorder = has_connector.then(|| Recorder::new(SECRET.as_bytes()));
        let bridge = Bridge::new(settings, proxy, recorder, b"random");
        let news = Arc::new(News::default());
        bridge.set_feed(Some(Box::new(Shared(Arc::clone(&news)))));
        Site { bridge, php, news, server }
    }

    /// Other news, of which this WordPress has none.
    pub(crate) fn change_feed(&self) {
        self.bridge.set_feed(Some(Box::new(Shared(Arc::default()))));
    }

    pub(crate) fn page(&self, path: &str, page: Page) {
        self.php.pages.lock().unwrap().insert(path.to_owned(), page);
    }

    /// A page with this body that reads these names.
    pub(crate) fn reads(&self, path: &str, body: &str, names: &[&'static str]) {
        let names = Some(names.to_vec());
        self.page(path, Page { body: body.to_owned(), status: 200, names, ..Page::default() });
    }

    pub(crate) async fn send(&self, method: &str, target: &str, headers: &[(&str, &str)]) -> Got {
        let mut request = Request::builder().method(method).uri(target).header("host", "site.example");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(svc_gateway::empty()).unwrap();
        let origin = Origin { address: [192, 0, 2, 1].into(), tls: false };
        let response = self.bridge.respond(request, origin).await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Got { status: parts.status.as_u16(), body: String::from_utf8(body.to_vec()).unwrap(), headers: parts.headers }
    }

    pub(crate) async fn get(&self, target: &str) -> Got {
        self.send("GET", target, &[]).await
    }

    pub(crate) fn n_requests(&self) -> usize {
        self.php.requests.load(SeqCst)
    }
}
