//! Cached responses: equal to generated ones after every write, for every caller, and valid as long as nothing changes
//! that they depend on.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use serde_json::{Value, json};
use svc_server::{
    SiteBuilder,
    model::PostId,
    routing::{Error, Request, Response, Result, Route, get, public},
};
use svc_store::{StoredText, Tx, options, posts};

use crate::{
    client::{HttpResponse, send},
    site::{Site, basic, on_sqlite, store},
};

pub(crate) const API: &str = "/svc-json/svc/v2";

/// Responses that are read after every write.
pub(crate) const READS: &[&str] = &[
    "/posts",
    "/posts?per_page=1&page=2",
    "/posts?orderby=title&order=asc&_fields=id,title",
    "/posts?orderby=modified&_fields=id,modified",
    "/posts?search=world",
    "/posts?categories=1",
    "/posts?slug=hello-world",
    "/posts?sticky=true",
    "/posts?_embed",
    "/posts?context=edit&status=any",
    "/posts/1",
    "/posts/1?_embed",
    "/posts/1?context=edit",
    "/posts/1/revisions",
    "/posts/999999",
    "/pages",
    "/categories",
    "/categories/1",
    "/tags?hide_empty=true",
    "/users",
    "/users/1?context=edit",
    "/users/me",
    "/comments",
    "/comments?post=1&context=edit",
    "/media",
    "/search?search=hello",
    "/types?context=edit",
    "/taxonomies",
    "/statuses",
    "/settings",
    "/templates",
    "/navigation",
    "/../..",
];

/// Pages for visitors that are read after every write.
pub(crate) const PAGES: &[&str] = &[
    "/",
    "/hello-world/",
    "/?p=1",
    "/sample-page/",
    "/category/uncategorized/",
    "/author/admin/",
    "/?s=world",
    "/feed/",
    "/comments/feed/",
    "/hello-world/embed/",
    "/hello-world/feed/",
    "/wp-sitemap.xml",
    "/wp-sitemap-posts-post-1.xml",
    "/robots.txt",
    "/xmlrpc.php?rsd",
    "/no-such-page/",
];

/// Writes over the REST API: method, path, body. `{id}` is the id that the first one returned.
pub(crate) fn writes() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        (
            "POST",
            "/posts",
            json!({"title": "New world", "content": "<!-- wp:latest-posts /-->", "status": "publish", "categories": [1]}),
        ),
        ("POST", "/posts/1", json!({"title": "Another title"})),
        ("POST", "/posts/{id}", json!({"content": "Only the text", "excerpt": "An excerpt"})),
        ("POST", "/posts/{id}", json!({"sticky": true})),
        ("POST", "/categories", json!({"name": "Second"})),
        ("POST", "/categories/1", json!({"name": "Renamed", "description": "With a text"})),
        ("POST", "/posts/1", json!({"categories": []})),
        ("POST", "/tags", json!({"name": "A tag"})),
        (
            "POST",
            "/comments",
            json!({"post": 1, "content": "Hello", "author_name": "Guest", "author_email": "guest@example.org"}),
        ),
        ("POST", "/users/1", json!({"name": "Another name", "description": "About"})),
        (
            "POST",
            "/users",
            json!({"username": "second", "email": "second@example.org", "password": "a long password", "roles": ["author"]}),
        ),
        ("POST", "/settings", json!({"title": "Another site", "posts_per_page": 2, "timezone": "Europe/Berlin"})),
        ("POST", "/posts/{id}/autosaves", json!({"title": "Autosaved"})),
        ("POST", "/posts/{id}", json!({"status": "draft"})),
        ("POST", "/posts/{id}", json!({"sticky": false})),
        ("POST", "/posts/{id}", json!({"status": "publish", "password": "secret"})),
        ("DELETE", "/posts/{id}", json!({})),
        ("DELETE", "/posts/{id}?force=true", json!({})),
    ]
}

/// Writes of another program to the same database.
pub(crate) const WRITES_OF_OTHERS: &[fn(&mut Tx) -> svc_store::Result<()>] = &[
    |tx| {
        let mut post = posts::get(tx, PostId(1))?.expect("a new site has a post");
        post.title = "By another program".to_owned();
        posts::update(tx, &post).map(drop)
    },
    |tx| options::set(tx, "blogname", &StoredText::of("By another program"), true),
    |tx| options::set(tx, "permalink_structure", &StoredText::of("/%year%/%postname%/"), true),
];

struct Callers {
    headers: Vec<(&'static str, String)>,
}

impl Callers {
    fn new(admin: &str) -> Self {
        let headers = vec![
            ("", String::new()),
            ("Authorization", basic(admin)),
            ("Cookie", "session=unknown".to_owned()),
            ("X-SVC-Nonce", "wrong".to_owned()),
        ];
        Callers { headers }
    }

