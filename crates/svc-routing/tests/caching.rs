//! Which responses may be cached, and the data that the server caches itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::Method;
use serde_json::{Map, Value, json};
use svc_brand::Brand;
use svc_routing::{
    CallerKey, DependsOn, Encoded, EncodedItem, ExtraField, Link, Links, Registry, Request, Response, Result, Route,
    Served, SiteInfo, get, on, public,
};
use svc_schema::Error;
use svc_versions::{Key, Versions};

async fn ok(_: Request) -> Result {
    Ok(Response::new(json!({"a": 1, "b": 2})))
}

async fn gone(_: Request) -> Result {
    Err(Error::new("gone", "Gone.").with_status(410))
}

async fn linked(req: Request) -> Result {
    let server = req.server().expect("dispatched");
    let mut res = ok(req).await?;
    res.links.add("cached", Link::new(server.rest_url("/a/v1/cached")).embeddable());
    res.links.add("plain", Link::new(server.rest_url("/a/v1/plain")).embeddable());
    Ok(res)
}

fn registry(site: SiteInfo) -> Registry {
    let mut registry = Registry::for_site(site);
    let routes = [
        Route::new("/cached").endpoint(get(ok, public).cacheable()).endpoint(on("POST", ok, public).cacheable()),
        Route::new("/plain").endpoint(get(ok, public)).endpoint(on("POST", ok, public).cacheable()),
        Route::new("/gone").endpoint(get(gone, public).cacheable()),
        Route::new("/linked").endpoint(get(linked, public).cacheable()),
    ];
    for route in routes {
        registry.route("a/v1", route).expect("the route is valid");
    }
    registry
}

async fn serve(registry: Registry, method: Method, url: &str) -> Served {
    let (route, query) = url.split_once('?').unwrap_or((url, ""));
    registry.build().serve(Request::new(method, route).with_query_string(query)).await
}

#[tokio::test]
async fn reads_of_cacheable_endpoints_may_be_cached() {
    for (method, url, expected) in [
        (Method::GET, "/a/v1/cached", true),
        (Method::HEAD, "/a/v1/cached", false),
        (Method::POST, "/a/v1/cached", false),
        (Method::GET, "/a/v1/plain", false),
        (Method::GET, "/a/v1/gone", false),
        (Method::GET, "/a/v1/nosuch", false),
        (Method::GET, "/a/v1/cached?_envelope", true),
        (Method::GET, "/a/v1/gone?_envelope", false),
        (Method::GET, "/a/v1/nosuch?_envelope", false),
        (Method::OPTIONS, "/a/v1/cached", true),
        (Method::OPTIONS, "/a/v1/plain", false),
        (Method::OPTIONS, "/a/v1/nosuch", false),
        (Method::GET, "/a/v1/linked", true),
        (Method::GET, "/a/v1/linked?_embed=cached", true),
        (Method::GET, "/a/v1/linked?_embed=plain", false),
        (Method::GET, "/a/v1/linked?_embed=nosuch", true),
    ] {
        let served = serve(registry(SiteInfo::default()), method.clone(), url).await;
        assert_eq!(served.cacheable, expected, "{method} {url}");
    }
}

#[tokio::test]
async fn extensions_with_unknown_dependencies_prevent_caching() {
    type Extend = fn(&mut Registry, DependsOn);
    let extensions: [(&str, Extend); 6] = [
        ("pre_dispatch", |r, on| r.hooks.pre_dispatch(10, |_| Box::pin(std::future::ready(None))).depends_on(on)),
        ("post_dispatch", |r, on| r.hooks.post_dispatch(10, |res, _| res).depends_on(on)),
        ("pre_serve", |r, on| r.hooks.pre_serve(10, |_, _| None).depends_on(on)),
        ("index", |r, on| r.hooks.index(10, |res, _| std::future::ready(res)).depends_on(on)),
        ("server", |r, on| r.hooks.server(10, |inner| inner).depends_on(on)),
        ("field", |r, on| {
            let one = |_, _| std::future::ready(Ok(Value::from(1)));
            r.field(&["x"], "f", ExtraField::without_schema().get(one).depends_on(on));
        }),
    ];
    for (name, extend) in extensions {
        for (inputs, expected) in [(DependsOn::Nothing, true), (DependsOn::Object, true), (DependsOn::Unknown, false)] {
            let mut registry = registry(SiteInfo::default());
            extend(&mut registry, inputs);
            let undeclared = usize::from(!expected);
            let served = serve(registry, Method::GET, "/a/v1/cached").await;
            assert_eq!(served.cacheable, expected, "{name} {inputs:?}");
            let mut registry = self::registry(SiteInfo::default());
            extend(&mut registry, inputs);
            assert_eq!(registry.build().undeclared().len(), undeclared, "{name} {inputs:?}");
        }
    }
    let mut debug = SiteInfo::default();
    debug.debug = true;
    assert!(!serve(registry(debug), Method::GET, "/a/v1/cached").await.cacheable);
}

