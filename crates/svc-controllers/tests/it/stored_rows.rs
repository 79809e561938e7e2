//! Rows that a change stores besides the fields of its object, as WordPress does, in process, on the recorded fixture.

use crate::harness::{ADMIN, AUTHOR, EDITOR, Harness};
use serde_json::{Value, json};
use svc_model::{Post, PostId};
use svc_routing::Method;
use svc_store::{Meta, MetaKind, StoredText, meta, options, posts};
use svc_versions::Context;

const POSTS: &str = "/svc/v2/posts";
const ITEMS: &str = "/svc/v2/menu-items";

fn row(h: &Harness, id: i64) -> Post {
    h.site.read(&Context::background(), |db| Ok(posts::get(db, PostId(id))?)).unwrap().unwrap()
}

fn meta_of(h: &Harness, kind: MetaKind, id: i64) -> Meta {
    h.site.read(&Context::background(), |db| Ok(meta::load_one(db, kind, id)?)).unwrap()
}

fn option(h: &Harness, name: &str) -> Option<StoredText> {
    h.site.read(&Context::background(), |db| Ok(options::get(db, name)?)).unwrap()
}

/// An item's row has the parent of its target, which nothing reads, and the time of its last change.
#[tokio::test(flavor = "multi_thread")]
async fn menu_items_store_the_parent_of_their_target_and_the_time_of_the_change() {
    let h = Harness::new();
    let link = |kind: &str, object: &str, id: i64| json!({"menus": 31, "title": "x", "type": kind, "object": object, "object_id": id});
    // The page 1109 has the parent 1105, the category 3 the parent 2.
    for (fields, parent) in [
        (link("post_type", "page", 1109), 1105),
        (link("taxonomy", "category", 3), 2),
        (json!({"menus": 31, "title": "x", "url": "https://example.com"}), 0),
    ] {
        let response = h.json(ADMIN, Method::POST, ITEMS, fields.clone()).await;
        assert_eq!(response.status, 201, "{:?}", response.body);
        assert_eq!(row(&h, response.body["id"].as_i64().unwrap()).parent.0, parent, "{fields}");
    }

    let before = row(&h, 1420);
    let change = link("post_type", "page", 1109);
    assert_eq!(h.json(ADMIN, Method::PATCH, &format!("{ITEMS}/1420"), change).await.status, 200);
    let after = row(&h, 1420);
    assert_eq!(after.parent.0, 1105);
    assert_ne!(after.date, before.date);
    assert_eq!((after.date, after.date_gmt), (after.modified, before.date_gmt));
    let former_day = before.date.map(|date| date.format("%Y-%m-%d").to_string()).unwrap_or_default();
    assert_eq!(meta_of(&h, MetaKind::Post, 1420).all("_wp_old_date"), [StoredText::of(former_day)]);
    // A link keeps the parent of its former target.
    let change = json!({"type": "custom", "url": "https://example.com"});
    assert_eq!(h.json(ADMIN, Method::PATCH, &format!("{ITEMS}/1420"), change).await.status, 200);
    assert_eq!(row(&h, 1420).parent.0, 1105);
}

/// WordPress shows calendars while this option is true or missing.
#[tokio::test(flavor = "multi_thread")]
async fn changes_of_public_posts_set_the_option_of_calendars() {
    const OPTION: &str = "wp_calendar_block_has_published_posts";
    let h = Harness::new();
    let create = |status: &str| json!({"title": "x", "status": status});
    for (route, status) in [("/svc/v2/pages", "publish"), (POSTS, "draft"), (POSTS, "private")] {
        assert_eq!(h.json(ADMIN, Method::POST, route, create(status)).await.status, 201);
        assert_eq!(option(&h, OPTION), None, "{route} {status}");
    }
    let id = h.json(ADMIN, Method::POST, POSTS, create("publish")).await.body["id"].as_i64().unwrap();
    assert_eq!(option(&h, OPTION), Some(StoredText::of(Value::from(true))));
    for post in posts_with_status(&h, "publish").await {
        let response = h.json(ADMIN, Method::DELETE, &format!("{POSTS}/{post}"), json!({})).await;
        assert_eq!(response.status, 200, "{:?}", response.body);
    }
    assert_eq!(option(&h, OPTION), Some(StoredText::of(Value::from(false))));
    assert_eq!(h.json(ADMIN, Method::PATCH, &format!("{POSTS}/{id}"), create("publish")).await.status, 200);
    assert_eq!(option(&h, OPTION), Some(StoredText::of(Value::from(true))));
    assert_eq!(h.json(ADMIN, Method::PATCH, &format!("{POSTS}/{id}"), create("pending")).await.status, 200);
    assert_eq!(option(&h, OPTION), Some(StoredText::of(Value::from(false))));
}

