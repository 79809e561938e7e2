//! Preview links show one post to whoever has the link, and nothing else.

use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use svc_server::SiteBuilder;

use crate::{
    client::{HttpResponse, send},
    site::{Site, basic},
    visitor::{encode, field, logged_in, user},
};

const API: &str = "/svc-json/svc/v2";
const LINKS: &str = "/svc-json/svc/v2/preview-links";

async fn request(site: &Site, method: &str, path: &str, user: &str, body: Value) -> HttpResponse {
    let basic = basic(user);
    let headers = [("Authorization", &*basic), ("Content-Type", "application/json")];
    let text = if body.is_null() { String::new() } else { body.to_string() };
    send(site.address, method, path, if user.is_empty() { &headers[1..] } else { &headers }, &text).await
}

async fn create(site: &Site, user: &str, collection: &str, body: Value) -> Value {
    let created = request(site, "POST", &format!("{API}/{collection}"), user, body).await;
    assert_eq!(created.status, 201, "{}", created.body);
    created.json()
}

/// Credentials of a new user.
async fn with_role(site: &Site, admin: &str, login: &str, role: &str) -> String {
    let id = user(site, admin, login, role).await;
    let path = format!("users/{id}/application-passwords");
    let password = create(site, admin, &path, json!({"name": "tests"})).await;
    format!("{login}:{}", password["password"].as_str().unwrap())
}

fn path_of(site: &Site, url: &Value) -> String {
    url.as_str().unwrap().strip_prefix(&format!("http://{}", site.address)).unwrap().to_owned()
}

#[track_caller]
fn assert_private(response: &HttpResponse) {
    assert_eq!(response.all("cache-control"), ["private, no-store"], "{:?}", response.headers);
    assert_eq!(response.all("x-robots-tag"), ["noindex"]);
    assert_eq!(response.all("referrer-policy"), ["no-referrer"]);
}

