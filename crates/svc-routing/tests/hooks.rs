//! Hooks relative to the framework's own processing, and what a registry takes before it is built.

use std::sync::Arc;

use http::Method;
use serde_json::{Value, json};
use svc_routing::{
    Body, BoxFuture, Controller, Dispatch, Registry, Request, Response, Result, Route, SiteInfo, get, public,
};

async fn ok(_: Request) -> Result {
    Ok(Response::new(json!({"a": 1, "b": 2})))
}

fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.route("a/v1", Route::new("/x").endpoint(get(ok, public))).expect("the route is valid");
    registry
}

#[tokio::test]
async fn responses_before_dispatch_replace_options_below_priority_10() {
    for (priority, method, is_replaced) in [
        (9, Method::OPTIONS, true),
        (10, Method::OPTIONS, false),
        (9, Method::GET, true),
        (10, Method::GET, true),
        (11, Method::GET, true),
    ] {
        let mut registry = registry();
        registry.hooks.pre_dispatch(priority, |_| Box::pin(std::future::ready(Some(Ok(Response::new("replaced"))))));
        let res = registry.build().dispatch(Request::new(method.clone(), "/a/v1/x")).await;
        assert_eq!(res.data == "replaced", is_replaced, "{priority} {method}");
    }
}

#[tokio::test]
async fn filters_of_responses_see_allow_and_selected_fields_from_priority_10_on() {
    for (priority, is_processed) in [(9, false), (10, true), (11, true)] {
        let mut registry = registry();
        registry.hooks.post_dispatch(priority, |res, req| {
            assert_eq!((req.route(), res.matched_route()), ("/a/v1/x", Some("/a/v1/x")));
            let seen = json!([res.headers.get("Allow").is_some(), res.data.get("b").is_none()]);
            res.header("X-Seen", seen.to_string())
        });
        let req = Request::get("/a/v1/x").with_query_string("_fields=a");
        let res = registry.build().dispatch(req).await;
        assert_eq!(res.headers.get("X-Seen"), Some(&*json!([is_processed, is_processed]).to_string()), "{priority}");
        assert_eq!(res.data, json!({"a": 1}));
    }
}

#[tokio::test]
async fn final_responses_have_cors_headers_from_priority_10_on() {
    assert!(!registry().build().filters_final_responses());
    for (priority, sees_cors) in [(9, false), (10, true), (11, true)] {
        let mut registry = registry();
        registry.hooks.pre_serve(priority, |served, _| {
            Some(Body::Json(json!(served.headers.get("Access-Control-Allow-Origin").is_some())))
        });
        let server = registry.build();
        assert!(server.filters_final_responses());
        let add_cors = |served: &mut svc_routing::Served| served.headers.set("Access-Control-Allow-Origin", "*");
        let served = server.serve_with(Request::get("/a/v1/x"), add_cors).await;
        assert_eq!(served.body, Body::Json(json!(sees_cors)), "{priority}");
        assert_eq!(served.headers.get("Access-Control-Allow-Origin"), Some("*"));
    }
}

#[tokio::test]
async fn dispatchers_wrap_each_other_by_priority() {
    struct Marked(Arc<dyn Dispatch>, &'static str);
    impl Dispatch for Marked {
        fn dispatch(&self, req: Request) -> BoxFuture<Response> {
            let (inner, mark) = (self.0.dispatch(req), self.1);
            Box::pin(async move { inner.await.add_header("X-Mark", mark) })
        }
    }
    let mut registry = registry();
    for (priority, mark) in [(20, "outer"), (10, "inner")] {
        registry.hooks.server(priority, move |inner| Arc::new(Marked(inner, mark)));
    }
    let res = registry.build().dispatch(Request::get("/a/v1/x")).await;
    assert_eq!((res.headers.get("X-Mark"), res.data), (Some("inner, outer"), json!({"a": 1, "b": 2})));
}

#[test]
fn initialization_runs_by_priority_then_registration() {
    let site = SiteInfo::new(svc_brand::Brand::default(), "https://e.org/api/");
    let mut registry = Registry::before_init(site);
    assert_eq!(registry.site().urls.url("/x"), "https://e.org/api/x");
    for (priority, name) in [(10, "/b"), (5, "/a"), (10, "/c")] {
        registry.hooks.init(priority, move |registry| {
            registry.route("a/v1", Route::new(name).endpoint(get(ok, public))).expect("the route is valid");
        });
    }
    // After the event began, routes raise no notice.
    registry.begin();
    registry.route("a/v1", Route::new("/first").endpoint(get(ok, public))).expect("the route is valid");
    let server = registry.build();
    assert_eq!(server.notices(), []);
    let patterns: Vec<&str> = server.routes().map(|route| route.pattern()).collect();
    assert_eq!(patterns[3..], ["/a/v1/first", "/a/v1/a", "/a/v1/b", "/a/v1/c"]);
}

#[test]
fn some_namespaces_are_listed_last() {
    let mut registry = Registry::new();
    for namespace in ["y/v1", "a/v1", "x/v1", "b/v1"] {
        registry.route(namespace, Route::new("/r").endpoint(get(ok, public))).expect("the route is valid");
    }
    registry.list_namespaces_last(["x/v1".to_owned(), "y/v1".to_owned()]);
    let server = registry.build();
    assert_eq!(server.namespaces(), ["a/v1", "b/v1", "x/v1", "y/v1"]);
    let routes: Vec<&str> = server.routes().map(|route| route.pattern()).filter(|p| p.ends_with("/r")).collect();
    assert_eq!(routes, ["/a/v1/r", "/b/v1/r", "/y/v1/r", "/x/v1/r"]);
}

#[tokio::test]
async fn controllers_read_values_registered_after_them() {
    #[derive(Clone, Default)]
    struct Greetings(Vec<&'static str>);
    struct Greeter(Greetings);
    impl Controller for Greeter {
        fn routes(&self) -> Vec<Route<Self>> {
            vec![Route::new("/greet").endpoint(get(Self::greet, public))]
        }
    }
    impl Greeter {
        async fn greet(self: Arc<Self>, _: Request) -> Result {
            Ok(Response::new(self.0.0.join(", ")))
        }
    }
    let mut registry = Registry::new();
    registry.mount_with("a/v1", |registered| Greeter(registered.extensions.get().cloned().unwrap_or_default()));
    registry.extensions().get_or_insert_default::<Greetings>().0.extend(["hello", "hi"]);
    assert_eq!(registry.build().dispatch(Request::get("/a/v1/greet")).await.data, Value::from("hello, hi"));
}
