//! Routing in process: registration, arguments, permissions, final responses.

#[expect(unreachable_pub, reason = "shared by test binaries")]
mod demo;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use demo::{NS, User};
use http::Method;
use serde_json::{Value, json};
use svc_routing::{
    Body, Controller, DependsOn, ExtraField, Link, ObjectId, ParamOrder, Registry, Request, Response, Result, Route,
    Server, SiteInfo, get, on, public, without_permission,
};
use svc_schema::build::{array, integer, string, untyped};
use svc_schema::{Args, NoticeKind};

fn demo() -> Server {
    demo::registry("svc", ParamOrder::UrlFirst).build()
}

async fn ok(_: Request) -> Result {
    Ok(Response::new("ok"))
}

async fn body(server: &Server, req: Request) -> Value {
    match server.serve(req).await.body {
        body @ (Body::Json(_) | Body::Encoded(_)) => body.into_value(),
        other => panic!("no JSON: {other:?}"),
    }
}

#[test]
fn registration_reports_notices_and_rejects_invalid_routes() {
    let mut registry = Registry::new();
    let route = |pattern: &str| Route::new(pattern).endpoint(get(ok, public));
    assert!(registry.route("", route("/a")).is_err());
    assert!(registry.route("///", route("/a")).is_err());
    assert!(registry.route("a/v1", route("/")).is_err());
    assert!(registry.route("a/v1", route("/(")).is_err());
    assert_eq!(registry.notices().len(), 4);
    assert!(registry.route("a/v1", route("x")).is_ok());
    assert_eq!(registry.notices().len(), 4);
    assert!(registry.route("/a/v1/", route("/y/")).is_ok());
    assert!(registry.route("a/v1", Route::new("/z").endpoint(without_permission("GET, POST", ok))).is_ok());
    let notices = registry.notices();
    assert!(notices.iter().all(|n| n.kind == NoticeKind::DoingItWrong && n.function == "register_rest_route"));
    assert!(notices[4].message.contains("slash") && notices[5].message.contains("permission"));
    let server = registry.build();
    assert_eq!(server.namespaces(), ["a/v1"]);
    let patterns: Vec<_> = server.routes().map(|r| r.pattern().to_owned()).collect();
    assert_eq!(patterns, ["/", "/batch/v1", "/a/v1", "/a/v1/x", "/a/v1/y", "/a/v1/z"]);
}

#[test]
fn registration_before_init_raises_a_notice_and_succeeds() {
    let mut registry = Registry::before_init(SiteInfo::default());
    registry.route("a/v1", Route::new("/x").endpoint(get(ok, public))).unwrap();
    registry.hooks.init(10, |r| r.route("a/v1", Route::new("/y").endpoint(get(ok, public))).unwrap());
    let server = registry.build();
    assert_eq!(server.notices().len(), 1);
    assert!(server.route("/a/v1/x").is_some() && server.route("/a/v1/y").is_some());
}

#[tokio::test]
async fn routes_are_merged_or_replaced() {
    let server = demo();
    let data = async |method, route: &str| server.dispatch(Request::new(method, route)).await.data;
    assert_eq!(data(Method::GET, "/demo/v1/merge").await, "merge get one");
    assert_eq!(data(Method::POST, "/demo/v1/merge").await, "merge post");
    assert_eq!(data(Method::GET, "/demo/v1/override").await, "second");
    assert_eq!(data(Method::POST, "/demo/v1/override").await["code"], "rest_no_route");
}

#[tokio::test]
async fn url_parameters_cannot_be_overridden() {
    let sent =
        |route: &str| Request::new(Method::POST, route).with_query_string("id=9&q=query").with_json(&json!({"id": 8}));
    let res = demo().dispatch(sent("/demo/v1/items/7")).await;
    assert_eq!(res.data["params"], json!({"id": 7, "q": "query"}));
    let peer = demo::registry("svc", ParamOrder::UrlLast).build();
    assert_eq!(peer.dispatch(sent("/demo/v1/items/7")).await.data["params"], json!({"id": 8, "q": "query"}));
}

