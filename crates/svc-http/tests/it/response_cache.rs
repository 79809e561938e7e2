//! The response cache of the service.

use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use svc_http::RestService;
use svc_routing::{
    ExtraField, Link, Registry, Request, Response as ApiResponse, Result, Route, Transport, get as reads, public,
};
use svc_versions::{Key, Versions};

use crate::service::{data, get, header, request, send};

/// Longer than any test runs.
pub(crate) const LONG: Duration = Duration::from_secs(3_600);

/// A response cache with versions of its own.
pub(crate) trait WithCache {
    fn with_cache(self, lifetime: Duration) -> Self;
}

impl WithCache for svc_http::RestServiceBuilder {
    fn with_cache(self, lifetime: Duration) -> Self {
        let versions = Arc::new(Versions::default());
        let current = Arc::clone(&versions);
        self.response_cache(lifetime, versions, move || ready(Some(current.stamp())))
    }
}

/// The data that a site's routes depend on.
#[derive(Default)]
struct Data {
    versions: Arc<Versions>,
    /// Whether nothing is known of changes.
    is_unknown: AtomicBool,
}

/// A site whose routes return a request counter, and the data that they depend on: the key "data".
fn counting_service(lifetime: Duration, change: impl FnOnce(&mut Registry)) -> (RestService, Arc<Data>) {
    let state = Arc::<Data>::default();
    let mut registry = Registry::new();
    for (path, cacheable) in [("/cached", true), ("/uncached", false)] {
        let count = Arc::new(AtomicUsize::new(0));
        let handler = move |req: Request| {
            let n = count.fetch_add(1, Ordering::Relaxed);
            async move {
                req.cx().depends_on(Key::of(&"data"));
                let mut res = ApiResponse::new(json!({ "n": n }));
                for target in ["cached", "uncached"] {
                    let href = req.server().unwrap().rest_url(&format!("/acme/v1/{target}"));
                    res.links.add(target, Link::new(href).embeddable());
                }
                Result::Ok(res)
            }
        };
        let endpoint = reads(handler, public);
        let endpoint = if cacheable { endpoint.cacheable() } else { endpoint };
        registry.route("acme/v1", Route::new(path).endpoint(endpoint)).unwrap();
    }
    change(&mut registry);
    let (versions, current) = (Arc::clone(&state.versions), Arc::clone(&state));
    let builder = RestService::builder().response_cache(lifetime, versions, move || {
        ready((!current.is_unknown.load(Ordering::Relaxed)).then(|| current.versions.stamp()))
    });
    let service = builder.build(registry.build());
    (service, state)
}

/// A handler sees how the client reached the site, and no response is cached for another transport.
#[tokio::test]
async fn requests_have_a_transport_of_their_own() {
    let handler = |req: Request| async move {
        let sub = req.sub_request(svc_routing::Method::GET, "/");
        let in_process = Request::get("/").with_cx(req.cx().clone());
        Result::Ok(ApiResponse::new(json!([req.is_over_tls(), sub.is_over_tls(), in_process.is_secure_origin()])))
    };
    let (service, _) = counting_service(LONG, |registry| {
        let route = Route::new("/transport").endpoint(reads(handler, public).cacheable());
        registry.route("acme/v1", route).unwrap();
    });
    for _ in 0..2 {
        for (host, extension, expected) in [
            ("example.org", None, json!([false, false, false])),
            ("example.org", Some(Transport::Tls), json!([true, true, true])),
            ("blog.localhost:8080", None, json!([false, false, true])),
        ] {
            let mut request = request("GET", "/acme/v1/transport", &[("host", host)], "");
            if let Some(extension) = extension {
                request.extensions_mut().insert(extension);
            }
            assert_eq!(data(&send(&service, request).await), expected, "{host} {extension:?}");
        }
    }
    assert_eq!(service.cache_usage().hits, 3);
}

