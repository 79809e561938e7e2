//! Posts and pages as Markdown: by `Accept`, for those who may read them, and never mixed up with JSON.

use serde_json::json;

use crate::{
    client::{HttpResponse, send},
    site::{Site, basic},
};

const API: &str = "/svc-json/svc/v2";
const MARKDOWN: (&str, &str) = ("Accept", "text/markdown, */*;q=0.5");

async fn get(site: &Site, path: &str, headers: &[(&str, &str)]) -> HttpResponse {
    send(site.address, "GET", &format!("{API}/{path}"), headers, "").await
}

async fn create(site: &Site, admin: &str, route: &str, body: serde_json::Value) -> i64 {
    let created = site.post(&format!("{API}/{route}"), admin, &body).await;
    assert_eq!(created.status, 201, "{}", created.body);
    created.json()["id"].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_representation_follows_accept() {
    let site = Site::start().await;
    let admin = site.app_password();
    let content = "<p>Tom &amp; <em>Jerry</em></p><script>alert(1)</script><p>&lt;b onclick=x&gt; <a href=\"javascript:x\">y</a></p>";
    let id =
        create(&site, &admin, "posts", json!({"title": "A & <i>B</i>", "content": content, "status": "publish"})).await;
    let path = format!("posts/{id}");
    let expected = "# A & _B_\n\nTom & _Jerry_\n\n&lt;b onclick=x> y\n";
    // Each representation from the cache, too.
    for _ in 0..3 {
        let markdown = get(&site, &path, &[MARKDOWN]).await;
        assert_eq!((markdown.status, markdown.body.as_str()), (200, expected));
        assert_eq!(markdown.header("content-type"), "text/markdown; charset=UTF-8");
        assert!(markdown.all("vary").iter().any(|vary| vary.contains("Accept")));
        assert_eq!(markdown.header("x-content-type-options"), "nosniff");
        for accept in ["", "*/*", "application/json, text/markdown", "image/png", "text/markdown;q=0"] {
            let json = get(&site, &path, &[("Accept", accept)]).await;
            assert_eq!((json.status, json.json()["id"].as_i64()), (200, Some(id)), "{accept}");
            assert_ne!(json.header("etag"), markdown.header("etag"));
        }
        let tag = markdown.header("etag");
        assert_eq!(get(&site, &path, &[MARKDOWN, ("If-None-Match", tag)]).await.status, 304);
        assert_eq!(get(&site, &path, &[("If-None-Match", tag)]).await.status, 200);
        let head = send(site.address, "HEAD", &format!("{API}/{path}"), &[MARKDOWN], "").await;
        assert_eq!((head.status, head.header("etag"), head.body.as_str()), (200, tag, ""));
    }
    for other in [format!("{path}?_envelope"), "posts".to_owned(), "posts?_embed".to_owned(), "categories/1".to_owned()]
    {
        let json = get(&site, &other, &[MARKDOWN]).await;
        assert!(json.header("content-type").starts_with("application/json"), "{other}");
        json.json();
    }
    let missing = get(&site, "posts/999999", &[MARKDOWN]).await;
    assert_eq!((missing.status, missing.json()["code"].as_str()), (404, Some("rest_post_invalid_id")));
    // A change is seen at once.
    site.post(&format!("{API}/{path}"), &admin, &json!({"content": "<p>New</p>"})).await;
    assert_eq!(get(&site, &path, &[MARKDOWN]).await.body, "# A & _B_\n\nNew\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_readers_get_markdown() {
    let site = Site::start().await;
    let admin = site.app_password();
    let secret = "quokkasecret";
    let body =
        |status: &str, password: &str| json!({"title": "T", "content": secret, "status": status, "password": password});
    let draft = create(&site, &admin, "posts", body("draft", "")).await;
    let private = create(&site, &admin, "pages", body("private", "")).await;
    let locked = create(&site, &admin, "pages", body("publish", "sesame")).await;
    let authorization = basic(&admin);
    let as_admin = [MARKDOWN, ("Authorization", authorization.as_str())];
    for path in [format!("posts/{draft}"), format!("pages/{private}")] {
        for _ in 0..2 {
            assert!(get(&site, &path, &as_admin).await.body.contains(secret), "{path}");
            let refused = get(&site, &path, &[MARKDOWN]).await;
            assert_eq!((refused.status, refused.body.contains(secret)), (401, false), "{path}");
        }
    }
    let path = format!("pages/{locked}");
    assert_eq!(get(&site, &format!("{path}?password=sesame"), &[MARKDOWN]).await.body, format!("# T\n\n{secret}\n"));
    assert_eq!(get(&site, &path, &[MARKDOWN]).await.body, "# T\n\n");
    let wrong = get(&site, &format!("{path}?password=x"), &[MARKDOWN]).await;
    assert!(!wrong.body.contains(secret), "{}", wrong.body);
}
