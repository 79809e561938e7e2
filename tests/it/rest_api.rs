//! The REST API over real sockets: index, lists, authentication, writing, custom routes.

use serde_json::json;
use svc_server::{
    SiteBuilder,
    model::{Post, PostId},
    routing::{Request, Response, Result, Route, get, public},
    schema::{Args, build::object},
};
use svc_store::posts;

use crate::{
    client::send,
    site::{Site, execute},
};

const POSTS: &str = "/svc-json/svc/v2/posts";

#[tokio::test(flavor = "multi_thread")]
async fn the_index_is_available_at_all_url_forms() {
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
    let created = site.post(POSTS, &admin, &post).await;
    assert_eq!(created.status, 201, "{}", created.body);
    let id = created.json()["id"].as_i64().unwrap();
    assert_eq!(site.get(&format!("{POSTS}/{id}")).await.json()["title"]["rendered"], "By a test");
    assert_eq!(site.get(POSTS).await.header("x-svc-total"), "4");
    let stopped = site.stop().await;
    let again = Site::start_in(stopped, &SiteBuilder::new(), &[]).await;
    assert_eq!(again.get(POSTS).await.header("x-svc-total"), "4", "acknowledged writes are stored");
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
async fn custom_routes_are_registered() {
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
async fn schemas_without_a_valid_type_are_reported_in_headers_in_debug_mode() {
    async fn echo(_: Request) -> Result {
        Ok(Response::new(1))
    }
    let builder = SiteBuilder::new().register(|registry, _| {
        let args = Args::new()
            .with("none", object([("inner", json!({}))]))
            .with("wrong", object([("inner", json!({"type": "text"}))]));
        registry.route("acme/v1", Route::new("/odd").endpoint(get(echo, public).args(args))).unwrap();
    });
    for (debug, parameter, problem) in [
        ("true", "none", "no \"type\""),
        ("true", "wrong", "not one of the built-in types"),
        ("false", "none", ""),
        ("false", "wrong", ""),
    ] {
        let site = Site::start_in(tempfile::tempdir().unwrap(), &builder, &[("debug", debug)]).await;
        let response = site.get(&format!("/svc-json/acme/v1/odd?{parameter}%5Binner%5D=1")).await;
        assert_eq!(response.status, 200, "{}", response.body);
        let notices = response.all("x-svc-doingitwrong");
        let place = format!("{parameter}[inner]");
        let of_schema = |notice: &&&str| notice.contains(&place) && notice.contains(problem);
        assert_eq!(notices.iter().filter(of_schema).count() > 0, debug == "true", "{debug} {parameter}: {notices:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_configuration_file_registers_types_meta_and_settings() {
    let folder = tempfile::tempdir().unwrap();
    let file = r#"
        [[types]]
        name = "book"
        rest_base = "books"
        supports = ["title", "editor", "revisions", "custom-fields"]
        [[taxonomies]]
        name = "genre"
        types = ["book"]
        rest_base = "genres"
        [[meta]]
        object = "post"
        of = "book"
        key = "stars"
        type = "integer"
        schema = { maximum = 5 }
        [[settings]]
        option = "motto"
        type = "string"
        default = "Onward"
    "#;
    std::fs::write(folder.path().join("svc.toml"), file).unwrap();
    let site = Site::start_in(folder, &SiteBuilder::new(), &[]).await;
    let admin = site.app_password();
    let (genres, books) = ("/svc-json/svc/v2/genres", "/svc-json/svc/v2/books");
    let genre = site.post(genres, &admin, &json!({"name": "Novels"})).await.json()["id"].clone();
    let book = json!({"title": "One", "status": "publish", "genres": [genre], "meta": {"stars": 4}});
    let created = site.post(books, &admin, &book).await;
    assert_eq!(created.status, 201, "{}", created.body);
    let (created, list) = (created.json(), site.get(&format!("{books}?genres={genre}")).await.json());
    assert_eq!((&list[0]["id"], &list[0]["meta"]["stars"]), (&created["id"], &json!(4)));
    assert_eq!(site.post(books, &admin, &json!({"title": "x", "meta": {"stars": 6}})).await.status, 400);
    let autosave = format!("{books}/{}/autosaves", created["id"]);
    assert_eq!(site.post(&autosave, &admin, &json!({"title": "Two"})).await.status, 200);
    let settings = site.post("/svc-json/svc/v2/settings", &admin, &json!({"start_of_week": 1})).await.json();
    assert_eq!(settings["motto"], "Onward");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_server_publishes_posts_when_they_are_due() {
    let site = Site::start().await;
    let admin = site.app_password();
    let scheduled = json!({"title": "Soon", "status": "publish", "date_gmt": "2080-01-01T00:00:00"});
    let created = site.post(POSTS, &admin, &scheduled).await.json();
    assert_eq!(created["status"], "future", "{created}");
    let path = format!("{POSTS}/{}", created["id"]);
    assert_eq!(site.get(&path).await.status, 401);
    // Make the post due by changing its date.
    let id = PostId(created["id"].as_i64().unwrap());
    let bring_forward = move |tx: &mut svc_store::Tx| {
        let past = posts::get(tx, PostId(1))?.and_then(|post| post.date_gmt);
        let post = posts::get(tx, id)?.map(|post| Post { date_gmt: past, ..post });
        posts::update(tx, &post.unwrap())
    };
    crate::site::store(&site.folder).write_blocking(bring_forward).unwrap();
    // Scheduling another post wakes the task.
    site.post(POSTS, &admin, &json!({"title": "Later", "status": "future", "date_gmt": "2090-01-01T00:00:00"})).await;
    let published = async {
        while site.get(&path).await.status != 200 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), published).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_permalink_structure_changes_the_urls_of_the_rest_api() {
    let site = Site::start().await;
    crate::site::store(&site.folder)
        .write_blocking(|tx| svc_store::options::set(tx, "permalink_structure", &svc_store::StoredText::of(""), true))
        .unwrap();
    let index = site.get("/?rest_route=/&_fields=routes").await.json();
    let own = index["routes"]["/svc/v2/posts"]["_links"]["self"][0]["href"].as_str().unwrap().to_owned();
    assert!(own.ends_with("/index.php?rest_route=/svc/v2/posts"), "{own}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_is_a_500_and_the_server_continues() {
    async fn broken(_: Request) -> Result {
        panic!("on purpose")
    }
    let builder = SiteBuilder::new().register(|registry, _| {
        registry.route("acme/v1", Route::new("/broken").endpoint(get(broken, public))).unwrap();
    });
    let site = Site::start_in(tempfile::tempdir().unwrap(), &builder, &[]).await;
    let response = site.get("/svc-json/acme/v1/broken").await;
    let body = response.json();
    assert_eq!((response.status, body["code"].as_str()), (500, Some("rest_internal_error")));
    assert_eq!(body["data"], json!({"status": 500}));
    assert!(!response.body.contains("on purpose"));
    assert_eq!(site.get(POSTS).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn long_responses_are_compressed_on_request() {
    let site = Site::start().await;
    let response = send(site.address, "GET", POSTS, &[("Accept-Encoding", "gzip")], "").await;
    assert_eq!(response.header("content-encoding"), "gzip");
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_of_other_programs_are_visible_immediately() {
    let site = Site::start().await;
    let (list, one) = (format!("{POSTS}?_fields=content"), format!("{POSTS}/1"));
    for n in 0..20 {
        let title = format!("Title {n}");
        execute(&site.folder, &format!("UPDATE wp_posts SET post_content = '{title}' WHERE ID = 1"));
        for _ in 0..2 {
            assert_eq!(site.get(&one).await.json()["content"]["rendered"], format!("<p>{title}</p>\n"));
            assert!(site.get(&list).await.body.contains(&title), "{title}");
        }
    }
}
