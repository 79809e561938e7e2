//! The service in process: HTTP details around dispatch.

use std::future::ready;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Request as HttpRequest, Response};
use http_body_util::{BodyExt, Full};
use proptest::prelude::*;
use serde_json::{Value, json};
use svc_http::{AuthOutcome, Authenticator, Credentials, RequestLimits, RestLayer, RestService, SharedCaching};
use svc_routing::{
    BoxFuture, Cost, Error, FileData, LaterBody, Link, ParamOrder, Registry, Request, Response as ApiResponse, Result,
    Route, get as reads, on, public, without_permission,
};
use tower::{Layer, ServiceExt};

use crate::demo;
use crate::response_cache::{LONG, WithCache as _};

fn demo_service() -> RestService {
    RestService::new(demo::registry("svc", ParamOrder::UrlFirst).build())
}

pub(crate) async fn send(service: &RestService, req: HttpRequest<Full<Bytes>>) -> Response<Bytes> {
    let (parts, body) = service.clone().oneshot(req).await.unwrap().into_parts();
    Response::from_parts(parts, body.collect().await.unwrap().to_bytes())
}

pub(crate) fn request(
    method: &str,
    uri: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> HttpRequest<Full<Bytes>> {
    let builder = HttpRequest::builder().method(method).uri(uri);
    let builder = headers.iter().fold(builder, |b, (name, value)| b.header(*name, *value));
    builder.body(Full::new(body.into())).unwrap()
}

pub(crate) async fn get(service: &RestService, uri: &str, headers: &[(&str, &str)]) -> Response<Bytes> {
    send(service, request("GET", uri, headers, "")).await
}

pub(crate) fn data(res: &Response<Bytes>) -> Value {
    serde_json::from_slice(res.body()).unwrap()
}

pub(crate) fn header<'a>(res: &'a Response<Bytes>, name: &str) -> Option<&'a str> {
    res.headers().get(name).map(|v| v.to_str().unwrap())
}

