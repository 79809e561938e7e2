//! The interface over real sockets: index, lists, signing in, writing, a program's own routes.

use serde_json::json;
use svc_server::{
    SiteBuilder,
    routing::{Request, Response, Result, Route, get, public},
};

use crate::{client::send, site::Site};

const POSTS: &str = "/svc-json/svc/v2/posts";

#[tokio::test(flavor = "multi_thread")]
async fn the_index_in_all_three_shapes_of_address() {
    let site = Site::start().await;
    let index = site.get("/svc-json/").await;
    assert_eq!(index.status, 200);
    assert_eq!(index.header("content-type"), "application/json; charset=UTF-8");
    assert!(index.json()["namespaces"].as_array().unwrap().contains(&json!("svc/v2")));
    for path in ["/index.php/svc-json/", "/?rest_route=/", "/index.php?rest_route=/"] {
        assert_eq!(site.get(path).await.json(), index.json(), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn posts_are_listed_and_written() {
    let site = Site::start().await;
    let list = site.get(POSTS).await;
    assert_eq!((list.status, list.header("x-svc-total"), list.header("x-svc-totalpages")), (200, "3", "1"));
    let post = json!({"title": "By a test", "content": "Text", "status": "publish"});
    assert_eq!(site.post(POSTS, "admin:wrong", &post).await.status, 401);
    let admin = site.app_password();
    let made = site.post(POSTS, &admin, &post).await;
    assert_eq!(made.status, 201, "{}", made.body);
    let id = made.json()["id"].as_i64().unwrap();
    assert_eq!(site.get(&format!("{POSTS}/{id}")).await.json()["title"]["rendered"], "By a test");
    assert_eq!(site.get(POSTS).await.header("x-svc-total"), "4");
    let stopped = site.stop().await;
    let again = Site::start_in(stopped, &SiteBuilder::new(), &[]).await;
    assert_eq!(again.get(POSTS).await.header("x-svc-total"), "4", "what was acknowledged is kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn application_passwords_need_tls_in_production() {
    let folder = Site::start().await.stop().await;
    let site = Site::start_in(folder, &SiteBuilder::new(), &[("environment", "production")]).await;
    let admin = site.app_password();
    assert_eq!(site.post(POSTS, &admin, &json!({"title": "x"})).await.status, 401);
    assert_eq!(site.get("/svc-json/?_fields=authentication").await.json(), json!({"authentication": []}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_registers_its_own_routes() {
    async fn ping(_: Request) -> Result {
        Ok(Response::new("pong"))
    }
    let builder = SiteBuilder::new().register(|registry, _| {
        registry.route("acme/v1", Route::new("/ping").endpoint(get(ping, public))).unwrap();
    });
    let site = Site::start_in(tempfile::tempdir().unwrap(), &builder, &[]).await;
    assert_eq!(site.get("/svc-json/acme/v1/ping").await.json(), "pong");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_permalink_moves_the_interface() {
    let site = Site::start().await;
    crate::site::store(&site.folder)
        .write_blocking(|tx| svc_store::options::set(tx, "permalink_structure", "", true))
        .unwrap();
    let index = site.get("/?rest_route=/&_fields=routes").await.json();
    let own = index["routes"]["/svc/v2/posts"]["_links"]["self"][0]["href"].as_str().unwrap().to_owned();
    assert!(own.ends_with("/index.php?rest_route=/svc/v2/posts"), "{own}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_answers_500_and_the_server_goes_on() {
    async fn broken(_: Request) -> Result {
        panic!("on purpose")
    }
    let builder = SiteBuilder::new().register(|registry, _| {
        registry.route("acme/v1", Route::new("/broken").endpoint(get(broken, public))).unwrap();
    });
    let site = Site::start_in(tempfile::tempdir().unwrap(), &builder, &[]).await;
    let answer = site.get("/svc-json/acme/v1/broken").await;
    assert_eq!((answer.status, answer.json()["code"].as_str()), (500, Some("rest_internal_error")));
    assert!(!answer.body.contains("on purpose"));
    assert_eq!(site.get(POSTS).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn long_answers_are_compressed_when_asked_for() {
    let site = Site::start().await;
    let answer = send(site.address, "GET", POSTS, &[("Accept-Encoding", "gzip")], "").await;
    assert_eq!(answer.header("content-encoding"), "gzip");
}