/// The path of the post with a token instead of the link's own.
fn item(id: &Value, token: &str) -> String {
    format!("{API}/posts/{id}?preview_token={token}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_shows_its_post_and_nothing_else() {
    let settings = [("api_max_age", "600")];
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await;
    let admin = site.app_password();
    let draft = json!({"title": "Canary one", "content": "<p>canarytext</p>", "password": "sesame", "meta": {}});
    let draft = create(&site, &admin, "posts", draft).await["id"].clone();
    let other =
        create(&site, &admin, "posts", json!({"title": "Canary two", "content": "othertext"})).await["id"].clone();
    let link = create(&site, &admin, "preview-links", json!({"post": draft})).await;
    assert_eq!(
        (&link["post"], &link["revision"], &link["author"], &link["url"]),
        (&draft, &Value::Null, &json!(1), &link["page_url"])
    );
    let token = link["token"].as_str().unwrap();
    let (rest, page) = (path_of(&site, &link["rest_url"]), path_of(&site, &link["page_url"]));
    assert_eq!(rest, item(&draft, token));
    for text in ["canarytext", "changedtext"] {
        for _ in 0..2 {
            let shown = site.get(&rest).await;
            assert_eq!(shown.status, 200, "{}", shown.body);
            let data = shown.json();
            assert_eq!((&data["id"], &data["title"]["rendered"]), (&draft, &json!("Canary one")));
            assert!(
                data["content"]["rendered"].as_str().unwrap().contains(text) && data["content"].get("raw").is_none()
            );
            assert_private(&shown);
            let head = send(site.address, "HEAD", &rest, &[], "").await;
            assert_eq!((head.status, head.header("allow")), (200, "GET"));
            assert_private(&head);
            let html = site.get(&page).await;
            assert_eq!(html.status, 200, "{}", html.body);
            assert!(html.body.contains(text) && html.body.contains("Canary one"), "{text}: {}", html.body);
            assert_private(&html);
        }
        let state = request(&site, "GET", &format!("{API}/posts/{draft}?context=edit"), &admin, Value::Null).await;
        let etag = state.header("etag").to_owned();
        assert_eq!(
            site.post(&format!("{API}/posts/{draft}"), &admin, &json!({"content": "<p>changedtext</p>"})).await.status,
            200
        );
        assert!(!etag.is_empty());
    }
    // Nothing else with the token, and nothing without it.
    #[rustfmt::skip]
    let rows = [
        ("GET", format!("{API}/posts/{draft}"), 401), ("GET", item(&other, token), 403),
        ("GET", format!("{rest}&context=edit"), 403), ("GET", format!("{API}/pages/{draft}?preview_token={token}"), 403),
        ("POST", rest.clone(), 401), ("DELETE", rest.clone(), 401), ("PUT", item(&other, token), 401),
        ("GET", format!("{API}/posts?status=draft&preview_token={token}"), 400),
        ("GET", format!("{API}/posts/{draft}/revisions?preview_token={token}"), 401),
        ("GET", format!("{API}/posts/{draft}/autosaves?preview_token={token}"), 401),
        ("GET", format!("{LINKS}?post={draft}&preview_token={token}"), 401),
        ("GET", format!("{API}/resolve?url={}", encode(&format!("/?p={draft}&preview_token={token}"))), 404),
        ("GET", format!("/?p={other}&preview=true&preview_token={token}"), 403), ("GET", format!("/?preview_token={token}"), 403),
        ("GET", format!("/?p={draft}&preview=true"), 404), ("GET", format!("/about/?preview_token={token}"), 403),
        ("GET", format!("/feed/?preview_token={token}"), 403), ("GET", format!("/?s=canarytext&preview_token={token}"), 403),
    ];
    for (method, path, status) in rows {
        let refused = request(&site, method, &path, "", Value::Null).await;
        assert_eq!(refused.status, status, "{method} {path}: {}", refused.body);
        let texts = ["canarytext", "changedtext", "othertext", "Canary"];
        assert!(!texts.iter().any(|text| refused.body.contains(text)), "{method} {path}: {}", refused.body);
    }
    // A link does not change the post for its editors.
    let before = request(&site, "GET", &format!("{API}/posts/{draft}?context=edit"), &admin, Value::Null).await;
    create(&site, &admin, "preview-links", json!({"post": draft})).await;
    let after = request(&site, "GET", &format!("{API}/posts/{draft}?context=edit"), &admin, Value::Null).await;
    assert_eq!(before.header("etag"), after.header("etag"));
}

/// Seconds that the clock of [`links_end`] is ahead.
static AHEAD: AtomicI64 = AtomicI64::new(0);

#[tokio::test(flavor = "multi_thread")]
async fn links_end() {
    let clock = || chrono::Utc::now().naive_utc() + chrono::TimeDelta::seconds(AHEAD.load(Ordering::Relaxed));
    let builder = SiteBuilder::new().clock(clock);
    let site = Site::start_in(tempfile::tempdir().unwrap(), &builder, &[]).await;
    let admin = site.app_password();
    let eve = with_role(&site, &admin, "eve", "editor").await;
    let post = create(&site, &admin, "posts", json!({"title": "Draft", "content": "canarytext"})).await["id"].clone();
    let link = async |user: &str, seconds: i64| {
        create(&site, user, "preview-links", json!({"post": post, "expires_in": seconds})).await
    };
    let status = async |link: &Value| {
        let statuses = [&link["rest_url"], &link["page_url"]].map(|url| path_of(&site, url));
        let (rest, page) = (site.get(&statuses[0]).await, site.get(&statuses[1]).await);
        assert_eq!(rest.status, page.status, "{} {}", rest.body, page.body);
        if rest.status != 200 {
            assert_eq!(rest.json()["code"], "rest_invalid_preview_token");
        }
        rest.status
    };
    // Time.
    let (short, long) = (link(&admin, 60).await, link(&admin, 7 * 86_400).await);
    assert_eq!((status(&short).await, status(&long).await), (200, 200));
    AHEAD.store(61, Ordering::Relaxed);
    assert_eq!((status(&short).await, status(&long).await), (403, 200));
    // Deletion of the link, by any who may edit the post.
    let listed = request(&site, "GET", &format!("{LINKS}?post={post}"), &eve, Value::Null).await.json();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["id"], listed[0].get("token")), (1, &long["id"], None));
    let deleted =
        request(&site, "DELETE", &format!("{LINKS}/{}", long["id"].as_str().unwrap()), &eve, Value::Null).await;
    assert_eq!((deleted.status, &deleted.json()["previous"]["id"]), (200, &long["id"]));
    assert_eq!(status(&long).await, 403);
    let again = request(&site, "DELETE", &format!("{LINKS}/{}", long["id"].as_str().unwrap()), &eve, Value::Null).await;
    assert_eq!(again.status, 404);
    // The rights of the creator, for as long as they are lost.
    let of_eve = link(&eve, 3_600).await;
    let of_admin = link(&admin, 3_600).await;
    let users = site.get(&format!("{API}/users?slug=eve")).await;
    let found = request(&site, "GET", &format!("{API}/users?slug=eve&context=edit"), &admin, Value::Null).await.json();
    assert_eq!(users.json(), json!([]));
    let id = found[0]["id"].clone();
    for (role, expected) in [("subscriber", 403), ("editor", 200), ("author", 403), ("administrator", 200)] {
        let changed = site.post(&format!("{API}/users/{id}"), &admin, &json!({"roles": [role]})).await;
        assert_eq!((changed.status, status(&of_eve).await, status(&of_admin).await), (200, expected, 200), "{role}");
    }
    let gone = request(&site, "DELETE", &format!("{API}/users/{id}?force=true&reassign=1"), &admin, Value::Null).await;
    assert_eq!((gone.status, status(&of_eve).await, status(&of_admin).await), (200, 403, 200));
    // The trash, also after the post is back.
    assert_eq!(request(&site, "DELETE", &format!("{API}/posts/{post}"), &admin, Value::Null).await.status, 200);
    assert_eq!(status(&of_admin).await, 403);
    let refused = request(&site, "POST", LINKS, &admin, json!({"post": post})).await;
    assert_eq!((refused.status, refused.json()["code"].as_str()), (400, Some("rest_post_in_trash")));
    assert_eq!(site.post(&format!("{API}/posts/{post}"), &admin, &json!({"status": "draft"})).await.status, 200);
    assert_eq!(status(&of_admin).await, 403);
    let last = link(&admin, 3_600).await;
    assert_eq!(status(&last).await, 200);
    assert_eq!(
        request(&site, "DELETE", &format!("{API}/posts/{post}?force=true"), &admin, Value::Null).await.status,
        200
    );
    assert_eq!(status(&last).await, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_tokens_are_worthless() {
    let site = Site::start().await;
    let admin = site.app_password();
    let one = create(&site, &admin, "posts", json!({"title": "One", "content": "canarytext"})).await["id"].clone();
    let two = create(&site, &admin, "posts", json!({"title": "Two", "content": "canarytext"})).await["id"].clone();
    let token =
        create(&site, &admin, "preview-links", json!({"post": one})).await["token"].as_str().unwrap().to_owned();
    let parts: Vec<&str> = token.split('.').collect();
    let [id, revision, expires, signature] = parts[..] else { panic!("{token}") };
    let random = id.split('-').nth(1).unwrap();
    assert_eq!(site.get(&item(&one, &token)).await.status, 200);
    let mut flipped = signature.to_owned();
    flipped.replace_range(0..1, if signature.starts_with('0') { "1" } else { "0" });
    #[rustfmt::skip]
    let forged = [
        String::new(), "x".to_owned(), ".".repeat(300), "a".repeat(4_000), format!("{id}.{revision}.{expires}"), format!("{id}.{revision}.{expires}."),
        format!("{id}.{revision}.{expires}.{flipped}"), format!("{id}.{revision}.9999999999.{signature}"), format!("{id}.5.{expires}.{signature}"),
        format!("{two}-{random}.{revision}.{expires}.{signature}"), format!("{token}0"), format!(" {token}"), token.to_uppercase(), format!("{token}.{signature}"),
    ];
    for token in forged {
        for post in [&one, &two] {
            let token = encode(&token);
            for path in [item(post, &token), format!("/?p={post}&preview=true&preview_token={token}")] {
                let refused = site.get(&path).await;
                assert_eq!(refused.status, 403, "{path}");
                assert!(!refused.body.contains("canarytext"), "{path}");
            }
        }
    }
    let several = site.get(&format!("{API}/posts/{one}?preview_token[]={token}")).await;
    assert_eq!(several.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_editors_of_a_post_create_links() {
    let settings = [("preview_url", "https://front.example/api/preview?id={id}&type={type}&token={token}")];
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await;
    let admin = site.app_password();
    let mut callers = vec![("anonymous", String::new())];
    for role in ["subscriber", "contributor", "author", "editor"] {
        callers.push((role, with_role(&site, &admin, role, role).await));
    }
    let (contributor, author) = (callers[2].1.clone(), callers[3].1.clone());
    let by_contributor = create(&site, &contributor, "posts", json!({"title": "C"})).await["id"].clone();
    let by_author = create(&site, &author, "posts", json!({"title": "A"})).await["id"].clone();
    let page = create(&site, &admin, "pages", json!({"title": "P"})).await["id"].clone();
    #[rustfmt::skip]
    let rows = [
        (&by_contributor, [401, 403, 201, 403, 201]),
        (&by_author, [401, 403, 403, 201, 201]),
        (&page, [401, 403, 403, 403, 201]),
        (&json!(999_999), [401, 404, 404, 404, 404]),
    ];
    for (post, expected) in rows {
        for ((role, user), status) in callers.iter().zip(expected) {
            let created = request(&site, "POST", LINKS, user, json!({"post": post})).await;
            assert_eq!(created.status, status, "{role} {post}: {}", created.body);
            let listed = request(&site, "GET", &format!("{LINKS}?post={post}"), user, Value::Null).await;
            assert_eq!(listed.status, if status == 201 { 200 } else { status }, "{role} {post}");
        }
    }
    let link = create(&site, &admin, "preview-links", json!({"post": page})).await;
    let url =
        format!("https://front.example/api/preview?id={page}&type=page&token={}", link["token"].as_str().unwrap());
    assert_eq!(link["url"], url);
    assert_eq!(site.get(&path_of(&site, &link["rest_url"])).await.status, 200);
    let id = link["id"].as_str().unwrap();
    for ((role, user), status) in callers.iter().zip([401, 403, 403, 403, 200]) {
        let deleted = request(&site, "DELETE", &format!("{LINKS}/{id}"), user, Value::Null).await;
        assert_eq!(deleted.status, status, "{role}");
    }
    // Bounds.
    for (body, code) in [
        (json!({"post": page, "expires_in": 59}), "rest_invalid_param"),
        (json!({"post": page, "expires_in": 604_801}), "rest_invalid_param"),
        (json!({"post": page, "revision": by_author}), "rest_invalid_revision"),
        (json!({}), "rest_missing_callback_param"),
    ] {
        let refused = request(&site, "POST", LINKS, &admin, body.clone()).await;
        assert_eq!((refused.status, refused.json()["code"].as_str()), (400, Some(code)), "{body}");
    }
    let n_links = request(&site, "GET", &format!("{LINKS}?post={page}"), &admin, Value::Null).await.json();
    for _ in n_links.as_array().unwrap().len()..50 {
        create(&site, &admin, "preview-links", json!({"post": page})).await;
    }
    let refused = request(&site, "POST", LINKS, &admin, json!({"post": page})).await;
    assert_eq!((refused.status, refused.json()["code"].as_str()), (400, Some("rest_too_many_preview_links")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_whose_url_would_be_too_long_is_not_stored() {
    // The token has between 80 and 200 bytes.
    for (length, status) in [(1_500, 201), (1_990, 400), (9_000, 400)] {
        let template = format!("https://front.example/?token={{token}}&x={}", "x".repeat(length - 38));
        let site =
            Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &[("preview_url", &template)]).await;
        let admin = site.app_password();
        let post = create(&site, &admin, "posts", json!({"title": "Draft"})).await["id"].clone();
        let created = request(&site, "POST", LINKS, &admin, json!({"post": post})).await;
        assert_eq!(created.status, status, "{length}: {}", created.body);
        let mut visitor = logged_in(&site, "admin").await;
        let editor = format!("/wp-admin/post.php?post={post}&action=edit");
        let nonce = field(&visitor.get(&editor).await.body, "_svcnonce");
        let form = [("_svcnonce", &*nonce), ("post", &*post.to_string()), ("action", "preview-link")];
        let page = visitor.submit("/wp-admin/post.php", &form).await;
        let n_links = request(&site, "GET", &format!("{LINKS}?post={post}"), &admin, Value::Null).await.json();
        if status == 201 {
            assert!(visitor.follow(&page).await.body.contains("https://front.example/?token="));
            assert_eq!(n_links.as_array().unwrap().len(), 2);
        } else {
            assert_eq!(created.json()["code"], "rest_preview_url_too_long");
            assert!(page.status == 400 && page.body.contains("would be too long"), "{} {}", page.status, page.body);
            assert_eq!(n_links, json!([]));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_shows_a_revision_or_an_autosave() {
    let site = Site::start().await;
    let admin = site.app_password();
    let body = json!({"title": "First", "content": "firsttext", "status": "publish"});
    let post = create(&site, &admin, "posts", body).await["id"].clone();
    for text in ["secondtext", "thirdtext"] {
        assert_eq!(site.post(&format!("{API}/posts/{post}"), &admin, &json!({"content": text})).await.status, 200);
    }
    let autosave = json!({"title": "Typed", "content": "typedtext", "excerpt": ""});
    let autosave = request(&site, "POST", &format!("{API}/posts/{post}/autosaves"), &admin, autosave).await;
    assert_eq!(autosave.status, 200, "{}", autosave.body);
    let autosave = autosave.json()["id"].clone();
    let revisions =
        request(&site, "GET", &format!("{API}/posts/{post}/revisions?order=asc&orderby=id"), &admin, Value::Null).await;
    let revisions = revisions.json();
    let revisions: Vec<&Value> =
        revisions.as_array().unwrap().iter().map(|r| &r["id"]).filter(|id| **id != autosave).collect();
    let (first, second) = (revisions[0], revisions[1]);
    for (target, kind, text, others) in [
        (first, "revisions", "secondtext", ["thirdtext", "typedtext"]),
        (second, "revisions", "thirdtext", ["secondtext", "typedtext"]),
        (&autosave, "autosaves", "typedtext", ["secondtext", "thirdtext"]),
    ] {
        let link = create(&site, &admin, "preview-links", json!({"post": post, "revision": target})).await;
        assert_eq!(&link["revision"], target);
        let token = link["token"].as_str().unwrap();
        let own = format!("{API}/posts/{post}/{kind}/{target}?preview_token={token}");
        for path in [path_of(&site, &link["rest_url"]), path_of(&site, &link["page_url"]), own] {
            let shown = site.get(&path).await;
            assert_eq!(shown.status, 200, "{path}: {}", shown.body);
            assert!(shown.body.contains(text) && !others.iter().any(|other| shown.body.contains(other)), "{path}");
            assert_private(&shown);
        }
        for id in [first, second, &autosave].into_iter().filter(|id| *id != target) {
            let path = format!("{API}/posts/{post}/revisions/{id}?preview_token={token}");
            assert_eq!(site.get(&path).await.status, 403, "{path}");
        }
        let path = format!("{API}/posts/{post}/{kind}/{target}");
        assert_eq!(site.get(&path).await.status, 401);
        assert_eq!(site.get(&format!("{path}?context=edit&preview_token={token}")).await.status, 403);
        // What the public sees is the stored post.
        assert!(site.get(&format!("{API}/posts/{post}")).await.body.contains("thirdtext"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_editor_creates_links() {
    let site = Site::start().await;
    let admin = site.app_password();
    let post = create(&site, &admin, "posts", json!({"title": "Draft", "content": "canarytext"})).await["id"].clone();
    let mut visitor = logged_in(&site, "admin").await;
    let path = format!("/wp-admin/post.php?post={post}&action=edit");
    let editor = visitor.get(&path).await.body;
    assert!(editor.contains("value=\"preview-link\""), "{editor}");
    let nonce = field(&editor, "_svcnonce");
    let created = visitor.submit(&path, &[("_svcnonce", &nonce), ("action", "preview-link")]).await;
    let page = visitor.follow(&created).await;
    assert_eq!(page.status, 200, "{}", page.body);
    let tag = page.body.split("id=\"preview-link\"").nth(1).unwrap();
    let url = tag.split("value=\"").nth(1).unwrap().split('"').next().unwrap().replace("&#38;", "&");
    let shown = site.get(&path_of(&site, &json!(url))).await;
    assert!(shown.status == 200 && shown.body.contains("canarytext"), "{url}: {}", shown.body);
    // A reload neither shows the link again nor creates another one.
    let again = visitor.follow(&created).await;
    assert!(again.status == 200 && !again.body.contains("id=\"preview-link\""), "{}", again.body);
    let links = request(&site, "GET", &format!("{LINKS}?post={post}"), &admin, Value::Null).await.json();
    assert_eq!(links.as_array().unwrap().len(), 1, "{links}");
    let refused = visitor.submit(&path, &[("action", "preview-link")]).await;
    assert!(refused.status >= 400, "{}", refused.status);
}
