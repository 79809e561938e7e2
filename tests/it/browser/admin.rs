//! The administration area in a browser: without scripts, on a phone, with the keyboard, and for screen readers.

use serde_json::json;
use svc_server::SiteBuilder;

use super::{Tab, assert_accessible, browser, log_in, password, save_screenshot, write_screenshot};
use crate::site::Site;

const POSTS: &str = "/svc-json/svc/v2/posts";

/// Opens the dashboard of a new site.
pub(super) fn dashboard(tab: &mut Tab, site: &Site) -> String {
    let home = format!("http://{}", site.address);
    tab.open(&format!("{home}/wp-admin/"));
    log_in(tab, &password(site));
    assert_eq!(tab.url(), format!("{home}/wp-admin/"));
    home
}

/// Shows pages as a window of this width does.
pub(super) fn set_width(tab: &mut Tab, width: u32) {
    let metrics = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500});
    tab.call("Emulation.setDeviceMetricsOverride", metrics);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_is_written_without_scripts() {
    let Some(mut browser) = browser() else { return };
    let site = Site::start().await;
    let mut tab = browser.tab();
    let tab = &mut tab;
    tab.scripts(false);
    dashboard(tab, &site);
    tab.follow("a[href*='post-new.php']");
    tab.fill("#title", "A day at the sea");
    tab.fill("#content", "<!-- wp:paragraph -->\n<p>We saw a seal.</p>\n<!-- /wp:paragraph -->");
    tab.follow("button[value=save]");
    assert!(tab.text().contains("Draft saved."), "{}", tab.text());
    tab.fill("#f-slug", "sea");
    tab.follow("button[value=publish]");
    assert!(tab.text().contains("Published."), "{}", tab.text());
    let posts = site.get(&format!("{POSTS}?slug=sea")).await.json();
    assert_eq!(posts[0]["title"]["rendered"], "A day at the sea");
    tab.follow(".panel .links a");
    assert!(tab.text().contains("We saw a seal."), "{}", tab.text());
    // The page of the post leads back to its editor.
    tab.follow("a[href*='action=edit']");
    assert_eq!(tab.eval("document.querySelector('#title').value"), "A day at the sea");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_is_searched_while_typing() {
    let Some(mut browser) = browser() else { return };
    let site = Site::start().await;
    let admin = site.app_password();
    for n in 0..30 {
        let body = json!({"title": format!("Number {n}"), "status": "publish"});
        assert_eq!(site.post(POSTS, &admin, &body).await.status, 201);
    }
    let mut tab = browser.tab();
    let tab = &mut tab;
    let home = dashboard(tab, &site);
    tab.open(&format!("{home}/wp-admin/edit.php"));
    assert_eq!(tab.eval("document.querySelectorAll('tbody tr').length"), 25);
    tab.eval("document.querySelector('[data-search]').focus()");
    tab.type_text("number 17");
    tab.wait_for("document.querySelectorAll('tbody tr').length === 1");
    assert!(tab.text().contains("Number 17"), "{}", tab.text());
    assert!(tab.url().contains("s=number+17"), "{}", tab.url());
    // The field keeps the focus and the words.
    assert_eq!(tab.eval("document.activeElement.value"), "number 17");
    tab.type_text("x");
    tab.wait_for("!!document.querySelector('.empty')");
    // All rows are selected at once, and moved to the trash.
    tab.open(&format!("{home}/wp-admin/edit.php?s=number+2"));
    tab.click("[data-all]");
    tab.follow(".bulk button[value=trash]");
    assert!(tab.text().contains("Moved to the trash."), "{}", tab.text());
    assert_eq!(tab.eval("document.querySelectorAll('tbody tr').length"), 0);
    tab.follow(".note button[value=restore]");
    assert!(tab.text().contains("Restored from the trash, as a draft."), "{}", tab.text());
    assert_eq!(tab.eval("document.querySelectorAll('tbody tr').length"), 12);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_pages_are_accessible_and_calm_at_every_width() {
    let Some(mut browser) = browser() else { return };
    let settings = [("change_log", "10000")];
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await;
    let mut tab = browser.tab();
    let tab = &mut tab;
    // The sum of how far contents jump while a page is loaded (Layout Instability API).
    let shifts = "let shifted = 0; new PerformanceObserver((list) => { for (const e of list.getEntries()) shifted += e.value })\
        .observe({ type: 'layout-shift', buffered: true });";
    tab.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": shifts }));
    // On a slow network, style sheets and scripts arrive one after the other.
    tab.call("Network.enable", json!({}));
    tab.call("Network.setCacheDisabled", json!({ "cacheDisabled": true }));
    let slow = json!({"offline": false, "latency": 20, "downloadThroughput": 60_000, "uploadThroughput": 60_000});
    tab.call("Network.emulateNetworkConditions", slow);
    let home = dashboard(tab, &site);
    let hook = json!({"url": "https://front.example/hook", "events": ["post.*"]});
    let hook = site.post("/svc-json/svc/v2/webhooks", &site.app_password(), &hook).await.json();
    let delivery = format!("/svc-json/svc/v2/webhooks/{}/test", hook["id"].as_str().unwrap());
    assert_eq!(site.post(&delivery, &site.app_password(), &json!({})).await.status, 202);
    let webhook = format!("webhook.php?id={}", hook["id"].as_str().unwrap());
    tab.open(&format!("{home}/wp-admin/site-health.php"));
    tab.follow("button[value=check]");
    for (name, path) in [
        ("dashboard", ""),
        ("posts", "edit.php"),
        ("editor", "post.php?post=1&action=edit"),
        ("revisions", "revision.php?post=1"),
        ("media", "upload.php"),
        ("comments", "edit-comments.php"),
        ("categories", "edit-tags.php?taxonomy=category"),
        ("term", "term.php?taxonomy=category&tag_ID=1"),
        ("menus", "nav-menus.php"),
        ("templates", "site-editor.php"),
        ("template-parts", "site-editor.php?postType=wp_template_part"),
        ("users", "users.php"),
        ("roles", "roles.php"),
        ("new-user", "user-new.php"),
        ("user", "user-edit.php?user_id=1"),
        ("settings", "options-general.php"),
        ("permalinks", "options-permalink.php"),
        ("webhooks", "webhooks.php"),
        ("webhook", &webhook),
        ("export", "export.php"),
        ("import", "import.php"),
        ("status", "site-health.php"),
        ("no-page", "nothing.php"),
    ] {
        for width in [1280, 390] {
            set_width(tab, width);
            tab.open(&format!("{home}/wp-admin/{path}"));
            if name == "editor" {
                wait_for_editor(tab);
            }
            // Before the picture, for which the window grows.
            let shifted = tab.eval("shifted").as_f64().unwrap();
            assert!(shifted < 0.01, "{name} jumps by {shifted} at {width}");
            let image = tab.screenshot_of_page();
            write_screenshot(&format!("admin-{name}-{width}"), &image);
            assert_accessible(tab, &format!("{name} at {width}"));
            let wide = tab.eval("document.documentElement.scrollWidth > innerWidth");
            assert_eq!(wide, false, "{name} is wider than a window of {width}");
        }
    }
}

/// Waits until the editor has taken the place of the content field.
pub(super) fn wait_for_editor(tab: &mut Tab) {
    tab.wait_for("document.documentElement.dataset.editor === 'ready'");
}

async fn content(site: &Site, admin: &str, id: i64) -> String {
    let headers = [("Authorization", &*crate::site::basic(admin))];
    let path = format!("{POSTS}/{id}?context=edit&_fields=content");
    let post = crate::client::send(site.address, "GET", &path, &headers, "").await.json();
    post["content"]["raw"].as_str().unwrap().to_owned()
}

/// Saves with the button, and waits until the page says so.
pub(super) fn save(tab: &mut Tab, message: &str) {
    tab.click("button[value=save]");
    tab.wait_for(&format!("document.getElementById('save-state').textContent.includes('{message}')"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_is_written_in_the_editor() {
    let Some(mut browser) = browser() else { return };
    let site = Site::start().await;
    let admin = site.app_password();
    let mut tab = browser.tab();
    let tab = &mut tab;
    dashboard(tab, &site);
    tab.follow("a[href*='post-new.php']");
    wait_for_editor(tab);
    tab.fill("#title", "Bread");
    tab.eval("document.querySelector('.ProseMirror').focus()");
    for letter in "Flour and **water** only.".chars() {
        tab.type_text(&letter.to_string());
    }
    save(tab, "Draft saved.");
    let id: i64 = tab.eval("Number(document.getElementById('post-form').elements.post.value)").as_i64().unwrap();
    let expected = "<!-- wp:paragraph -->\n<p>Flour and <strong>water</strong> only.</p>\n<!-- /wp:paragraph -->";
    assert_eq!(content(&site, &admin, id).await, expected);
    assert!(tab.url().contains(&format!("post.php?post={id}&action=edit")), "{}", tab.url());
    // More words, without leaving the page.
    tab.type_text(" And salt.");
    save(tab, "Draft saved.");
    assert_eq!(content(&site, &admin, id).await, expected.replace("only.", "only. And salt."));
    tab.follow("button[value=publish]");
    wait_for_editor(tab);
    assert!(tab.text().contains("Update"), "{}", tab.text());
    let posts = site.get(&format!("{POSTS}/{id}")).await.json();
    assert_eq!((&posts["status"], &posts["title"]["rendered"]), (&json!("publish"), &json!("Bread")));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_editor_leaves_what_it_does_not_know_as_it_is() {
    let Some(mut browser) = browser() else { return };
    let site = Site::start().await;
    let admin = site.app_password();
    let kept = "<!-- wp:acme/box {\"a\":\"\\u003cb\\u003e\"} -->\n<div  class='x'>A &amp; B<br></div>\n<!-- /wp:acme/box -->\r\n\n\n\
                <!-- wp:latest-posts /-->classic\n\ntext";
    let stored = format!("<!-- wp:paragraph -->\n<p>Change me</p>\n<!-- /wp:paragraph -->\n\n{kept}");
    let created = site.post(POSTS, &admin, &json!({"title": "T", "content": stored, "status": "publish"})).await;
    let id = created.json()["id"].as_i64().unwrap();
    let before = content(&site, &admin, id).await;
    let mut tab = browser.tab();
    let tab = &mut tab;
    let home = dashboard(tab, &site);
    tab.open(&format!("{home}/wp-admin/post.php?post={id}&action=edit"));
    wait_for_editor(tab);
    tab.fill("#title", "Another title");
    save(tab, "Saved.");
    assert_eq!(content(&site, &admin, id).await, before);
    // Somebody else changes the post; the save shows both versions, and stores nothing.
    let theirs = before.replace("Change me", "Theirs");
    assert_eq!(site.post(&format!("{POSTS}/{id}"), &admin, &json!({"content": theirs})).await.status, 200);
    tab.eval("document.querySelector('.ProseMirror').focus()");
    tab.eval("getSelection().setPosition(document.querySelector('.ProseMirror p'), 0)");
    tab.type_text("Mine: ");
    tab.click("button[value=save]");
    tab.wait_for("!!document.querySelector('dialog.editor-conflict[open]')");
    assert_eq!(content(&site, &admin, id).await, theirs);
    set_width(tab, 390);
    save_screenshot(tab, "admin-conflict-390");
    set_width(tab, 1280);
    save_screenshot(tab, "admin-conflict-1280");
    assert_accessible(tab, "conflict");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_preview_follows_the_text() {
    let Some(mut browser) = browser() else { return };
    let site = Site::start().await;
    let mut tab = browser.tab();
    let tab = &mut tab;
    dashboard(tab, &site);
    tab.follow("a[href*='post-new.php']");
    wait_for_editor(tab);
    tab.click("#beside");
    assert!(tab.text().contains("appears when something is written"), "{}", tab.text());
    tab.fill("#title", "Low tide");
    tab.eval("document.querySelector('.ProseMirror').focus()");
    let shows = |words: &str| {
        format!(
            "!!document.querySelector('.stage iframe:not(.loading)')?.contentDocument?.body?.textContent.includes('{words}')"
        )
    };
    tab.type_text("Crabs everywhere.");
    tab.wait_for(&shows("Crabs everywhere."));
    // The focus stays in the text.
    tab.type_text(" And a starfish.");
    tab.wait_for(&shows("And a starfish."));
    for width in [1280, 390] {
        set_width(tab, width);
        assert_accessible(tab, &format!("live preview at {width}"));
        let wide = tab.eval("document.documentElement.scrollWidth > innerWidth");
        assert_eq!(wide, false, "the live preview is wider than a window of {width}");
        save_screenshot(tab, &format!("admin-preview-{width}"));
    }
    tab.click(".widths button:last-child");
    assert_eq!(tab.eval("document.querySelectorAll('.stage').length"), 0);
}
