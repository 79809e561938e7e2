//! Final responses: bodies, links with the methods that they allow, and embedded targets.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::Method;
use serde_json::{Value, json};
use svc_routing::{
    Body, Cost, Curie, DependsOn, Encoded, EncodedItem, Link, Registry, Request, Response, Result, Route, Server,
    SiteInfo, forbidden, get, on, public,
};
use svc_schema::Args;
use svc_schema::build::{integer, string, untyped};

async fn ok(_: Request) -> Result {
    Ok(Response::new(json!({"a": 1})))
}

fn server_of(routes: impl IntoIterator<Item = Route>) -> Server {
    let mut registry = Registry::new();
    for route in routes {
        registry.route("a/v1", route).expect("the route is valid");
    }
    registry.build()
}

#[tokio::test]
async fn bodies_of_responses_that_are_not_json() {
    async fn file(_: Request) -> Result {
        Ok(Response::raw("text/plain", "abc").status(201).header("X-A", 1))
    }
    async fn nothing(_: Request) -> Result {
        Ok(Response::new("left out").status(204).header("X-A", 1))
    }
    let server = server_of([
        Route::new("/file").endpoint(get(file, public)),
        Route::new("/nothing").endpoint(get(nothing, public)),
    ]);
    let served = server.serve(Request::get("/a/v1/file")).await;
    let Body::Raw(raw) = &served.body else { panic!("no raw body: {:?}", served.body) };
    assert_eq!((raw.content_type.as_str(), &raw.bytes[..]), ("text/plain", &b"abc"[..]));
    assert_eq!((served.status.as_u16(), served.headers.get("X-A")), (201, Some("1")));
    let head = server.serve(Request::new(Method::HEAD, "/a/v1/file")).await;
    assert_eq!((head.status.as_u16(), head.headers.get("Content-Type")), (201, Some("text/plain")));
    let served = server.serve(Request::get("/a/v1/nothing")).await;
    assert_eq!((served.status.as_u16(), served.body, served.headers.get("X-A")), (204, Body::Empty, Some("1")));
    assert_eq!(server.serve(Request::new(Method::HEAD, "/a/v1/nosuch")).await.status, 404);
}

#[tokio::test]
async fn links_of_lists_are_omitted_unless_they_are_empty() {
    async fn list(req: Request) -> Result {
        let items: Vec<u64> = (0..req.require("n")?).collect();
        Ok(Response::new(items).link("https://api.w.org/made", Link::new("x")))
    }
    let server = server_of([Route::new("/list").endpoint(get(list, public).args(Args::new().with("n", integer())))]);
    let curie = Curie { name: "svc".to_owned(), href: "https://api.w.org/{rel}".to_owned() };
    assert_eq!(server.curies(), [curie]);
    let get = async |n: &str| server.serve(Request::get("/a/v1/list").with_query_string(n)).await.body.into_value();
    assert_eq!(get("n=2").await, json!([0, 1]));
    let links = get("n=0").await["_links"].take();
    assert_eq!(links["svc:made"], json!([{"href": "x"}]));
    assert_eq!(links["curies"][0]["name"], "svc");
}

/// A route whose `GET` needs another context than `edit`, with a link to itself and counted permissions.
fn with_self_link(href: &'static str, permissions: &Arc<AtomicUsize>) -> Route {
    let counter = Arc::clone(permissions);
    let may_read = move |req: Request| {
        counter.fetch_add(1, Ordering::Relaxed);
        std::future::ready(if req.context() == "edit" { Err(forbidden(&req, "no", "No.")) } else { Ok(()) })
    };
    let show = move |req: Request| {
        let server = req.server().expect("dispatched");
        let res = Response::new(json!({"a": 1})).link("self", Link::new(server.rest_url(href)));
        std::future::ready(Ok(if *req.method() == Method::POST { res.in_context("edit") } else { res }))
    };
    let args = Args::new().with("context", string());
    Route::new("/x")
        .endpoint(get(show, may_read).args(args.clone()))
        .endpoint(on(Method::POST, show, public).args(args))
}

#[tokio::test]
async fn hints_of_the_requested_route_are_its_allowed_methods() {
    let other = || Route::new("/other").endpoint(on(Method::DELETE, ok, public)).endpoint(get(ok, public));
    // Rows: method, target of the `self` link, methods of `Allow`, of the hint, and calls of the permission to read.
    for (method, href, allow, hint, n_permissions) in [
        (Method::GET, "/a/v1/x", "GET, POST", json!(["GET", "POST"]), 1),
        (Method::GET, "/a/v1/x?context=edit", "GET, POST", json!(["POST"]), 2),
        (Method::GET, "/a/v1/other", "GET, POST", json!(["DELETE", "GET"]), 1),
        (Method::POST, "/a/v1/x", "POST", json!(["GET", "POST"]), 2),
    ] {
        let permissions = Arc::default();
        let server = server_of([with_self_link(href, &permissions), other()]);
        let served = server.serve(Request::new(method.clone(), "/a/v1/x")).await;
        assert_eq!(served.headers.get("Allow"), Some(allow), "{method} {href}");
        assert_eq!(served.body.into_value()["_links"]["self"][0]["targetHints"]["allow"], hint, "{method} {href}");
        assert_eq!(permissions.load(Ordering::Relaxed), n_permissions, "{method} {href}");
    }
}

