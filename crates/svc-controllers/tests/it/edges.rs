//! Rules that several route families share: empty passwords, allowed methods, posts in URLs.

use crate::harness::{ADMIN, CONTRIBUTOR, EDITOR, Harness, NOBODY, TestResponse};
use serde_json::{Value, json};
use svc_auth::{Caller, roles::Roles};
use svc_model::{Comment, CommentId, PostId, UserId};
use svc_routing::{Method, Request};
use svc_versions::Context;

const POSTS: &str = "/svc/v2/posts";

/// Sends a request as a subscriber with an additional capability.
async fn send_with(h: &Harness, capability: &str, req: Request) -> TestResponse {
    let authorized = Roles::default().caps_of(&json!({"subscriber": true, capability: true}));
    h.send(NOBODY, req.with_caller(Caller::new(UserId(6), authorized))).await
}

/// The methods in an `Allow` header; empty if there is none.
fn methods(response: &TestResponse) -> Vec<&str> {
    response.header("Allow").unwrap_or_default().split(", ").filter(|m| !m.is_empty()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_password_0_does_not_protect_a_post() {
    let h = Harness::new();
    let post = |password: &str| json!({"title": "Zero", "content": "secret", "excerpt": "ex", "status": "publish", "password": password});
    let created = h.json(ADMIN, Method::POST, POSTS, post("0")).await.body;
    assert_eq!((&created["password"], &created["content"]["protected"]), (&json!("0"), &json!(false)));
    let at = |id: &Value| format!("{POSTS}/{id}");
    for user in [NOBODY, CONTRIBUTOR, ADMIN] {
        let item = h.get(user, &at(&created["id"]), "").await.body;
        assert_eq!(item["content"], json!({"rendered": "<p>secret</p>\n", "protected": false}), "by {user}");
        assert_eq!(item["excerpt"]["protected"], false, "by {user}");
    }
    let comment = json!({"post": created["id"], "content": "Hello", "status": "approve"});
    assert_eq!(h.json(ADMIN, Method::POST, "/svc/v2/comments", comment).await.status, 201);
    let listed = h.get(NOBODY, "/svc/v2/comments", &format!("post={}", created["id"])).await.body;
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    // A sticky post may have this password, but one request cannot set both.
    let update = async |body: Value| h.json(ADMIN, Method::PUT, &at(&created["id"]), body).await;
    assert_eq!(update(json!({"sticky": true})).await.status, 200);
    for body in [json!({"password": "0", "sticky": true}), json!({"password": "1"})] {
        let rejected = update(body).await;
        assert_eq!((rejected.status, rejected.code()), (400, "rest_invalid_field"));
    }
    // A wrong password is rejected, but 0 counts as no password.
    let guarded = h.json(ADMIN, Method::POST, POSTS, post("abc")).await.body;
    for (query, status, content) in
        [("password=0", 200, ""), ("password=x", 403, ""), ("password=abc", 200, "<p>secret</p>\n")]
    {
        let response = h.get(NOBODY, &at(&guarded["id"]), query).await;
        assert_eq!(response.status, status, "{query}");
        assert_eq!(response.body["content"]["rendered"].as_str().unwrap_or_default(), content, "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_to_create_requests_and_their_methods_use_the_edit_context() {
    let folder = tempfile::tempdir().unwrap();
    let storage = svc_media::Storage::folder(folder.path());
    let h = Harness::with(move |setup| setup.site.services.uploads = storage);
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let image = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, png).unwrap();
    let upload = |name: &str| {
        Request::new(Method::POST, "/svc/v2/media")
            .with_header("Content-Type", "image/png")
            .with_header("Content-Disposition", &format!("attachment; filename=\"{name}\""))
            .with_body(image.clone())
    };
    let uploaded = send_with(&h, "upload_files", upload("x.png")).await;
    assert_eq!((uploaded.status, methods(&uploaded)), (201, vec!["POST"]), "{:?}", uploaded.body);
    assert_eq!(methods(&h.send(3, upload("y.png")).await), ["GET", "POST"], "an author");
    for method in [Method::GET, Method::OPTIONS] {
        let response = send_with(&h, "upload_files", Request::new(method.clone(), "/svc/v2/media")).await;
        assert_eq!((response.status, methods(&response)), (200, vec!["GET", "POST"]), "{method}");
    }
    // If nothing was created, the methods are those of the request's own context.
    let rejected = send_with(&h, "upload_files", Request::new(Method::POST, "/svc/v2/media")).await;
    assert_eq!((rejected.status, methods(&rejected)), (400, vec!["GET", "POST"]));
    let user = json!({"username": "newcomer", "email": "newcomer@example.org", "password": "long enough"});
    let created = send_with(&h, "create_users", Request::new(Method::POST, "/svc/v2/users").with_json(&user)).await;
    assert_eq!((created.status, methods(&created)), (201, vec!["POST"]), "{:?}", created.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_are_allowed_for_the_post_of_a_list() {
    let h = Harness::new();
    let created = h.json(ADMIN, Method::POST, POSTS, json!({"title": "x", "status": "publish"})).await;
    let id = &created.body["id"];
    let rows: [(i64, String, &[&str]); 7] = [
        (EDITOR, format!("post={id}"), &["GET", "POST"]),
        // The leading number counts, as for WordPress.
        (EDITOR, format!("post={id},999999"), &["GET", "POST"]),
        (EDITOR, "post=0".to_owned(), &["GET", "POST"]),
        (EDITOR, "post=x".to_owned(), &["GET"]),
        (EDITOR, "post=999999".to_owned(), &["GET"]),
        (3, format!("post={id}"), &["GET"]),
        (3, format!("post={id},999999"), &["GET"]),
    ];
    for (user, query, allowed) in rows {
        let list = h.get(user, "/svc/v2/media", &query).await;
        assert_eq!((list.status, methods(&list).as_slice()), (200, allowed), "{query} by {user}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn posts_are_allowed_for_the_authors_of_a_list() {
    let h = Harness::new();
    let rows: [(i64, &str, &[&str]); 4] = [
        (EDITOR, "author=3", &["GET", "POST"]),
        (EDITOR, "author=2,4", &["GET", "POST"]),
        (3, "", &["GET", "POST"]),
        // A list of users is somebody else, even of the caller alone.
        (3, "author=3", &["GET"]),
    ];
    for (user, query, allowed) in rows {
        let list = h.get(user, POSTS, query).await;
        assert_eq!((list.status, methods(&list).as_slice()), (200, allowed), "{query} by {user}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_that_a_type_does_not_have_are_checked_and_not_stored() {
    const AUTHOR: i64 = 3;
    const BLOCKS: &str = "/svc/v2/blocks";
    const ITEMS: &str = "/svc/v2/menu-items";
    let h = Harness::new();
    let rows: [(i64, &str, Value, u16, &str); 15] = [
        (AUTHOR, BLOCKS, json!({"author": 1}), 403, "rest_cannot_edit_others"),
        (AUTHOR, BLOCKS, json!({"author": AUTHOR}), 201, ""),
        (AUTHOR, BLOCKS, json!({"author": 0}), 201, ""),
        // Not an id, and so somebody else.
        (AUTHOR, BLOCKS, json!({"author": "3"}), 403, "rest_cannot_edit_others"),
        (AUTHOR, BLOCKS, json!({"author": ""}), 201, ""),
        (AUTHOR, BLOCKS, json!({"sticky": true}), 403, "rest_cannot_assign_sticky"),
        (AUTHOR, BLOCKS, json!({"sticky": [1]}), 403, "rest_cannot_assign_sticky"),
        (AUTHOR, BLOCKS, json!({"sticky": false}), 201, ""),
        (AUTHOR, BLOCKS, json!({"author": 1, "sticky": true}), 403, "rest_cannot_edit_others"),
        (EDITOR, BLOCKS, json!({"author": AUTHOR, "sticky": true}), 201, ""),
        (EDITOR, BLOCKS, json!({"author": "x", "sticky": "x"}), 201, ""),
        (ADMIN, ITEMS, json!({"author": AUTHOR, "sticky": true}), 201, ""),
        (ADMIN, ITEMS, json!({"author": "x", "sticky": "x"}), 201, ""),
        (ADMIN, ITEMS, json!({"menus": 0}), 403, "rest_cannot_assign_term"),
        (EDITOR, ITEMS, json!({"author": "x"}), 403, "rest_cannot_edit_others"),
    ];
    for (user, route, sent, status, code) in rows {
        let mut body = json!({"title": "x", "url": "https://example.org/"});
        body.as_object_mut().unwrap().extend(sent.as_object().unwrap().clone());
        let response = h.json(user, Method::POST, route, body).await;
        assert_eq!((response.status, response.code()), (status, code), "{sent} by {user}: {}", response.body);
        if let Some(id) = response.body["id"].as_i64() {
            let stored =
                h.site.read(&Context::background(), |db| Ok(svc_store::posts::get(db, PostId(id))?)).unwrap().unwrap();
            assert_eq!(stored.author, UserId(user), "{sent} by {user}");
            let settings = h.site.settings(&Context::background()).unwrap();
            assert!(!settings.sticky.contains(&PostId(id)), "{sent} by {user}");
        }
    }
    // A list has other forms of these parameters.
    let rows: [(i64, &str, &[&str]); 6] = [
        (ADMIN, "", &["GET", "POST"]),
        (ADMIN, "menus=0", &["GET"]),
        (ADMIN, "menus=999999", &["GET", "POST"]),
        (ADMIN, "menus[terms]=0", &["GET", "POST"]),
        (ADMIN, "author=3", &["GET", "POST"]),
        (ADMIN, "sticky=1", &["GET", "POST"]),
    ];
    for (user, query, allowed) in rows {
        let list = h.get(user, ITEMS, query).await;
        assert_eq!((list.status, methods(&list).as_slice()), (200, allowed), "{query} by {user}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn installing_an_active_plugin_requires_permission_to_activate() {
    let h = Harness::new();
    for (query, allowed) in [
        ("", &["POST"] as &[&str]),
        ("status=inactive", &["POST"]),
        ("status=active", &[]),
        ("status=", &[]),
        // Lists of plugins have a list of states.
        ("status[]=inactive", &[]),
    ] {
        let options = Request::new(Method::OPTIONS, "/svc/v2/plugins").with_query_string(query);
        let response = send_with(&h, "install_plugins", options).await;
        assert_eq!((response.status, methods(&response).as_slice()), (200, allowed), "{query}");
    }
    let body = json!({"slug": "hello-dolly", "status": "active"});
    let create = Request::new(Method::POST, "/svc/v2/plugins").with_json(&body);
    let rejected = send_with(&h, "install_plugins", create).await;
    assert_eq!((rejected.status, rejected.code()), (403, "rest_cannot_activate_plugin"));
}

#[tokio::test(flavor = "multi_thread")]
async fn options_of_themes_accepts_only_a_list_of_statuses() {
    let h = Harness::new();
    let rows: [(i64, &str, &[&str], u16); 10] = [
        // User, query, methods allowed by OPTIONS, status of GET.
        (ADMIN, "", &["GET"], 200),
        (ADMIN, "status=active", &["GET"], 200),
        (CONTRIBUTOR, "", &[], 403),
        (CONTRIBUTOR, "status=active", &[], 200),
        (CONTRIBUTOR, "status[]=active", &["GET"], 200),
        (CONTRIBUTOR, "status=inactive", &[], 403),
        (CONTRIBUTOR, "status[]=active&status[]=inactive", &[], 403),
        (6, "status=active", &[], 403),
        (6, "status[]=active", &[], 403),
        (NOBODY, "status[]=active", &[], 401),
    ];
    for (user, query, allowed, status) in rows {
        let options = h.send(user, Request::new(Method::OPTIONS, "/svc/v2/themes").with_query_string(query)).await;
        assert_eq!((options.status, methods(&options).as_slice()), (200, allowed), "OPTIONS {query} by {user}");
        let response = h.get(user, "/svc/v2/themes", query).await;
        assert_eq!(response.status, status, "GET {query} by {user}: {:?}", response.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn comments_on_missing_posts_allow_no_methods() {
    let h = Harness::new();
    let orphan = |post: i64, approved: &str| Comment {
        post: PostId(post),
        author: "X".to_owned(),
        content: "orphan".to_owned(),
        approved: approved.to_owned(),
        comment_type: "comment".to_owned(),
        user: UserId(3),
        ..Comment::default()
    };
    let rows = [(999_999, "1"), (0, "1"), (999_999, "0")].map(|(post, approved)| orphan(post, approved));
    let ids: Vec<CommentId> = h
        .site
        .write(&Context::background(), move |tx| {
            Ok(rows.iter().map(|row| svc_store::comments::insert(tx, row)).collect::<Result<_, _>>()?)
        })
        .await
        .unwrap();
    let query = format!("include={}&status=all", ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(","));
    for user in [EDITOR, ADMIN] {
        let list = h.get(user, "/svc/v2/comments", &query).await.body;
        for item in list.as_array().unwrap() {
            let own = &item["_links"]["self"][0];
            if item["post"] == 0 {
                assert_eq!(own["targetHints"]["allow"], json!(["GET", "POST", "PUT", "PATCH", "DELETE"]), "by {user}");
            } else {
                assert!(own["targetHints"].is_null(), "by {user}: {own}");
                let one = h.get(user, &format!("/svc/v2/comments/{}", item["id"]), "").await;
                assert_eq!((one.status, one.code(), methods(&one)), (404, "rest_post_invalid_id", vec![]), "by {user}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn oembed_resolves_posts_by_id() {
    let h = Harness::new();
    let home = h.site.settings(&Context::background()).unwrap().urls.site.home_url("");
    let other_port = home.replace(":8801", ":9999");
    let rows = [
        (format!("{home}/?p=1059"), Some("Series 59 dune")),
        (format!("{home}/?page_id=1108"), Some("Contact")),
        (format!("{home}/?p=1108"), Some("Contact")),
        (format!("{home}/?page_id=1059"), Some("Series 59 dune")),
        (format!("{home}/no/such/page/?x=y&p=1059#z"), Some("Series 59 dune")),
        (format!("{other_port}/?p=1059"), Some("Series 59 dune")),
        (format!("{home}/?p=1303"), None),
        (format!("{home}/?p=999999"), None),
        ("http://elsewhere.example/?p=1059".to_owned(), None),
    ];
    for (url, title) in rows {
        let query = format!("url={}", svc_php::query::urlencode(&url));
        let response = h.get(NOBODY, "/oembed/1.0/embed", &query).await;
        assert_eq!(response.status, if title.is_some() { 200 } else { 404 }, "{url}: {:?}", response.body);
        assert_eq!(response.body["title"].as_str(), title, "{url}");
    }
}