#[tokio::test]
async fn permission_and_handler_receive_the_same_arguments() {
    struct BookId(u64);
    async fn may_read(req: Request) -> Result<BookId> {
        Ok(BookId(req.require("id")?))
    }
    async fn show(req: Request, authorized: BookId) -> Result {
        assert_eq!(req.require::<u64>("id")?, authorized.0);
        Ok(Response::new(authorized.0))
    }
    let mut registry = Registry::new();
    let args = Args::new().with("id", integer());
    registry.route("a/v1", Route::new(r"/(?P<id>\d+)").endpoint(on("GET,POST", show, may_read).args(args))).unwrap();
    let server = registry.build();
    for query in ["", "id=2", "id[]=3", "id=x"] {
        let res = server.dispatch(Request::new(Method::POST, "/a/v1/1").with_query_string(query)).await;
        let rejected = query.starts_with("id[") || query == "id=x";
        assert_eq!(res.status, if rejected { 400 } else { 200 }, "{query}");
        assert!(rejected || res.data == 1);
        assert_eq!(res.headers.get("Allow"), Some("GET, POST"));
    }
}

#[tokio::test]
async fn head_uses_get_without_a_body() {
    async fn list(req: Request) -> Result {
        Ok(Response::new(json!([if req.is_head() { "skipped" } else { "rendered" }])).header("X-Total", 1))
    }
    let mut registry = Registry::new();
    registry.route("a/v1", Route::new("/l").endpoint(get(list, public))).unwrap();
    let server = registry.build();
    let served = server.serve(Request::new(Method::HEAD, "/a/v1/l")).await;
    assert_eq!((served.status.as_u16(), served.body, served.headers.get("X-Total")), (200, Body::Empty, Some("1")));
    assert_eq!(served.headers.get("Allow"), Some("GET"));
    assert_eq!(body(&server, Request::get("/a/v1/l")).await, json!(["rendered"]));
}

#[tokio::test]
async fn panics_in_handler_or_permission_are_500() {
    async fn broken(req: Request) -> Result {
        let nothing: Option<Response> = (req.route() == "/never").then(Response::default);
        Ok(nothing.expect("broken on purpose"))
    }
    async fn broken_permission(req: Request) -> Result<()> {
        broken(req).await.map(|_| ())
    }
    let mut registry = Registry::new();
    registry.route("a/v1", Route::new("/h").endpoint(get(broken, public))).unwrap();
    registry.route("a/v1", Route::new("/p").endpoint(get(ok, broken_permission))).unwrap();
    let server = registry.build();
    for route in ["/a/v1/h", "/a/v1/p"] {
        let res = server.dispatch(Request::get(route)).await;
        assert_eq!((res.status.as_u16(), &res.data["code"]), (500, &json!("rest_internal_error")), "{route}");
        assert!(!res.data.to_string().contains("purpose"));
    }
    assert_eq!(server.dispatch(Request::new(Method::OPTIONS, "/a/v1/p")).await.headers.get("Allow"), None);
}

#[tokio::test]
async fn errors_before_dispatch_pass_the_same_hooks() {
    let mut registry = Registry::new();
    registry.hooks.post_dispatch(10, |res, req| res.header("X-Route", req.route()));
    let error = svc_schema::Error::new("no_login", "No.").with_status(403);
    let served = registry.build().serve_error(Request::get("/a").with_query_string("_fields=x"), error).await;
    assert_eq!((served.status.as_u16(), served.headers.get("X-Route")), (403, Some("/a")));
    assert_eq!(served.body.into_value()["code"], "no_login");
}

/// Books with ids, links between them, and a collection.
struct Books {
    fetched: Arc<AtomicUsize>,
}

