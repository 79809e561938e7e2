//! Texts of posts that another program renders: which these are, how long they are used, and what happens without them.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::json;
use svc_model::{Post, UserId};
use svc_render::external_texts::{ExternalRenderer, ExternalTexts, Markup, Outcome, Rendering, Texts};
use svc_routing::Method;

use crate::harness::{ADMIN, Harness, NOBODY};

const BOOKS: &str = "/svc/v2/books";

/// Renders contents in upper case for visitors, and counts the rendered posts. Contents with `twice` are unstable, those with `away`
/// cannot be rendered.
#[derive(Clone, Default)]
struct Upper(Arc<AtomicUsize>);

impl ExternalRenderer for Upper {
    fn render<'a>(&'a self, user: UserId, posts: &'a [Post]) -> Rendering<'a> {
        let outcome = move |post: &Post| {
            self.0.fetch_add(1, Ordering::Relaxed);
            let content = format!("{} for {}", post.content.to_uppercase(), user.0);
            let texts = Texts { title: post.title.to_uppercase(), content, excerpt: "AN EXCERPT".to_owned() };
            match &post.content {
                content if content.contains("twice") => Outcome::Unstable(texts),
                content if content.contains("away") => Outcome::Failed,
                _ => Outcome::Stable(texts),
            }
        };
        Box::pin(async move { posts.iter().map(outcome).collect() })
    }
}

fn site() -> (Harness, Upper) {
    let upper = Upper::default();
    let markup = Markup::new(["map".to_owned()], ["shop/cart".to_owned()]);
    let texts = ExternalTexts::new(upper.clone(), markup);
    (Harness::with(|site| site.external_texts = Some(texts)), upper)
}

async fn create(h: &Harness, content: &str) -> String {
    let body = json!({"title": "A title", "content": content, "status": "publish"});
    let created = h.json(ADMIN, Method::POST, BOOKS, body).await;
    assert_eq!(created.status, 201, "{:?}", created.body);
    format!("{BOOKS}/{}", created.body["id"])
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_with_unknown_markup_are_those_of_the_other_program() {
    let (h, upper) = site();
    let (map, cart) = (create(&h, "A [map]").await, create(&h, "<!-- wp:shop/cart /-->").await);
    let plain = create(&h, "Nothing").await;
    upper.0.store(0, Ordering::Relaxed);
    for _ in 0..3 {
        let body = h.get(NOBODY, &map, "").await.body;
        assert_eq!(body["content"]["rendered"], "A [MAP] for 0");
        assert_eq!((&body["title"]["rendered"], &body["excerpt"]["rendered"]), (&json!("A TITLE"), &json!(null)));
        assert_eq!(h.get(NOBODY, &cart, "").await.body["content"]["rendered"], "<!-- WP:SHOP/CART /--> for 0");
        assert_eq!(h.get(NOBODY, &plain, "").await.body["content"]["rendered"], "<p>Nothing</p>\n");
        let list = h.get(NOBODY, BOOKS, "orderby=id&per_page=3").await.body;
        assert_eq!(list[2]["content"]["rendered"], "A [MAP] for 0", "{list}");
    }
    assert_eq!(upper.0.load(Ordering::Relaxed), 2, "each text is rendered once");
    let edit = h.get(ADMIN, &map, "context=edit").await.body;
    assert_eq!(edit["content"]["rendered"], format!("A [MAP] for {ADMIN}"), "callers have texts of their own");
    assert_eq!(edit["content"]["raw"], "A [map]");
    // Any write may change a text.
    h.json(ADMIN, Method::POST, "/svc/v2/settings", json!({"description": "Another"})).await;
    h.get(NOBODY, &map, "").await;
    assert_eq!(upper.0.load(Ordering::Relaxed), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn inserted_texts_count() {
    let (h, _) = site();
    let pattern = json!({"title": "A pattern", "content": "<!-- wp:shop/cart /-->", "status": "publish"});
    let pattern = h.json(ADMIN, Method::POST, "/svc/v2/blocks", pattern).await.body["id"].clone();
    let outer = create(&h, &format!("<!-- wp:block {{\"ref\":{pattern}}} /-->")).await;
    let rendered = h.get(NOBODY, &outer, "").await.body["content"]["rendered"].to_string();
    assert!(rendered.contains("WP:BLOCK"), "{rendered}");
}

#[tokio::test(flavor = "multi_thread")]
async fn types_are_rendered_by_the_other_program_on_request() {
    let (h, _) = site();
    let plain = create(&h, "Nothing").await;
    let external = h.site.external_texts.as_ref().unwrap();
    let add = |types: &mut std::collections::BTreeSet<String>| {
        types.insert("book".to_owned());
    };
    assert!(external.change_types(add) && !external.change_types(add));
    h.site.store.versions().change_all();
    let only_title = h.get(NOBODY, &plain, "_fields=title").await.body;
    assert_eq!(only_title, json!({"title": {"rendered": "A TITLE"}}));
    assert_eq!(h.get(NOBODY, &plain, "").await.body["content"]["rendered"], "NOTHING for 0");
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_fail_without_texts_and_writes_do_not() {
    let (h, _) = site();
    let away = json!({"title": "t", "content": "[map] away", "status": "publish"});
    let created = h.json(ADMIN, Method::POST, BOOKS, away).await;
    assert_eq!((created.status, &created.body["content"]["rendered"]), (201, &json!("<p>[map] away</p>\n")));
    let away = format!("{BOOKS}/{}", created.body["id"]);
    for (path, query) in [(&away[..], ""), (BOOKS, "")] {
        let failed = h.get(NOBODY, path, query).await;
        assert_eq!((failed.status, failed.code()), (502, "rest_texts_unavailable"));
    }
    // They are needed for the texts only.
    assert_eq!(h.get(NOBODY, &away, "_fields=id").await.status, 200);
    assert_eq!(h.json(ADMIN, Method::PUT, &away, json!({"title": "changed"})).await.status, 200);
    assert_eq!(h.get(ADMIN, &format!("{away}/revisions"), "").await.code(), "rest_texts_unavailable");
    assert_eq!(h.json(ADMIN, Method::DELETE, &away, json!({"force": true})).await.status, 200);

    let created = h.json(ADMIN, Method::POST, BOOKS, json!({"title": "t", "content": "[map] twice"})).await;
    assert_eq!(
        created.body["content"]["rendered"],
        format!("[MAP] TWICE for {ADMIN}"),
        "the only post of the response"
    );
    let path = format!("{BOOKS}/{}", created.body["id"]);
    assert_eq!(h.get(ADMIN, &path, "context=edit").await.status, 502);
    let published = h.json(ADMIN, Method::PUT, &path, json!({"status": "publish"})).await;
    assert_eq!(published.body["content"]["rendered"], format!("[MAP] TWICE for {ADMIN}"));
    h.json(ADMIN, Method::DELETE, &path, json!({"force": true})).await;

    // Protected: locked as always, and with the password an error.
    let body = json!({"title": "t", "content": "[map]", "status": "publish", "password": "secret"});
    let locked = format!("{BOOKS}/{}", h.json(ADMIN, Method::POST, BOOKS, body).await.body["id"]);
    assert_eq!(h.get(NOBODY, &locked, "").await.body["content"]["rendered"], "");
    assert_eq!(h.get(NOBODY, &locked, "password=secret").await.status, 502);
}