#[tokio::test]
async fn jsonp_and_pretty() {
    let service = demo_service();
    for (query, status, kind, text) in [
        ("_jsonp=a.b_1", 200, "application/javascript", "/**/a.b_1(42)"),
        ("_jsonp=", 200, "application/json", "42"),
        ("_jsonp=0", 200, "application/json", "42"),
        ("_jsonp=a-b", 400, "application/javascript", r#"{"code":"rest_callback_invalid""#),
        ("_jsonp[]=a", 400, "application/javascript", r#"{"code":"rest_callback_invalid""#),
        ("_pretty", 200, "application/json", "42"),
    ] {
        let res = get(&service, &format!("/demo/v1/return/int?{query}"), &[]).await;
        assert_eq!(res.status(), status, "{query}");
        assert!(header(&res, "content-type").unwrap().starts_with(kind), "{query}");
        assert!(res.body().starts_with(text.as_bytes()), "{query}: {:?}", res.body());
    }
    let res = get(&service, "/demo/v1/return/list?_pretty", &[]).await;
    assert_eq!(res.body(), "[\n    1,\n    \"two\",\n    null\n]");

    let mut registry = demo::registry("svc", ParamOrder::UrlFirst);
    let mut site = registry.site().clone();
    site.jsonp = false;
    registry = Registry::for_site(site);
    let res = get(&RestService::new(registry.build()), "/?_jsonp=a", &[]).await;
    assert_eq!((res.status().as_u16(), &data(&res)["code"]), (400, &json!("rest_callback_disabled")));
}

/// Has no place for any request.
struct Full503;

impl svc_http::Runner for Full503 {
    fn run(
        &self,
        _: Cost,
        _: svc_http::Work,
    ) -> std::pin::Pin<Box<dyn Future<Output = std::result::Result<(), svc_http::Overloaded>> + Send>> {
        Box::pin(ready(Err(svc_http::Overloaded)))
    }
}

#[tokio::test]
async fn other_origins_and_scripts_can_read_early_errors() {
    async fn broken(_: Request) -> Result {
        panic!("on purpose")
    }
    let mut registry = Registry::new();
    registry.route("acme/v1", Route::new("/broken").endpoint(reads(broken, public))).unwrap();
    let full = RestService::builder().runner(Arc::new(Full503)).build(registry.build());
    let origin = [("origin", "http://example.org")];
    let res = get(&full, "/acme/v1/broken", &origin).await;
    assert_eq!((res.status().as_u16(), &data(&res)["code"]), (503, &json!("rest_service_unavailable")));
    assert_eq!(data(&res)["data"], json!({"status": 503}));
    assert_eq!(header(&res, "access-control-allow-origin"), Some("http://example.org"));
    let exposed: Vec<_> = res.headers().get_all("access-control-expose-headers").iter().collect();
    assert_eq!(exposed, ["X-SVC-Total, X-SVC-TotalPages, Link", "ETag, Last-Modified, Retry-After, X-Request-Id"]);
    let own = get(&full, "/acme/v1/broken", &[]).await;
    assert_eq!(own.headers().get_all("access-control-expose-headers").iter().count(), 1, "WordPress's list");
    let res = get(&full, "/acme/v1/broken?_jsonp=f", &[]).await;
    assert_eq!((res.status().as_u16(), header(&res, "vary")), (503, Some("Origin")));
    assert!(res.body().starts_with(b"/**/f({\"code\":"), "{:?}", res.body());

    let mut registry = Registry::new();
    registry.route("acme/v1", Route::new("/broken").endpoint(reads(broken, public))).unwrap();
    let res = get(&RestService::new(registry.build()), "/acme/v1/broken", &origin).await;
    assert_eq!((res.status().as_u16(), &data(&res)["data"]), (500, &json!({"status": 500})));
    assert_eq!(header(&res, "access-control-allow-origin"), Some("http://example.org"));
}

#[tokio::test]
async fn cacheable_responses_without_credentials_have_a_max_age() {
    async fn ping(_: Request) -> Result {
        Ok(ApiResponse::new("pong"))
    }
    let mut registry = Registry::new();
    let routes = [("/cacheable", reads(ping, public).cacheable()), ("/other", reads(ping, public))];
    for (path, endpoint) in routes {
        registry.route("acme/v1", Route::new(path).endpoint(endpoint)).unwrap();
    }
    let service = RestService::builder()
        .shared_caching(SharedCaching { max_age: Some(60), ..SharedCaching::default() })
        .build(registry.build());
    for (path, headers, want) in [
        ("/acme/v1/cacheable", &[][..], Some("public, max-age=60")),
        ("/acme/v1/cacheable", &[("cookie", "a=b")][..], None),
        ("/acme/v1/cacheable", &[("authorization", "Basic x")][..], None),
        ("/acme/v1/other", &[][..], None),
        ("/acme/v1/missing", &[][..], None),
    ] {
        let res = get(&service, path, headers).await;
        assert_eq!(header(&res, "cache-control"), want, "{path} {headers:?}");
        let varies = res.headers().get_all("vary").iter().any(|vary| vary == "Authorization, Cookie, X-SVC-Nonce");
        assert_eq!(varies, want.is_some());
    }
}

#[tokio::test]
async fn effective_method_selects_the_endpoint() {
    let service = demo_service();
    let method = async |wire: &str, query: &str, headers: &[(&str, &str)]| {
        let res = send(&service, request(wire, &format!("/demo/v1/items/5?{query}"), headers, "")).await;
        (res.status().as_u16(), serde_json::from_slice::<Value>(res.body()).unwrap_or_default()["method"].clone())
    };
    assert_eq!(method("POST", "_method=DELETE", &[]).await, (200, json!("DELETE")));
    assert_eq!(method("GET", "_method=put", &[]).await, (200, json!("PUT")));
    assert_eq!(method("POST", "", &[("X-HTTP-Method-Override", "PATCH")]).await, (200, json!("PATCH")));
    assert_eq!(method("POST", "_method=PUT", &[("X-HTTP-Method-Override", "DELETE")]).await, (200, json!("PUT")));
    assert_eq!(method("POST", "_method=bogus", &[]).await.0, 404);
    assert_eq!(method("POST", "_method=a%20b", &[]).await.0, 404);
    assert_eq!(method("POST", "_method[]=PUT", &[]).await.0, 404);
    assert_eq!(method("PURGE", "", &[]).await.0, 404);
}

/// Authenticates by headers: `x-user` logs in, a nonce other than `good` is rejected.
struct HeaderAuthenticator;

impl Authenticator for HeaderAuthenticator {
    fn authenticate(&self, credentials: Credentials) -> BoxFuture<AuthOutcome> {
        let user = credentials.headers.get("x-user").is_some();
        Box::pin(std::future::ready(match (credentials.nonce.as_deref(), user) {
            (None | Some("good"), true) => {
                AuthOutcome::caller(7_u64).with_extension("extra").with_header("X-SVC-Nonce", "fresh")
            }
            (None, false) => AuthOutcome::anonymous(),
            (Some(_), user) => {
                AuthOutcome::rejected(Error::new("rest_cookie_invalid_nonce", "No.").with_status(403), user)
            }
        }))
    }
}

#[tokio::test]
async fn authentication_sets_caller_nonce_and_caching_headers() {
    async fn whoami(req: Request) -> Result {
        Ok(json!([req.caller::<u64>(), req.extensions().get::<&str>(), req.is_authenticated()]).into())
    }
    let mut registry = Registry::new();
    registry.route("a/v1", Route::new("/who").endpoint(on("GET, POST", whoami, public))).unwrap();
    let service = RestService::builder().authenticator(Arc::new(HeaderAuthenticator)).build(registry.build());
    let nocache = "no-cache, must-revalidate, max-age=0, no-store, private";
    let form = ("content-type", "application/x-www-form-urlencoded");
    for (method, query, headers, body, status, private, vary) in [
        ("GET", "", vec![], "", 200, false, true),
        ("GET", "", vec![("x-user", "1")], "", 200, true, false),
        ("GET", "?_svcnonce=good", vec![("x-user", "1")], "", 200, true, false),
        ("GET", "?_svcnonce=bad", vec![("x-user", "1")], "", 403, true, false),
        ("GET", "?_svcnonce=bad", vec![], "", 403, true, true),
        ("GET", "", vec![("x-svc-nonce", "bad")], "", 403, true, true),
        ("POST", "?_svcnonce=bad", vec![("x-user", "1"), form], "_svcnonce=good", 200, true, false),
        ("GET", "?_svcnonce=good", vec![("x-user", "1"), ("x-svc-nonce", "bad")], "", 200, true, false),
    ] {
        let res = send(&service, request(method, &format!("/a/v1/who{query}"), &headers, body)).await;
        let row = format!("{method} {query} {headers:?}");
        assert_eq!(res.status(), status, "{row}");
        assert_eq!(header(&res, "cache-control"), private.then_some(nocache), "{row}");
        assert_eq!(header(&res, "vary").is_some(), vary, "{row}");
        if status == 200 {
            let user = headers.iter().any(|(name, _)| *name == "x-user");
            assert_eq!(data(&res), if user { json!([7, "extra", true]) } else { json!([null, null, false]) }, "{row}");
            assert_eq!(header(&res, "x-svc-nonce"), user.then_some("fresh"), "{row}");
        }
    }
    // Unknown routes are rejected too.
    assert_eq!(get(&service, "/nosuch", &[("x-svc-nonce", "bad")]).await.status(), 403);
}

#[tokio::test]
async fn notices_are_headers_in_debug_mode() {
    async fn ok(_: Request) -> Result {
        Ok(json!(1).into())
    }
    let mut site = svc_routing::SiteInfo::default();
    site.debug = true;
    let mut registry = Registry::for_site(site);
    registry.route("a/v1", Route::new("/x").endpoint(without_permission("GET", ok))).unwrap();
    let res = get(&RestService::new(registry.build()), "/a/v1/x", &[]).await;
    assert!(header(&res, "x-svc-doingitwrong").unwrap().starts_with("register_rest_route (since 5.5.0; "));
    assert_eq!(header(&get(&demo_service(), "/demo/v1/noperm", &[]).await, "x-svc-doingitwrong"), None);
}

/// Bodies are parsed by content type, whatever the method: JSON types as JSON, forms as forms, other types not at all.
/// A body without type is a form, except in POST requests.
#[tokio::test]
async fn bodies_are_parsed_by_content_type() {
    let service = demo_service();
    let text = r#"{"q":"jj","b":1}"#;
    let (json, form) = (json!({"q": "jj", "b": 1}), json!({text: ""}));
    for method in ["DELETE", "PUT", "PATCH", "GET", "POST"] {
        let untyped = if method == "POST" { json!({}) } else { form.clone() };
        for (kind, read_as_json, read_as_form) in [
            ("text/plain", Value::Null, json!({})),
            ("TEXT/PLAIN; charset=x", Value::Null, json!({})),
            ("application/json", json.clone(), json!({})),
            ("application/x-www-form-urlencoded", Value::Null, form.clone()),
            ("multipart/form-data", Value::Null, json!({})),
            ("json", Value::Null, untyped.clone()),
            ("", Value::Null, untyped.clone()),
        ] {
            let req = request(method, "/demo/v1/sources", &[("content-type", kind)], text);
            let res = send(&service, req).await;
            let body: Value = serde_json::from_slice(res.body()).unwrap();
            assert_eq!((&body["json"], &body["body"]), (&read_as_json, &read_as_form), "{method} {kind:?}: {body}");
        }
    }
}

/// Reports the uploaded files: field, name, type, size, whether on disk, first bytes.
async fn list_files(req: Request) -> Result {
    let rows = req.files().iter().map(|file| {
        let (disk, bytes) = match &file.data {
            FileData::Memory(bytes) => (false, bytes.to_vec()),
            FileData::Disk(path) => (true, std::fs::read((**path).as_ref()).unwrap()),
        };
        assert_eq!(bytes.len() as u64, file.size);
        json!([
            file.field,
            file.name,
            file.content_type,
            file.size,
            disk,
            String::from_utf8_lossy(&bytes[..bytes.len().min(1)])
        ])
    });
    Ok(json!({ "files": rows.collect::<Vec<_>>(), "body": req.params().body, "raw": req.body().len() }).into())
}

fn files_service(limits: RequestLimits) -> RestService {
    let mut registry = Registry::new();
    registry.route("a/v1", Route::new("/up").endpoint(on("POST, PUT", list_files, public))).unwrap();
    RestService::builder().limits(limits).build(registry.build())
}

fn multipart(parts: &[(&str, Option<&str>, String)]) -> String {
    let mut out = String::new();
    for (name, file, text) in parts {
        let file = file.map_or_else(String::new, |f| format!("; filename=\"{f}\"\r\nContent-Type: text/plain"));
        out += &format!("--XX\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{text}\r\n");
    }
    out + "--XX--\r\n"
}

const MULTIPART: (&str, &str) = ("content-type", "multipart/form-data; boundary=XX");

#[tokio::test]
async fn large_uploads_are_written_to_disk() {
    let service = files_service(RequestLimits { file_in_memory: 100, ..RequestLimits::default() });
    let body = multipart(&[
        ("a[x]", None, "1 & 2".to_owned()),
        ("a[y]", None, "é".to_owned()),
        ("up[0]", Some("../a.txt"), "s".repeat(100)),
        ("big", Some("b.txt"), "l".repeat(101)),
    ]);
    let res = send(&service, request("POST", "/a/v1/up", &[MULTIPART], body.clone())).await;
    assert_eq!(
        data(&res),
        json!({
            "files": [["up", "../a.txt", "text/plain", 100, false, "s"], ["big", "b.txt", "text/plain", 101, true, "l"]],
            "body": { "a": { "x": "1 & 2", "y": "é" } },
            "raw": 0,
        })
    );
    // As in PHP, only POST requests can have multipart bodies.
    let res = send(&service, request("PUT", "/a/v1/up", &[MULTIPART], body)).await;
    assert_eq!(data(&res)["files"], json!([]));
}

#[tokio::test]
async fn oversized_bodies_are_413_and_malformed_bodies_400() {
    let limits = RequestLimits {
        text_body: 50,
        body: 400,
        file_in_memory: 10,
        files: 2,
        fields: 2,
        values: 3,
        memory: 1 << 20,
        ..RequestLimits::default()
    };
    let service = files_service(limits);
    let file = |n: usize| vec![("f", Some("f"), String::new()); n];
    let field = |n: usize| vec![("f", None, String::new()); n];
    let json = ("content-type", "application/json");
    for (headers, body, want) in [
        (vec![json], format!("\"{}\"", "x".repeat(40)), 200),
        (vec![json], format!("\"{}\"", "x".repeat(50)), 413),
        (vec![], "x".repeat(400), 200),
        (vec![], "x".repeat(401), 413),
        (vec![MULTIPART], multipart(&file(2)), 200),
        (vec![MULTIPART], multipart(&file(3)), 413),
        (vec![MULTIPART], multipart(&field(2)), 200),
        (vec![MULTIPART], multipart(&field(3)), 413),
        (vec![MULTIPART], multipart(&[("f", None, "x".repeat(60))]), 413),
        (vec![MULTIPART], "--XX\r\nContent-Disposition: form-data; na".to_owned(), 400),
        (vec![json], "{".to_owned(), 400),
        (vec![json], "[1,[]]".to_owned(), 200),
        (vec![json], "[1,[2]]".to_owned(), 413),
    ] {
        let res = send(&service, request("POST", "/a/v1/up", &headers, body.clone())).await;
        assert_eq!(res.status(), want, "{headers:?} {body}");
        assert!(want == 200 || data(&res)["code"].is_string());
    }
}

#[tokio::test]
async fn truncated_body_is_400() {
    let chunks = vec![Ok(Bytes::from("{")), Err(std::io::Error::other("gone"))];
    let frames = futures_util::StreamExt::map(futures_util::stream::iter(chunks), |c| c.map(http_body::Frame::data));
    let body = http_body_util::StreamBody::new(frames);
    let req = HttpRequest::post("/demo/v1/required").header("content-type", "application/json").body(body).unwrap();
    let res = demo_service().oneshot(req).await.unwrap();
    assert_eq!(res.status(), 400);
}

#[tokio::test]
async fn layer_handles_api_requests_only() {
    let service = demo_service();
    let site = tower::service_fn(|req: HttpRequest<Full<Bytes>>| async move {
        Ok::<_, std::convert::Infallible>(Response::new(Full::new(Bytes::from(format!("page {}", req.uri().path())))))
    });
    let both = RestLayer::new(service).layer(site);
    for (uri, want) in [
        ("/svc-json/demo/v1/return/int", "42"),
        ("/index.php/svc-json/demo/v1/return/int/", "42"),
        ("/?rest_route=/demo/v1/return/int", "42"),
        ("/about/?rest_route=/demo/v1/return/int/", "42"),
        ("/?rest_route=", "page /"),
        ("/svc%2Djson/demo%2Fv1/return/int", "42"),
        ("/svc-jsonx", "page /svc-jsonx"),
        ("/about", "page /about"),
    ] {
        let res = both.clone().oneshot(request("GET", uri, &[], "")).await.unwrap();
        assert_eq!(res.into_body().collect().await.unwrap().to_bytes(), want, "{uri}");
    }
}

#[tokio::test]
async fn service_nests_in_a_router() {
    let app: axum::Router = axum::Router::new().nest_service("/svc-json", demo_service());
    for (uri, want) in [("/svc-json/demo/v1/return/int", 200), ("/svc-json/", 200), ("/svc-json", 200), ("/other", 404)]
    {
        let req = HttpRequest::get(uri).body(axum::body::Body::empty()).unwrap();
        assert_eq!(app.clone().oneshot(req).await.unwrap().status(), want, "{uri}");
    }
}

/// An axum app with the API at `/api`, and one route that links to itself, to an item and embeds it.
fn mounted_app(builder: svc_http::RestServiceBuilder) -> axum::Router {
    async fn list(req: Request) -> Result {
        let href = req.server().unwrap().rest_url("/acme/v1/items/1");
        Ok(ApiResponse::new(json!({})).link("item", Link::new(href).embeddable()))
    }
    async fn item(req: Request) -> Result {
        let href = req.server().unwrap().rest_url(req.route());
        Ok(ApiResponse::new(json!({"id": 1})).link("self", Link::new(href)))
    }
    let mut registry = Registry::new();
    for (path, route) in [
        ("/items", Route::new("/items").endpoint(reads(list, public).cacheable())),
        ("/items/1", Route::new(r"/items/(?P<id>\d+)").endpoint(reads(item, public))),
    ] {
        registry.route("acme/v1", route).unwrap_or_else(|_| panic!("{path}"));
    }
    // A replaced dispatcher must use the same URLs.
    struct Same(Arc<dyn svc_routing::Dispatch>);
    impl svc_routing::Dispatch for Same {
        fn dispatch(&self, req: Request) -> BoxFuture<ApiResponse> {
            self.0.dispatch(req)
        }
    }
    registry.hooks.server(10, |inner| Arc::new(Same(inner)));
    axum::Router::new().nest_service("/api", builder.build(registry.build()))
}

#[tokio::test]
async fn links_have_the_root_of_the_mounted_service() {
    let hosts = ["https://a.example", "http://b.example:8080/"];
    let cached = || RestService::builder().with_cache(LONG);
    // Rows: the service; the host of the request; the root of all URLs.
    for (service, host, root) in [
        (RestService::builder(), "c.example", "/svc-json/"),
        (RestService::builder().root_url("https://e.org/api"), "c.example", "https://e.org/api"),
        (RestService::builder().root_from_host("/api", hosts), "a.example", "https://a.example/api/"),
        (RestService::builder().root_from_host("api/", hosts), "B.example:8080", "http://b.example:8080/api/"),
        (RestService::builder().root_from_host("/api", hosts), "evil.example", "/api/"),
        (RestService::builder().root_from_any_host("/api", "https"), "c.example", "https://c.example/api/"),
        (RestService::builder().root_from_any_host("/api", "https"), "c.example/x", "/api/"),
        (cached().root_from_host("/api", hosts), "a.example", "https://a.example/api/"),
    ] {
        let app = mounted_app(service);
        let at = |path: &str| format!("{}{path}", root.trim_end_matches('/'));
        let get = async |method: &str, path: &str| {
            let req = HttpRequest::builder().method(method).uri(path).header("host", host);
            let res = app.clone().oneshot(req.body(axum::body::Body::empty()).unwrap()).await.unwrap();
            assert_eq!(res.status(), 200, "{host} {path}");
            let link = res.headers()["link"].to_str().unwrap().to_owned();
            let body = res.into_body().collect().await.unwrap().to_bytes();
            assert!(!body.windows(9).any(|w| w == b"localhost"), "{host} {path}");
            (link, serde_json::from_slice::<Value>(&body).unwrap())
        };
        let (link, list) = get("GET", "/api/acme/v1/items?_embed").await;
        assert_eq!(link, format!("<{}>; rel=\"https://api.w.org/\"", at("/")));
        assert_eq!(list["_links"]["item"][0]["href"], at("/acme/v1/items/1"), "{host}");
        assert_eq!(list["_embedded"]["item"][0]["_links"]["self"][0]["href"], at("/acme/v1/items/1"), "{host}");
        let (_, item) = get("GET", "/api/acme/v1/items/1").await;
        assert_eq!(item["_links"]["self"][0]["targetHints"]["allow"], json!(["GET"]), "{host}");
        let (_, described) = get("OPTIONS", "/api/acme/v1/items").await;
        assert_eq!(described["_links"]["self"][0]["href"], at("/acme/v1/items"), "{host}");
        let (_, index) = get("GET", "/api/").await;
        assert_eq!(index["routes"]["/acme/v1/items"]["_links"]["self"][0]["href"], at("/acme/v1/items"), "{host}");
        let (_, namespace) = get("GET", "/api/acme/v1").await;
        assert_eq!(namespace["_links"]["up"][0]["href"], at("/"), "{host}");
    }
}

#[tokio::test]
async fn cached_responses_are_per_host() {
    let mut registry = Registry::new();
    let handler = |req: Request| async move { Result::Ok(ApiResponse::new(req.server().unwrap().rest_url("/"))) };
    registry.route("acme/v1", Route::new("/root").endpoint(reads(handler, public).cacheable())).unwrap();
    let builder = RestService::builder().with_cache(LONG);
    let service = builder.root_from_host("/api", ["https://a.example", "https://b.example"]).build(registry.build());
    for (host, root) in [
        ("a.example", "https://a.example/api/"),
        ("b.example", "https://b.example/api/"),
        ("evil.example", "/api/"),
        ("a.example", "https://a.example/api/"),
    ] {
        assert_eq!(data(&get(&service, "/acme/v1/root", &[("host", host)]).await), root, "{host}");
    }
}

#[tokio::test]
async fn server_can_be_replaced() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let (old, new) = (Registry::new().build(), demo::registry("svc", ParamOrder::UrlFirst).build());
    let switched = Arc::new(AtomicBool::new(false));
    let switch = Arc::clone(&switched);
    let service = RestService::builder()
        .build_from(move || if switch.load(Ordering::Relaxed) { new.clone() } else { old.clone() });
    assert_eq!(get(&service, "/demo/v1/fields", &[]).await.status(), 404);
    switched.store(true, Ordering::Relaxed);
    assert_eq!(get(&service, "/demo/v1/fields", &[]).await.status(), 200);
}

fn method() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("GET".to_owned()),
        Just("POST".to_owned()),
        Just("PUT".to_owned()),
        Just("DELETE".to_owned()),
        Just("OPTIONS".to_owned()),
        Just("HEAD".to_owned()),
        "[A-Z!#$]{1,8}",
    ]
}