async fn posts_with_status(h: &Harness, status: &str) -> Vec<Value> {
    let list = h.get(ADMIN, POSTS, &format!("per_page=100&_fields=id&status={status}")).await;
    list.body.as_array().unwrap().iter().map(|post| post["id"].clone()).collect()
}

/// Accounts from before a preference existed get its default with the next change, even one without fields.
#[tokio::test(flavor = "multi_thread")]
async fn changes_of_users_store_missing_preferences() {
    let h = Harness::new();
    assert!(meta_of(&h, MetaKind::User, 2).all("infinite_scrolling").is_empty());
    let write = |tx: &mut svc_store::Tx| {
        for (key, value) in
            [("admin_color", "light"), ("comment_shortcuts", "yes"), ("use_ssl", ""), ("rich_editing", "")]
        {
            meta::update(tx, MetaKind::User, 2, key, &StoredText::of(value))?;
        }
        Ok(())
    };
    h.site.write(&Context::background(), write).await.unwrap();
    assert_eq!(h.json(EDITOR, Method::PUT, "/svc/v2/users/me", json!({})).await.status, 200);
    let stored = meta_of(&h, MetaKind::User, 2);
    for (key, expected) in [
        ("infinite_scrolling", "true"),
        ("rich_editing", "true"),
        ("comment_shortcuts", "true"),
        ("use_ssl", "0"),
        ("admin_color", "light"),
        ("show_admin_bar_front", "true"),
    ] {
        assert_eq!(stored.all(key), [StoredText::of(expected)], "{key}");
    }
}

