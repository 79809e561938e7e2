//! Posts, in process, on the recorded fixture.

use crate::harness::{ADMIN, AUTHOR, CONTRIBUTOR, Harness, NOBODY};
use serde_json::{Value, json};
use svc_routing::Method;
use svc_schema::Schema;
use svc_versions::Context;

const POSTS: &str = "/svc/v2/posts";

fn ids(body: &Value) -> Vec<i64> {
    body.as_array().into_iter().flatten().filter_map(|p| p["id"].as_i64()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn items_match_their_schema_in_every_context() {
    let h = Harness::new();
    for base in ["posts", "pages", "books"] {
        let route = format!("/svc/v2/{base}");
        let options = h.json(ADMIN, Method::OPTIONS, &route, json!({})).await;
        let source = options.body["schema"].clone();
        let schema = Schema::compile(source.clone());
        for context in ["view", "embed", "edit"] {
            let list = h.get(ADMIN, &route, &format!("context={context}&per_page=100&status=any")).await;
            assert_eq!(list.status, 200, "{:?}", list.body);
            for item in list.body.as_array().unwrap() {
                let mut item = item.clone();
                item.as_object_mut().unwrap().shift_remove("_links");
                schema.validate(&item, "item").unwrap_or_else(|e| panic!("{base} {context} {}: {e}", item["id"]));
                for name in item.as_object().unwrap().keys() {
                    let contexts = &source["properties"][name]["context"];
                    assert!(contexts.as_array().unwrap().contains(&json!(context)), "{base} {context} {name}");
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn head_requests_have_the_headers_of_get() {
    let h = Harness::new();
    let get = h.get(NOBODY, POSTS, "per_page=5").await;
    let head = h.json(NOBODY, Method::HEAD, POSTS, json!(null)).await;
    assert_eq!((head.status, &head.body), (200, &Value::Null));
    assert_eq!(head.header("X-SVC-Total"), get.header("X-SVC-Total"));
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_that_are_not_requested_are_not_loaded() {
    let h = Harness::new();
    let spent = async |query: &str| {
        h.get(NOBODY, POSTS, query).await;
        // No item is cached.
        h.site.store.versions().change_all();
        let before = h.statements();
        h.get(NOBODY, POSTS, query).await;
        h.statements() - before
    };
    let (all, few) = (spent("").await, spent("_fields=id,slug").await);
    assert!(few < all, "{few} of {all}");
}

#[tokio::test(flavor = "multi_thread")]
async fn create_update_trash_and_delete() {
    let h = Harness::new();
    let created = h
        .json(
            ADMIN,
            Method::POST,
            POSTS,
            json!({"title": "First", "content": "Body", "status": "publish", "categories": [2], "tags": [10],
                "sticky": true, "format": "quote", "meta": {"fx_integer": 7, "fx_strings": ["a", "b"]}}),
        )
        .await;
    assert_eq!(created.status, 201, "{:?}", created.body);
    let id = created.body["id"].as_i64().unwrap();
    let own = format!("{POSTS}/{id}");
    assert!(created.header("Location").unwrap().ends_with(&own));
    assert_eq!(created.body["slug"], "first");
    assert_eq!((&created.body["categories"], &created.body["sticky"]), (&json!([2]), &json!(true)));
    assert_eq!(created.body["meta"]["fx_strings"], json!(["a", "b"]));

    let twin = h.json(ADMIN, Method::POST, POSTS, json!({"title": "First", "status": "publish"})).await;
    assert_eq!(twin.body["slug"], "first-2");

    let changed = h.json(ADMIN, Method::PATCH, &own, json!({"title": "Second", "meta": {"fx_integer": null}})).await;
    assert_eq!(changed.body["title"]["raw"], "Second");
    assert_eq!(changed.body["meta"]["fx_integer"], 0);
    assert_eq!(changed.body["_links"]["version-history"][0]["count"], 1);

    let deleted = h.json(ADMIN, Method::DELETE, &own, json!({})).await;
    assert_eq!(
        (deleted.status, &deleted.body["status"], &deleted.body["slug"]),
        (200, &json!("trash"), &json!("first__trashed"))
    );
    let again = h.json(ADMIN, Method::DELETE, &own, json!({})).await;
    assert_eq!((again.status, again.code()), (410, "rest_already_trashed"));
    let back = h.json(ADMIN, Method::PATCH, &own, json!({"status": "publish"})).await;
    assert_eq!(back.body["slug"], "first");

    let deleted = h.json(ADMIN, Method::DELETE, &own, json!({"force": true})).await;
    assert_eq!((&deleted.body["deleted"], &deleted.body["previous"]["id"]), (&json!(true), &json!(id)));
    assert_eq!(h.get(ADMIN, &own, "").await.code(), "rest_post_invalid_id");
    assert!(!ids(&h.get(NOBODY, POSTS, "sticky=true").await.body).contains(&id));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_update_changes_nothing() {
    let h = Harness::new();
    let own = format!("{POSTS}/1000");
    let before = h.get(ADMIN, &own, "context=edit").await.body;
    let rejected = h.json(ADMIN, Method::PATCH, &own, json!({"title": "New", "meta": {"fx_integer": "x"}})).await;
    assert_eq!((rejected.status, rejected.code()), (400, "rest_invalid_type"));
    assert_eq!(h.get(ADMIN, &own, "context=edit").await.body, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_distinguish_unauthenticated_from_unauthorized_callers() {
    let h = Harness::new();
    #[rustfmt::skip]
    let rows = [
        (NOBODY, Method::POST, POSTS.to_owned(), json!({"title": "x"}), 401, "rest_cannot_create"),
        (CONTRIBUTOR, Method::POST, POSTS.to_owned(), json!({"title": "x", "status": "publish"}), 403, "rest_cannot_publish"),
        (AUTHOR, Method::POST, POSTS.to_owned(), json!({"title": "x", "author": 1}), 403, "rest_cannot_edit_others"),
        (AUTHOR, Method::POST, POSTS.to_owned(), json!({"title": "x", "sticky": true}), 403, "rest_cannot_assign_sticky"),
        (NOBODY, Method::PATCH, format!("{POSTS}/1000"), json!({"title": "x"}), 401, "rest_cannot_edit"),
        (AUTHOR, Method::PATCH, format!("{POSTS}/1014"), json!({"title": "x"}), 403, "rest_cannot_edit"),
        (NOBODY, Method::DELETE, format!("{POSTS}/1000"), json!({}), 401, "rest_cannot_delete"),
        (ADMIN, Method::PATCH, format!("{POSTS}/999999"), json!({"title": "x"}), 404, "rest_post_invalid_id"),
        (ADMIN, Method::POST, POSTS.to_owned(), json!({}), 400, "empty_content"),
        (ADMIN, Method::POST, POSTS.to_owned(), json!({"title": "x", "author": 9999}), 400, "rest_invalid_author"),
        (ADMIN, Method::POST, POSTS.to_owned(), json!({"id": 5, "title": "x"}), 400, "rest_post_exists"),
        (ADMIN, Method::POST, POSTS.to_owned(), json!({"id": 0, "title": "x"}), 404, "rest_post_invalid_id"),
    ];
    for (user, method, route, body, status, code) in rows {
        let response = h.json(user, method.clone(), &route, body.clone()).await;
        assert_eq!((response.status, response.code()), (status, code), "{method} {route} {body} as {user}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn private_posts_are_hidden_everywhere() {
    let h = Harness::new();
    // Texts of the fixture's drafts, private posts and password-protected posts.
    for query in ["per_page=100", "per_page=100&orderby=id", "search=Draft", "search=Private&per_page=100"] {
        let text = h.get(NOBODY, POSTS, query).await.body.to_string();
        for secret in ["Draft by admin", "Private by admin", "The hidden text", "The hidden excerpt", "secret"] {
            assert!(!text.contains(secret), "{query} shows {secret}");
        }
    }
    for (id, status) in [(1014, 401), (1016, 401), (1500, 404)] {
        assert_eq!(h.get(NOBODY, &format!("{POSTS}/{id}"), "").await.status, status, "{id}");
    }
    let unlocked = h.get(NOBODY, &format!("{POSTS}/1013"), "password=secret").await;
    assert!(unlocked.body["content"]["rendered"].as_str().unwrap().contains("The hidden text"));
    let wrong = h.get(NOBODY, &format!("{POSTS}/1013"), "password=wrong").await;
    assert_eq!((wrong.status, wrong.code()), (403, "rest_post_incorrect_password"));
}

/// WordPress makes slugs of titles otherwise than it makes them of what a list is filtered by.
#[tokio::test(flavor = "multi_thread")]
async fn slugs_that_a_list_is_filtered_by_are_not_made_of_titles() {
    let h = Harness::new();
    for slug in ["a/b", "über"] {
        let post = json!({"title": "x", "slug": slug, "status": "publish"});
        assert_eq!(h.json(ADMIN, Method::POST, POSTS, post).await.status, 201);
    }
    for (slug, found) in [("a-b", 1), ("a/b", 0), ("A-B", 1), ("uber", 1), ("%C3%BCber", 0), ("a-b,a/b", 1), ("a.b", 1)]
    {
        let list = h.get(ADMIN, POSTS, &format!("slug={slug}")).await;
        assert_eq!(list.body.as_array().unwrap().len(), found, "{slug}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn class_names_of_terms_are_their_slugs_unless_those_are_numbers() {
    let h = Harness::new();
    let mut expected = Vec::new();
    let mut terms = Vec::new();
    for (slug, class) in [("0", None), ("1e5", Some("id")), ("12", Some("id")), ("x-0", Some("slug"))] {
        let term = h.json(ADMIN, Method::POST, "/svc/v2/tags", json!({"name": slug})).await;
        assert_eq!(term.body["slug"], slug);
        expected.extend(class.map(|class| match class {
            "id" => format!("tag-{}", term.body["id"]),
            _ => format!("tag-{slug}"),
        }));
        terms.push(term.body["id"].clone());
    }
    let post = h.json(ADMIN, Method::POST, POSTS, json!({"title": "x", "tags": terms})).await;
    let classes = post.body["class_list"].as_array().unwrap().iter().map(|class| class.as_str().unwrap());
    let mut found: Vec<&str> = classes.filter(|class| class.starts_with("tag-")).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

/// WordPress takes the title 0 for none where it shows a placeholder.
#[tokio::test(flavor = "multi_thread")]
async fn blocks_show_a_placeholder_for_the_title_0() {
    let h = Harness::new();
    let post = |content: &str| json!({"title": "0", "content": content, "status": "publish"});
    let shown = h.json(ADMIN, Method::POST, POSTS, post("x")).await.body["id"].as_i64().unwrap();
    let comment = json!({"post": shown, "content": "Hello"});
    assert_eq!(h.json(ADMIN, Method::POST, "/svc/v2/comments", comment).await.status, 201);
    let blocks = "<!-- wp:latest-posts /--><!-- wp:latest-comments /--><!-- wp:post-title /-->";
    let response = h.json(ADMIN, Method::POST, POSTS, post(blocks)).await;
    let html = response.body["content"]["rendered"].as_str().unwrap();
    assert_eq!(html.matches(">(no title)<").count(), 3, "{html}");
    assert!(!html.contains("wp-block-post-title\""), "{html}");
}

/// WordPress redirects old slugs and dates to the current URL.
#[tokio::test(flavor = "multi_thread")]
async fn old_slugs_and_dates_are_recorded() {
    let h = Harness::new();
    let post = json!({"title": "Here", "slug": "one", "status": "publish", "date": "2024-03-01T10:00:00"});
    let id = h.json(ADMIN, Method::POST, POSTS, post).await.body["id"].as_i64().unwrap();
    let own = format!("{POSTS}/{id}");
    let recorded = || {
        let meta = h
            .site
            .read(&Context::background(), |db| Ok(svc_store::meta::load_one(db, svc_store::MetaKind::Post, id)?))
            .unwrap();
        (meta.all("_wp_old_slug").to_vec(), meta.all("_wp_old_date").to_vec())
    };
    let texts = |all: &[&str]| all.iter().map(|&text| svc_store::StoredText::of(text)).collect::<Vec<_>>();
    for (change, slugs, days) in [
        (json!({"title": "There"}), &[][..], &[][..]),
        (json!({"slug": "two"}), &["one"], &[]),
        (json!({"slug": "three", "date": "2024-03-02T10:00:00"}), &["one", "two"], &["2024-03-01"]),
        (json!({"slug": "one", "date": "2024-03-01T11:00:00"}), &["two", "three"], &["2024-03-02"]),
        (json!({"status": "draft", "slug": "four"}), &["two", "three"], &["2024-03-02"]),
    ] {
        assert_eq!(h.json(ADMIN, Method::PATCH, &own, change.clone()).await.status, 200);
        assert_eq!(recorded(), (texts(slugs), texts(days)), "{change}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn list_parameters_accept_equivalent_forms() {
    let h = Harness::new();
    // Pairs of equivalent queries.
    for (route, odd, plain) in [
        ("posts", "author=-3&per_page=50", "author=3&per_page=50"),
        ("posts", "include=-1000", "include=1000"),
        ("posts", "search=%20%3Cb%3Efox%3C/b%3E", "search=fox"),
        ("posts", "search=%20", ""),
        ("categories", "search=0", ""),
        ("search", "search=0", ""),
    ] {
        let route = format!("/svc/v2/{route}");
        let (odd_answer, plain) = (h.get(ADMIN, &route, odd).await, h.get(ADMIN, &route, plain).await);
        assert_eq!((odd_answer.status, ids(&odd_answer.body)), (200, ids(&plain.body)), "{route}?{odd}");
    }
    // Without a status, lists have published posts and the private posts that the caller may read.
    let total =
        async |user: i64| h.get(user, POSTS, "status=&per_page=1").await.header("X-SVC-Total").map(str::to_owned);
    for (user, expected) in [(NOBODY, "51"), (AUTHOR, "52"), (ADMIN, "53")] {
        assert_eq!(total(user).await.as_deref(), Some(expected), "{user}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn edge_cases_of_post_fields() {
    let h = Harness::new();
    // Field, value in the request, value in the response.
    for (name, sent, expected) in [
        ("status", json!(null), json!("draft")),
        ("comment_status", json!(null), json!("open")),
        ("format", json!(null), json!("standard")),
        // A new draft without an explicit status keeps a slug that is taken.
        ("slug", json!("hello-world"), json!("hello-world")),
        // An id that is not an image removes the featured image.
        ("featured_media", json!(1205), json!(0)),
    ] {
        let created = h.json(ADMIN, Method::POST, POSTS, json!({"title": "x", name: sent})).await;
        assert_eq!((created.status, &created.body[name]), (201, &expected), "{name}");
    }
    // Numbers out of a column's range are clamped.
    for (order, stored) in [(i64::MAX, i32::MAX), (i64::MIN, i32::MIN)] {
        let created = h.json(ADMIN, Method::POST, "/svc/v2/pages", json!({"title": "x", "menu_order": order})).await;
        assert_eq!((created.status, &created.body["menu_order"]), (201, &json!(stored)));
    }
    let wanted = json!({"title": "x", "slug": "hello-world", "status": "draft"});
    assert_eq!(h.json(ADMIN, Method::POST, POSTS, wanted).await.body["slug"], "hello-world-2");
    for (name, sent, status, code) in [
        ("date", json!("0000-00-00T00:00:00"), 400, "invalid_date"),
        ("password", json!("x".repeat(256)), 500, "db_insert_error"),
        ("excerpt", json!("x".repeat(65_536)), 500, "db_insert_error"),
        ("template", json!(5), 400, "rest_invalid_param"),
    ] {
        let rejected = h.json(ADMIN, Method::POST, POSTS, json!({"title": "x", name: sent})).await;
        assert_eq!((rejected.status, rejected.code()), (status, code), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undated_draft_gets_a_date_and_a_slug_in_the_trash() {
    let h = Harness::new();
    let own = format!("{POSTS}/1017");
    let deleted = h.json(ADMIN, Method::DELETE, &own, json!({})).await;
    // Another draft without a slug exists.
    assert_eq!((&deleted.body["status"], &deleted.body["slug"]), (&json!("trash"), &json!("__trashed-2")));
    assert_eq!(deleted.body["date_gmt"], deleted.body["modified_gmt"]);
}