#[tokio::test]
async fn hooks_that_look_at_data_get_values() {
    async fn encoded(req: Request) -> Result {
        let item = EncodedItem::new(&json!({"a": 1}));
        Ok(if req.takes_encoded() { Response::encoded(Encoded::Item(item)) } else { Response::new(json!({"a": 1})) })
    }
    // Rows: the declared dependency of a hook, the query, and whether the handler may return encoded data.
    for (inputs, query, expected) in [
        (None, "", true),
        (Some(DependsOn::Nothing), "", true),
        (Some(DependsOn::Object), "", false),
        (None, "_envelope", false),
    ] {
        for kind in ["post_dispatch", "pre_serve", "server"] {
            let mut registry = Registry::new();
            if let Some(inputs) = inputs {
                match kind {
                    "post_dispatch" => registry.hooks.post_dispatch(10, |res, _| res),
                    "pre_serve" => registry.hooks.pre_serve(10, |_, _| None),
                    _ => registry.hooks.server(10, |inner| inner),
                }
                .depends_on(inputs);
            }
            let taken = Arc::new(AtomicUsize::new(0));
            let counter = Arc::clone(&taken);
            let handler = move |req: Request| {
                counter.fetch_add(usize::from(req.takes_encoded()), Ordering::Relaxed);
                encoded(req)
            };
            registry.route("a/v1", Route::new("/x").endpoint(get(handler, public))).unwrap();
            let served = serve(registry, Method::GET, &format!("/a/v1/x?{query}")).await;
            let body = served.body.into_value();
            let data = if query.is_empty() { &body } else { &body["body"] };
            assert_eq!(data, &json!({"a": 1}), "{kind} {inputs:?} {query}");
            assert_eq!(taken.load(Ordering::Relaxed), usize::from(expected), "{kind} {inputs:?} {query}");
        }
    }
}

/// What the index depends on.
const TITLE: &str = "title";

#[tokio::test]
async fn observed_data_is_cached_until_it_changes() {
    let versions = Arc::new(Versions::default());
    let reads = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&reads);
    let stamps = Arc::clone(&versions);
    let site = SiteInfo::new(Brand::default(), "https://e.org/svc-json/")
        .index_fields(move |req| {
            req.cx().depends_on(Key::of(&TITLE));
            let n = counter.fetch_add(1, Ordering::Relaxed) + 1;
            Box::pin(std::future::ready(Map::from_iter([("name".to_owned(), n.into())])))
        })
        .observed_by(Arc::clone(&versions), move |_| Some(stamps.stamp()));
    // The name of the site is the number of reads.
    let server = registry(site).build();
    let serve = async |req: Request, query: &str| {
        server.serve(req.with_query_string(query)).await.body.into_value()["name"].clone()
    };
    let anonymous = || Request::get("/");
    let user = |id: u64| Request::get("/").with_authenticated(true).with_extension(CallerKey::of(&id));
    assert_eq!(serve(anonymous(), "").await, 1);
    assert_eq!(serve(anonymous(), "").await, 1, "the index is cached");
    assert_eq!(serve(anonymous(), "context=help").await, 2, "another context has its own index");
    assert_eq!(serve(anonymous(), "_fields=name").await, 3, "a part of the index is not cached");
    assert_eq!(serve(Request::get("/").with_authenticated(true), "").await, 4, "an unknown caller has no cached data");
    assert_eq!(serve(user(1), "").await, 5);
    assert_eq!(serve(user(2), "").await, 6, "another caller has its own index");
    assert_eq!(serve(user(1), "").await, 5);
    versions.change([Key::of(&"other")]).end();
    assert_eq!(serve(anonymous(), "").await, 1, "another change does not matter");
    versions.change([Key::of(&TITLE)]).end();
    assert_eq!(serve(anonymous(), "").await, 7);
}

