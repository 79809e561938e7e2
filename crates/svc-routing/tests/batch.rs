//! Batches: which requests run, and their responses.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside of test functions")]

#[expect(unreachable_pub, reason = "shared by test binaries")]
mod demo;

use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use demo::User;
use http::Method;
use serde_json::{Value, json};
use svc_routing::{
    BatchData, BatchTransaction, BoxFuture, Context, Cost, Link, ParamOrder, Registry, Request, Response, Result,
    Route, Server, SiteInfo, get, on, public,
};
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
    server.dispatch(Request::new(Method::POST, "/batch/v1").with_authenticated(true).with_json(&body)).await
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

/// Data that records what batches do with it.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<&'static str>>>);

impl Log {
    fn add(&self, event: &'static str) {
        self.0.lock().unwrap().push(event);
    }

    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl BatchData for Log {
    fn snapshot_permit(&self) -> BoxFuture<Result<Box<dyn Any + Send>>> {
        self.add("permit");
        Box::pin(std::future::ready(Ok(Box::new(()) as Box<dyn Any + Send>)))
    }

    fn may_begin(&self, batch: &Request) -> Result<bool> {
        Ok(batch.header("x-refused").is_none())
    }

    fn hold_snapshot(&self, _: &Context) -> Result<Box<dyn Any + Send>> {
        self.add("snapshot");
        Ok(Box::new(()))
    }

    fn begin(&self, _: Context) -> BoxFuture<Result<Box<dyn BatchTransaction>>> {
        self.add("begin");
        let transaction = Box::new(self.clone()) as Box<dyn BatchTransaction>;
        Box::pin(std::future::ready(Ok(transaction)))
    }
}

impl BatchTransaction for Log {
    fn commit(self: Box<Self>) -> BoxFuture<Result<()>> {
        self.add("commit");
        Box::pin(std::future::ready(Ok(())))
    }

