//! Permissions: when they run, which methods `Allow` lists, and preconditions of writes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http::Method;
use serde_json::{Value, json};
use svc_routing::{
    Conditional, PermissionResult, Registry, Request, Response, Result, Route, Server, Validators, allow_if, forbidden,
    get, on, public, without_permission,
};
use svc_schema::build::integer;
use svc_schema::{Args, Error};

async fn ok(_: Request) -> Result {
    Ok(Response::new("ok"))
}

/// For callbacks whose permission returns a [`PermissionResult`].
async fn granted(_: Request, _: PermissionResult) -> Result {
    Ok(Response::new("ok"))
}

async fn nobody(req: Request) -> Result<()> {
    Err(forbidden(&req, "nobody", "Nobody may."))
}

fn permit(result: PermissionResult) -> impl Fn(Request) -> std::future::Ready<Result<PermissionResult>> + Send + Sync {
    move |_| std::future::ready(Ok(result))
}

fn with_route(route: Route) -> Server {
    let mut registry = Registry::new();
    registry.route("a/v1", route).expect("the route is valid");
    registry.build()
}

async fn send(server: &Server, method: Method, query: &str) -> Response {
    server.dispatch(Request::new(method, "/a/v1/x").with_query_string(query)).await
}

#[tokio::test]
async fn allow_lists_the_methods_that_permissions_grant() {
    let server = with_route(
        Route::new("/x")
            .endpoint(get(ok, public))
            .endpoint(on("POST, PUT", granted, permit(PermissionResult::Truthy)))
            .endpoint(on("PUT, PATCH", ok, nobody))
            .endpoint(without_permission("POST, DELETE", ok))
            .endpoint(on("DELETE", ok, nobody)),
    );
    let allow = async |method: Method| send(&server, method, "").await.headers.get("Allow").map(str::to_owned);
    for method in [Method::GET, Method::POST, Method::PATCH, Method::DELETE, Method::OPTIONS] {
        assert_eq!(allow(method.clone()).await.as_deref(), Some("GET, POST, DELETE"), "{method}");
    }
    // No method is listed twice.
    let twice = with_route(Route::new("/x").endpoint(get(ok, public)).endpoint(on("GET, POST", ok, public)));
    assert_eq!(send(&twice, Method::GET, "").await.headers.get("Allow"), Some("GET, POST"));
    // Without an allowed method there is no header.
    let closed = with_route(Route::new("/x").endpoint(get(ok, nobody)));
    assert_eq!(send(&closed, Method::GET, "").await.headers.get("Allow"), None);
    assert_eq!(send(&closed, Method::OPTIONS, "").await.headers.get("Allow"), None);
    let omitted = |_: Request| std::future::ready(Ok(Response::new("ok").without_allow()));
    let omitting = with_route(Route::new("/x").endpoint(get(omitted, public)));
    assert_eq!(send(&omitting, Method::GET, "").await.headers.get("Allow"), None);
}

#[tokio::test]
async fn permission_results_decide() {
    for (result, status, allow) in [
        (PermissionResult::True, 200, Some("GET")),
        (PermissionResult::Truthy, 200, None),
        (PermissionResult::Denied, 401, None),
    ] {
        let server = with_route(Route::new("/x").endpoint(get(granted, permit(result))));
        let res = send(&server, Method::GET, "").await;
        assert_eq!((res.status.as_u16(), res.headers.get("Allow")), (status, allow), "{result:?}");
    }
    let server = with_route(Route::new("/x").endpoint(get(ok, allow_if(|req| req.has_param("p")))));
    assert_eq!(send(&server, Method::GET, "p").await.data, "ok");
    let refused = send(&server, Method::GET, "").await;
    let message = "You do not have permission to do this.";
    assert_eq!(refused.data, json!({"code": "rest_forbidden", "message": message, "data": {"status": 401}}));
    let caller = Request::get("/a/v1/x").with_authenticated(true);
    assert_eq!(server.dispatch(caller).await.data["data"], json!({"status": 403}));
}

#[tokio::test]
async fn permission_of_the_called_endpoint_runs_once_for_reads() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&calls);
    let permission = move |_: Request| {
        counter.fetch_add(1, Ordering::Relaxed);
        std::future::ready(Ok(()))
    };
    let server = with_route(Route::new("/x").endpoint(on("GET, POST", ok, permission)));
    // A write may change what the permission depends on, so it is called again for `Allow`.
    for (method, expected) in [(Method::GET, 1), (Method::HEAD, 1), (Method::POST, 2), (Method::OPTIONS, 1)] {
        send(&server, method.clone(), "").await;
        assert_eq!(calls.swap(0, Ordering::Relaxed), expected, "{method}");
    }
}

