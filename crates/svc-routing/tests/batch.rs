//! Batches: which requests run, and their responses.

#[expect(unreachable_pub, reason = "shared by test binaries")]
mod demo;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use demo::User;
use http::Method;
use serde_json::{Value, json};
use svc_routing::{Link, ParamOrder, Registry, Request, Response, Result, Route, Server, on, public};
use svc_schema::Args;
use svc_schema::build::integer;

/// Routes that echo, that do not allow batches, and one that adds a link and a header; and the number of calls.
fn server() -> (Server, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&calls);
    let echo = move |req: Request| {
        counter.fetch_add(1, Ordering::Relaxed);
        let seen = json!([req.method().as_str(), req.route(), req.param("n"), req.param("q"), req.header("x-a")]);
        std::future::ready(Ok(Response::new(seen)))
    };
    async fn linked(_: Request) -> Result {
        Ok(Response::new(json!({})).status(201).header("X-Made", "1").link("up", Link::new("https://e.org/")))
    }
    let mut registry = Registry::new();
    let args = Args::new().with("n", integer().required());
    let each = "POST, PUT, PATCH, DELETE";
    let routes = [
        Route::new("/echo").allow_batch().endpoint(on(each, echo.clone(), public).args(args.clone())),
        Route::new("/closed").endpoint(on(each, echo.clone(), public).args(args)),
        Route::new("/linked").allow_batch().endpoint(on(each, linked, public)),
        Route::new("/mixed").allow_batch().endpoint(on(each, echo, public).allow_batch(false)),
    ];
    for route in routes {
        registry.route("a/v1", route).expect("the route is valid");
    }
    (registry.build(), calls)
}

async fn send(server: &Server, body: Value) -> Response {
    server.dispatch(Request::new(Method::POST, "/batch/v1").with_json(&body)).await
}

#[tokio::test]
async fn requests_have_method_path_query_body_and_headers() {
    let (server, _) = server();
    // Rows: a request, and the data of its response.
    let rows = [
        (json!({"path": "/a/v1/echo", "body": {"n": 1}}), json!(["POST", "/a/v1/echo", 1, null, null])),
        (json!({"path": "/a/v1/echo?n=2&q=x#f", "method": "PUT"}), json!(["PUT", "/a/v1/echo", 2, "x", null])),
        (
            json!({"path": "http://h/a/v1/echo?n=3", "method": "DELETE", "headers": {"X-A": "one"}}),
            json!(["DELETE", "/a/v1/echo", 3, null, "one"]),
        ),
        (
            json!({"path": "/a/v1/echo?n=4", "method": "PATCH", "headers": {"X-A": ["one", "two"]}}),
            json!(["PATCH", "/a/v1/echo", 4, null, "one,two"]),
        ),
    ];
    for (part, expected) in rows {
        let res = send(&server, json!({"requests": [part]})).await;
        assert_eq!((res.status.as_u16(), &res.data["responses"][0]["body"]), (207, &expected), "{part}");
        assert_eq!(res.data["responses"][0]["status"], 200, "{part}");
    }
}

#[tokio::test]
async fn responses_have_status_headers_and_links() {
    let (server, _) = server();
    let res = send(&server, json!({"requests": [{"path": "/a/v1/linked"}]})).await;
    assert_eq!(
        res.data["responses"],
        json!([{
            "body": {"_links": {"up": [{"href": "https://e.org/"}]}},
            "status": 201,
            "headers": {"X-Made": "1", "Allow": "POST, PUT, PATCH, DELETE"},
        }])
    );
}

#[tokio::test]
async fn invalid_requests_have_their_own_error() {
    let (server, calls) = server();
    // Rows: the path of a request, and the code of its response.
    for (path, code) in [
        ("/a/v1/nosuch", "rest_no_route"),
        ("/a/v1/closed?n=1", "rest_batch_not_allowed"),
        ("/a/v1/mixed?n=1", "rest_batch_not_allowed"),
        ("/a/v1/echo", "rest_missing_callback_param"),
        ("/a/v1/echo?n=x", "rest_invalid_param"),
        ("http:///a/v1/echo?n=1", "parse_path_failed"),
    ] {
        calls.store(0, Ordering::Relaxed);
        for (validation, called) in [("normal", 1), ("require-all-validate", 0)] {
            let parts = json!([{"path": path}, {"path": "/a/v1/echo?n=1"}]);
            let res = send(&server, json!({"validation": validation, "requests": parts})).await;
            assert_eq!(res.status, 207);
            assert_eq!(res.data["responses"][0]["body"]["code"], code, "{path} {validation}");
            assert_eq!(res.data["responses"][1].is_null(), called == 0, "{path} {validation}");
            assert_eq!(res.data.get("failed"), (called == 0).then(|| json!("validation")).as_ref());
            assert_eq!(calls.swap(0, Ordering::Relaxed), called, "{path} {validation}");
        }
    }
    let refused = send(&server, json!({"requests": [{"path": "/a/v1/closed?n=1"}]})).await;
    assert_eq!(refused.data["responses"][0]["headers"]["Allow"], "POST, PUT, PATCH, DELETE");
}

#[tokio::test]
async fn all_requests_run_if_all_are_valid() {
    let (server, calls) = server();
    let parts = json!([{"path": "/a/v1/echo?n=1"}, {"path": "/a/v1/echo?n=2"}]);
    let res = send(&server, json!({"validation": "require-all-validate", "requests": parts})).await;
    assert_eq!(res.data.get("failed"), None);
    assert_eq!(res.data["responses"][1]["body"][2], 2);
    assert_eq!(calls.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn batches_are_validated_themselves() {
    let (server, calls) = server();
    let rows = [
        json!({}),
        json!({"requests": "x"}),
        json!({"requests": [{}]}),
        json!({"requests": [{"path": "/a/v1/echo?n=1", "method": "GET"}]}),
        json!({"requests": [{"path": "/a/v1/echo?n=1", "headers": {"X-A": {"b": 1}}}]}),
        json!({"requests": [{"path": "/a/v1/echo?n=1"}], "validation": "other"}),
    ];
    for body in rows {
        assert_eq!(send(&server, body.clone()).await.status, 400, "{body}");
    }
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn requests_of_a_batch_have_its_caller() {
    async fn who(req: Request) -> Result {
        Ok(Response::new(req.caller::<User>().map(|user| user.id)))
    }
    let mut registry = demo::registry("svc", ParamOrder::UrlFirst);
    registry.route("a/v1", Route::new("/who").allow_batch().endpoint(on("POST", who, public))).unwrap();
    let server = registry.build();
    let batch = || Request::new(Method::POST, "/batch/v1").with_json(&json!({"requests": [{"path": "/a/v1/who"}]}));
    let admin = server.dispatch(batch().with_caller(User::named("admin").unwrap())).await;
    assert_eq!(admin.data["responses"][0]["body"], 1);
    assert_eq!(server.dispatch(batch()).await.data["responses"][0]["body"], Value::Null);
}