impl Controller for Books {
    fn routes(&self) -> Vec<Route<Self>> {
        let paging = Args::new().with("per_page", integer().default(2).minimum(1).maximum(3)).with("context", string());
        let one = Args::new().with("id", integer()).with("context", string());
        vec![
            Route::new("/books").endpoint(get(Self::list, public).args(paging)),
            Route::new(r"/books/(?P<id>[\d]+)")
                .endpoint(get(Self::fetch, public).args(one.clone()))
                .endpoint(on(Method::DELETE, Self::delete, Self::can_delete).args(one)),
        ]
    }
}

impl Books {
    fn links(req: &Request, id: u64) -> svc_routing::Links {
        let server = req.server().expect("dispatched");
        let mut links = svc_routing::Links::new();
        links.add("self", Link::new(server.rest_url(&format!("/a/v1/books/{id}"))));
        links.add("next", Link::new(server.rest_url(&format!("/a/v1/books/{}", id + 1))).embeddable());
        links.add("all", Link::new(server.rest_url("/a/v1/books?x=1")).embeddable());
        links.add("all", Link::new("https://elsewhere.example/").embeddable());
        links
    }

    async fn list(self: Arc<Self>, req: Request) -> Result {
        let items: Vec<Value> = (1..=req.require::<u64>("per_page")?)
            .map(|id| json!({"id": id, "_links": Self::links(&req, id).to_value(req.server().expect("dispatched").curies())}))
            .collect();
        Ok(Response::new(items))
    }

    async fn fetch(self: Arc<Self>, req: Request) -> Result {
        self.fetched.fetch_add(1, Ordering::Relaxed);
        let id: u64 = req.require("id")?;
        let mut res =
            Response::new(json!({"id": id, "context": req.context(), "caller": req.caller::<User>().map(|u| u.id)}));
        res.links = Self::links(&req, id);
        Ok(res)
    }

    async fn can_delete(self: Arc<Self>, req: Request) -> Result<u64> {
        let id = req.require("id")?;
        let is_allowed = req.caller::<User>().is_some_and(|u| u.caps.contains(&"manage_options"));
        if is_allowed { Ok(id) } else { Err(svc_routing::forbidden(&req, "no_delete", "No.")) }
    }

    async fn delete(self: Arc<Self>, _: Request, id: u64) -> Result {
        Ok(Response::new(json!({"deleted": id})))
    }
}

fn books() -> (Server, Arc<AtomicUsize>) {
    let fetched = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&fetched);
    let mut registry = Registry::new();
    registry.mount("a/v1", move |_| Books { fetched: counter });
    (registry.build(), fetched)
}