#[tokio::test]
async fn arguments_are_checked_before_the_permission() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&calls);
    let permission = move |req: Request| {
        if req.method() == Method::POST {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        std::future::ready(Err::<(), _>(forbidden(&req, "no", "No.")))
    };
    let endpoint =
        on("POST", ok, permission).args(Args::new().with("n", integer().required())).validate(|req| {
            match req.param("n").and_then(Value::as_str) {
                Some("7") => Ok(false),
                Some("8") => Err(Error::new("eight", "Not eight.").with_status(409)),
                _ => Ok(true),
            }
        });
    let server = with_route(Route::new("/x").endpoint(endpoint));
    // `Allow` calls the permission as well.
    for (query, code, status, called) in [
        ("n=5", "no", 401, 2),
        ("", "rest_missing_callback_param", 400, 1),
        ("n=x", "rest_invalid_param", 400, 1),
        ("n=7", "rest_invalid_params", 400, 1),
        ("n=8", "eight", 409, 1),
    ] {
        let res = send(&server, Method::POST, query).await;
        assert_eq!((res.status.as_u16(), &res.data["code"]), (status, &json!(code)), "{query}");
        assert_eq!(calls.swap(0, Ordering::Relaxed), called, "{query}");
    }
}

#[tokio::test]
async fn permissions_for_allow_receive_valid_arguments_sanitized() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let permission = move |req: Request| {
        log.lock().unwrap().push(json!([req.param("id"), req.param("n"), req.param("d")]));
        std::future::ready(Ok(()))
    };
    let mut registry = Registry::new();
    let args = Args::from([("id", integer()), ("n", integer()), ("d", integer().default(9))]);
    let route = Route::new(r"/x/(?P<id>\d+)").endpoint(get(ok, public)).endpoint(on("POST", ok, permission).args(args));
    registry.route("a/v1", route).unwrap();
    let server = registry.build();
    for (query, expected) in [("n=5", json!([3, 5, 9])), ("n=x", json!([3, "x", 9])), ("", json!([3, null, 9]))] {
        server.dispatch(Request::get("/a/v1/x/3").with_query_string(query)).await;
        assert_eq!(std::mem::take(&mut *seen.lock().unwrap()), [expected], "{query}");
    }
}

/// An object whose state is `"1"`.
struct Versioned;

impl Conditional for Versioned {
    fn begin(&self, req: Request) -> (Request, Option<Validators>) {
        let modified = Some(1_700_000_000);
        (req, Some(Validators { modified, ..Validators::default() }))
    }

    fn check(&self, req: &Request) -> Result<()> {
        match req.header("if-match") {
            Some("\"1\"") | None => Ok(()),
            Some(_) => Err(Error::new("changed", "Changed.").with_status(412)),
        }
    }
}

#[tokio::test]
async fn preconditions_of_writes_are_checked_after_the_permission() {
    let endpoints = |route: Route| {
        route.endpoint(get(ok, public)).endpoint(on("POST", ok, allow_if(|req| !req.has_param("secret"))))
    };
    let conditional = with_route(endpoints(Route::new("/x").conditional(Arc::new(Versioned))));
    let plain = with_route(endpoints(Route::new("/x")));
    // Rows: the method, the query, a header, and the status with and without a conditional route.
    for (method, query, header, with, without) in [
        (Method::GET, "", Some(("if-match", "\"0\"")), 200, 200),
        (Method::HEAD, "", Some(("if-match", "\"0\"")), 200, 200),
        (Method::POST, "", None, 200, 200),
        (Method::POST, "", Some(("if-match", "\"1\"")), 200, 400),
        (Method::POST, "", Some(("if-match", "\"0\"")), 412, 400),
        (Method::POST, "", Some(("if-none-match", "*")), 200, 400),
        (Method::POST, "", Some(("if-unmodified-since", "x")), 200, 400),
        (Method::POST, "secret", Some(("if-match", "\"0\"")), 401, 401),
    ] {
        for (server, status) in [(&conditional, with), (&plain, without)] {
            let mut req = Request::new(method.clone(), "/a/v1/x").with_query_string(query);
            if let Some((name, value)) = header {
                req = req.with_header(name, value);
            }
            assert_eq!(server.dispatch(req).await.status, status, "{method} {query} {header:?}");
        }
    }
    let refused = plain.dispatch(Request::new(Method::POST, "/a/v1/x").with_header("if-match", "\"1\"")).await;
    assert_eq!(refused.data["code"], "rest_precondition_unsupported");
}

#[tokio::test]
async fn validators_belong_to_successful_responses() {
    let fails = |req: Request| {
        let error = Error::new("gone", "Gone.").with_status(410);
        std::future::ready(if req.has_param("fail") { Err(error) } else { Ok(Response::new(json!({}))) })
    };
    let server = with_route(Route::new("/x").conditional(Arc::new(Versioned)).endpoint(get(fails, public)));
    for (query, modified) in [("", Some(1_700_000_000)), ("fail", None), ("_embed", None)] {
        let served = server.serve(Request::get("/a/v1/x").with_query_string(query)).await;
        assert_eq!(served.validators.modified, modified, "{query}");
    }
}

#[tokio::test]
async fn nesting_is_bounded() {
    async fn nest(req: Request) -> Result {
        let sub = req.sub_request(Method::GET, "/a/v1/x");
        let inner = req.server().expect("dispatched").dispatch(sub).await.data;
        Ok(Response::new(json!({"depth": req.depth(), "inner": inner})))
    }
    let mut data = send(&with_route(Route::new("/x").endpoint(get(nest, public))), Method::GET, "").await.data;
    let mut depths = Vec::new();
    while let Some(depth) = data["depth"].as_u64() {
        depths.push(depth);
        data = data["inner"].take();
    }
    assert_eq!((depths, &data["code"]), (vec![0, 1, 2, 3, 4], &json!("rest_too_deep")));
}
