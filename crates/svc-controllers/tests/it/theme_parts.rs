//! Menus, menu items, widgets, fonts and abilities, in process, on the recorded fixture. Its menus are Main (30) with the
//! items 1420 to 1424, and Spare (31) with 1425 and the draft 1426.

use crate::harness::{ADMIN, CONTRIBUTOR, EDITOR, Harness, NOBODY};
use serde_json::{Value, json};
use svc_controllers::{
    RestSetup,
    abilities::{Ability, AbilityCategory},
};
use svc_routing::Method;
use svc_schema::build::{integer, object};
use svc_site::widgets::sidebar::Sidebar;

const MENUS: &str = "/svc/v2/menus";
const ITEMS: &str = "/svc/v2/menu-items";

/// A site with menu locations and sidebars.
fn themed() -> Harness {
    Harness::with(|setup: &mut RestSetup| {
        for name in ["primary", "footer"] {
            setup.registries.menu_locations.insert(name.to_owned(), name.to_owned());
        }
        setup.registries.register_sidebar(Sidebar::new("sidebar-main", "Main"));
        setup.registries.register_sidebar(Sidebar::new("sidebar-public", "Public").in_rest());
        setup.abilities.register_category(AbilityCategory::new("sums", "Sums"));
        let double = Ability::new("acme/double", "sums", "Double").input_schema(object([("n", integer().required())]));
        let double =
            double.output_schema(integer()).readonly(true).in_rest().permission(|call| call.caller.has("edit_posts"));
        setup
            .abilities
            .register(double.execute(|call| async move { Ok(json!(call.input["n"].as_i64().unwrap_or(0) * 2)) }));
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn permissions_to_view_and_edit_menus_and_other_theme_parts() {
    let h = themed();
    let item = format!("{ITEMS}/1420");
    let rows = [
        (NOBODY, Method::GET, MENUS, 401, "rest_cannot_view"),
        (CONTRIBUTOR, Method::GET, MENUS, 200, ""),
        (EDITOR, Method::POST, MENUS, 403, "rest_cannot_create"),
        (NOBODY, Method::GET, item.as_str(), 401, "rest_cannot_view"),
        (EDITOR, Method::GET, item.as_str(), 200, ""),
        (EDITOR, Method::PATCH, item.as_str(), 403, "rest_cannot_edit"),
        (EDITOR, Method::GET, "/svc/v2/menu-locations", 403, "rest_cannot_view"),
        (NOBODY, Method::GET, "/svc/v2/sidebars/sidebar-main", 401, "rest_cannot_manage_widgets"),
        (NOBODY, Method::GET, "/svc/v2/sidebars/sidebar-public", 200, ""),
        (EDITOR, Method::POST, "/svc/v2/widgets", 403, "rest_cannot_manage_widgets"),
        (EDITOR, Method::GET, "/svc/v2/font-families", 403, "rest_cannot_read"),
        (NOBODY, Method::GET, "/svc/v2/icons", 401, "rest_cannot_view"),
        (NOBODY, Method::GET, "/svc-abilities/v1/abilities", 401, "rest_forbidden"),
    ];
    for (user, method, route, status, code) in rows {
        let response = h.json(user, method.clone(), route, json!({"name": "x"})).await;
        assert_eq!((response.status, response.code()), (status, code), "{user} {method} {route}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn menu_items_take_defaults_from_their_object() {
    let h = themed();
    let created = h.json(ADMIN, Method::POST, MENUS, json!({"name": "New", "locations": ["footer"]})).await;
    assert_eq!((created.status, &created.body["locations"]), (201, &json!(["footer"])), "{:?}", created.body);
    for locations in [json!({"a": "footer"}), json!([null]), json!(["nowhere"])] {
        let rejected = h.json(ADMIN, Method::POST, MENUS, json!({"name": "Other", "locations": locations})).await;
        assert_eq!((rejected.status, rejected.code()), (400, "rest_invalid_param"), "{locations}");
    }
    let menu = created.body["id"].clone();
    #[rustfmt::skip]
    let rows = [
        // Request body; title, object, whether the item is invalid.
        (json!({"type": "post_type", "object_id": 1100}), "About", "page", false),
        (json!({"type": "taxonomy", "object_id": 2}), "News", "category", false),
        (json!({"type": "post_type_archive", "object": "book"}), "Books", "book", false),
        (json!({"type": "post_type", "object": "page", "object_id": 999_999}), "#999999 (no title)", "page", true),
        (json!({"title": "Own", "url": "https://example.org/"}), "Own", "custom", false),
    ];
    for (mut body, title, object, invalid) in rows {
        body["menus"] = menu.clone();
        let item = h.json(ADMIN, Method::POST, ITEMS, body.clone()).await;
        assert_eq!(item.status, 201, "{body} {:?}", item.body);
        let item = (&item.body["title"]["raw"], &item.body["object"], &item.body["invalid"]);
        assert_eq!(item, (&json!(title), &json!(object), &json!(invalid)), "{body}");
    }
    for (body, code) in [
        (json!({}), "rest_title_required"),
        (json!({"title": "x"}), "rest_url_required"),
        (json!({"title": "x", "url": "https://example.org/", "menus": 999_999}), "invalid_menu_id"),
        (json!({"title": "x", "url": "https://example.org/", "menus": 0}), "rest_cannot_assign_term"),
        (json!({"type": "post_type_archive", "object": "nosuch"}), "rest_post_invalid_type"),
        (json!({"title": "x", "url": "javascript:alert(1)"}), "rest_invalid_param"),
    ] {
        assert_eq!(h.json(ADMIN, Method::POST, ITEMS, body.clone()).await.code(), code, "{body}");
    }
    // Deleting a menu deletes its items and clears its locations.
    let deleted = h.json(ADMIN, Method::DELETE, &format!("{MENUS}/{menu}"), json!({"force": true})).await;
    assert_eq!(deleted.status, 200);
    let left = h.get(ADMIN, ITEMS, &format!("menus={menu}")).await;
    assert_eq!(left.body, json!([]));
    assert_eq!(h.get(ADMIN, "/svc/v2/menu-locations/footer", "").await.body["menu"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn new_pages_are_added_to_menus_with_auto_add() {
    let h = themed();
    let set = h.json(ADMIN, Method::PATCH, &format!("{MENUS}/31"), json!({"auto_add": true})).await;
    assert_eq!(set.body["auto_add"], true);
    let page = h.json(ADMIN, Method::POST, "/svc/v2/pages", json!({"title": "Fresh", "status": "publish"})).await;
    let below = json!({"title": "Below", "status": "publish", "parent": page.body["id"]});
    h.json(ADMIN, Method::POST, "/svc/v2/pages", below).await;
    let items = h.get(ADMIN, ITEMS, "menus=31").await;
    let titles: Vec<&Value> = items.body.as_array().unwrap().iter().map(|item| &item["title"]["rendered"]).collect();
    // The menu has two items, the first of which is stored with the position 11.
    assert_eq!(titles, [&json!("Fresh"), &json!("Elsewhere")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn query_count_is_independent_of_the_number_of_menu_items() {
    let h = themed();
    let mut counts = Vec::new();
    for per_page in [1, 100] {
        let query = format!("context=edit&per_page={per_page}");
        h.get(ADMIN, ITEMS, &query).await;
        let before = h.statements();
        assert_eq!(h.get(ADMIN, ITEMS, &query).await.status, 200);
        counts.push(h.statements() - before);
    }
    // The first item has no stored object; the others load posts and terms with their URLs in about four queries.
    assert!(counts[1] <= counts[0] + 6, "{counts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn widgets_are_assigned_to_sidebars_and_deleted() {
    let h = themed();
    let created = json!({"id_base": "text", "instance": {"raw": {"title": "T", "text": "<b>x</b>"}}});
    let created = h.json(ADMIN, Method::POST, "/svc/v2/widgets", created).await;
    let id = created.body["id"].as_str().unwrap().to_owned();
    assert_eq!(
        (created.status, &created.body["instance"]["raw"]["text"]),
        (201, &json!("<b>x</b>")),
        "{:?}",
        created.body
    );
    let odd = json!({"id": "abc", "id_base": "text", "instance": {"raw": {}}});
    let odd = h.json(ADMIN, Method::POST, "/svc/v2/widgets", odd).await;
    assert_eq!((odd.status, odd.code()), (400, "rest_invalid_widget"));
    let filled = json!({"widgets": [id, "nosuch-1"]});
    let main = h.json(ADMIN, Method::PUT, "/svc/v2/sidebars/sidebar-main", filled).await;
    assert_eq!(main.body["widgets"], json!([id]));
    let item = h.get(ADMIN, &format!("/svc/v2/widgets/{id}"), "").await;
    let html = item.body["rendered"].as_str().unwrap();
    assert!(html.contains("widget_text") && html.contains("<b>x</b>"), "{html}");
    let route = format!("/svc/v2/widgets/{id}");
    // Without `force` the widget becomes inactive; with `force` it is deleted.
    let away = h.json(ADMIN, Method::DELETE, &route, json!({})).await;
    assert_eq!(away.body["sidebar"], "wp_inactive_widgets");
    assert_eq!(h.json(ADMIN, Method::DELETE, &route, json!({"force": true})).await.body["deleted"], true);
    assert_eq!(h.get(ADMIN, &route, "").await.code(), "rest_widget_not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_widget_type_renders_a_preview_and_a_form() {
    let h = themed();
    let kinds = h.get(ADMIN, "/svc/v2/widget-types", "_fields=id").await;
    let kinds = kinds.body.as_array().unwrap().clone();
    assert_eq!(kinds.len(), 18);
    for kind in kinds {
        let kind = kind["id"].as_str().unwrap();
        let form =
            format!("widget-{kind}[1][title]=Mine&widget-{kind}[1][nav_menu]=30&widget-{kind}[1][url]=https://e.org/");
        let route = format!("/svc/v2/widget-types/{kind}/encode");
        let item = h.json(ADMIN, Method::POST, &route, json!({"form_data": form})).await;
        assert_eq!(item.status, 200, "{kind} {:?}", item.body);
        let (html, form) = (item.body["preview"].as_str().unwrap(), item.body["form"].as_str().unwrap());
        assert!(form.contains(&format!("widget-{kind}[-1]")), "{kind} {form}");
        if !matches!(kind, "block" | "media_gallery") {
            assert!(html.contains(">Mine<"), "{kind} {html}");
        }
        // Request of the widget editor for a new widget without input.
        let again = h.json(ADMIN, Method::POST, &route, json!({"number": 7, "form_data": null})).await;
        assert_eq!(again.status, 200, "{kind} {:?}", again.body);
        assert!(again.body["form"].as_str().is_some_and(|form| form.contains(&format!("widget-{kind}[7]"))), "{kind}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn abilities_run_with_their_method_and_validated_input() {
    let h = themed();
    let route = "/svc-abilities/v1/abilities/acme/double/run";
    for (user, query, status, expected) in [
        (EDITOR, "input[n]=21", 200, json!(42)),
        (EDITOR, "input[n]=x", 400, json!("ability_invalid_input")),
        (EDITOR, "", 400, json!("ability_invalid_input")),
        (NOBODY, "input[n]=21", 401, json!("rest_ability_cannot_execute")),
    ] {
        let response = h.get(user, route, query).await;
        let result = if response.status == 200 { response.body.clone() } else { json!(response.code()) };
        assert_eq!((response.status, result), (status, expected), "{user} {query}");
    }
    let wrong = h.json(EDITOR, Method::POST, route, json!({"input": {"n": 1}})).await;
    assert_eq!((wrong.status, wrong.code()), (405, "rest_ability_invalid_method"));
    let user_info =
        h.get(EDITOR, "/svc-abilities/v1/abilities/core/get-user-info/run", "input[fields][]=user_login").await;
    assert_eq!(user_info.body, json!({"user_login": "editor1"}));
}

#[tokio::test(flavor = "multi_thread")]
async fn menu_items_are_deleted_with_their_object() {
    let h = Harness::new();
    let send = async |method, route: &str, body| h.json(ADMIN, method, route, body).await;
    let page = json!({"title": "Linked", "status": "publish"});
    let page = send(Method::POST, "/svc/v2/pages", page).await.body["id"].as_i64().unwrap();
    let term = send(Method::POST, "/svc/v2/categories", json!({"name": "Linked"})).await.body["id"].as_i64().unwrap();
    let page_route = format!("/svc/v2/pages/{page}");
    for (item_type, object, id, object_route) in [
        ("taxonomy", "category", term, format!("/svc/v2/categories/{term}")),
        ("post_type", "page", page, page_route.clone()),
    ] {
        let item = json!({"title": "X", "type": item_type, "object": object, "object_id": id, "status": "publish"});
        let created = send(Method::POST, ITEMS, item).await;
        assert_eq!(created.status, 201, "{:?}", created.body);
        let own = format!("{ITEMS}/{}", created.body["id"]);
        // An item of another object with the same id.
        let other = json!({"title": "Y", "type": if item_type == "taxonomy" { "post_type" } else { "taxonomy" },
            "object": if item_type == "taxonomy" { "post" } else { "post_tag" }, "object_id": id, "status": "draft"});
        let other = send(Method::POST, ITEMS, other).await;
        assert_eq!(h.get(ADMIN, &own, "").await.status, 200);
        assert_eq!(send(Method::DELETE, &object_route, json!({"force": true})).await.status, 200);
        assert_eq!(h.get(ADMIN, &own, "").await.status, 404, "{item_type}");
        if other.status == 201 {
            assert_eq!(h.get(ADMIN, &format!("{ITEMS}/{}", other.body["id"]), "").await.status, 200, "{item_type}");
        }
    }
    assert_eq!(h.get(ADMIN, &page_route, "").await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_the_front_page_resets_the_front_page_to_posts() {
    let h = Harness::new();
    let page = h.json(ADMIN, Method::POST, "/svc/v2/pages", json!({"title": "Front", "status": "publish"})).await;
    let id = &page.body["id"];
    let chosen = json!({"show_on_front": "page", "page_on_front": id, "page_for_posts": id});
    let set = h.json(ADMIN, Method::POST, "/svc/v2/settings", chosen).await;
    assert_eq!((&set.body["show_on_front"], &set.body["page_on_front"]), (&json!("page"), id));
    h.json(ADMIN, Method::DELETE, &format!("/svc/v2/pages/{id}"), json!({})).await;
    let left = h.get(ADMIN, "/svc/v2/settings", "_fields=show_on_front,page_on_front,page_for_posts").await;
    assert_eq!(left.body, json!({"show_on_front": "posts", "page_on_front": 0, "page_for_posts": 0}));
}

#[tokio::test(flavor = "multi_thread")]
async fn autosaves_of_menu_items_are_empty() {
    let h = themed();
    let own = "/svc/v2/menu-items/1420";
    let autosaves = format!("{own}/autosaves");
    let before = h.get(ADMIN, own, "context=edit").await.body;
    assert_eq!(h.get(ADMIN, &autosaves, "").await.body, json!([]));
    let created =
        h.json(ADMIN, Method::POST, &autosaves, json!({"title": "Typed", "url": "https://example.org/"})).await;
    assert_eq!(
        (created.status, &created.body["parent"], &created.body["title"]["raw"]),
        (200, &json!(1420), &json!(""))
    );
    assert_eq!(h.get(ADMIN, own, "context=edit").await.body, before);
    assert_eq!(h.get(NOBODY, &autosaves, "").await.code(), "rest_cannot_read");
}

#[tokio::test(flavor = "multi_thread")]
async fn post_updates_font_families_partially() {
    let h = themed();
    let own = "/svc/v2/font-families/1470";
    let change = async |method: Method, settings: Value| {
        h.json(ADMIN, method, own, json!({"font_family_settings": settings})).await
    };
    let renamed = change(Method::POST, json!(r#"{"name":"Renamed"}"#)).await;
    let settings = &renamed.body["font_family_settings"];
    assert_eq!((&settings["name"], &settings["slug"]), (&json!("Renamed"), &json!("fixture-sans")));
    assert_eq!(settings["fontFamily"], r#""Fixture Sans", sans-serif"#);
    for (method, settings) in [
        (Method::POST, json!(r#"{"slug":"other"}"#)),
        (Method::POST, json!(r#"{"name":""}"#)),
        (Method::POST, json!({"name": "x"})),
        (Method::PATCH, json!(r#"{"name":"x"}"#)),
    ] {
        let rejected = change(method.clone(), settings.clone()).await;
        assert_eq!((rejected.status, rejected.code()), (400, "rest_invalid_param"), "{method} {settings}");
    }
}