#[tokio::test]
async fn embedding_fetches_each_target_once_as_the_caller() {
    let (server, fetched) = books();
    let admin = User::named("admin").unwrap();
    let get = |route: &str, query: &str| Request::get(route).with_query_string(query).with_caller(admin.clone());
    let one = body(&server, get("/a/v1/books/1", "_embed=next")).await;
    assert_eq!(one["_embedded"]["next"][0]["id"], 2);
    assert_eq!(one["_embedded"]["next"][0]["context"], "embed");
    assert_eq!(one["_embedded"]["next"][0]["caller"], 1);
    assert_eq!(one["_embedded"].get("all"), None);
    // The embedded book has links and hints, but no embeds of its own.
    assert_eq!(one["_embedded"]["next"][0]["_links"]["self"][0]["targetHints"]["allow"], json!(["GET", "DELETE"]));
    assert_eq!(one["_embedded"]["next"][0].get("_embedded"), None);

    fetched.store(0, Ordering::Relaxed);
    let list = body(&server, get("/a/v1/books", "_embed&per_page=3")).await;
    assert_eq!(list[2]["_embedded"]["next"][0]["id"], 4);
    // A collection is embedded with the maximum page size; targets outside the API keep their position.
    assert_eq!(list[0]["_embedded"]["all"][0].as_array().unwrap().len(), 3);
    assert_eq!(list[0]["_embedded"]["all"][1], json!([]));
    assert_eq!(fetched.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn hints_depend_on_the_caller() {
    let (server, _) = books();
    let hints = async |req: Request| body(&server, req).await["_links"]["self"][0]["targetHints"]["allow"].clone();
    assert_eq!(hints(Request::get("/a/v1/books/1")).await, json!(["GET"]));
    let admin = User::named("admin").unwrap();
    assert_eq!(hints(Request::get("/a/v1/books/1").with_caller(admin.clone())).await, json!(["GET", "DELETE"]));
    let req = Request::get("/").with_caller(admin);
    let hints = server.target_hints(&req, "/svc-json/a/v1/books/5").await.unwrap();
    assert_eq!(hints, ["GET", "DELETE"]);
    assert_eq!(server.target_hints(&req, "http://other/svc-json/a/v1/books/5").await, None);
}

#[tokio::test]
async fn allow_uses_the_context_of_the_response() {
    async fn may_read(req: Request) -> Result<()> {
        if req.context() == "edit" { Err(svc_routing::forbidden(&req, "no", "No.")) } else { Ok(()) }
    }
    async fn make(req: Request) -> Result {
        let created = Response::new("made");
        Ok(if req.has_param("plain") { created } else { created.in_context("edit") })
    }
    let mut registry = Registry::new();
    let route = Route::new("/x").endpoint(get(ok, may_read)).endpoint(on(Method::POST, make, public));
    registry.route("a/v1", route).unwrap();
    let server = registry.build();
    let rows = [
        (Method::GET, "", "GET, POST"),
        (Method::GET, "context=edit", "POST"),
        (Method::POST, "", "POST"),
        (Method::POST, "plain=1", "GET, POST"),
    ];
    for (method, query, allow) in rows {
        let res = server.dispatch(Request::new(method.clone(), "/a/v1/x").with_query_string(query)).await;
        assert_eq!(res.headers.get("Allow"), Some(allow), "{method} {query}");
    }
}

#[tokio::test]
async fn authorization_errors_are_401_or_403() {
    let (server, _) = books();
    let delete = || Request::new(Method::DELETE, "/a/v1/books/1");
    assert_eq!(server.dispatch(delete()).await.status, 401);
    assert_eq!(server.dispatch(delete().with_caller(User::named("author1").unwrap())).await.status, 403);
    let res = server.dispatch(delete().with_caller(User::named("admin").unwrap())).await;
    assert_eq!(res.data, json!({"deleted": 1}));
}

#[tokio::test]
async fn preload_returns_body_and_headers_by_path() {
    let (server, _) = books();
    let paths = [
        (Method::GET, "/a/v1/books/1?_fields=id"),
        (Method::GET, "/a/v1/books/2/"),
        (Method::GET, "/a/v1/nosuch"),
        (Method::GET, ""),
        (Method::GET, "/a/v1/books/2/?_fields=id"),
        (Method::GET, "/?_fields=namespaces"),
        (Method::DELETE, "/a/v1/books/2"),
        (Method::OPTIONS, "/a/v1/books/1"),
        (Method::GET, "/a/v1/books/1?_embed=next&_fields=id"),
    ];
    let out = server.preload(&paths, &Request::get("/").with_caller(User::named("admin").unwrap())).await;
    let keys: Vec<_> = out.keys().collect();
    let expected = [
        "/a/v1/books/1?_fields=id",
        "/a/v1/books/2",
        "/a/v1/books/2?_fields=id",
        "/?_fields=namespaces",
        "OPTIONS",
        "/a/v1/books/1?_embed=next&_fields=id",
    ];
    assert_eq!(keys, expected);
    assert_eq!(out["/a/v1/books/1?_fields=id"]["headers"], json!({"Allow": "GET, DELETE"}));
    assert_eq!(out["/a/v1/books/2"]["body"]["caller"], 1);
    assert_eq!(out["OPTIONS"]["/a/v1/books/1"]["body"]["methods"], json!(["GET", "DELETE"]));
    assert_eq!(out["/a/v1/books/1?_embed=next&_fields=id"]["body"]["_embedded"]["next"][0]["id"], 2);
}

#[tokio::test]
async fn envelopes_contain_the_response() {
    let (server, _) = books();
    let served =
        server.serve(Request::get("/a/v1/books/1").with_query_string("_envelope&_embed=next&_fields=id")).await;
    let Body::Json(value) = served.body else { panic!() };
    assert_eq!((served.status.as_u16(), served.headers.get("Allow")), (200, None));
    assert_eq!(value["status"], 200);
    assert_eq!(value["headers"], json!({"Allow": "GET"}));
    assert_eq!(value["body"]["_embedded"]["next"][0]["id"], 2);
    let missing = body(&server, Request::get("/nosuch").with_query_string("_envelope")).await;
    assert_eq!((&missing["status"], &missing["headers"]), (&json!(404), &json!([])));
}

#[tokio::test]
async fn batches_run_as_the_caller_and_are_bounded() {
    let server = demo();
    let part = json!({"path": "/demo/v1/batchable", "body": {"n": 1}});
    let send = |parts: Value| {
        let req = Request::new(Method::POST, "/batch/v1").with_json(&json!({"requests": parts}));
        server.dispatch(req.with_caller(User::named("admin").unwrap()))
    };
    let res = send(json!([part, {"path": "/demo/v1/batchable", "body": {"n": "x"}}])).await;
    assert_eq!(res.status, 207);
    assert_eq!(res.data["responses"][0]["body"]["params"], json!({"n": 1, "s": "x"}));
    assert_eq!(res.data["responses"][1]["status"], 400);
    assert_eq!(send(vec![part; 26].into()).await.status, 400);
}

#[tokio::test]
async fn nested_batches_terminate() {
    async fn batch_again(req: Request) -> Result {
        let server = req.server().expect("dispatched");
        let sub = req.sub_request(Method::POST, "/a/v1/again");
        Ok(Response::new(json!({"depth": req.depth(), "inner": server.dispatch(sub).await.data})))
    }
    let mut registry = Registry::new();
    registry.route("a/v1", Route::new("/again").endpoint(on("POST", batch_again, public))).unwrap();
    let res = registry.build().dispatch(Request::new(Method::POST, "/a/v1/again")).await;
    assert!(res.data.to_string().contains("rest_too_deep"));
}

#[tokio::test]
async fn additional_fields_are_added_to_prepared_objects() {
    let mut registry = Registry::new();
    let field = ExtraField::new(string().compile())
        .get(|item, _| async move { Ok(format!("{}!", item["name"].as_str().unwrap_or_default()).into()) })
        .update(|value, id, req| async move {
            assert_eq!((value, id, req.route()), (json!("new"), ObjectId::Id(3), "/x"));
            Err(svc_schema::Error::new("read_only", "No."))
        });
    registry.field(&["post", "term"], "loud", field);
    registry.field(&["post"], "silent", ExtraField::without_schema());
    let server = registry.build();
    let mut item = json!({"name": "a"}).as_object().cloned().unwrap();
    server.fields().add_to("term", &mut item, &Request::get("/x")).await.unwrap();
    assert_eq!(item["loud"], "a!");
    let mut trimmed = json!({"name": "a"}).as_object().cloned().unwrap();
    server.fields().add_to("post", &mut trimmed, &Request::get("/x").with_query_string("_fields=name")).await.unwrap();
    assert_eq!(trimmed.len(), 1);
    let req = Request::new(Method::POST, "/x").with_json(&json!({"loud": "new", "silent": 1}));
    assert_eq!(server.fields().update("post", &3.into(), &req).await.unwrap_err().code(), "read_only");
    assert_eq!(server.fields().update("post", &3.into(), &Request::get("/x")).await, Ok(()));
    assert_eq!(
        server.fields().of("post").map(|(n, f)| (n, f.schema().is_some())).collect::<Vec<_>>(),
        [("loud", true), ("silent", false)]
    );
    assert!(server.fields().is_empty_for("comment") && !server.fields().is_empty_for("post"));
}

#[test]
fn selected_fields_need_others() {
    let readable = |needs: &[&str]| ExtraField::without_schema().get(|_, _| async { Ok(1.into()) }).needs(needs);
    assert!(readable(&[]).is_readable() && !ExtraField::without_schema().is_readable());
    let mut registry = Registry::new();
    registry.field(&["post"], "length", readable(&["content.rendered", "title"]));
    registry.field(&["post"], "plain", readable(&[]));
    registry.field(&["post"], "written", ExtraField::without_schema().needs(&["status"]));
    registry.field(&["term"], "count", readable(&["slug"]));
    let server = registry.build();
    for (selected, needed) in [
        ("", vec!["content.rendered", "title", "slug"]),
        ("id,length,written", vec!["content.rendered", "title"]),
        ("count.x", vec!["slug"]),
        ("plain", vec![]),
    ] {
        let selected = svc_schema::FieldSet::parse(&selected.into()).unwrap();
        assert_eq!(server.fields().needed_by(&selected).collect::<Vec<_>>(), needed, "{:?}", selected.names());
    }
}

#[tokio::test]
async fn index_has_the_selected_fields() {
    let server = demo();
    let index = body(&server, Request::get("/")).await;
    let members: Vec<_> = index.as_object().unwrap().keys().map(String::as_str).collect();
    let want = [
        "name",
        "description",
        "url",
        "home",
        "gmt_offset",
        "timezone_string",
        "namespaces",
        "authentication",
        "routes",
        "_links",
    ];
    assert_eq!(members, want);
    assert_eq!(index["namespaces"], json!([NS]));
    assert!(index["routes"].get("/demo/v1/hidden").is_none());
    assert!(index["routes"]["/demo/v1/multi"].get("schema").is_none());
    let help = body(&server, Request::get("/demo/v1").with_query_string("context=help")).await;
    assert_eq!(help["routes"]["/demo/v1/multi"]["schema"]["title"], "multi");
    let res = server.dispatch(Request::get("/demo/v1").with_query_string("namespace=nope")).await;
    assert_eq!((res.status.as_u16(), &res.data["code"]), (404, &json!("rest_invalid_namespace")));
}

#[tokio::test]
async fn index_has_links_if_they_or_what_they_embed_are_selected() {
    let server = demo();
    for (query, has_links) in [
        ("", true),
        ("_fields=name", false),
        ("_fields=name&_embed", true),
        ("_fields=_links", true),
        ("_fields=_embedded", true),
    ] {
        let index = body(&server, Request::get("/").with_query_string(query)).await;
        assert_eq!(index["_links"]["help"][0]["href"].is_string(), has_links, "{query}");
    }
}

#[tokio::test]
async fn options_of_hidden_and_unknown_routes() {
    let server = demo();
    let options = |route: &str| server.dispatch(Request::new(Method::OPTIONS, route));
    assert_eq!(options("/nosuch").await.data, json!([]));
    let hidden = options("/demo/v1/hidden").await;
    assert_eq!((hidden.data, hidden.headers.get("Allow")), (Value::Null, Some("GET")));
    let serve = async |route: &str| server.serve(Request::new(Method::OPTIONS, route)).await.body;
    assert_eq!(serve("/demo/v1/hidden").await, Body::Empty);
    assert_eq!(serve("/demo/v1/multi").await.into_value()["namespace"], NS);
    let part = Request::new(Method::OPTIONS, "/demo/v1/multi").with_query_string("_fields=namespace");
    assert_eq!(body(&server, part).await, json!({"namespace": NS}));
}

#[test]
fn endpoints_by_method_and_path() {
    let (server, _) = books();
    let pattern = |method: Method, path: &str| {
        server
            .endpoint_for(&method, path)
            .map(|(route, endpoint)| (route.pattern().to_owned(), endpoint.methods().len()))
    };
    assert_eq!(pattern(Method::DELETE, "/a/v1/books/7"), Some((r"/a/v1/books/(?P<id>[\d]+)".to_owned(), 1)));
    assert_eq!(pattern(Method::HEAD, "/a/v1/books"), Some(("/a/v1/books".to_owned(), 1)));
    assert_eq!(pattern(Method::DELETE, "/a/v1/books"), None);
    assert_eq!(pattern(Method::GET, "/nosuch"), None);
}

#[tokio::test]
async fn permissions_for_allow_receive_sanitized_url_parameters() {
    let (server, _) = books();
    let admin = User::named("admin").unwrap();
    let res = server.dispatch(Request::new(Method::OPTIONS, "/a/v1/books/5").with_caller(admin)).await;
    assert_eq!(res.headers.get("Allow"), Some("GET, DELETE"));
    assert_eq!(res.data["methods"], json!(["GET", "DELETE"]));
}

#[tokio::test]
async fn notices_are_collected_in_debug_mode_only() {
    async fn odd(req: Request) -> Result {
        req.notice(svc_schema::Notice::new(NoticeKind::DeprecatedParam, "odd", "why").since("1.0"));
        Ok(Response::new(1))
    }
    for debug in [false, true] {
        let mut site = SiteInfo::default();
        site.debug = debug;
        let mut registry = Registry::for_site(site);
        // An argument without a type and without rules raises no notice.
        let args = Args::new().with("o", svc_schema::build::object([("untyped", json!({}))])).with("free", untyped());
        registry.route("a/v1", Route::new("/odd").endpoint(without_permission("GET", odd).args(args))).unwrap();
        let served = registry.build().serve(Request::get("/a/v1/odd").with_query_string("o[untyped]=1&free=1")).await;
        let mut functions: Vec<_> = served.notices.iter().map(|n| n.function.as_str()).collect();
        functions.dedup();
        let of_schemas = ["rest_validate_value_from_schema", "rest_sanitize_value_from_schema"];
        let all = ["register_rest_route", of_schemas[0], of_schemas[1], "odd"];
        assert_eq!(functions, if debug { &all[..] } else { &[] });
    }
}

#[tokio::test]
async fn fields_apply_to_lists_but_not_to_errors_and_scalars() {
    let server = demo();
    let get = |route: &str, fields: &str| {
        server.dispatch(Request::get(route).with_query_string(&format!("_fields={fields}")))
    };
    assert_eq!(get("/demo/v1/fields", "a.b.c,f").await.data, json!({"a": {"b": {"c": 1}}, "f": null}));
    assert_eq!(get("/demo/v1/return/string", "a").await.data, get("/demo/v1/return/string", "").await.data);
    assert_eq!(get("/demo/v1/error/status", "code").await.data["data"]["status"], 409);
    assert_eq!(get("/demo/v1/return/list", "a").await.status, 200);
}

#[test]
fn both_url_forms() {
    let site = |root: &str| Registry::for_site(SiteInfo::new(svc_brand::Brand::default(), root)).build();
    let pretty = site("https://e.org/blog/svc-json/");
    assert_eq!(pretty.rest_url("/a?x=1"), "https://e.org/blog/svc-json/a?x=1");
    assert_eq!(pretty.rest_url(""), "https://e.org/blog/svc-json/");
    assert_eq!(pretty.route_of("https://e.org/blog/svc-json/a?x=1#y").unwrap().0, "/a");
    assert_eq!(pretty.route_of("https://e.org/blog/svc-json").unwrap().0, "/");
    assert_eq!(pretty.route_of("https://e.org/blog/?rest_route=/a").unwrap().0, "/a");
    for other in ["https://e.org/blog/svc-jsonx/a", "https://x.org/blog/?rest_route=/a", "nothing"] {
        assert!(pretty.route_of(other).is_none(), "{other}");
    }
    let plain = site("https://e.org/index.php?rest_route=/");
    assert_eq!(plain.rest_url("a?x=1"), "https://e.org/index.php?rest_route=/a&x=1");
    let (route, query) = plain.route_of("https://e.org/index.php?rest_route=/a&x=1").unwrap();
    assert_eq!((route.as_str(), query["x"].as_str()), ("/a", Some("1")));
}

#[tokio::test]
async fn list_arguments_deserialize_to_rust_values() {
    async fn ids(req: Request) -> Result {
        Ok(Response::new(req.require::<Vec<u32>>("ids")?))
    }
    let mut registry = Registry::new();
    let args = Args::new().with("ids", array(integer()).required());
    registry.route("a/v1", Route::new("/ids").endpoint(get(ids, public).args(args))).unwrap();
    let server = registry.build();
    let get = |query: &str| server.dispatch(Request::get("/a/v1/ids").with_query_string(query));
    assert_eq!(get("ids=1,2").await.data, json!([1, 2]));
    assert_eq!(get("ids[]=3").await.data, json!([3]));
    assert_eq!(get("ids=-1").await.data["code"], "rest_invalid_param");
    assert_eq!(get("").await.data["data"]["params"], json!(["ids"]));
}

#[tokio::test]
async fn request_aware_arguments_keep_their_step_and_order() {
    async fn show(req: Request) -> Result {
        Ok(Response::new(json!([req.param("a"), req.param("b"), req.param("c")])))
    }
    let mut registry = Registry::new();
    let args = Args::from([("a", integer()), ("b", string()), ("c", string()), ("d", integer())]);
    let group = get(show, public)
        .args(args.validate_first(&["d"]))
        .validate_arg("b", |req, value| Ok(req.param("a") != Some(value)))
        .sanitize_arg("c", |req, value| match value.as_str() {
            Some("bad") => Err(svc_schema::Error::new("bad", "Bad.")),
            _ => Ok(json!([value, req.param("a")])),
        });
    registry.route("a/v1", Route::new("/x").endpoint(group)).unwrap();
    let server = registry.build();
    // Rows: the query; the names of the invalid arguments, or the response.
    for (query, rejected, expected) in [
        ("a=1&b=x&c=y", vec![], json!([1, "x", ["y", "1"]])),
        ("c=y&a=1", vec![], json!([1, null, ["y", "1"]])),
        ("a=x&b=x&c=bad&d=x", vec!["b", "d"], Value::Null),
        ("c=bad&a=x&b=y", vec!["c", "a"], Value::Null),
        ("a=x&c=bad", vec!["a", "c"], Value::Null),
    ] {
        let body = body(&server, Request::get("/a/v1/x").with_query_string(query)).await;
        let names: Vec<&str> =
            body["data"]["params"].as_object().into_iter().flat_map(|map| map.keys()).map(String::as_str).collect();
        assert_eq!(names, rejected, "{query}: {body}");
        if rejected.is_empty() {
            assert_eq!(body, expected, "{query}");
        }
    }
}

#[test]
fn hooks_and_fields_without_declared_dependencies_are_named() {
    let mut registry = Registry::new();
    registry.hooks.post_dispatch(10, |res, _| res).depends_on(DependsOn::Nothing);
    registry.hooks.post_dispatch(10, |res, _| res);
    let line = line!() - 1;
    let length = |_, _| async { Ok(1.into()) };
    registry.field(&["post"], "known", ExtraField::without_schema().get(length).depends_on(DependsOn::Object));
    registry.field(&["post"], "length", ExtraField::without_schema().get(length));
    let place = format!("the hook `post_dispatch` of {}:{line}", file!());
    assert_eq!(registry.build().undeclared(), [place, "the field `length` of `post`".to_owned()]);
}
