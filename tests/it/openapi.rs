//! The OpenAPI document and the explorer over real sockets.

use serde_json::json;
use svc_server::{
    SiteBuilder,
    routing::{Request, Response, Result, Route, get, public},
    schema::{
        Args, Schema,
        build::{integer, object, string},
    },
};

use crate::{client::send, site::Site};

const DOCUMENT: &str = "/svc-json/openapi.json";

async fn fetch(req: Request) -> Result {
    let id: i64 = req.require("id")?;
    Ok(Response::new(json!({ "id": id })))
}

fn builder() -> SiteBuilder {
    SiteBuilder::new().register(|registry, _| {
        let book = object([("id", integer()), ("title", string())]).keyword("title", "book");
        let route = Route::new(r"/books/(?P<id>[\d]+)")
            .schema(Schema::compile(book.into()))
            .args(Args::new().with("id", integer().describe("The book.")))
            .endpoint(get(fetch, public));
        registry.route("acme/v1", route).expect("a valid route");
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn describes_core_routes_and_those_of_programs() {
    let site = Site::start_in(tempfile::tempdir().unwrap(), &builder(), &[]).await;
    let response = site.get(DOCUMENT).await;
    assert_eq!((response.status, response.header("content-type")), (200, "application/json; charset=UTF-8"));
    let document = response.json();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["servers"][0]["url"], format!("http://{}/svc-json", site.address));
    assert_eq!(document.get("x-routes-without-template"), None);
    let books = &document["paths"]["/acme/v1/books/{id}"]["get"];
    assert_eq!(books["parameters"][0]["description"], "The book.");
    assert_eq!(
        books["responses"]["200"]["content"]["application/json"]["schema"],
        json!({"$ref": "#/components/schemas/Book"})
    );
    let posts = &document["paths"]["/svc/v2/posts"];
    assert_eq!(
        (&posts["get"]["operationId"], &posts["post"]["operationId"]),
        (&json!("listPosts"), &json!("createPosts"))
    );
    assert!(posts["get"]["responses"]["200"]["headers"].get("X-SVC-Total").is_some());
    let upload = &document["paths"]["/svc/v2/media"]["post"]["requestBody"]["content"];
    assert!(upload.get("multipart/form-data").is_some(), "{upload}");
    assert_eq!(document["components"]["securitySchemes"]["nonce"]["name"], "X-SVC-Nonce");

    // Every route of the index is described, and the index does not mention the document.
    let index = site.get("/svc-json/").await;
    assert!(!index.body.contains("openapi"));
    let described: Vec<&str> =
        document["paths"].as_object().unwrap().values().filter_map(|path| path["x-route"].as_str()).collect();
    for route in index.json()["routes"].as_object().unwrap().keys() {
        assert!(described.contains(&route.as_str()), "{route}");
    }

    // References lead to parts of the document, and ids are unique.
    for reference in response.body.split("\"$ref\":\"#").skip(1) {
        let pointer = reference.split('"').next().unwrap();
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
    let mut ids: Vec<&str> =
        response.body.split("\"operationId\":\"").skip(1).filter_map(|id| id.split('"').next()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert!(count > 200 && ids.len() == count, "{count}");
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_are_cached_and_selected_by_namespace() {
    let site = Site::start_in(tempfile::tempdir().unwrap(), &builder(), &[]).await;
    let tag = site.get(DOCUMENT).await.header("etag").to_owned();
    let again = send(site.address, "GET", DOCUMENT, &[("If-None-Match", &tag)], "").await;
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    let acme = site.get(&format!("{DOCUMENT}?namespace=acme/v1")).await.json();
    let paths: Vec<&String> = acme["paths"].as_object().unwrap().keys().collect();
    assert_eq!(paths, ["/acme/v1", "/acme/v1/books/{id}"]);
    assert_eq!(site.get(&format!("{DOCUMENT}?namespace=nosuch")).await.status, 404);
    assert_eq!(send(site.address, "POST", DOCUMENT, &[], "").await.status, 405);
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_have_the_routes_that_exist_for_the_client() {
    let site = Site::start_in(tempfile::tempdir().unwrap(), &builder(), &[]).await;
    let address = site.address.to_string();
    for (host, exists) in [("localhost:8080", true), (&*address, false), ("blog.localhost", true), (&*address, false)] {
        let get = async |path: &str| send(site.address, "GET", path, &[("Host", host)], "").await;
        let document = get(DOCUMENT).await.json();
        let sideload = &document["paths"]["/svc/v2/media/{id}/sideload"]["post"];
        assert_eq!(sideload["requestBody"]["content"].get("multipart/form-data").is_some(), exists, "{host}");
        let index = get("/svc-json/").await.json();
        for route in ["sideload", "finalize"] {
            let pattern = format!(r"/svc/v2/media/(?P<id>[\d]+)/{route}");
            assert_eq!(index["routes"].get(&pattern).is_some(), exists, "{host} {route}");
            let options =
                send(site.address, "OPTIONS", &format!("/svc-json/svc/v2/media/1/{route}"), &[("Host", host)], "")
                    .await;
            assert_eq!(options.json().get("endpoints").is_some(), exists, "{host} {route}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_explorer_is_for_local_sites_unless_set() {
    for (settings, status) in [
        (&[][..], 200),
        (&[("environment", "production")], 404),
        (&[("environment", "production"), ("explorer", "true")], 200),
        (&[("explorer", "false")], 404),
    ] {
        let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), settings).await;
        let page = site.get("/svc-explorer/").await;
        assert_eq!(page.status, status, "{settings:?}");
        if status == 200 {
            let policy = page.header("content-security-policy");
            assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe-eval"), "{policy}");
            assert!(page.header("cache-control").contains("no-store"), "the page has a nonce");
            assert!(page.body.contains("data-nonce=\"\""), "anonymous visitors have no nonce");
        }
    }
}
