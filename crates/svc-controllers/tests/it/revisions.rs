//! Revisions, autosaves and scheduled posts, in process, on the recorded fixture. Post 1036 has the revisions 1500 to 1502
//! and the administrator's autosave 1503; 1017 is a draft of the author.

use crate::harness::{ADMIN, AUTHOR, CONTRIBUTOR, EDITOR, Harness, NOBODY, TestResponse};
use chrono::{NaiveDateTime, TimeDelta};
use serde_json::{Value, json};
use svc_model::PostId;
use svc_routing::Method;
use svc_schema::Schema;
use svc_site::schedule;
use svc_store::{
    MetaKind, StoredText, meta,
    posts::{self, PostQuery},
};
use svc_versions::Context;

/// Another author.
const OTHER: i64 = 4;
const POST: &str = "/svc/v2/posts/1036";

async fn autosave(h: &Harness, user: i64, route: &str, body: Value) -> TestResponse {
    h.json(user, Method::POST, &format!("{route}/autosaves"), body).await
}

/// Contents of a post's revisions, newest first; those of autosaves in brackets.
async fn contents(h: &Harness, route: &str) -> Vec<String> {
    let list = h.get(ADMIN, &format!("{route}/revisions"), "context=edit").await;
    let content_of = |r: &Value| {
        let text = r["content"]["raw"].as_str().unwrap_or_default();
        if r["slug"].as_str().unwrap_or_default().contains("autosave") { format!("[{text}]") } else { text.to_owned() }
    };
    list.body.as_array().unwrap().iter().map(content_of).collect()
}

