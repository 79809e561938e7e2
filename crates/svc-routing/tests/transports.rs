//! Routes that exist for some transports only.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside of test functions")]

use serde_json::json;
use svc_routing::{Context, Method, Registry, Request, Route, Server, SiteInfo, Transport, get, on, public};

async fn ok(_: Request) -> svc_routing::Result {
    Ok(json!("ok").into())
}

fn server() -> Server {
    let mut registry = Registry::for_site(SiteInfo::default());
    registry.route("a/v1", Route::new("/open").endpoint(get(ok, public))).unwrap();
    let secure = Route::new("/secure").only_over(Transport::is_secure);
    registry.route("a/v1", secure.endpoint(on(Method::POST, ok, public))).unwrap();
    // A later route with a pattern that matches as well.
    registry.route("a/v1", Route::new("/(?P<rest>s.+)").endpoint(get(ok, public))).unwrap();
    registry.build()
}

#[tokio::test]
async fn routes_of_other_transports_do_not_exist() {
    let server = server();
    for (transport, exists) in [(Transport::Plain, false), (Transport::Localhost, true), (Transport::Tls, true)] {
        let dispatch = async |method, route: &str| {
            server.dispatch(Request::new(method, route).with_cx(Context::request(transport))).await
        };
        let found = dispatch(Method::POST, "/a/v1/secure").await;
        assert_eq!(found.status, if exists { 200 } else { 404 }, "{transport:?}");
        assert_eq!(dispatch(Method::GET, "/a/v1/open").await.status, 200);
        // The first route that exists is described.
        let described = dispatch(Method::OPTIONS, "/a/v1/secure").await.data;
        assert_eq!(described["methods"], json!([if exists { "POST" } else { "GET" }]), "{transport:?}");
        for index in ["/", "/a/v1"] {
            let routes = dispatch(Method::GET, index).await.data["routes"].take();
            assert_eq!(routes.get("/a/v1/secure").is_some(), exists, "{transport:?} {index}");
            assert!(routes.get("/a/v1/open").is_some());
        }
        let batch = json!({"requests": [{"path": "/a/v1/secure"}]});
        let part = server
            .dispatch(Request::new(Method::POST, "/batch/v1").with_json(&batch).with_cx(Context::request(transport)));
        let status = part.await.data["responses"][0]["body"]["code"].clone();
        assert_eq!(status, if exists { json!("rest_batch_not_allowed") } else { json!("rest_no_route") });
    }
    assert!(server.route("/a/v1/secure").unwrap().exists_over(Transport::Tls));
    assert!(!server.route("/a/v1/secure").unwrap().exists_over(Transport::Plain));
}