#[tokio::test]
async fn nothing_is_cached_without_a_stamp() {
    let reads = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&reads);
    let site = SiteInfo::default()
        .index_fields(move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
            Box::pin(std::future::ready(Map::new()))
        })
        .observed_by(Arc::new(Versions::default()), |_| None);
    let server = registry(site).build();
    for _ in 0..2 {
        server.serve(Request::get("/")).await;
    }
    assert_eq!(reads.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn embedded_targets_of_values_and_of_encoded_items_are_equal() {
    /// Two items; the second has no links that can be embedded.
    fn items(server: &svc_routing::Server) -> Vec<Value> {
        let mut links = Links::new();
        links.add("one", Link::new(server.rest_url("/a/v1/cached")).embeddable());
        links.add("one", Link::new("https://elsewhere.example/").embeddable());
        links.add("more", Link::new(server.rest_url("/a/v1/plain")).embeddable());
        links.add("empty", Link::new("https://elsewhere.example/").embeddable());
        let links = links.to_value(server.curies());
        vec![json!({"id": 1, "_links": links}), json!({"id": 2})]
    }
    let list = |req: Request| {
        let items = items(&req.server().expect("dispatched"));
        let encoded = req.has_param("encoded");
        std::future::ready(Ok(if encoded {
            Response::encoded(Encoded::List(items.iter().map(EncodedItem::new).collect()))
        } else {
            Response::new(items)
        }))
    };
    let mut registry = registry(SiteInfo::default());
    registry.route("a/v1", Route::new("/list").endpoint(get(list, public))).unwrap();
    let server = registry.build();
    for embed in ["", "_embed", "_embed=one", "_embed=more,one", "_embed=empty", "_embed=nosuch"] {
        let get = async |query: &str| {
            let query = format!("{embed}&{query}");
            server.serve(Request::get("/a/v1/list").with_query_string(&query)).await.body.into_value()
        };
        let value = get("").await;
        assert_eq!(get("encoded").await, value, "{embed}");
        let embedded: Vec<&str> =
            value[0]["_embedded"].as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect();
        let expected: &[&str] = match embed {
            "_embed" | "_embed=more,one" => &["one", "more"],
            "_embed=one" => &["one"],
            _ => &[],
        };
        assert_eq!((embedded.as_slice(), value[1].get("_embedded")), (expected, None), "{embed}");
    }
}

/// A site whose changes are observed.
fn observed() -> SiteInfo {
    let versions = Arc::new(Versions::default());
    let stamps = Arc::clone(&versions);
    SiteInfo::default().observed_by(versions, move |_| Some(stamps.stamp()))
}

#[tokio::test]
async fn embedded_targets_are_cached_if_they_succeed_and_may_be() {
    type Show = fn(Request) -> std::future::Ready<Result>;
    let ok: Show = |_| std::future::ready(Ok(Response::new(json!({"a": 1}))));
    let broken: Show = |_| std::future::ready(Err(Error::new("broken", "Broken.").with_status(500)));
    let missing: Show = |_| std::future::ready(Err(Error::new("missing", "Missing.").with_status(404)));
    let of_session: Show = |req| {
        req.cx().depends_on_request();
        std::future::ready(Ok(Response::new(json!({"a": 1}))))
    };
    let user = || Request::get("/a/v1/from").with_authenticated(true).with_extension(CallerKey::of(&1));
    // Rows: the target, whether its endpoint is cacheable, the request, and how often two responses read the target.
    for (show, is_cacheable, req, reads) in [
        (ok, true, Request::get("/a/v1/from"), 1),
        (ok, false, Request::get("/a/v1/from"), 2),
        (broken, true, Request::get("/a/v1/from"), 2),
        (missing, true, Request::get("/a/v1/from"), 1),
        // What depends on the request as a whole is only shared by anonymous callers.
        (of_session, true, Request::get("/a/v1/from"), 1),
        (of_session, true, user(), 2),
        (ok, true, user(), 1),
    ] {
        let count = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&count);
        let target = move |req: Request| {
            counter.fetch_add(1, Ordering::Relaxed);
            show(req)
        };
        let from = |req: Request| {
            let link = Link::new(req.server().expect("dispatched").rest_url("/a/v1/to")).embeddable();
            std::future::ready(Ok(Response::new(json!({})).link("to", link)))
        };
        let to = get(target, public);
        let mut registry = Registry::for_site(observed());
        registry.route("a/v1", Route::new("/from").endpoint(get(from, public).cacheable())).unwrap();
        registry.route("a/v1", Route::new("/to").endpoint(if is_cacheable { to.cacheable() } else { to })).unwrap();
        let server = registry.build();
        let may_fail = server.dispatch(Request::get("/a/v1/to")).await.status.is_server_error();
        count.store(0, Ordering::Relaxed);
        for _ in 0..2 {
            let served = server.serve(req.clone().with_query_string("_embed")).await;
            assert_eq!(
                served.cacheable,
                is_cacheable && !may_fail,
                "a response with an error of the server is not kept"
            );
        }
        assert_eq!(count.load(Ordering::Relaxed), reads, "{is_cacheable} {:?}", req.caller_key());
    }
}

#[tokio::test]
async fn a_large_index_is_cached() {
    let reads = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&reads);
    let site = observed().index_fields(move |_| {
        counter.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(Map::from_iter([("name".to_owned(), "x".repeat(300_000).into())])))
    });
    let server = registry(site).build();
    for _ in 0..2 {
        server.serve(Request::get("/")).await;
    }
    assert_eq!(reads.load(Ordering::Relaxed), 1);
}
