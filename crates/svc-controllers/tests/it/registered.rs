//! Post types, statuses and taxonomies, in process, on the recorded fixture.

use crate::harness::{ADMIN, CONTRIBUTOR, Harness, NOBODY};
use serde_json::{Value, json};
use svc_routing::Method;
use svc_schema::Schema;

/// A subscriber.
const SUBSCRIBER: i64 = 6;

fn names(body: &Value) -> Vec<&str> {
    body.as_object().into_iter().flat_map(|map| map.keys().map(String::as_str)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn items_match_their_schema_in_every_context() {
    let h = Harness::new();
    for base in ["types", "statuses", "taxonomies"] {
        let route = format!("/svc/v2/{base}");
        let source = h.json(ADMIN, Method::OPTIONS, &route, json!({})).await.body["schema"].clone();
        let schema = Schema::compile(source.clone());
        for context in ["view", "embed", "edit"] {
            let list = h.get(ADMIN, &route, &format!("context={context}")).await;
            assert!(!names(&list.body).is_empty(), "{:?}", list.body);
            for (name, item) in list.body.as_object().unwrap() {
                let one = h.get(ADMIN, &format!("{route}/{name}"), &format!("context={context}")).await;
                assert_eq!(&one.body, item, "{base} {name}: the item equals the list entry");
                let mut item = item.clone();
                item.as_object_mut().unwrap().shift_remove("_links");
                schema.validate(&item, "item").unwrap_or_else(|e| panic!("{base} {context} {name}: {e}"));
                for (member, described) in source["properties"].as_object().unwrap() {
                    let visible = described["context"].as_array().unwrap().contains(&json!(context));
                    assert_eq!(item.get(member).is_some(), visible, "{base} {context} {name} {member}");
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn visibility_by_role() {
    let h = Harness::new();
    // Caller, path and query; error code, or names in the list.
    #[rustfmt::skip]
    let rows: [(i64, &str, &str, &str, &[&str]); 28] = [
        (NOBODY, "statuses", "", "", &["publish"]),
        (SUBSCRIBER, "statuses", "", "", &["publish"]),
        (CONTRIBUTOR, "statuses", "", "", &["publish", "future", "draft", "pending", "private", "trash"]),
        (SUBSCRIBER, "statuses", "context=edit", "rest_cannot_view", &[]),
        (NOBODY, "statuses/publish", "context=edit", "", &[]),
        (NOBODY, "statuses/trash", "", "rest_cannot_read_status", &[]),
        (ADMIN, "statuses/inherit", "", "rest_cannot_read_status", &[]),
        (ADMIN, "statuses/nosuch", "", "rest_status_invalid", &[]),
        (CONTRIBUTOR, "types", "context=edit", "", &["post", "attachment", "wp_block", "book"]),
        (ADMIN, "types", "context=edit", "", &["post", "page", "attachment", "nav_menu_item", "wp_block", "wp_template",
            "wp_template_part", "wp_global_styles", "wp_navigation", "wp_font_family", "wp_font_face", "book"]),
        (SUBSCRIBER, "types", "context=edit", "rest_cannot_view", &[]),
        (CONTRIBUTOR, "types/page", "context=edit", "rest_forbidden_context", &[]),
        (CONTRIBUTOR, "types/post", "context=edit", "", &[]),
        (ADMIN, "types/revision", "", "rest_cannot_read_type", &[]),
        (NOBODY, "types/nosuch", "", "rest_type_invalid", &[]),
        (CONTRIBUTOR, "taxonomies", "context=edit", "", &["category", "post_tag", "wp_pattern_category", "genre"]),
        (NOBODY, "taxonomies", "type=post", "", &["category", "post_tag"]),
        (NOBODY, "taxonomies", "type=", "", &["category", "post_tag", "nav_menu", "wp_pattern_category", "genre"]),
        (NOBODY, "taxonomies", "type=page", "", &[]),
        (NOBODY, "taxonomies", "type=nosuch", "", &[]),
        // For a post type without taxonomies there is no taxonomy to edit.
        (ADMIN, "taxonomies", "type=page&context=edit", "rest_cannot_view", &[]),
        (SUBSCRIBER, "taxonomies", "context=edit", "rest_cannot_view", &[]),
        (CONTRIBUTOR, "taxonomies/nav_menu", "context=edit", "rest_forbidden_context", &[]),
        (ADMIN, "taxonomies/nav_menu", "context=edit", "", &[]),
        (ADMIN, "taxonomies/post_format", "", "rest_forbidden", &[]),
        (NOBODY, "taxonomies/genre", "", "", &[]),
        (NOBODY, "taxonomies/nosuch", "", "rest_taxonomy_invalid", &[]),
        (NOBODY, "types", "context=bogus", "rest_invalid_param", &[]),
    ];
    for (user, path, query, code, listed) in rows {
        let response = h.get(user, &format!("/svc/v2/{path}"), query).await;
        assert_eq!(response.code(), code, "{user} {path}?{query}: {:?}", response.body);
        let status = match code {
            "" => 200,
            "rest_invalid_param" => 400,
            _ if code.ends_with("_invalid") => 404,
            _ if user == NOBODY => 401,
            _ => 403,
        };
        assert_eq!(response.status, status, "{user} {path}?{query}");
        if code.is_empty() && !path.contains('/') {
            assert_eq!(names(&response.body), listed, "{user} {path}?{query}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_reflect_the_registration() {
    let h = Harness::new();
    // Path; JSON pointer into an administrator's response in context edit; value.
    #[rustfmt::skip]
    let rows = [
        ("types/post", "/icon", json!("dashicons-admin-post")),
        ("types/post", "/supports/editor", json!([{"notes": true}])),
        ("types/post", "/taxonomies", json!(["category", "post_tag"])),
        ("types/post", "/visibility", json!({"show_in_nav_menus": true, "show_ui": true})),
        ("types/post", "/capabilities/create_posts", json!("edit_posts")),
        ("types/post", "/labels/parent_item_colon", Value::Null),
        ("types/post", "/has_archive", json!(false)),
        ("types/page", "/viewable", json!(true)),
        ("types/wp_block", "/viewable", json!(false)),
        ("types/wp_font_face", "/capabilities/read_private_posts", json!("edit_theme_options")),
        ("types/post", "/rest_namespace", json!("svc/v2")),
        ("statuses/trash", "/show_in_list", json!(false)),
        ("statuses/draft", "/date_floating", json!(true)),
        ("statuses/draft", "/protected", json!(true)),
        ("taxonomies/category", "/capabilities", json!({"manage_terms": "manage_categories", "edit_terms": "edit_categories",
            "delete_terms": "delete_categories", "assign_terms": "assign_categories"})),
        ("taxonomies/category", "/labels/popular_items", Value::Null),
        ("taxonomies/nav_menu", "/show_cloud", json!(false)),
        ("taxonomies/nav_menu", "/types", json!(["nav_menu_item"])),
    ];
    for (path, pointer, value) in rows {
        let response = h.get(ADMIN, &format!("/svc/v2/{path}"), "context=edit").await;
        assert_eq!(response.body.pointer(pointer), Some(&value), "{path} {pointer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_and_links() {
    let h = Harness::new();
    let relation = |path: &str| json!([{"href": format!("http://127.0.0.1:8801/svc-json/svc/v2/{path}")}]);
    let archives = |path: &str| json!({"archives": relation(path)});
    #[rustfmt::skip]
    let rows = [
        ("types", "post", json!({"post": []})),
        ("types", "slug", json!([])),
        ("types/post", "rest_base", json!({"rest_base": "posts"})),
        ("types/post", "nosuch", json!([])),
        ("statuses", "draft.slug,publish._links", json!({"draft": [], "publish": {"_links": archives("posts")}})),
        // Links of statuses are returned regardless of `_fields`.
        ("statuses/publish", "nosuch", json!({"_links": archives("posts")})),
        ("statuses", "publish", json!({"publish": {"_links": archives("posts")}})),
        ("statuses/draft", "slug", json!({"slug": "draft", "_links": archives("posts?status=draft")})),
        ("categories/2", "nosuch", json!([])),
    ];
    for (path, fields, expected) in rows {
        let response = h.get(ADMIN, &format!("/svc/v2/{path}"), &format!("_fields={fields}")).await;
        assert_eq!(response.body, expected, "{path} {fields}");
    }
    let head = h.json(NOBODY, Method::HEAD, "/svc/v2/types", json!(null)).await;
    assert_eq!((head.status, head.body), (200, Value::Null));
}
