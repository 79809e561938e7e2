//! Lists are built from cached items, which are as current as the stored data.

use serde_json::{Value, json};
use svc_routing::{DependsOn, ExtraField, Method};

use crate::harness::{ADMIN, Harness, NOBODY};

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
        let mut registry = Registry::for_site(site_info(&h.site).unwrap());
        registry.field(&["book"], "same_id", field.depends_on(inputs));
        mount(&mut registry, &h.site, true);
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