#[tokio::test]
async fn requests_are_counted_by_route_also_if_they_are_cached() {
    let (service, _) = counting_service(LONG, |_| ());
    for (method, uri) in [
        ("GET", "/acme/v1/cached"),
        ("GET", "/acme/v1/cached?a=1"),
        ("GET", "/acme/v1/cached"),
        ("HEAD", "/acme/v1/cached"),
        ("POST", "/acme/v1/cached"),
        ("OPTIONS", "/acme/v1/cached"),
        ("BREW", "/acme/v1/cached"),
        ("GET", "/acme/v1/uncached"),
        ("GET", "/acme/v1/missing"),
    ] {
        send(&service, request(method, uri, &[], "")).await;
    }
    assert_eq!(service.cache_usage().hits, 2);
    let report = service.server(Transport::Plain).site().requests.report();
    let rows = report
        .into_iter()
        .flat_map(|of| of.methods.into_iter().map(move |by| format!("{} {} {:?}", of.route, by.method, by.statuses)));
    let expected = [
        r#"/acme/v1/cached GET [("2xx", 3)]"#,
        r#"/acme/v1/cached HEAD [("2xx", 1)]"#,
        r#"/acme/v1/cached POST [("4xx", 1)]"#,
        r#"/acme/v1/cached OPTIONS [("2xx", 1)]"#,
        r#"/acme/v1/cached other [("4xx", 1)]"#,
        r#"/acme/v1/uncached GET [("2xx", 1)]"#,
        r#"other GET [("4xx", 1)]"#,
    ];
    assert_eq!(rows.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn denied_responses_carry_their_code() {
    let (service, _) = counting_service(LONG, |registry| {
        let denied =
            |_: Request| async move { Err::<(), _>(svc_routing::Error::new("acme_denied", "No.").with_status(403)) };
        let route = Route::new("/denied").endpoint(reads(|_: Request, ()| async { Ok(ApiResponse::new(1)) }, denied));
        registry.route("acme/v1", route).unwrap();
    });
    let code = async |uri: &str| {
        let response = get(&service, uri, &[]).await;
        response.extensions().get::<svc_http::DenialCode>().map(|code| code.0.clone())
    };
    assert_eq!(code("/acme/v1/denied").await.as_deref(), Some("acme_denied"));
    assert_eq!(code("/acme/v1/missing").await, None);
    assert_eq!(code("/acme/v1/cached").await, None);
}

#[tokio::test]
async fn responses_are_cached_until_their_data_changes() {
    let (service, state) = counting_service(LONG, |_| ());
    let n = async |uri: &str, headers: &[(&str, &str)]| data(&get(&service, uri, headers).await)["n"].as_u64().unwrap();
    let first = get(&service, "/acme/v1/cached", &[]).await;
    let again = get(&service, "/acme/v1/cached", &[]).await;
    assert_eq!((first.headers(), first.body()), (again.headers(), again.body()));
    assert_eq!(n("/acme/v1/cached", &[]).await, 0);
    assert_eq!(n("/acme/v1/cached?a=1", &[]).await, 1, "another URL");
    let cross_origin = get(&service, "/acme/v1/cached", &[("origin", "http://e.com")]).await;
    assert_eq!(header(&cross_origin, "access-control-allow-origin"), Some("http://e.com"));
    assert_eq!(data(&cross_origin)["n"], 0, "CORS headers are added to cached responses");

    state.versions.change([Key::of(&"other data")]).end();
    assert_eq!(n("/acme/v1/cached", &[]).await, 0, "other data has changed");
    state.versions.change([Key::of(&"data")]).end();
    assert_eq!(n("/acme/v1/cached", &[]).await, 2, "the data has changed");
    assert_eq!(n("/acme/v1/cached", &[]).await, 2);
    let mut at = 3;
    for header in [("authorization", "Basic x"), ("authorization", "Basic y"), ("cookie", "a=b"), ("x-svc-nonce", "x")]
    {
        for _ in 0..2 {
            assert_eq!(n("/acme/v1/cached", &[header]).await, at, "{header:?}");
        }
        let with_id = n("/acme/v1/cached", &[header, ("x-request-id", "1")]).await;
        assert_eq!(with_id, at, "request ids do not matter");
        let conditional = n("/acme/v1/cached", &[header, ("if-none-match", "\"other\"")]).await;
        assert_eq!(conditional, at, "conditions do not matter");
        assert_eq!(
            n("/acme/v1/cached", &[header, ("x-any", "1")]).await,
            at + 1,
            "with credentials, all other headers matter"
        );
        at += 2;
    }
    for _ in 0..2 {
        assert_eq!(n("/acme/v1/cached", &[("x-http-method-override", "GET")]).await, at, "a method override");
        at += 1;
    }
    for _ in 0..2 {
        let res = send(&service, request("GET", "/acme/v1/cached", &[], "a body")).await;
        assert_eq!(data(&res)["n"], at, "a request with a body");
        at += 1;
    }
    for _ in 0..2 {
        let head = send(&service, request("HEAD", "/acme/v1/cached", &[], "")).await;
        // The cached response to GET.
        assert!(head.body().is_empty() && head.headers().contains_key("etag"));
        let res = send(&service, request("GET", "/acme/v1/cached?_method=OPTIONS", &[], "")).await;
        assert_eq!(data(&res)["methods"], json!(["GET"]));
    }
    state.is_unknown.store(true, Ordering::Relaxed);
    assert_eq!(n("/acme/v1/cached", &[]).await, at, "nothing is known of changes");
    assert_eq!(n("/acme/v1/cached", &[]).await, at + 1);
}

#[tokio::test]
async fn descriptions_are_cached_until_permissions_change() {
    let versions = Arc::new(Versions::default());
    let n_checks = Arc::new(AtomicUsize::new(0));
    let mut registry = Registry::new();
    for (path, is_cacheable) in [("/cached", true), ("/uncached", false)] {
        let n_checks = Arc::clone(&n_checks);
        let permission = move |req: Request| {
            n_checks.fetch_add(1, Ordering::Relaxed);
            req.cx().depends_on(Key::of(&"rights"));
            async { Result::Ok(()) }
        };
        let endpoint = reads(async |_: Request| Result::Ok(ApiResponse::new(1)), permission);
        let endpoint = if is_cacheable { endpoint.cacheable() } else { endpoint };
        registry.route("acme/v1", Route::new(path).endpoint(endpoint)).unwrap();
    }
    let current = Arc::clone(&versions);
    let builder =
        RestService::builder().response_cache(LONG, Arc::clone(&versions), move || ready(Some(current.stamp())));
    let service = builder.build(registry.build());
    let options = async |path: &str, headers: &[(&str, &str)]| {
        let before = n_checks.load(Ordering::Relaxed);
        let res = send(&service, request("OPTIONS", path, headers, "")).await;
        assert_eq!((res.status().as_u16(), header(&res, "allow")), (200, Some("GET")), "{path}");
        assert_eq!(data(&res)["methods"], json!(["GET"]), "{path}");
        n_checks.load(Ordering::Relaxed) - before
    };
    let preflight = [("origin", "http://e.com"), ("access-control-request-headers", "if-match")];
    for (path, headers, expected) in [
        ("/acme/v1/cached", &[][..], 1),
        ("/acme/v1/cached", &[], 0),
        ("/acme/v1/cached", &[("authorization", "Basic x")], 1),
        ("/acme/v1/cached", &preflight, 1),
        ("/acme/v1/cached", &preflight, 1),
        ("/acme/v1/uncached", &[], 1),
        ("/acme/v1/uncached", &[], 1),
    ] {
        assert_eq!(options(path, headers).await, expected, "{path} {headers:?}");
    }
    assert_eq!(data(&get(&service, "/acme/v1/cached", &[]).await), 1, "not the description");
    versions.change([Key::of(&"rights")]).end();
    assert_eq!(options("/acme/v1/cached", &[]).await, 1, "permissions have changed");
}

#[tokio::test]
async fn uncacheable_responses_are_regenerated() {
    let n = async |service: &RestService, uri: &str| {
        let res = get(service, uri, &[]).await;
        let body = data(&res);
        (body["n"].as_u64(), body["_embedded"]["uncached"][0]["n"].as_u64())
    };
    let (service, _) = counting_service(LONG, |_| ());
    for expected in 0..2 {
        assert_eq!(n(&service, "/acme/v1/uncached").await.0, Some(expected));
    }
    for expected in 0..2 {
        assert_eq!(
            n(&service, "/acme/v1/cached?_embed=uncached").await,
            (Some(expected), Some(expected + 2)),
            "embedded"
        );
    }
    for _ in 0..2 {
        assert_eq!(n(&service, "/acme/v1/cached?_embed=cached").await.0, Some(2));
        assert_eq!(get(&service, "/acme/v1/nothing", &[]).await.status(), 404);
    }
    let filters: [fn(&mut Registry); 3] = [
        |registry| _ = registry.hooks.post_dispatch(10, |res, _| res),
        |registry| _ = registry.hooks.pre_serve(10, |_, _| None),
        |registry| {
            let field = ExtraField::without_schema().get(|_, _| async { Ok(Value::Null) });
            registry.field(&["thing"], "extra", field);
        },
    ];
    for filter in filters {
        let (service, _) = counting_service(LONG, filter);
        for expected in 0..2 {
            assert_eq!(n(&service, "/acme/v1/cached").await.0, Some(expected));
        }
    }
}

#[tokio::test]
async fn cached_responses_expire() {
    let (service, _) = counting_service(Duration::ZERO, |_| ());
    for expected in 0..3 {
        assert_eq!(data(&get(&service, "/acme/v1/cached", &[]).await)["n"], expected);
    }
}

#[tokio::test]
async fn simultaneous_requests_for_one_response_generate_it_once() {
    // Rows: the path; number of responses that 50 simultaneous requests generate.
    for (path, generated) in [("/acme/v1/cacheable", 1), ("/acme/v1/other", 50)] {
        let n_calls = Arc::new(AtomicI64::new(0));
        let (release, _) = tokio::sync::watch::channel(false);
        let mut registry = Registry::new();
        for (path, is_cacheable) in [("/cacheable", true), ("/other", false)] {
            let (n_calls, released) = (Arc::clone(&n_calls), release.subscribe());
            let handler = move |_: Request| {
                let (n, mut released) = (n_calls.fetch_add(1, Ordering::Relaxed), released.clone());
                async move {
                    released.wait_for(|released| *released).await.unwrap();
                    Result::Ok(ApiResponse::new(n))
                }
            };
            let endpoint = reads(handler, public);
            let endpoint = if is_cacheable { endpoint.cacheable() } else { endpoint };
            registry.route("acme/v1", Route::new(path).endpoint(endpoint)).unwrap();
        }
        let service = RestService::builder().with_cache(LONG).build(registry.build());
        let requests: Vec<_> = (0..50)
            .map(|_| {
                let service = service.clone();
                tokio::spawn(async move { get(&service, path, &[]).await.status() })
            })
            .collect();
        tokio::task::yield_now().await;
        release.send_replace(true);
        for request in requests {
            assert_eq!(request.await.unwrap(), 200, "{path}");
        }
        assert_eq!(n_calls.load(Ordering::Relaxed), generated, "{path}");
    }
}

#[tokio::test]
async fn another_request_takes_over_from_a_cancelled_one() {
    let n_calls = Arc::new(AtomicI64::new(0));
    let (release, released) = tokio::sync::watch::channel(false);
    let mut registry = Registry::new();
    let calls = Arc::clone(&n_calls);
    let handler = move |_: Request| {
        let (n, mut released) = (calls.fetch_add(1, Ordering::Relaxed), released.clone());
        async move {
            released.wait_for(|released| *released).await.unwrap();
            Result::Ok(ApiResponse::new(n))
        }
    };
    registry.route("acme/v1", Route::new("/slow").endpoint(reads(handler, public).cacheable())).unwrap();
    let service = RestService::builder().with_cache(LONG).build(registry.build());
    let spawn = || {
        let service = service.clone();
        tokio::spawn(async move { get(&service, "/acme/v1/slow", &[]).await.status() })
    };
    let first = spawn();
    tokio::task::yield_now().await;
    let others: Vec<_> = (0..50).map(|_| spawn()).collect();
    tokio::task::yield_now().await;
    assert_eq!(n_calls.load(Ordering::Relaxed), 1);
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    tokio::task::yield_now().await;
    release.send_replace(true);
    for other in others {
        assert_eq!(other.await.unwrap(), 200);
    }
    assert_eq!(n_calls.load(Ordering::Relaxed), 2);
}
