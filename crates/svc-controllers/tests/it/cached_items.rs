//! Lists are built from cached items, which are as current as the stored data.

use serde_json::{Value, json};
use svc_routing::{DependsOn, ExtraField, Method};
use svc_versions::Context;

use crate::harness::{ADMIN, EDITOR, Harness, NOBODY};

const BOOKS: &str = "/svc/v2/books";

async fn list(h: &Harness, user: i64, query: &str) -> Vec<Value> {
    h.get(user, BOOKS, query).await.body.as_array().cloned().unwrap_or_default()
}

fn path(item: &Value) -> String {
    format!("{BOOKS}/{}", item["id"])
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_visible_in_cached_lists() {
    let h = Harness::new();
    // Without texts, which depend on the theme's files, items are cached for long.
    let mut spent = Vec::new();
    for query in ["_fields=id,slug", "_fields=id,slug&per_page=50"] {
        let start = h.statements();
        list(&h, NOBODY, query).await;
        spent.push(h.statements() - start);
    }
    assert!(spent[1] < spent[0], "the items are cached: {spent:?}");
    let before = list(&h, NOBODY, "").await;
    assert!(before.len() > 1);
    assert_eq!(list(&h, NOBODY, "unknown=1").await, before);

    let changed = path(&before[0]);
    for n in 1..3 {
        let title = format!("Changed {n}");
        let put = h.json(ADMIN, Method::PUT, &changed, json!({"title": title, "content": title})).await;
        assert_eq!(put.status, 200);
        let after = list(&h, NOBODY, "").await;
        assert_eq!(after[0]["title"]["rendered"], title);
        assert_eq!(after[1..], before[1..]);
        assert_eq!(h.get(NOBODY, &changed, "").await.body["title"]["rendered"], title);
    }
    // Revisions are counted in the links of their post.
    let n_revisions = async || list(&h, NOBODY, "").await[0]["_links"]["version-history"][0]["count"].clone();
    let count = n_revisions().await.as_u64().unwrap();
    let autosaved = h.json(ADMIN, Method::POST, &format!("{changed}/autosaves"), json!({"title": "Unsaved"})).await;
    assert_eq!(autosaved.status, 200, "{:?}", autosaved.body);
    assert_eq!(n_revisions().await.as_u64(), Some(count + 1));

    assert_eq!(h.json(ADMIN, Method::PUT, &changed, json!({"status": "private"})).await.status, 200);
    let all = "status=publish,private";
    assert_eq!(list(&h, NOBODY, "").await, before[1..]);
    let is_listed = async || list(&h, ADMIN, all).await.iter().any(|item| item["id"] == before[0]["id"]);
    assert!(is_listed().await, "callers have items of their own");
    assert_eq!(h.json(ADMIN, Method::DELETE, &changed, json!({})).await.status, 200);
    assert!(!is_listed().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn items_depend_on_terms_and_options() {
    let h = Harness::new();
    let classes =
        async || h.get(NOBODY, "/svc/v2/posts", "categories=2&per_page=1").await.body[0]["class_list"].to_string();
    classes().await;
    let put = h.json(ADMIN, Method::PUT, "/svc/v2/categories/2", json!({"slug": "renamed"})).await;
    assert_eq!(put.status, 200, "{:?}", put.body);
    assert!(classes().await.contains("category-renamed"));
    let zone = h.json(ADMIN, Method::POST, "/svc/v2/settings", json!({"timezone": "Asia/Tokyo"})).await;
    assert_eq!(zone.status, 200, "{:?}", zone.body);
    assert_eq!(list(&h, NOBODY, "").await[0]["date"], h.get(NOBODY, BOOKS, "_fields=date").await.body[0]["date"]);
}

/// A function with unknown inputs is called for each response, a declared one once for each item.
#[tokio::test(flavor = "multi_thread")]
async fn declared_fields_are_cached() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use svc_controllers::{mount, site_info};
    use svc_routing::{Registry, Request};

    let h = Harness::new();
    for (inputs, is_cached) in [(DependsOn::Unknown, false), (DependsOn::Object, true)] {
        let calls = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&calls);
        let field = ExtraField::without_schema().get(move |item, _| {
            counter.fetch_add(1, Ordering::Relaxed);
            async move { Ok(item["id"].clone()) }
        });
        let mut registry = Registry::for_site(site_info(&Context::background(), &h.site).unwrap());
        registry.field(&["book"], "same_id", field.depends_on(inputs));
        mount(&Context::background(), &mut registry, &h.rest).unwrap();
        let server = registry.build();
        let mut n_calls = Vec::new();
        for _ in 0..2 {
            let body =
                server.serve(Request::get(BOOKS).with_query_string("_fields=id,same_id")).await.body.into_value();
            let items = body.as_array().unwrap();
            assert!(!items.is_empty() && items.iter().all(|item| item["same_id"] == item["id"]));
            n_calls.push(calls.load(Ordering::Relaxed) / items.len());
        }
        assert_eq!(n_calls, if is_cached { [1, 1] } else { [1, 2] });
    }
}

const READS: &[&str] = &[
    "categories",
    "categories/1",
    "categories?per_page=2&orderby=count&_fields=id,count,_links",
    "categories?post=1",
    "tags?hide_empty=true",
    "genres",
    "users",
    "users?context=edit&orderby=email",
    "users/1?context=edit",
    "users/me",
    "users/3",
    "comments",
    "comments?context=edit&status=all",
    "comments/1",
    "comments/1?_embed",
    "media",
    "media?context=edit&per_page=3",
    "search?search=e",
    "search?search=e&_embed",
    "search?type=term",
    "search?type=post-format",
    "search?_fields=title&per_page=3",
    "types?context=edit",
    "types/post",
    "taxonomies",
    "taxonomies?type=post",
    "taxonomies/category?context=edit",
    "statuses",
    "statuses/draft",
    "posts?_embed",
];

/// Every family has, after each write, the same responses from cached items as without a cache.
#[tokio::test(flavor = "multi_thread")]
async fn all_families_are_as_current_as_the_stored_data() {
    let h = Harness::new();
    let first = h.get(ADMIN, "/svc/v2/comments", "_fields=id&per_page=1").await;
    let comment = format!("comments/{}", first.body[0]["id"]);
    let read_all = async || {
        let mut all = Vec::new();
        for path in READS {
            let path = path.replace("comments/1", &comment);
            let (path, query) = path.split_once('?').unwrap_or((&path, ""));
            for user in [NOBODY, ADMIN, EDITOR] {
                let response = h.get(user, &format!("/svc/v2/{path}"), query).await;
                all.push((path.to_owned(), user, response.status, response.headers, response.body));
            }
        }
        all
    };
    let posts = h.get(ADMIN, "/svc/v2/posts", "_fields=id&per_page=1").await;
    let post = format!("posts/{}", posts.body[0]["id"]);
    let writes = [
        ("tags", json!({"name": "Another tag"})),
        ("categories/1", json!({"name": "Renamed", "slug": "renamed"})),
        (post.as_str(), json!({"categories": [1], "title": "Renamed here"})),
        ("users/1", json!({"name": "Another name", "url": "http://example.org/"})),
        ("users/3", json!({"roles": ["editor"], "email": "other@example.org"})),
        (comment.as_str(), json!({"content": "Another text"})),
        (comment.as_str(), json!({"status": "hold"})),
        (post.as_str(), json!({"status": "private"})),
        ("settings", json!({"title": "Another site", "timezone": "Asia/Tokyo"})),
    ];
    let capacity = 16 << 20;
    for (path, body) in writes {
        read_all().await;
        let hits = h.rest.item_cache.usage().hits;
        read_all().await;
        assert!(h.rest.item_cache.usage().hits >= hits + 60, "items are cached");
        let written = h.json(ADMIN, Method::POST, &format!("/svc/v2/{path}"), body).await;
        assert!(written.status < 300, "{path}: {:?}", written.body);
        let cached = read_all().await;
        h.rest.item_cache.set_capacity(0);
        for (cached, expected) in cached.iter().zip(read_all().await) {
            assert_eq!(*cached, expected, "after {path}");
        }
        h.rest.item_cache.set_capacity(capacity);
        for user in [NOBODY, ADMIN, EDITOR] {
            let author = h.get(user, "/svc/v2/users/1", "").await.body["name"].clone();
            let posts = h.get(user, "/svc/v2/posts", "author=1&per_page=1&_embed").await.body;
            assert_eq!(posts[0]["_embedded"]["author"][0]["name"], author, "after {path}");
        }
    }
}

/// A name of a field with a comma is one unknown field, also if the same text was parsed as two names before.
#[tokio::test(flavor = "multi_thread")]
async fn selections_of_fields_are_not_mixed() {
    for first in ["_fields=id,name", "_fields[]=id,name"] {
        let h = Harness::new();
        h.get(NOBODY, "/svc/v2/tags", first).await;
        for (fields, expected) in [("_fields=id,name", 2), ("_fields[]=id,name", 0)] {
            let response = h.get(NOBODY, "/svc/v2/tags", fields).await;
            let n_fields = response.body[0].as_object().map_or(0, serde_json::Map::len);
            assert_eq!(n_fields, expected, "{fields} after {first}: {}", response.body);
        }
    }
}