    fn roll_back(self: Box<Self>) -> BoxFuture<()> {
        self.add("roll back");
        Box::pin(std::future::ready(()))
    }
}

/// Routes that read and write, on data that records it.
fn with_data(max_batch: usize) -> (Server, Log) {
    let log = Log::default();
    let mut site = SiteInfo::default().batch_data(log.clone());
    site.max_batch = max_batch;
    let mut registry = Registry::for_site(site);
    let (reads, writes) = (log.clone(), log.clone());
    let read = move |req: Request| {
        reads.add("read");
        let data = json!({"n": req.param("n"), "more": 1});
        std::future::ready(Ok(Response::new(data)
            .header("X-Read", "1")
            .link("up", Link::new("/svc-json/a/v1/other").embeddable())))
    };
    let write = move |req: Request| {
        writes.add("write");
        let failed = req.param("n").is_some_and(|n| *n == 13);
        let result =
            if failed { Err(svc_routing::Error::new("unlucky", "No.").with_status(418)) } else { Ok(Response::new(1)) };
        std::future::ready(result)
    };
    async fn file(_: Request) -> Result {
        Ok(Response::raw("text/plain", "text"))
    }
    async fn other(_: Request) -> Result {
        Ok(Response::new("other"))
    }
    let args = || Args::new().with("n", integer());
    let thing = Route::new("/thing").allow_batch();
    async fn large(_: Request) -> Result {
        Ok(Response::new("x".repeat(10 << 20)))
    }
    for route in [
        Route::new("/large").endpoint(get(large, public)),
        thing.endpoint(get(read.clone(), public).args(args())).endpoint(on("POST", write, public).args(args())),
        Route::new("/unmarked").endpoint(get(read.clone(), public).args(args())),
        Route::new("/waits").endpoint(get(read.clone(), public).waits()),
        Route::new("/refused").endpoint(get(read, public).allow_batch(false)),
        Route::new("/file").endpoint(get(file, public)),
        Route::new("/other").endpoint(get(other, public)),
    ] {
        registry.route("a/v1", route).unwrap();
    }
    (registry.build(), log)
}

fn get_part(path: &str) -> Value {
    json!({"method": "GET", "path": format!("/a/v1/{path}")})
}

#[tokio::test]
async fn reads_are_accepted_on_request() {
    let (server, log) = with_data(25);
    for opt_in in [json!({}), json!({"reads": false}), json!({"reads": "x"})] {
        let mut body = json!({"requests": [get_part("thing")]});
        body.as_object_mut().unwrap().extend(opt_in.as_object().unwrap().clone());
        assert_eq!(send(&server, body.clone()).await.status, 400, "{body}");
    }
    assert_eq!(log.take(), [""; 0]);
    let parts = json!([
        get_part("thing?n=5&_fields=n"),
        {"method": "HEAD", "path": "/a/v1/unmarked"},
        get_part("thing?_embed"),
        get_part("thing?n=x"),
        get_part("waits"),
        get_part("refused"),
        get_part("file"),
        get_part("nosuch"),
        {"method": "POST", "path": "/a/v1/thing"},
        get_part("unmarked"),
    ]);
    let res = send(&server, json!({"reads": true, "requests": parts})).await;
    let all = res.data["responses"].as_array().unwrap();
    let up = json!({"up": [{"embeddable": true, "href": "/svc-json/a/v1/other"}]});
    assert_eq!(all[0]["body"], json!({"n": 5, "_links": up}));
    assert_eq!((&all[0]["status"], &all[0]["headers"]["X-Read"]), (&json!(200), &json!("1")));
    assert_eq!((&all[1]["body"], &all[1]["headers"]["X-Read"]), (&Value::Null, &json!("1")));
    assert_eq!(all[2]["body"], json!({"n": null, "more": 1, "_links": up, "_embedded": {"up": ["other"]}}));
    let codes: Vec<&Value> = all[3..8].iter().map(|entry| &entry["body"]["code"]).collect();
    let not_allowed = "rest_batch_not_allowed";
    assert_eq!(codes, ["rest_invalid_param", not_allowed, not_allowed, not_allowed, "rest_no_route"]);
    assert_eq!((&all[8]["status"], &all[9]["status"]), (&json!(200), &json!(200)));
    let n_snapshots = log.take().into_iter().filter(|event| *event == "snapshot").count();
    assert_eq!(n_snapshots, 9, "before each read, in case something was written");
}

#[tokio::test]
async fn transactions_end_at_the_first_failure() {
    let (server, log) = with_data(25);
    let part = |n: Value| json!({"path": "/a/v1/thing", "body": {"n": n}});
    let send_all = |parts: Vec<Value>| send(&server, json!({"transaction": true, "requests": parts}));

    let res = send_all(vec![part(json!(1)), part(json!(2))]).await;
    assert_eq!((res.status.as_u16(), &res.data["responses"][1]["body"]), (207, &json!(1)));
    assert_eq!((res.data.get("failed"), log.take()), (None, vec!["begin", "write", "write", "commit"]));

    let res = send_all(vec![part(json!(1)), part(json!(13)), part(json!(2))]).await;
    let codes: Vec<&Value> = (0..3).map(|n| &res.data["responses"][n]["body"]["code"]).collect();
    assert_eq!(codes, ["rest_batch_rolled_back", "unlucky", "rest_batch_rolled_back"]);
    assert_eq!((&res.data["failed"], &res.data["responses"][0]["status"]), (&json!("transaction"), &json!(424)));
    assert_eq!((res.status.as_u16(), log.take()), (207, vec!["begin", "write", "write", "roll back"]));

    // What is invalid begins no transaction.
    for invalid in [part(json!("x")), get_part("thing"), json!({"path": "/batch/v1"}), json!({"path": "http:///"})] {
        let res =
            send(&server, json!({"transaction": true, "reads": true, "requests": [part(json!(1)), invalid]})).await;
        assert_eq!((&res.data["failed"], &res.data["responses"][0]), (&json!("validation"), &Value::Null));
        assert_eq!((res.data["responses"][1]["status"].as_u64(), log.take()), (Some(400), vec![]));
    }
    let (without, _) = self::server();
    let body = json!({"transaction": true, "requests": [{"path": "/a/v1/echo?n=1"}]});
    assert_eq!(send(&without, body).await.status, 501);
}

#[tokio::test]
async fn transactions_need_a_caller_and_reads_have_a_limited_size() {
    let (server, log) = with_data(25);
    let batch = |body: Value| Request::new(Method::POST, "/batch/v1").with_json(&body);
    let anonymous = batch(json!({"transaction": true, "requests": [{"path": "/a/v1/thing"}]}));
    assert_eq!((server.dispatch(anonymous).await.status.as_u16(), log.take()), (401, vec![]));
    let refused = batch(json!({"transaction": true, "requests": [{"path": "/a/v1/thing"}]}));
    let refused = refused.with_authenticated(true).with_header("x-refused", "1");
    assert_eq!((server.dispatch(refused).await.status.as_u16(), log.take()), (403, vec![]));
    let res = send(&server, json!({"reads": true, "requests": vec![get_part("large"); 8]})).await;
    let statuses: Vec<u64> = (0..8).map(|n| res.data["responses"][n]["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [200, 200, 200, 200, 413, 413, 413, 413]);
}

#[tokio::test]
async fn the_number_of_requests_is_limited() {
    for (max, n, status) in [(25, 25, 207), (25, 26, 400), (40, 40, 207), (40, 1_000, 400), (1, 2, 400)] {
        let (server, log) = with_data(max);
        let parts = vec![get_part("thing"); n];
        let res = send(&server, json!({"reads": true, "requests": parts})).await;
        assert_eq!(res.status, status, "{n} of {max}");
        assert_eq!(log.take().len(), if status == 207 { 1 + 2 * n } else { 0 });
        let options = server.dispatch(Request::new(Method::OPTIONS, "/batch/v1")).await.data;
        let args = &options["endpoints"][0]["args"];
        assert_eq!(args["requests"]["maxItems"], max);
        // As in WordPress.
        assert_eq!(
            args["requests"]["items"]["properties"]["method"]["enum"],
            json!(["POST", "PUT", "PATCH", "DELETE"])
        );
        assert_eq!(args.as_object().unwrap().keys().collect::<Vec<_>>(), ["validation", "requests"]);
    }
}

#[test]
fn batches_that_read_are_heavy() {
    let (server, _) = with_data(25);
    let cost = |body: Value| server.cost(&Request::new(Method::POST, "/batch/v1").with_json(&body));
    assert_eq!([cost(json!({})), cost(json!({"reads": true}))], [Cost::Light, Cost::Heavy]);
}