async fn create(h: &Harness, user: i64, body: Value) -> (i64, String) {
    let created = h.json(user, Method::POST, "/svc/v2/posts", body).await;
    assert_eq!(created.status, 201, "{:?}", created.body);
    let id = created.body["id"].as_i64().unwrap();
    (id, format!("/svc/v2/posts/{id}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn items_match_their_schema_in_every_context() {
    let h = Harness::new();
    for (route, title) in [
        (format!("{POST}/revisions"), "post-revision"),
        (format!("{POST}/autosaves"), "post-revision"),
        ("/svc/v2/books/1300/revisions".to_owned(), "book-revision"),
        ("/svc/v2/navigation/1440/revisions".to_owned(), "wp_navigation-revision"),
    ] {
        let source = h.json(ADMIN, Method::OPTIONS, &route, json!({})).await.body["schema"].clone();
        assert_eq!(source["title"], title);
        let schema = Schema::compile(source.clone());
        for context in ["view", "embed", "edit"] {
            let list = h.get(ADMIN, &route, &format!("context={context}")).await;
            assert!(list.body.as_array().is_some_and(|all| !all.is_empty()), "{route}: {:?}", list.body);
            for item in list.body.as_array().unwrap() {
                let mut item = item.clone();
                item.as_object_mut().unwrap().shift_remove("_links");
                schema.validate(&item, "item").unwrap_or_else(|e| panic!("{route} {context} {}: {e}", item["id"]));
                for (name, member) in source["properties"].as_object().unwrap() {
                    let visible = member["context"].as_array().unwrap().contains(&json!(context));
                    assert_eq!(item.get(name).is_some(), visible, "{route} {context} {name}");
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_change_creates_a_revision() {
    let h = Harness::new();
    let (_, post) = create(&h, ADMIN, json!({"title": "T", "content": "one", "status": "publish"})).await;
    assert!(contents(&h, &post).await.is_empty(), "a new post has no revisions");
    // Request body; contents of the revisions afterwards.
    let rows: [(Value, &[&str]); 6] = [
        (json!({"slug": "elsewhere"}), &["one"]),
        (json!({"sticky": true}), &["one"]),
        (json!({"content": "two"}), &["two", "one"]),
        (json!({"content": "two "}), &["two", "one"]),
        (json!({"meta": {"footnotes": "[]"}}), &["two ", "two", "one"]),
        (json!({"meta": {"fx_string": "x"}}), &["two ", "two", "one"]),
    ];
    for (body, expected) in rows {
        let response = h.json(ADMIN, Method::PATCH, &post, body.clone()).await;
        assert_eq!(response.status, 200);
        assert_eq!(contents(&h, &post).await, expected, "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_oldest_revisions_are_deleted_but_not_autosaves() {
    let h = Harness::with(|setup| setup.site.policies.max_revisions = Some(3));
    let (_, post) = create(&h, ADMIN, json!({"title": "T", "content": "0", "status": "publish"})).await;
    autosave(&h, ADMIN, &post, json!({"content": "typed"})).await;
    for n in 1..=4 {
        h.json(ADMIN, Method::PATCH, &post, json!({"content": n.to_string()})).await;
    }
    assert_eq!(contents(&h, &post).await, ["4", "3", "2", "[typed]"]);

    let h = Harness::with(|setup| setup.site.policies.max_revisions = Some(0));
    let changed = h.json(ADMIN, Method::PATCH, POST, json!({"content": "new"})).await;
    assert_eq!(changed.status, 200);
    let list = h.get(ADMIN, &format!("{POST}/revisions"), "").await;
    assert_eq!((list.status, list.header("X-SVC-Total")), (200, Some("0")), "{:?}", list.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn permissions_to_view_and_delete_revisions() {
    let h = Harness::new();
    let one = format!("{POST}/revisions/1501");
    let rows: [(i64, Method, &str, u16, &str); 14] = [
        (NOBODY, Method::GET, &one, 401, "rest_cannot_read"),
        (CONTRIBUTOR, Method::GET, &one, 403, "rest_cannot_read"),
        (OTHER, Method::GET, "/svc/v2/posts/1036/autosaves", 403, "rest_cannot_read"),
        (AUTHOR, Method::GET, &one, 200, ""),
        (AUTHOR, Method::GET, "/svc/v2/posts/1000/revisions/1501", 403, "rest_cannot_read"),
        (ADMIN, Method::GET, "/svc/v2/posts/1000/revisions/1501", 404, "rest_revision_parent_id_mismatch"),
        (ADMIN, Method::GET, "/svc/v2/posts/1036/revisions/1000", 404, "rest_post_invalid_id"),
        (ADMIN, Method::GET, "/svc/v2/posts/1100/revisions", 404, "rest_post_invalid_parent"),
        (ADMIN, Method::GET, "/svc/v2/posts/1000/autosaves/1503", 404, "rest_post_no_autosave"),
        (ADMIN, Method::GET, "/svc/v2/media/1200/revisions", 404, "rest_no_route"),
        (NOBODY, Method::DELETE, &one, 401, "rest_cannot_delete"),
        (AUTHOR, Method::DELETE, &one, 403, "rest_cannot_delete"),
        (ADMIN, Method::DELETE, &one, 403, "rest_cannot_delete"),
        (ADMIN, Method::DELETE, "/svc/v2/posts/1036/revisions/999999", 404, "rest_post_invalid_id"),
    ];
    for (user, method, route, status, code) in rows {
        let response = h.json(user, method.clone(), route, json!({"force": true})).await;
        assert_eq!((response.status, response.code()), (status, code), "{user} {method} {route}");
    }
}

/// As in WordPress, `_fields` removes links from the items of a list only.
#[tokio::test(flavor = "multi_thread")]
async fn a_single_revision_links_to_its_post_if_its_parent_is_selected() {
    let h = Harness::new();
    assert_eq!(autosave(&h, ADMIN, POST, json!({"content": "typed"})).await.status, 200);
    for kind in ["revisions", "autosaves"] {
        let list = h.get(ADMIN, &format!("{POST}/{kind}"), "_fields=id,parent").await.body;
        let first = &list[0];
        assert!(first["id"].is_i64() && first.get("_links").is_none(), "{first}");
        let single = format!("{POST}/{kind}/{}", first["id"]);
        for (fields, is_linked) in [("id", false), ("id,parent", true), ("id,_links", false), ("parent,_links", true)] {
            let body = h.get(ADMIN, &single, &format!("_fields={fields}")).await.body;
            assert_eq!(body.get("_links").is_some(), is_linked, "{kind} {fields}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn paging_of_revisions() {
    let h = Harness::new();
    let rows: [(&str, &[i64], &str); 9] = [
        ("", &[1503, 1502, 1501, 1500], ""),
        ("per_page=2", &[1503, 1502], ""),
        ("per_page=2&page=2", &[1501, 1500], ""),
        ("per_page=2&page=3", &[], "rest_revision_invalid_page_number"),
        ("page=2", &[], "rest_revision_invalid_page_number"),
        ("offset=1", &[1503, 1502, 1501, 1500], ""),
        ("offset=3&per_page=2", &[1500], ""),
        ("offset=4&per_page=2", &[], "rest_revision_invalid_offset_number"),
        ("orderby=include", &[], "rest_orderby_include_missing_include"),
    ];
    for (query, ids, code) in rows {
        let list = h.get(ADMIN, &format!("{POST}/revisions"), &format!("{query}&_fields=id")).await;
        let found: Vec<i64> = list.body.as_array().into_iter().flatten().filter_map(|r| r["id"].as_i64()).collect();
        assert_eq!((found.as_slice(), list.code()), (ids, code), "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_user_has_one_autosave_and_the_post_is_unchanged() {
    let h = Harness::new();
    let before = h.get(ADMIN, POST, "context=edit&_fields=content,title,modified").await.body;
    let first = autosave(&h, AUTHOR, POST, json!({"title": "Typed", "content": "a<script>b</script>"})).await;
    assert_eq!((first.status, &first.body["parent"], &first.body["author"]), (200, &json!(1036), &json!(AUTHOR)));
    assert_eq!(first.body["content"]["raw"], "ab", "authors may not use scripts");
    assert_eq!(first.body["guid"]["raw"], format!("http://127.0.0.1:8801/?p={}", first.body["id"]));
    let again = autosave(&h, AUTHOR, POST, json!({"content": "more"})).await;
    assert_eq!((&again.body["id"], &again.body["title"]["raw"]), (&first.body["id"], &json!("Typed")));
    let editor = autosave(&h, EDITOR, POST, json!({"content": "editor's"})).await;
    assert_ne!(editor.body["id"], first.body["id"]);
    assert_eq!(editor.body["title"]["raw"], "", "a new autosave has only the fields of the request");
    assert_eq!(h.get(ADMIN, POST, "context=edit&_fields=content,title,modified").await.body, before);
    assert_eq!(autosave(&h, OTHER, POST, json!({"content": "x"})).await.code(), "rest_cannot_edit");
    assert_eq!(autosave(&h, NOBODY, POST, json!({"content": "x"})).await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_autosave_without_changes_keeps_the_existing_one() {
    let h = Harness::new();
    let (id, post) = create(&h, ADMIN, json!({"title": "T", "content": "c", "status": "publish"})).await;
    let same = autosave(&h, ADMIN, &post, json!({"title": "T", "content": "c"})).await;
    assert_eq!(
        (same.status, &same.body["parent"]),
        (200, &json!(id)),
        "the first autosave is stored even without changes"
    );
    autosave(&h, ADMIN, &post, json!({"content": "d"})).await;
    for body in [json!({}), json!({"content": "c"}), json!({"meta": {"fx_string": "not part of revisions"}})] {
        let response = autosave(&h, ADMIN, &post, body.clone()).await;
        assert_eq!((&response.body["id"], &response.body["content"]["raw"]), (&same.body["id"], &json!("d")), "{body}");
    }
    let meta = autosave(&h, ADMIN, &post, json!({"meta": {"footnotes": "[1]", "fx_string": "x"}})).await;
    assert_eq!(
        (&meta.body["meta"]["footnotes"], &meta.body["meta"]["fx_string"]),
        (&json!("[1]"), &json!("")),
        "only revisioned meta is stored"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_author_autosaves_a_draft_in_place_unless_another_user_has_locked_it() {
    let h = Harness::new();
    let draft = "/svc/v2/posts/1017";
    let own = autosave(&h, AUTHOR, draft, json!({"content": "mine", "meta": {"fx_string": "x"}, "tags": []})).await;
    assert_eq!((&own.body["id"], &own.body["parent"], &own.body["date"]), (&json!(1017), &json!(0), &Value::Null));
    assert_eq!(own.body["preview_link"], "http://127.0.0.1:8801/?p=1017&preview=true");
    let stored = h.get(AUTHOR, draft, "context=edit&_fields=content.raw,meta.fx_string").await.body;
    assert_eq!(stored, json!({"content": {"raw": "mine"}, "meta": {"fx_string": ""}}));

    let lock = |user: i64, ago: i64| format!("{}:{user}", h.site.clock().and_utc().timestamp() - ago);
    // User who holds the lock, its age in seconds, and whether the autosave is a separate row.
    for (user, ago, is_separate) in [(AUTHOR, 5, false), (ADMIN, 5, true), (ADMIN, 151, false), (999, 5, false)] {
        let text = StoredText::of(lock(user, ago));
        h.site
            .write(&Context::background(), move |tx| Ok(meta::update(tx, MetaKind::Post, 1017, "_edit_lock", &text)?))
            .await
            .unwrap();
        let response = autosave(&h, AUTHOR, draft, json!({"content": format!("{user} {ago}")})).await;
        assert_eq!(response.body["id"] != 1017, is_separate, "{user} {ago}");
    }
}

/// The status of a post and the time of its last change.
fn status_of(h: &Harness, id: i64) -> (String, Option<NaiveDateTime>) {
    let post = h.site.read(&Context::background(), |db| Ok(posts::get(db, PostId(id))?)).unwrap().unwrap();
    (post.status, post.modified)
}

#[tokio::test(flavor = "multi_thread")]
async fn scheduled_posts_are_published_when_due() {
    let h = Harness::new();
    // The fixture has a scheduled post in the far future.
    let at = |days: i64| (h.site.clock() + TimeDelta::days(days)).format("%Y-%m-%dT%H:%M:%S").to_string();
    let (soon, _) =
        create(&h, ADMIN, json!({"title": "Soon", "status": "future", "date_gmt": at(1), "categories": [5]})).await;
    let (later, _) = create(&h, ADMIN, json!({"title": "Later", "status": "publish", "date_gmt": at(2)})).await;
    assert_eq!((status_of(&h, soon).0.as_str(), status_of(&h, later).0.as_str()), ("future", "future"));
    let count = async || h.get(NOBODY, "/svc/v2/categories/5", "").await.body["count"].as_i64().unwrap();
    let before = count().await;

    let now = h.site.clock();
    let round = schedule::publish_due(&Context::background(), &h.site, now).await.unwrap();
    assert_eq!(round.published, 0);
    let next = round.next.unwrap() - now;
    assert!((TimeDelta::hours(23)..=TimeDelta::days(1)).contains(&next), "{next}");

    let modified = status_of(&h, soon).1;
    let round = schedule::publish_due(&Context::background(), &h.site, now + TimeDelta::hours(25)).await.unwrap();
    assert_eq!(round.published, 1);
    assert_eq!(status_of(&h, soon), ("publish".to_owned(), modified), "only the status changes");
    assert_eq!(status_of(&h, later).0, "future");
    assert_eq!(count().await, before + 1);
    let again = schedule::publish_due(&Context::background(), &h.site, now + TimeDelta::hours(25)).await.unwrap();
    assert_eq!(again.published, 0, "once");
}

#[tokio::test(flavor = "multi_thread")]
async fn scheduled_pages_are_added_to_menus_and_get_a_guid() {
    let h = Harness::new();
    let menu = h.json(ADMIN, Method::PUT, "/svc/v2/menus/30", json!({"auto_add": true})).await;
    assert_eq!(menu.body["auto_add"], true, "{:?}", menu.body);
    let body = json!({"title": "Planned", "status": "future", "date_gmt": "2090-01-01T00:00:00"});
    let page = h.json(ADMIN, Method::POST, "/svc/v2/pages", body).await.body["id"].as_i64().unwrap();
    // Imported posts may have no GUID.
    h.site.write(&Context::background(), move |tx| Ok(posts::set_guid(tx, PostId(page), "", None)?)).await.unwrap();
    let round =
        schedule::publish_due(&Context::background(), &h.site, "2091-01-01T00:00:00".parse().unwrap()).await.unwrap();
    assert_eq!(round.published, 1);
    let items = h.get(ADMIN, "/svc/v2/menu-items", "menus=30&per_page=100&_fields=object,object_id").await.body;
    assert!(items.as_array().unwrap().contains(&json!({"object": "page", "object_id": page})), "{items}");
    let stored = h.site.read(&Context::background(), |db| Ok(posts::get(db, PostId(page))?)).unwrap().unwrap();
    assert_eq!(stored.guid, "http://127.0.0.1:8801/planned/");
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_runs_publish_each_scheduled_post_once() {
    let h = Harness::new();
    for n in 0..5 {
        create(&h, ADMIN, json!({"title": format!("F{n}"), "status": "future", "date_gmt": "2090-01-01T00:00:00"}))
            .await;
    }
    let now = "2091-01-01T00:00:00".parse().unwrap();
    let contexts = [Context::background(), Context::background()];
    let (one, two) = tokio::join!(
        schedule::publish_due(&contexts[0], &h.site, now),
        schedule::publish_due(&contexts[1], &h.site, now)
    );
    let of_status = |status: &str| {
        PostQuery::default().post_types(vec!["post".to_owned()]).statuses(vec![status.to_owned()]).total(true)
    };
    let count = |status: &str| {
        h.site.read(&Context::background(), |db| Ok(posts::query(db, &of_status(status))?.total)).unwrap()
    };
    assert_eq!(count("future"), Some(1), "the scheduled post of the fixture is not due");
    assert_eq!(one.unwrap().published + two.unwrap().published, 5);
}

/// Item 1420 is published, 1426 is a draft. Fields of menu items are not part of an autosave.
#[tokio::test(flavor = "multi_thread")]
async fn autosaves_of_menu_items_have_no_text() {
    let h = Harness::new();
    let items = "/svc/v2/menu-items";
    let list = |user| h.get(user, "/svc/v2/menu-items/1420/autosaves", "");
    assert_eq!((list(NOBODY).await.status, list(EDITOR).await.status), (401, 403));
    assert_eq!(list(ADMIN).await.body, json!([]));
    let rejected = autosave(&h, EDITOR, &format!("{items}/1420"), json!({"title": "x"})).await;
    assert_eq!((rejected.status, rejected.code()), (403, "rest_cannot_edit"));
    for title in ["Typed", "Typed on"] {
        let saved = autosave(&h, ADMIN, &format!("{items}/1420"), json!({"title": title, "menus": 30})).await;
        assert_eq!((saved.status, &saved.body["slug"]), (200, &json!("1420-autosave-v1")), "{:?}", saved.body);
        assert_eq!(saved.body["title"], json!({"raw": "", "rendered": ""}));
        assert_eq!(saved.body["preview_link"], "");
        assert!(saved.body["guid"].is_object() && saved.body.get("content").is_none(), "{:?}", saved.body);
    }
    assert_eq!(list(ADMIN).await.body.as_array().unwrap().len(), 1);
    assert_eq!(h.get(ADMIN, &format!("{items}/1420"), "").await.body["title"]["rendered"], "Home");

    let own =
        h.json(ADMIN, Method::POST, items, json!({"title": "Own", "url": "https://a.example/", "status": "draft"}));
    let route = format!("{items}/{}", own.await.body["id"]);
    let saved = autosave(&h, ADMIN, &route, json!({"title": "Typed", "url": "https://b.example/"})).await.body;
    assert_eq!((&saved["title"]["raw"], &saved["parent"], &saved["date"]), (&json!("Own"), &json!(0), &Value::Null));
    assert_eq!(h.get(ADMIN, &route, "").await.body["url"], "https://a.example/");
}