/// A route with embeddable links of the relation `to`.
fn linking(hrefs: Vec<String>) -> Route {
    let show = move |req: Request| {
        let server = req.server().expect("dispatched");
        let link = |href: &String| Link::new(server.rest_url(href)).embeddable();
        let res = hrefs.iter().fold(Response::new(json!({})), |res, href| res.link("to", link(href)));
        std::future::ready(Ok(res))
    };
    Route::new("/from").endpoint(get(show, public))
}

async fn embedded(server: &Server) -> Value {
    let req = Request::get("/a/v1/from").with_query_string("_embed");
    server.serve(req).await.body.into_value()["_embedded"]["to"].take()
}

#[tokio::test]
async fn embedded_targets_have_defaults_for_context_and_page_size() {
    async fn show(req: Request) -> Result {
        Ok(Response::new(json!([req.param("context"), req.param("per_page")])))
    }
    let args = Args::new().with("context", untyped()).with("per_page", integer().maximum(7));
    let hrefs = ["", "?context=edit", "?context=", "?per_page=3", "?per_page=0"];
    let hrefs = hrefs.iter().map(|query| format!("/a/v1/show{query}")).collect();
    let server = server_of([linking(hrefs), Route::new("/show").endpoint(get(show, public).args(args))]);
    let expected = json!([["embed", 7], ["edit", 7], ["embed", 7], ["embed", 3], ["embed", 7]]);
    assert_eq!(embedded(&server).await, expected);
}

#[tokio::test]
async fn hooks_that_look_at_data_get_embedded_targets_as_values() {
    async fn show(req: Request) -> Result {
        let data = json!({"encoded": req.takes_encoded()});
        Ok(match req.takes_encoded() {
            true => Response::encoded(Encoded::Item(EncodedItem::new(&data))),
            false => Response::new(data),
        })
    }
    for (inputs, is_encoded) in [(DependsOn::Nothing, true), (DependsOn::Object, false)] {
        let mut registry = Registry::new();
        registry.hooks.post_dispatch(10, |res, _| res).depends_on(inputs);
        for route in [linking(vec!["/a/v1/show".to_owned()]), Route::new("/show").endpoint(get(show, public))] {
            registry.route("a/v1", route).expect("the route is valid");
        }
        assert_eq!(embedded(&registry.build()).await, json!([{"encoded": is_encoded}]));
    }
}

#[tokio::test]
async fn at_most_2000_targets_are_embedded() {
    let hrefs = (0..2001).map(|n| format!("/a/v1/show?n={n}")).collect();
    let server = server_of([linking(hrefs), Route::new("/show").endpoint(get(ok, public))]);
    let targets = embedded(&server).await;
    assert_eq!((&targets[1999], &targets[2000]), (&json!({"a": 1}), &json!([])));
}

#[tokio::test]
async fn descriptions_of_routes() {
    let item = svc_schema::Schema::compile(json!({"title": "thing"}));
    let server = server_of([
        Route::new("/x").endpoint(get(ok, public)).endpoint(on("POST, GET", ok, public)).schema(item),
        Route::new(r"/x/(?P<id>\d+)").endpoint(get(ok, public)),
        Route::new("/y/.{2}").endpoint(get(ok, public)),
    ]);
    let index = server.serve(Request::get("/")).await.body.into_value();
    let has_link = |pattern: &str| index["routes"][pattern]["_links"]["self"][0]["href"].is_string();
    assert!(has_link("/") && has_link("/a/v1/x") && !has_link(r"/a/v1/x/(?P<id>\d+)") && !has_link("/a/v1/y/.{2}"));
    assert_eq!(index["routes"]["/"]["endpoints"][0]["args"]["context"]["default"], "view");
    let route = server.route("/a/v1/x").expect("registered");
    assert_eq!((route.methods(), route.endpoints().count()), (&[Method::GET, Method::POST][..], 2));
    let schema = |pattern: &str| server.route(pattern).and_then(|route| route.schema(Request::get("/").cx()));
    assert_eq!((schema("/a/v1/x"), schema("/a/v1/y/.{2}")), (Some(json!({"title": "thing"})), None));
    assert_eq!(format!("{route:?}"), r#"RouteEntry { pattern: "/a/v1/x", methods: [GET, POST], .. }"#);
}

#[test]
fn the_cost_of_a_request_is_that_of_its_endpoint() {
    let of_search = |req: &Request| if req.has_param("search") { Cost::Heavy } else { Cost::Light };
    let server = server_of([
        Route::new("/list").endpoint(get(ok, public).cost(of_search)),
        Route::new("/plain").endpoint(get(ok, public)),
    ]);
    for (route, cost) in [("/a/v1/list", Cost::Heavy), ("/a/v1/plain", Cost::Light), ("/nosuch", Cost::Light)] {
        assert_eq!(server.cost(&Request::get(route).with_query_string("search=x")), cost, "{route}");
    }
    assert_eq!(server.cost(&Request::get("/a/v1/list")), Cost::Light);
}

#[test]
fn urls_of_a_server() {
    let site = SiteInfo::new(svc_brand::Brand::default(), "https://e.org/blog/svc-json/");
    let server = Registry::for_site(site).build();
    assert_eq!(server.root_url(), "https://e.org/blog/svc-json/");
    assert_eq!((server.site_path(), server.url_prefix()), ("/blog", "svc-json"));
}
