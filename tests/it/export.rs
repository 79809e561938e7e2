//! Exports the active theme as a ZIP archive.

use std::io::{Cursor, Read};

use serde_json::json;

use crate::{
    client::{raw, send},
    site::{Site, basic},
};

const EXPORT: &str = "/svc-json/svc-block-editor/v1/export";

#[tokio::test(flavor = "multi_thread")]
async fn the_theme_is_exported_with_the_sites_changes() {
    let site = Site::start().await;
    let rejected = site.get(EXPORT).await;
    assert_eq!((rejected.status, rejected.json()["code"].as_str()), (401, Some("rest_cannot_export_templates")));

    let user = site.app_password();
    let auth = basic(&user);
    let themes = "/svc-json/svc/v2/themes?status=active";
    let active = send(site.address, "GET", themes, &[("Authorization", &auth)], "").await.json();
    let name = active[0]["stylesheet"].as_str().unwrap().to_owned();
    let content = "<!-- wp:template-part {\"slug\":\"header\",\"theme\":\"x\"} /--><p>Changed</p>";
    let template = json!({"slug": "mine", "title": "Mine", "content": content});
    assert_eq!(site.post("/svc-json/svc/v2/templates", &user, &template).await.status, 201);
    let styles = active[0]["_links"]["svc:user-global-styles"][0]["href"].as_str().unwrap();
    let styles = &styles[styles.find("/svc-json").unwrap()..];
    let changed = site.post(styles, &user, &json!({"styles": {"color": {"text": "#123456"}}})).await;
    assert_eq!(changed.status, 200, "{}", changed.body);

    let request = format!(
        "GET {EXPORT} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: {auth}\r\n\r\n",
        site.address
    );
    let response = raw(site.address, request.as_bytes(), false).await;
    let end = response.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&response[..end]).to_lowercase();
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert!(head.contains("content-type: application/zip"), "{head}");
    assert!(head.contains(&format!("content-disposition: attachment; filename={name}.zip")), "{head}");
    assert!(!head.contains("\r\nallow:"), "{head}");

    let mut archive = zip::ZipArchive::new(Cursor::new(&response[end + 4..])).unwrap();
    let mut text = |name: &str| {
        let mut text = String::new();
        archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
        text
    };
    assert_eq!(text("templates/mine.html"), "<!-- wp:template-part {\"slug\":\"header\"} /--><p>Changed</p>");
    assert!(text("templates/index.html").contains("<!-- wp:"));
    assert!(text("style.css").contains("Theme Name:"));
    let json: serde_json::Value = serde_json::from_str(&text("theme.json")).unwrap();
    assert_eq!((&json["version"], &json["styles"]["color"]["text"]), (&json!(3), &json!("#123456")));
    site.stop().await;
}
