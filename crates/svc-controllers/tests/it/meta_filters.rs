//! Lists of posts that are filtered and sorted by registered meta.

use serde_json::{Value, json};
use svc_auth::Keys;
use svc_controllers::RestSetup;
use svc_routing::Method;
use svc_site::MetaField;
use svc_store::{StoredText, options};
use svc_versions::Context;

use crate::harness::{ADMIN, AUTHOR, CONTRIBUTOR, EDITOR, Harness, NOBODY, TestResponse};

const POSTS: &str = "/svc/v2/posts";

fn register(setup: &mut RestSetup) {
    setup.site.keys = Some(Keys::new([("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")]));
    let meta = &mut setup.registries.meta;
    meta.register("post", "post", MetaField::new("fx_price", "number").named("price").queryable());
    meta.register("post", "post", MetaField::new("isbn", "string").queryable());
    meta.register("post", "post", MetaField::new("featured", "boolean").queryable());
    let released = MetaField::new("released", "string").schema(json!({"format": "date-time"}));
    meta.register("post", "post", released.queryable());
    meta.register("post", "post", MetaField::new("sizes", "integer").list().queryable());
    meta.register("post", "post", MetaField::new("secret", "string"));
    meta.register("post", "post", MetaField::new("_protected", "string").queryable().for_editors());
    meta.register(
        "post",
        "post",
        MetaField::new("parts", "array").schema(json!({"items": {"type": "string"}})).queryable(),
    );
    meta.register("post", "attachment", MetaField::new("isbn", "string").queryable());
    meta.register("post", "page", MetaField::new("shelf", "string").queryable());
    let for_editors = json!({"context": ["edit"]});
    meta.register("post", "post", MetaField::new("purchase_price", "string").schema(for_editors).queryable());
    let mixed = json!({"type": ["string", "array"], "items": {"type": "string"}});
    meta.register("post", "post", MetaField::new("mixed", "string").schema(mixed).queryable());
    // Registered for all posts too, without a filter.
    meta.register("post", "", MetaField::new("internal", "string"));
    meta.register("post", "post", MetaField::new("internal", "string").queryable());
}

fn ids(body: &Value) -> Vec<i64> {
    body.as_array().into_iter().flatten().filter_map(|item| item["id"].as_i64()).collect()
}

async fn create(h: &Harness, user: i64, status: &str, meta: Value) -> i64 {
    let body = json!({"title": "Book", "content": "x", "status": status, "meta": meta});
    let created = h.json(user, Method::POST, POSTS, body).await;
    assert_eq!(created.status, 201, "{:?}", created.body);
    created.body["id"].as_i64().unwrap()
}

