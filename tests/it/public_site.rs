//! Menus and settings that visitors may read, and the origins whose scripts may.

use serde_json::json;
use svc_server::SiteBuilder;

use crate::{
    client::send,
    site::{Site, basic},
};

const API: &str = "/svc-json/svc/v2";

#[tokio::test(flavor = "multi_thread")]
async fn visitors_read_the_menus_and_settings_that_are_named() {
    let settings = [("public_menus", "primary,nowhere"), ("public_settings", "title,no_such_setting,site_icon")];
    let builder = SiteBuilder::new().prepare(|setup| {
        for location in ["primary", "secret"] {
            setup.registries.menu_locations.insert(location.to_owned(), location.to_owned());
        }
    });
    let site = Site::start_in(tempfile::tempdir().unwrap(), &builder, &settings).await;
    let admin = site.app_password();
    let create = async |route: &str, body| {
        let created = site.post(&format!("{API}/{route}"), &admin, &body).await;
        assert_eq!(created.status, 201, "{route}: {}", created.body);
        created.json()["id"].as_i64().unwrap()
    };
    let menu = create("menus", json!({"name": "Main", "locations": ["primary"]})).await;
    create("menus", json!({"name": "Hidden", "locations": ["secret"]})).await;
    let public = site.get(&format!("{API}/posts")).await.json()[0].clone();
    let (public_id, public) = (public["id"].clone(), public["title"]["rendered"].as_str().unwrap().to_owned());
    let draft = create("pages", json!({"title": "A secret draft", "status": "draft"})).await;
    let item = |title: &str, order: i64| json!({"title": title, "url": "https://example.org/", "menus": menu, "menu_order": order, "status": "publish"});
    let parent = create("menu-items", item("Tom & Jerry", 1)).await;
    let mut child = item("Child", 2);
    child["parent"] = json!(parent);
    create("menu-items", child).await;
    for (order, object, id) in [(3, "post", &public_id), (4, "page", &json!(draft))] {
        let of_post = json!({"type": "post_type", "object": object, "object_id": id, "menus": menu, "menu_order": order,
            "status": "publish"});
        create("menu-items", of_post).await;
    }
    let mut unpublished = item("Not yet", 5);
    unpublished["status"] = json!("draft");
    create("menu-items", unpublished).await;

    let found = site.get(&format!("{API}/public-menus/primary")).await;
    assert_eq!(found.status, 200, "{}", found.body);
    let tree = found.json();
    let titles = |items: &serde_json::Value| -> Vec<String> {
        items.as_array().unwrap().iter().map(|item| item["title"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(tree["name"], "Main");
    assert_eq!(titles(&tree["items"]), ["Tom &#038; Jerry", public.as_str()]);
    assert_eq!(titles(&tree["items"][0]["children"]), ["Child"]);
    assert_eq!((&tree["items"][1]["object"], &tree["items"][1]["object_id"]), (&json!("post"), &public_id));
    // Who may read the draft sees it in the menu.
    let authorization = basic(&admin);
    let headers = [("Authorization", authorization.as_str())];
    let own = send(site.address, "GET", &format!("{API}/public-menus/primary"), &headers, "").await;
    assert!(own.body.contains("A secret draft"), "{}", own.body);
    let missing = ["secret", "nowhere", "none"].map(|location| format!("{API}/public-menus/{location}"));
    for path in &missing {
        let response = send(site.address, "GET", path, &headers, "").await;
        assert_eq!((response.status, &response.json()["code"]), (404, &json!("rest_menu_not_public")), "{path}");
    }
    // A change is seen at once.
    site.post(&format!("{API}/menu-items/{parent}"), &admin, &json!({"title": "Changed"})).await;
    assert!(site.get(&format!("{API}/public-menus/primary")).await.body.contains("Changed"));

    let shown = site.get(&format!("{API}/public-settings")).await.json();
    let names: Vec<&String> = shown.as_object().unwrap().keys().collect();
    assert_eq!(names, ["title", "site_icon"]);
    site.post(&format!("{API}/settings"), &admin, &json!({"title": "A new title"})).await;
    assert_eq!(site.get(&format!("{API}/public-settings")).await.json()["title"], "A new title");
    for path in ["public-settings", "public-menus/primary"] {
        let written = site.post(&format!("{API}/{path}"), &admin, &json!({"title": "x"})).await;
        assert_eq!(written.status, 404, "{path}: {}", written.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_public_by_default_and_secrets_never() {
    let builder = SiteBuilder::new().prepare(|setup| {
        let key = svc_server::controllers::site_settings::RegisteredSetting::new(
            "acme_api_key",
            svc_server::schema::build::string().title("Key").describe("A key."),
        );
        setup.registered_settings.push(key.secret());
    });
    let settings = [("public_settings", "acme_api_key,description"), ("cors_origins", "https://front.example")];
    let site = Site::start_in(tempfile::tempdir().unwrap(), &builder, &settings).await;
    let admin = site.app_password();
    site.post(&format!("{API}/settings"), &admin, &json!({"acme_api_key": "very secret"})).await;
    let shown = site.get(&format!("{API}/public-settings")).await;
    assert_eq!(shown.json().as_object().unwrap().keys().collect::<Vec<_>>(), ["description"], "{}", shown.body);
    let plain = Site::start().await;
    assert_eq!(plain.get(&format!("{API}/public-settings")).await.body, "{}");
    assert_eq!(plain.get(&format!("{API}/public-menus/primary")).await.status, 404);

    for (site, origin, allowed) in [
        (&site, "https://front.example", true),
        (&site, "https://other.example", false),
        (&plain, "https://other.example", true),
    ] {
        for _ in 0..2 {
            // The second response comes from the cache.
            let response = send(site.address, "GET", &format!("{API}/posts"), &[("Origin", origin)], "").await;
            assert_eq!(!response.header("access-control-allow-origin").is_empty(), allowed, "{origin}");
            assert!(response.all("vary").iter().any(|vary| vary.contains("Origin")));
        }
    }
}