fn path() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "/",
        "/batch/v1",
        "/demo/v1",
        "/demo/v1/schema",
        "/demo/v1/validate",
        "/demo/v1/context",
        "/demo/v1/required",
        "/demo/v1/items/5",
        "/demo/v1/sources/abc",
        "/demo/v1/return/links",
        "/demo/v1/error/many",
        "/demo/v1/perm/one",
    ]);
    prop_oneof![3 => known.prop_map(str::to_owned), 1 => "/[ -~]{0,30}", 1 => "(/[a-z0-9%]{0,5}){0,60}"]
}

fn query() -> impl Strategy<Value = String> {
    let pair = prop_oneof![
        Just("_fields=a.b,,_links".to_owned()),
        Just("_embed".to_owned()),
        Just("_envelope".to_owned()),
        Just("_jsonp=f".to_owned()),
        Just("context[]=x".to_owned()),
        "_(method|jsonp|fields|embed|svcnonce)(\\[[a-z0-9]{0,2}\\]){0,2}=[ -~]{0,8}",
        "[a-z]{1,3}(\\[[a-z0-9]{0,2}\\]){0,70}=[ -~]{0,6}",
        "[ -~]{0,20}",
    ];
    prop::collection::vec(pair, 0..5).prop_map(|pairs| pairs.join("&"))
}