async fn found(h: &Harness, user: i64, query: &str) -> Vec<i64> {
    let list = h.get(user, POSTS, &format!("{query}&_fields=id&per_page=100")).await;
    assert_eq!(list.status, 200, "{query}: {:?}", list.body);
    let ids = ids(&list.body);
    assert_eq!(list.header("X-SVC-Total"), Some(ids.len().to_string().as_str()), "{query}");
    ids
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_and_orders() {
    let h = Harness::with(register);
    let book = |price: f64, isbn: &str, released: &str, featured: bool, sizes: Value| json!({"price": price, "isbn": isbn, "released": released, "featured": featured, "sizes": sizes});
    let a = create(&h, ADMIN, "publish", book(9.5, "978-1", "2024-01-01T00:00:00", true, json!([1, 20]))).await;
    let b = create(&h, ADMIN, "publish", book(100.0, "978-2", "2024-06-01T00:00:00", false, json!([20]))).await;
    let c = create(&h, ADMIN, "publish", book(-1.0, "a,b c", "2023-06-01T00:00:00", true, json!([3]))).await;
    for (query, expected) in [
        ("meta[isbn]=978-1", vec![a]),
        ("meta[isbn][in]=978-1,978-2&order=asc", vec![a, b]),
        ("meta[isbn][in][]=a,b c&meta[isbn][exists]=true", vec![c]),
        ("meta[price]=9.50", vec![a]),
        ("meta[price][gte]=9.5&order=asc", vec![a, b]),
        ("meta[price][gt]=9.5", vec![b]),
        ("meta[price][gte]=0&meta[price][lte]=50", vec![a]),
        ("meta[price][lt]=0", vec![c]),
        ("meta[price][in]=-1,100&order=asc", vec![b, c]),
        ("meta[featured]=true&orderby=id&order=asc", vec![a, c]),
        ("meta[featured]=false", vec![b]),
        ("meta[released][gte]=2024-01-01T00:00:00&meta[released][lt]=2024-06-01T00:00:00", vec![a]),
        ("meta[sizes]=20&order=asc", vec![a, b]),
        ("meta[sizes][lte]=3&order=asc", vec![a, c]),
        ("orderby=meta.price", vec![b, a, c]),
        ("orderby=meta.price&order=asc", vec![c, a, b]),
        ("orderby=meta.isbn&order=asc&meta[featured]=1", vec![a, c]),
        ("orderby=meta.released", vec![b, a, c]),
        ("meta[isbn]=none", vec![]),
        ("meta[isbn]=978-1&search=nothing", vec![]),
        ("meta[isbn]=978-1&search=book", vec![a]),
        ("meta[isbn][exists]=true&orderby=meta.price&search=book", vec![b, a, c]),
    ] {
        assert_eq!(found(&h, NOBODY, query).await, expected, "{query}");
    }
    let without = found(&h, NOBODY, "meta[isbn][exists]=false").await;
    assert_eq!((without.len(), without.contains(&a)), (51, false));
}

#[tokio::test(flavor = "multi_thread")]
async fn other_meta_is_refused() {
    let h = Harness::with(register);
    let unlimited = "x".repeat(300);
    let many = vec!["1"; 101].join(",");
    for (route, query) in [
        (POSTS, "meta[secret]=x"),
        (POSTS, "meta[_protected]=x"),
        (POSTS, "meta[parts]=x"),
        (POSTS, "meta[unregistered]=x"),
        (POSTS, "meta[purchase_price]=5"),
        (POSTS, "meta[mixed]=x"),
        (POSTS, "meta[internal]=x"),
        (POSTS, "meta[fx_price]=1"),
        (POSTS, "meta[_thumbnail_id][exists]=true"),
        (POSTS, "meta=x"),
        (POSTS, "meta[]=x"),
        (POSTS, "meta[price]=cheap"),
        (POSTS, "meta[price][like]=1"),
        (POSTS, "meta[price][gte][x]=1"),
        (POSTS, "meta[price][gte]="),
        (POSTS, "meta[isbn][exists]=maybe"),
        (POSTS, "meta[released][gte]=yesterday"),
        (POSTS, &format!("meta[isbn]={unlimited}")),
        (POSTS, &format!("meta[price][in]={many}")),
        (POSTS, "orderby=meta.secret"),
        (POSTS, "orderby=meta._protected"),
        (POSTS, "orderby=meta.unregistered"),
        (POSTS, "orderby=meta.purchase_price"),
        (POSTS, "orderby=meta.internal"),
        (POSTS, "orderby=meta."),
        ("/svc/v2/pages", "meta[isbn]=978-1"),
        ("/svc/v2/pages", "orderby=meta.isbn"),
        // Whether an attachment can be read depends on other posts.
        ("/svc/v2/media", "meta[isbn]=978-1"),
        ("/svc/v2/media", "orderby=meta.isbn"),
    ] {
        for user in [NOBODY, ADMIN] {
            let refused = h.get(user, route, query).await;
            assert_eq!((refused.status, refused.code()), (400, "rest_invalid_param"), "{route}?{query}");
        }
    }
    // Values are data.
    for value in ["' OR '1'='1", "%25", "_", "\\", "x%00y", "--"] {
        assert_eq!(found(&h, NOBODY, &format!("meta[isbn]={value}")).await, [0_i64; 0], "{value}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_items_nor_totals_tell_of_posts_that_the_caller_may_not_read() {
    let h = Harness::with(register);
    let meta = || json!({"isbn": "hidden", "price": 7});
    for (status, author) in [("private", ADMIN), ("draft", ADMIN), ("pending", ADMIN), ("draft", CONTRIBUTOR)] {
        create(&h, author, status, meta()).await;
    }
    create(&h, ADMIN, "publish", meta()).await;
    for (user, statuses, expected) in [
        (NOBODY, "publish", 1),
        (CONTRIBUTOR, "publish", 1),
        (CONTRIBUTOR, "private", 0),
        (CONTRIBUTOR, "draft", 1),
        (CONTRIBUTOR, "pending", 0),
        (CONTRIBUTOR, "any", 2),
        (AUTHOR, "draft,pending,private", 0),
        (EDITOR, "any", 5),
        (ADMIN, "any", 5),
    ] {
        for filter in ["meta[isbn]=hidden", "meta[price][gte]=7", "meta[isbn][exists]=true&orderby=meta.price"] {
            let list = h.get(user, POSTS, &format!("status={statuses}&{filter}&per_page=100")).await;
            assert_eq!(list.status, 200, "{user} {statuses}: {:?}", list.body);
            let total = list.header("X-SVC-Total").unwrap();
            assert_eq!(
                (ids(&list.body).len(), total),
                (expected, expected.to_string().as_str()),
                "{user} {statuses} {filter}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn totals_of_drafts_are_those_of_the_items() {
    let h = Harness::with(register);
    let page = |title: &str| json!({"title": title, "status": "draft", "meta": {"shelf": "a"}});
    let mut ids = Vec::new();
    for title in ["Privacy", "Other"] {
        let created = h.json(ADMIN, Method::POST, "/svc/v2/pages", page(title)).await;
        assert_eq!(created.status, 201, "{:?}", created.body);
        ids.push(created.body["id"].as_i64().unwrap());
    }
    let privacy_page = ids[0].to_string();
    h.site
        .write(&Context::background(), move |tx| {
            Ok(options::set(tx, "wp_page_for_privacy_policy", &StoredText::of(privacy_page.as_str()), true)?)
        })
        .await
        .unwrap();
    for (user, query, expected) in [
        (ADMIN, "status=draft&meta[shelf]=a", 2),
        (EDITOR, "status=draft&meta[shelf]=a", 1),
        (EDITOR, "status=draft,publish&orderby=meta.shelf", 1),
        (EDITOR, "status=any&meta[shelf]=a&cursor=", 1),
        (EDITOR, "status=private&meta[shelf]=a", 0),
        (AUTHOR, "status=draft&meta[shelf]=a", 0),
        (NOBODY, "meta[shelf]=a", 0),
    ] {
        let list = h.get(user, "/svc/v2/pages", query).await;
        // Those who do not edit pages may not ask for drafts.
        let total = list.header("X-SVC-Total").unwrap_or("0").to_owned();
        let items = list.body.as_array().map_or(0, Vec::len);
        assert_eq!((items, total), (expected, expected.to_string()), "{user} {query}: {:?}", list.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cursors_continue_and_sticky_posts_stay_in_their_place() {
    let h = Harness::with(register);
    let mut expected = Vec::new();
    for price in [0.1, 0.3, 1.0 / 3.0, 2.5, 1e20] {
        expected.push(create(&h, ADMIN, "publish", json!({"price": price})).await);
    }
    let sticky = h.json(ADMIN, Method::POST, POSTS, json!({"title": "S", "status": "publish", "sticky": true})).await;
    assert_eq!(sticky.status, 201);
    let list = "orderby=meta.price&order=asc&_fields=id&ignore_sticky=false";
    assert_eq!(found(&h, NOBODY, list).await, expected);
    let read = async |cursor: &str| h.get(NOBODY, POSTS, &format!("{list}&per_page=1&cursor={cursor}")).await;
    let cursor = |page: &TestResponse, relation: &str| {
        let links = page.header("Link")?;
        let link = links.split(", ").find(|link| link.ends_with(&format!("rel=\"{relation}\"")))?;
        Some(link.split("cursor=").nth(1)?.split(['&', '>']).next()?.to_owned())
    };
    let mut page = read("").await;
    let mut walked = ids(&page.body);
    for relation in ["next", "prev"] {
        while let Some(cursor) = cursor(&page, relation) {
            page = read(&cursor).await;
            walked.extend(ids(&page.body));
            assert!(walked.len() < 2 * expected.len(), "{walked:?}");
        }
    }
    let back = expected.iter().rev().skip(1);
    assert_eq!(walked, expected.iter().chain(back).copied().collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_change_with_their_meta() {
    let h = Harness::with(register);
    let id = create(&h, ADMIN, "publish", json!({"isbn": "978-1", "price": 1})).await;
    assert_eq!(found(&h, NOBODY, "meta[isbn]=978-1").await, [id]);
    let changed = h.json(ADMIN, Method::POST, &format!("{POSTS}/{id}"), json!({"meta": {"isbn": "978-9"}})).await;
    assert_eq!(changed.status, 200);
    assert_eq!(found(&h, NOBODY, "meta[isbn]=978-1").await, [0_i64; 0]);
    assert_eq!(found(&h, NOBODY, "meta[isbn]=978-9").await, [id]);
}

#[tokio::test(flavor = "multi_thread")]
async fn sites_without_queryable_meta_are_unchanged() {
    let h = Harness::new();
    let options = h.json(NOBODY, Method::OPTIONS, POSTS, json!({})).await;
    let args = &options.body["endpoints"][0]["args"];
    assert!(args.get("meta").is_none() && !args["orderby"].to_string().contains("meta."));
    assert_eq!(h.get(NOBODY, POSTS, "meta[fx_string]=x").await.code(), "rest_invalid_param");
    let h = Harness::with(register);
    let options = h.json(NOBODY, Method::OPTIONS, POSTS, json!({})).await;
    assert!(options.body["endpoints"][0]["args"].get("meta").is_none(), "the index does not list it");
}
