//! Conditional requests through the served site: 304 for reads, 412 and 428 for writes.

use serde_json::{Value, json};
use svc_server::SiteBuilder;

use crate::{
    client::{HttpResponse, send},
    site::{Site, basic},
};

const POSTS: &str = "/svc-json/svc/v2/posts";
const ONE: &str = "/svc-json/svc/v2/posts/1";

/// Number of clients that change one post at the same time.
const CLIENTS: usize = 8;

/// Sends a request as this user (`NAME:PASSWORD`), with JSON unless the body is null.
async fn call(
    site: &Site,
    user: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Value,
) -> HttpResponse {
    let authorization = basic(user);
    let mut all = vec![("Authorization", authorization.as_str()), ("Content-Type", "application/json")];
    all.extend_from_slice(headers);
    let body = if body.is_null() { String::new() } else { body.to_string() };
    send(site.address, method, path, &all, &body).await
}

/// Status and error code.
fn outcome(response: &HttpResponse) -> (u16, String) {
    let code = serde_json::from_str::<Value>(&response.body).ok();
    (response.status, code.and_then(|body| Some(body["code"].as_str()?.to_owned())).unwrap_or_default())
}

fn failed() -> (u16, String) {
    (412, "rest_precondition_failed".to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn unchanged_responses_get_304() {
    let site = Site::start().await;
    let user = site.app_password();
    for path in [
        POSTS,
        ONE,
        "/svc-json/",
        "/svc-json/svc/v2/types",
        "/svc-json/svc/v2/posts?_embed=1",
        "/svc-json/svc/v2/users/1",
    ] {
        let first = site.get(path).await;
        let tag = first.header("etag").to_owned();
        assert!(first.status == 200 && tag.starts_with('"'), "{path} {tag}");
        assert!(first.all("last-modified").is_empty(), "{path}: without Cache-Control, a date would make it fresh");
        // From the cache and, with a parameter that changes nothing, without it.
        let uncached = format!("{path}{}_unused=1", if path.contains('?') { '&' } else { '?' });
        assert_eq!(site.get(path).await.header("etag"), tag, "{path}");
        for path in [path, &uncached] {
            let tag = site.get(path).await.header("etag").to_owned();
            let other = format!("\"other\", W/{tag}");
            let headers = [("If-None-Match", other.as_str()), ("Origin", "http://example.org")];
            let unchanged = send(site.address, "GET", path, &headers, "").await;
            assert_eq!((unchanged.status, unchanged.body.as_str()), (304, ""), "{path}");
            assert_eq!(unchanged.header("etag"), tag);
            assert_eq!(unchanged.header("access-control-allow-origin"), "http://example.org");
            assert_eq!(unchanged.header("vary"), "Origin");
            assert!(unchanged.all("content-type").is_empty());
            assert_eq!(send(site.address, "GET", path, &[("If-None-Match", "\"other\"")], "").await.status, 200);
        }
        // Tags are compared with the response that the same caller would get.
        let own = call(&site, &user, "GET", path, &[("If-None-Match", &tag)], Value::Null).await;
        let differs = own.header("etag") != tag;
        assert_eq!(own.status == 304, !differs, "{path}");
        let theirs = call(
            &site,
            &user,
            "GET",
            &format!("{path}{}context=edit", if path.contains('?') { '&' } else { '?' }),
            &[],
            Value::Null,
        )
        .await;
        if theirs.status == 200 && theirs.body != first.body {
            let tag = theirs.header("etag");
            assert_eq!(send(site.address, "GET", path, &[("If-None-Match", tag)], "").await.status, 200, "{path}");
        }
    }
    // Errors have no tags.
    assert!(site.get("/svc-json/svc/v2/posts/999999").await.all("etag").is_empty());
    for path in [ONE, POSTS] {
        let (get, head) = (site.get(path).await, send(site.address, "HEAD", path, &[], "").await);
        for name in ["etag", "content-type", "link", "allow", "x-wp-total"] {
            assert_eq!(head.all(name), get.all(name), "{path} {name}");
        }
        assert!(head.body.is_empty());
        let tag = [("If-None-Match", head.header("etag"))];
        assert_eq!(send(site.address, "HEAD", path, &tag, "").await.status, 304);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_of_compressed_responses_are_strong_and_distinct() {
    let site = Site::start().await;
    let plain = site.get(POSTS).await.header("etag").to_owned();
    let gzip = [("Accept-Encoding", "gzip")];
    let compressed = send(site.address, "GET", POSTS, &gzip, "").await.header("etag").to_owned();
    assert_eq!(compressed, format!("{}-gzip\"", plain.trim_end_matches('"')));
    for (sent, accept, returned) in [(&compressed, "gzip", &compressed), (&plain, "identity", &plain)] {
        let headers = [("If-None-Match", sent.as_str()), ("Accept-Encoding", accept)];
        let unchanged = send(site.address, "GET", POSTS, &headers, "").await;
        assert_eq!((unchanged.status, unchanged.header("etag")), (304, returned.as_str()));
    }
    let one = send(site.address, "GET", ONE, &gzip, "").await.header("etag").to_owned();
    let user = site.app_password();
    let changed = call(&site, &user, "POST", ONE, &[("If-Match", &one)], json!({"title": "x"})).await;
    assert_eq!(changed.status, 200, "{}", changed.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn dates_are_validators_of_single_items() {
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &[("api_max_age", "60")]).await;
    let user = site.app_password();
    crate::site::execute(&site.folder, "UPDATE wp_posts SET post_modified_gmt = '2024-02-29 23:59:58' WHERE ID = 1");
    let date = "Thu, 29 Feb 2024 23:59:58 GMT";
    let anonymous = site.get(ONE).await;
    assert_eq!((anonymous.header("last-modified"), anonymous.header("cache-control")), (date, "public, max-age=60"));
    let vary: Vec<String> = anonymous.all("vary").iter().flat_map(|v| v.split(", ")).map(str::to_owned).collect();
    for name in ["Origin", "Authorization", "Cookie", "X-SVC-Nonce"] {
        assert!(vary.iter().any(|v| v.eq_ignore_ascii_case(name)), "{vary:?}");
    }
    let own = call(&site, &user, "GET", ONE, &[], Value::Null).await;
    assert_eq!(own.header("last-modified"), date);
    assert!(own.header("cache-control").contains("no-store"));
    assert!(site.get(POSTS).await.all("last-modified").is_empty());
    assert!(site.get(&format!("{ONE}?_embed=1")).await.all("last-modified").is_empty());
    for (since, status) in
        [(date, 304), ("Fri, 01 Mar 2024 00:00:00 GMT", 304), ("Thu, 29 Feb 2024 23:59:57 GMT", 200), ("x", 200)]
    {
        assert_eq!(send(site.address, "GET", ONE, &[("If-Modified-Since", since)], "").await.status, status, "{since}");
    }
    let both = [("If-Modified-Since", date), ("If-None-Match", "\"other\"")];
    assert_eq!(send(site.address, "GET", ONE, &both, "").await.status, 200);
    let early = [("If-Unmodified-Since", "Thu, 29 Feb 2024 23:59:57 GMT")];
    let change = json!({"title": "changed"});
    assert_eq!(outcome(&call(&site, &user, "PUT", ONE, &early, change.clone()).await), failed());
    assert_eq!(call(&site, &user, "PUT", ONE, &[("If-Unmodified-Since", date)], change.clone()).await.status, 200);
    assert_eq!(outcome(&call(&site, &user, "PUT", ONE, &[("If-Unmodified-Since", date)], change).await), failed());
    // Changed in this second: the date does not identify the state yet.
    assert!(call(&site, &user, "GET", ONE, &[], Value::Null).await.all("last-modified").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_require_the_state_that_the_client_has_read() {
    let site = Site::start().await;
    let user = site.app_password();
    let base = "/svc-json/svc/v2";
    let create = |path: &str, body: Value| {
        let (site, user, path) = (&site, &user, format!("{base}/{path}"));
        async move {
            let created = call(site, user, "POST", &path, &[], body).await;
            assert_eq!(created.status, 201, "{path} {}", created.body);
            let id = &created.json()["id"];
            format!("{path}/{}", id.as_str().map_or_else(|| id.to_string(), str::to_owned))
        }
    };
    let menu = create("menus", json!({"name": "Menu"})).await;
    let menu_id: i64 = menu.rsplit('/').next().unwrap().parse().unwrap();
    let mut objects = vec![
        (create("pages", json!({"title": "a", "status": "publish"})).await, json!({"title": "b"}), Some("?force=true")),
        (create("categories", json!({"name": "Cat"})).await, json!({"description": "b"}), Some("?force=true")),
        (
            create("users", json!({"username": "bea", "email": "bea@example.org", "password": "12345678"})).await,
            json!({"description": "b"}),
            Some("?force=true&reassign=1"),
        ),
        (create("comments", json!({"post": 1, "content": "a"})).await, json!({"content": "b"}), Some("?force=true")),
        (
            create("blocks", json!({"title": "a", "content": "a", "status": "publish"})).await,
            json!({"content": "b"}),
            Some(""),
        ),
        (
            create("templates", json!({"slug": "own", "content": "a"})).await,
            json!({"content": "b"}),
            Some("?force=true"),
        ),
        (
            create(
                "menu-items",
                json!({"title": "a", "url": "http://example.org", "status": "publish", "menus": menu_id}),
            )
            .await,
            json!({"title": "b"}),
            Some("?force=true"),
        ),
        (menu, json!({"description": "b"}), Some("?force=true")),
        (format!("{base}/settings"), json!({"title": "b"}), None),
        (format!("{base}/users/me"), json!({"description": "b"}), None),
    ];
    let font = json!({"font_family_settings": r#"{"name": "F", "slug": "f", "fontFamily": "F"}"#});
    let fonts = create("font-families", font).await;
    objects.push((fonts, json!({"font_family_settings": r#"{"name": "G"}"#}), Some("?force=true")));
    let authorization = basic(&user);
    let file = [
        ("Authorization", authorization.as_str()),
        ("Content-Type", "text/plain"),
        ("Content-Disposition", "attachment; filename=a.txt"),
    ];
    let uploaded = send(site.address, "POST", &format!("{base}/media"), &file, "text").await;
    assert_eq!(uploaded.status, 201, "{}", uploaded.body);
    objects.push((format!("{base}/media/{}", uploaded.json()["id"]), json!({"caption": "b"}), Some("?force=true")));
    let theme = call(&site, &user, "GET", &format!("{base}/themes?status=active"), &[], Value::Null).await.json();
    let links = theme[0]["_links"].as_object().unwrap();
    let (_, styles) = links.iter().find(|(relation, _)| relation.ends_with("user-global-styles")).unwrap();
    let id = styles[0]["href"].as_str().unwrap().rsplit('/').next().unwrap();
    objects.push((format!("{base}/global-styles/{id}"), json!({"title": "b"}), None));
    let text = json!({"id_base": "text", "sidebar": "wp_inactive_widgets", "instance": {"raw": {"text": "a"}}});
    let widget = create("widgets", text).await;
    let sidebar = format!("{base}/sidebars/wp_inactive_widgets");
    for (sent, status) in [("\"x\"", 412), ("*", 200)] {
        let body = json!({"widgets": [widget.rsplit('/').next().unwrap()]});
        let changed = call(&site, &user, "PUT", &sidebar, &[("If-Match", sent)], body).await;
        assert_eq!(changed.status, status, "{}", changed.body);
    }
    objects.push((widget, json!({"instance": {"raw": {"text": "b"}}}), Some("?force=true")));
    for (path, change, delete) in objects {
        let read = || call(&site, &user, "GET", &path, &[], Value::Null);
        let first = read().await;
        let tag = first.header("etag").to_owned();
        assert!(first.status == 200 && tag.contains('-'), "{path} {} {tag}", first.status);
        for wrong in ["\"other\"", &format!("W/{tag}"), ""] {
            let rejected = call(&site, &user, "POST", &path, &[("If-Match", wrong)], change.clone()).await;
            assert_eq!(outcome(&rejected), failed(), "{path} {wrong}");
        }
        let rejected = call(&site, &user, "POST", &path, &[("If-None-Match", "*")], change.clone()).await;
        assert_eq!(outcome(&rejected), failed(), "{path}");
        assert_eq!(read().await.header("etag"), tag, "{path}: a rejected request changes nothing");
        // The route of font families takes text from POST only.
        let (put, patch) = if path.contains("font") { ("POST", "POST") } else { ("PUT", "PATCH") };
        // Another representation of the same state will do.
        let other = call(&site, &user, "GET", &format!("{path}?context=edit"), &[], Value::Null).await;
        let other = other.header("etag").to_owned();
        let changed = call(&site, &user, put, &path, &[("If-Match", &other)], change.clone()).await;
        assert_eq!(changed.status, 200, "{path} {}", changed.body);
        let stale = call(&site, &user, patch, &path, &[("If-Match", &tag)], change.clone()).await;
        assert_eq!(outcome(&stale), failed(), "{path}");
        let Some(query) = delete else { continue };
        let path = format!("{path}{query}");
        let stale = call(&site, &user, "DELETE", &path, &[("If-Match", &tag)], Value::Null).await;
        assert_eq!(outcome(&stale), failed(), "{path}");
        let overridden = [("If-Match", "*"), ("X-HTTP-Method-Override", "DELETE")];
        let deleted = call(&site, &user, "POST", &path, &overridden, Value::Null).await;
        assert_eq!(deleted.status, 200, "{path} {}", deleted.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn preconditions_that_cannot_be_checked_are_rejected() {
    let site = Site::start().await;
    let user = site.app_password();
    let unsupported = (400, "rest_precondition_unsupported".to_owned());
    let post = json!({"title": "a"});
    for headers in [[("If-Match", "*")], [("If-None-Match", "*")], [("If-Unmodified-Since", "x")]] {
        assert_eq!(
            outcome(&call(&site, &user, "POST", POSTS, &headers, post.clone()).await),
            unsupported,
            "{headers:?}"
        );
    }
    // Permissions come first.
    let anonymous = send(site.address, "DELETE", ONE, &[("If-Match", "\"x\"")], "").await;
    assert_eq!(anonymous.status, 401);
    let missing = call(&site, &user, "DELETE", &format!("{POSTS}/999999"), &[("If-Match", "*")], Value::Null).await;
    assert_eq!(missing.status, 404);
    let date = [("If-Unmodified-Since", "Thu, 29 Feb 2024 23:59:58 GMT")];
    let dateless =
        call(&site, &user, "POST", "/svc-json/svc/v2/categories/1", &date, json!({"description": "b"})).await;
    assert_eq!(outcome(&dateless), unsupported);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_a_batch_have_their_own_preconditions() {
    let site = Site::start().await;
    let user = site.app_password();
    let tag = call(&site, &user, "GET", ONE, &[], Value::Null).await.header("etag").to_owned();
    let part = |tag: &str, title: &str| json!({"path": "/svc/v2/posts/1", "headers": {"If-Match": tag}, "body": {"title": title}});
    let batch = json!({"requests": [part("\"x\"", "a"), part(&tag, "b"), part(&tag, "c"), part("*", "d")]});
    let response = call(&site, &user, "POST", "/svc-json/batch/v1", &[], batch).await;
    let responses = response.json()["responses"].clone();
    let statuses: Vec<_> = responses.as_array().unwrap().iter().map(|r| r["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [412, 200, 412, 200], "{}", response.body);
    assert_eq!(site.get(ONE).await.json()["title"]["rendered"], "d");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_may_require_preconditions() {
    let folder = tempfile::tempdir().unwrap();
    let site = Site::start_in(folder, &SiteBuilder::new(), &[("require_preconditions", "true")]).await;
    let user = site.app_password();
    let required = (428, "rest_precondition_required".to_owned());
    let title = json!({"title": "a"});
    assert_eq!(outcome(&call(&site, &user, "POST", ONE, &[], title.clone()).await), required);
    assert_eq!(outcome(&call(&site, &user, "DELETE", ONE, &[], Value::Null).await), required);
    assert_eq!(call(&site, &user, "POST", POSTS, &[], title.clone()).await.status, 201);
    let read = call(&site, &user, "GET", ONE, &[("Origin", "http://example.org")], Value::Null).await;
    assert_eq!(call(&site, &user, "POST", ONE, &[("If-Match", read.header("etag"))], title).await.status, 200);
    assert_eq!(send(site.address, "POST", ONE, &[], "").await.status, 401, "permissions come first");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_several_clients_with_one_tag_exactly_one_wins() {
    let site = Site::start().await;
    let user = site.app_password();
    for round in 0..3 {
        let tag = call(&site, &user, "GET", ONE, &[], Value::Null).await.header("etag").to_owned();
        let clients = (0..CLIENTS).map(|n| {
            let headers = [("If-Match", tag.as_str())];
            let (site, user) = (&site, &user);
            async move { call(site, user, "POST", ONE, &headers, json!({"title": format!("{round} {n}")})).await }
        });
        let responses = futures_util::future::join_all(clients).await;
        let won: Vec<_> = responses.iter().filter(|r| r.status == 200).collect();
        assert_eq!(won.len(), 1, "{responses:?}");
        assert!(responses.iter().all(|r| r.status == 200 || outcome(r) == failed()), "{responses:?}");
        assert_eq!(site.get(ONE).await.json()["title"]["rendered"], won[0].json()["title"]["rendered"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_origins_may_ask_for_conditional_headers() {
    let site = Site::start().await;
    let preflight = |requested: &'static str| {
        let headers = [
            ("Origin", "http://example.org"),
            ("Access-Control-Request-Method", "PUT"),
            ("Access-Control-Request-Headers", requested),
        ];
        let address = site.address;
        async move { send(address, "OPTIONS", ONE, &headers, "").await.header("access-control-allow-headers").to_owned() }
    };
    assert!(preflight("if-match, content-type").await.ends_with("Content-Type, If-Match"));
    assert!(preflight("content-type").await.ends_with("Content-Type"));
}

#[tokio::test(flavor = "multi_thread")]
async fn other_origins_can_read_tags_limits_and_ids() {
    let site = Site::start().await;
    let origin = [("Origin", "http://example.org")];
    for path in [ONE, "/svc-json/no/such/route"] {
        let response = send(site.address, "GET", path, &origin, "").await;
        let lists = response.all("access-control-expose-headers").join(", ");
        let exposed: Vec<&str> = lists.split(", ").collect();
        for name in ["ETag", "Last-Modified", "Retry-After", "X-Request-Id"] {
            assert!(exposed.contains(&name), "{path}: {name} is not in {lists}");
        }
    }
}