fn body() -> impl Strategy<Value = (String, Vec<u8>)> {
    let json = prop_oneof![
        Just(br#"{"requests":[{"path":"/demo/v1/batchable","body":{"n":1}},{"path":"/batch/v1"}]}"#.to_vec()),
        Just(br#"{"schema":{"type":["object","array"],"items":{"type":"integer"}},"value":[1,"x",{}]}"#.to_vec()),
        (1_usize..2000).prop_map(|n| [vec![b'['; n], vec![b']'; n]].concat()),
        "[\\[\\]{}:,\"a1\\\\u-]{0,60}".prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..60),
    ];
    let kind = prop::sample::select(vec![
        "application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=XX",
        "multipart/form-data",
        "text/plain",
        ";;/",
    ]);
    let part = "(--XX\r\n)?(Content-Disposition: form-data; name=\"[a-z\\[\\]]{0,4}\"(; filename=\"x\")?\r\n\r\n)?[ -~]{0,9}\r\n(--XX--)?";
    let bytes = prop_oneof![json, prop::collection::vec(part, 0..4).prop_map(|p| p.concat().into_bytes())];
    (kind.prop_map(str::to_owned), bytes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Every request gets a response, and neither a handler nor the service panics.
    #[test]
    fn any_request_gets_a_response(
        method in method(), path in path(), query in query(), (kind, bytes) in body(),
        name in "[a-zA-Z-]{1,12}", value in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        thread_local! {
            static SERVICE: RestService = demo_service();
            static RUNTIME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        }
        let mut headers = HeaderMap::new();
        for (name, value) in [("content-type", kind.as_bytes()), ("origin", &value[..]), (name.as_str(), &value[..])] {
            if let (Ok(name), Ok(value)) = (name.parse::<http::HeaderName>(), http::HeaderValue::from_bytes(value)) {
                headers.insert(name, value);
            }
        }
        let Ok(uri) = format!("{path}?{query}").replace(' ', "%20").parse::<http::Uri>() else { return Ok(()) };
        let Ok(method) = Method::from_bytes(method.as_bytes()) else { return Ok(()) };
        let mut req = HttpRequest::new(Full::new(Bytes::from(bytes)));
        *req.method_mut() = method;
        *req.uri_mut() = uri;
        *req.headers_mut() = headers;
        let service = SERVICE.with(Clone::clone);
        let res = RUNTIME.with(|rt| rt.block_on(send(&service, req)));
        let text = String::from_utf8_lossy(res.body()).into_owned();
        prop_assert!(!text.contains("rest_internal_error") && !text.contains("rest_encode_error"), "{text}");
    }
}

#[tokio::test]
async fn handlers_run_in_lanes() {
    let mut registry = Registry::new();
    let handler = |_: Request| async {
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        Result::Ok(ApiResponse::new(name))
    };
    let cost = |req: &Request| if req.has_param("search") { Cost::Heavy } else { Cost::Light };
    registry.route("acme/v1", Route::new("/thread").endpoint(reads(handler, public).cost(cost))).unwrap();
    let mistake = |_: Request| async { panic!("a mistake") };
    registry.route("acme/v1", Route::new("/mistake").endpoint(reads(mistake, public))).unwrap();
    let lanes = Arc::new(svc_http::Lanes::start().unwrap());
    let service = RestService::builder().runner(lanes).build(registry.build());
    assert_eq!(data(&get(&service, "/acme/v1/thread", &[]).await), "svc-light");
    assert_eq!(data(&get(&service, "/acme/v1/thread?search=a", &[]).await), "svc-heavy");
    assert_eq!(get(&service, "/acme/v1/mistake", &[]).await.status(), 500);
}

#[tokio::test]
async fn requests_beyond_the_capacity_are_refused() {
    struct NoCapacity;
    impl svc_http::Runner for NoCapacity {
        fn run(
            &self,
            _: Cost,
            _: svc_http::Work,
        ) -> std::pin::Pin<Box<dyn Future<Output = std::result::Result<(), svc_http::Overloaded>> + Send>> {
            Box::pin(std::future::ready(Err(svc_http::Overloaded)))
        }
    }
    let service = RestService::builder().runner(Arc::new(NoCapacity)).build(Registry::new().build());
    let res = get(&service, "/", &[]).await;
    assert_eq!(res.status(), 503);
    assert_eq!(data(&res)["code"], "rest_service_unavailable");
}

#[tokio::test]
async fn later_bodies_are_made_outside_of_the_lanes() {
    let n_made = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = Arc::clone(&n_made);
    let handler = move |req: Request| {
        let n_made = Arc::clone(&counted);
        async move {
            let body = LaterBody::new(async move {
                n_made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                match req.param("how").and_then(Value::as_str) {
                    Some("fails") => Err(Error::new("gone", "Gone.").with_status(410)),
                    Some("panics") => panic!("a mistake"),
                    _ => Ok(Bytes::from(std::thread::current().name().unwrap_or_default().to_owned()).into()),
                }
            });
            Result::Ok(
                ApiResponse::later("text/x-thread", body).header("ETag", "\"a\"").header("Cache-Control", "public"),
            )
        }
    };
    let mut registry = Registry::new();
    registry.route("acme/v1", Route::new("/later").endpoint(reads(handler, public).cacheable())).unwrap();
    let service = RestService::builder().runner(Arc::new(svc_http::Lanes::start().unwrap())).build(registry.build());
    let made = get(&service, "/acme/v1/later", &[]).await;
    assert_eq!((made.status().as_u16(), header(&made, "content-type")), (200, Some("text/x-thread")));
    assert!(!made.body().starts_with(b"svc-"), "{:?}", made.body());
    #[rustfmt::skip]
    let rows = [
        ("GET", "", "\"b\"", 200, 2), ("GET", "", "\"a\"", 304, 2), ("HEAD", "", "", 200, 3),
        ("GET", "?how=fails", "\"a\"", 304, 3), ("GET", "?how=fails", "", 410, 4), ("GET", "?how=panics", "", 500, 5),
    ];
    for (method, query, tag, status, n) in rows {
        let res =
            send(&service, request(method, &format!("/acme/v1/later{query}"), &[("if-none-match", tag)], "")).await;
        let row = format!("{method} {query} {tag}");
        assert_eq!((res.status().as_u16(), n_made.load(std::sync::atomic::Ordering::Relaxed)), (status, n), "{row}");
        let is_ready = status < 400;
        assert_eq!(
            (header(&res, "etag").is_some(), header(&res, "cache-control").is_some()),
            (is_ready, is_ready),
            "{row}"
        );
    }
    let failed = get(&service, "/acme/v1/later?how=fails", &[]).await;
    assert_eq!((data(&failed)["code"].clone(), header(&failed, "vary")), (json!("gone"), Some("Origin")));
}