/// The option is also stored for a menu that stays out of it.
#[tokio::test(flavor = "multi_thread")]
async fn automatic_addition_to_menus_is_stored_when_it_is_set() {
    let h = Harness::new();
    let set = h.json(ADMIN, Method::PUT, "/svc/v2/menus/30", json!({"auto_add": false})).await;
    assert_eq!(set.status, 200, "{:?}", set.body);
    assert_eq!(option(&h, "nav_menu_options").unwrap().text(), "a:1:{s:8:\"auto_add\";a:0:{}}");
    let h = Harness::new();
    assert_eq!(h.json(ADMIN, Method::DELETE, "/svc/v2/menus/30", json!({"force": true})).await.status, 200);
    assert_eq!(option(&h, "nav_menu_options"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_menu_remains_in_the_list_of_automatic_addition() {
    let h = Harness::new();
    let menu = json!({"name": "New", "auto_add": true});
    let menu = h.json(ADMIN, Method::POST, "/svc/v2/menus", menu).await.body["id"].as_i64().unwrap();
    let list = || option(&h, "nav_menu_options").unwrap().text().to_owned();
    let before = list();
    assert!(before.contains(&format!("i:{menu};")), "{before}");
    let deleted = h.json(ADMIN, Method::DELETE, &format!("/svc/v2/menus/{menu}"), json!({"force": true})).await;
    assert_eq!((deleted.status, list()), (200, before));
    let page = json!({"title": "x", "status": "publish"});
    assert_eq!(h.json(EDITOR, Method::POST, "/svc/v2/pages", page).await.status, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_default_template_is_stored_as_an_empty_text() {
    let h = Harness::new();
    let post = json!({"title": "x", "template": ""});
    let id = h.json(ADMIN, Method::POST, POSTS, post).await.body["id"].as_i64().unwrap();
    assert_eq!(meta_of(&h, MetaKind::Post, id).all("_wp_page_template"), [StoredText::of("")]);
}

/// The states of its comments stay stored, so that WordPress can restore them.
#[tokio::test(flavor = "multi_thread")]
async fn posts_that_leave_the_trash_get_their_slug_back_and_retain_their_other_meta() {
    let h = Harness::new();
    let statuses = ["_wp_trash_meta_status", "_wp_trash_meta_time", "_wp_trash_meta_comments_status"];
    let own = format!("{POSTS}/1000");
    let slug = row(&h, 1000).slug;
    assert_eq!(h.json(ADMIN, Method::DELETE, &own, json!({})).await.status, 200);
    let trashed = meta_of(&h, MetaKind::Post, 1000);
    assert_eq!(trashed.all("_wp_desired_post_slug"), [StoredText::of(slug.as_str())]);
    assert_eq!(h.json(ADMIN, Method::PATCH, &own, json!({"status": "draft"})).await.status, 200);
    let restored = meta_of(&h, MetaKind::Post, 1000);
    assert_eq!(row(&h, 1000).slug, slug);
    assert!(restored.all("_wp_desired_post_slug").is_empty());
    for key in statuses {
        assert_eq!((trashed.all(key).len(), restored.all(key)), (1, trashed.all(key)), "{key}");
    }
}

/// An author may not use all HTML, and the post that another user stored is filtered when the author trashes it.
#[tokio::test(flavor = "multi_thread")]
async fn trashing_filters_texts_of_users_without_unfiltered_html() {
    for (user, is_filtered) in [(AUTHOR, true), (ADMIN, false)] {
        let h = Harness::new();
        let before = row(&h, 1002);
        assert!(before.content.contains("<script>"), "{}", before.content);
        assert_eq!(h.json(user, Method::DELETE, &format!("{POSTS}/1002"), json!({})).await.status, 200);
        let after = row(&h, 1002);
        assert_eq!(after.status, "trash");
        assert_eq!(after.content.contains("<script>"), !is_filtered, "{}", after.content);
        assert_eq!(after.title == before.title, !is_filtered, "{}", after.title);
    }
}

/// A post without title and content is not stored by WordPress, which gives a menu item without both a space as content.
#[tokio::test(flavor = "multi_thread")]
async fn menu_items_without_title_and_description_have_a_space_as_content() {
    let h = Harness::new();
    let item = |fields: Value| {
        let mut item = json!({"menus": 31, "type": "taxonomy", "object": "category", "object_id": 1});
        item.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        item
    };
    for (fields, content) in [
        (item(json!({})), " "),
        (item(json!({"title": "x"})), ""),
        (item(json!({"description": "y"})), "y"),
        (item(json!({"type": "custom", "title": "x", "url": "https://example.com"})), ""),
    ] {
        let response = h.json(ADMIN, Method::POST, ITEMS, fields.clone()).await;
        assert_eq!(response.status, 201, "{:?}", response.body);
        assert_eq!(row(&h, response.body["id"].as_i64().unwrap()).content, content, "{fields}");
    }
    let response = h.json(ADMIN, Method::PATCH, &format!("{ITEMS}/1423"), json!({"classes": ["a"]})).await;
    assert_eq!(response.body["description"], "");
    assert_eq!(row(&h, 1423).content, " ");
}

#[tokio::test(flavor = "multi_thread")]
async fn locations_of_a_deleted_menu_have_the_menu_0() {
    let h = Harness::new();
    let theme = || option(&h, "theme_mods_fixture").unwrap().text().to_owned();
    assert!(theme().contains("s:7:\"primary\";i:30;"), "{}", theme());
    assert_eq!(h.json(ADMIN, Method::DELETE, "/svc/v2/menus/30", json!({"force": true})).await.status, 200);
    assert!(theme().contains("s:7:\"primary\";i:0;"), "{}", theme());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_former_slug_0_is_not_remembered() {
    let h = Harness::new();
    let post = json!({"title": "0", "content": "x", "status": "publish"});
    let id = h.json(ADMIN, Method::POST, POSTS, post).await.body["id"].as_i64().unwrap();
    assert_eq!(row(&h, id).slug, "0");
    assert_eq!(h.json(ADMIN, Method::PUT, &format!("{POSTS}/{id}"), json!({"slug": "one"})).await.status, 200);
    assert!(meta_of(&h, MetaKind::Post, id).all("_wp_old_slug").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn trashing_gives_a_post_without_categories_the_default_one() {
    let h = Harness::new();
    let post = json!({"title": "x", "categories": []});
    let id = h.json(ADMIN, Method::POST, POSTS, post).await.body["id"].as_i64().unwrap();
    let response = h.json(ADMIN, Method::DELETE, &format!("{POSTS}/{id}"), json!({})).await;
    assert_eq!((response.body["status"].clone(), response.body["categories"].clone()), (json!("trash"), json!([1])));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_menu_item_without_a_menu_has_the_first_position() {
    let h = Harness::new();
    let item = json!({"menu_order": 8, "title": "x", "url": "https://example.com"});
    let mut in_menu = item.clone();
    in_menu["menus"] = json!(31);
    for (item, position) in [(item, 1), (in_menu, 8)] {
        let response = h.json(ADMIN, Method::POST, ITEMS, item.clone()).await;
        assert_eq!(response.body["menu_order"], position, "{item}");
    }
}

/// WordPress counts the items that it shows, whatever their stored positions are.
#[tokio::test(flavor = "multi_thread")]
async fn a_published_page_is_added_after_the_items_that_are_shown() {
    let h = Harness::new();
    let menu = json!({"name": "New", "auto_add": true});
    let menu = h.json(ADMIN, Method::POST, "/svc/v2/menus", menu).await.body["id"].as_i64().unwrap();
    let publish = async |title: &str| {
        let page = json!({"title": title, "status": "publish"});
        h.json(EDITOR, Method::POST, "/svc/v2/pages", page).await.body["id"].as_i64().unwrap()
    };
    let add = async |status: &str| {
        let item =
            json!({"menus": menu, "title": "x", "url": "https://example.com", "menu_order": 5, "status": status});
        assert_eq!(h.json(ADMIN, Method::POST, ITEMS, item).await.status, 201);
    };
    add("draft").await;
    let first = publish("a menu without a published item").await;
    assert_eq!(row(&h, first + 1).menu_order, 0);
    add("publish").await;
    let third = publish("three items").await;
    assert_eq!(row(&h, third + 1).menu_order, 4);
    assert_eq!(h.json(ADMIN, Method::DELETE, &format!("/svc/v2/pages/{first}"), json!({})).await.status, 200);
    let fourth = publish("three of four items link to something that exists").await;
    assert_eq!(row(&h, fourth + 1).menu_order, 4);
}

/// The item of a page that is added automatically belongs to the user who publishes the page.
#[tokio::test(flavor = "multi_thread")]
async fn a_published_page_is_added_to_an_empty_menu_at_position_0() {
    let h = Harness::new();
    let menu = json!({"name": "New", "auto_add": true});
    let menu = h.json(ADMIN, Method::POST, "/svc/v2/menus", menu).await.body["id"].as_i64().unwrap();
    let page = json!({"title": "x", "status": "publish"});
    let page = h.json(EDITOR, Method::POST, "/svc/v2/pages", page).await.body["id"].as_i64().unwrap();
    let item = row(&h, page + 1);
    assert_eq!((item.post_type.as_str(), item.menu_order), ("nav_menu_item", 0));
    assert_eq!((item.author.0, item.content.as_str()), (EDITOR, " "));
    let terms = h.site.read(&Context::background(), |db| Ok(svc_store::terms::of_objects(db, &[item.id])?)).unwrap();
    assert_eq!(terms[&item.id][0].id.0, menu);
    assert!(item.guid.ends_with(&format!("/{}/", item.id)), "{}", item.guid);
}