    /// Compares each response of each caller: the first one, which may be generated; the second, which may be cached; and
    /// one that is never cached.
    ///
    /// The first two callers and the usual shape of URLs, or all.
    async fn compare(&self, site: &Site, after: &str, all: bool) {
        let n_callers = if all { self.headers.len() } else { 2 };
        for path in READS {
            let usual = format!("{API}{path}").replace("/svc-json/svc/v2/../..", "/svc-json/");
            let other = format!("/?rest_route=/svc/v2{}", path.replacen('?', "&", 1)).replace("/svc/v2/../..", "/");
            for url in if all { vec![usual, other] } else { vec![usual] } {
                for (name, value) in &self.headers[..n_callers] {
                    let caller: &[(&str, &str)] = if name.is_empty() { &[] } else { &[(name, value)] };
                    let first = send(site.address, "GET", &url, caller, "").await;
                    let second = send(site.address, "GET", &url, caller, "").await;
                    let fresh = [caller, &[("X-HTTP-Method-Override", "GET")]].concat();
                    let fresh = send(site.address, "GET", &url, &fresh, "").await;
                    for (name_of, response) in [("first", first), ("second", second)] {
                        assert_eq!(compared(&response), compared(&fresh), "{name_of} {url} as {name} after {after}");
                    }
                }
            }
        }
        for url in PAGES {
            let first = send(site.address, "GET", url, &[], "").await;
            let second = send(site.address, "GET", url, &[("Cookie", "other=1")], "").await;
            // Pages for users are not cached, whether the cookie is valid or not.
            let fresh = send(site.address, "GET", url, &[("Cookie", "svc_logged_in_0=1")], "").await;
            for (name_of, response) in [("first", first), ("second", second)] {
                assert_eq!(compared(&response), compared(&fresh), "{name_of} {url} after {after}");
            }
        }
    }
}

/// The parts that must be equal: everything but headers that identify the request.
pub(crate) fn compared(response: &HttpResponse) -> (u16, &str, Vec<(&str, &str)>) {
    // `Last-Modified` appears some seconds after the last change.
    let not_compared = ["date", "x-request-id", "last-modified"];
    let is_compared = |name: &str| !not_compared.contains(&name.to_ascii_lowercase().as_str());
    let headers = response.headers.iter().filter(|(name, _)| is_compared(name));
    let mut headers: Vec<_> = headers.map(|(name, value)| (name.as_str(), value.as_str())).collect();
    headers.sort_unstable();
    (response.status, &response.body, headers)
}

#[tokio::test(flavor = "multi_thread")]
async fn cached_responses_equal_generated_ones_after_every_write() {
    let site = Site::start().await;
    let admin = site.app_password();
    let callers = Callers::new(&admin);
    callers.compare(&site, "nothing", true).await;
    let mut id = Value::Null;
    for (method, path, body) in writes() {
        let path = path.replace("{id}", &id.to_string());
        let authorization = basic(&admin);
        let headers = [("Authorization", authorization.as_str()), ("Content-Type", "application/json")];
        let written = send(site.address, method, &format!("{API}{path}"), &headers, &body.to_string()).await;
        assert!(written.status < 300, "{method} {path}: {}", written.body);
        if id.is_null() {
            id = written.json()["id"].clone();
        }
        callers.compare(&site, &format!("{method} {path} {body}"), false).await;
    }
    let other = store(&site.folder);
    for (n, write) in WRITES_OF_OTHERS.iter().enumerate() {
        other.write_blocking(*write).unwrap();
        callers.compare(&site, &format!("write {n} of another program"), n == 0).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_are_generated_again_only_if_their_data_changes() {
    if !on_sqlite() {
        // Other tests write to the same server, which invalidates everything.
        return;
    }
    let calls = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&calls);
    let builder = SiteBuilder::new().register(move |registry, rest| {
        let (calls, site) = (Arc::clone(&counted), Arc::clone(&rest.site));
        let title = move |req: Request| {
            calls.fetch_add(1, Ordering::SeqCst);
            let post = site.store.read(req.cx(), |db| posts::get(db, PostId(1)));
            async move {
                let post = post.map_err(|_| Error::new("no_post", "No post."))?;
                Result::Ok(Response::new(post.map(|post| post.title)))
            }
        };
        registry.route("acme/v1", Route::new("/title").endpoint(get(title, public).cacheable())).unwrap();
    });
    let site = Site::start_in(tempfile::tempdir().unwrap(), &builder, &[]).await;
    let admin = site.app_password();
    // The first post that is published stores an option for calendars.
    site.post(&format!("{API}/posts"), &admin, &json!({"title": "first", "status": "publish"})).await;
    let read = async || site.get("/svc-json/acme/v1/title").await.body;
    let before = read().await;
    let n = calls.load(Ordering::SeqCst);
    for _ in 0..5 {
        let other = site.post(&format!("{API}/posts"), &admin, &json!({"title": "x", "status": "publish"})).await;
        assert_eq!(other.status, 201);
        assert_eq!(read().await, before);
    }
    assert_eq!(calls.load(Ordering::SeqCst), n, "other posts were created");
    for title in ["a", "b"] {
        site.post(&format!("{API}/posts/1"), &admin, &json!({ "title": title })).await;
        assert_eq!(read().await, format!("\"{title}\""));
        assert_eq!(read().await, format!("\"{title}\""));
    }
    assert_eq!(calls.load(Ordering::SeqCst), n + 2, "the post was changed twice");
}
