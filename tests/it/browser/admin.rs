//! The administration area in a browser: without scripts, on a phone, with the keyboard, and for screen readers.

use serde_json::json;

use super::{Tab, assert_accessible, browser, log_in, password, save_screenshot};
use crate::site::Site;

const POSTS: &str = "/svc-json/svc/v2/posts";

/// Opens the dashboard of a new site.
fn dashboard(tab: &mut Tab, site: &Site) -> String {
    let home = format!("http://{}", site.address);
    tab.open(&format!("{home}/wp-admin/"));
    log_in(tab, &password(site));
    assert_eq!(tab.url(), format!("{home}/wp-admin/"));
    home
}

/// Shows pages as a window of this width does.
fn set_width(tab: &mut Tab, width: u32) {
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
    assert!(tab.text().contains("Restored from the trash."), "{}", tab.text());
    assert_eq!(tab.eval("document.querySelectorAll('tbody tr').length"), 12);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_pages_are_accessible_at_every_width() {
    let Some(mut browser) = browser() else { return };
    let site = Site::start().await;
    let mut tab = browser.tab();
    let tab = &mut tab;
    let home = dashboard(tab, &site);
    for (name, path) in [
        ("dashboard", ""),
        ("posts", "edit.php"),
        ("editor", "post.php?post=1&action=edit"),
        ("revisions", "revision.php?post=1"),
        ("media", "upload.php"),
        ("comments", "edit-comments.php"),
        ("categories", "edit-tags.php?taxonomy=category"),
        ("term", "term.php?taxonomy=category&tag_ID=1"),
        ("users", "users.php"),
        ("new-user", "user-new.php"),
        ("settings", "options-general.php"),
        ("no-page", "nothing.php"),
    ] {
        for width in [1280, 390] {
            set_width(tab, width);
            tab.open(&format!("{home}/wp-admin/{path}"));
            save_screenshot(tab, &format!("admin-{name}-{width}"));
            assert_accessible(tab, &format!("{name} at {width}"));
            let wide = tab.eval("document.documentElement.scrollWidth > innerWidth");
            assert_eq!(wide, false, "{name} is wider than a window of {width}");
        }
    }
}
