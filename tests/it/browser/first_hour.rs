//! The first hour in the browser alone: log in with the printed password, change the account, create an application password, upload
//! an image, write a post with it, find it with the search, comment on it, log out.

use serde_json::json;

use super::{
    Key, assert_accessible, browser,
    explorer::{execute, open_operation, upload},
    log_in, password, save_screenshot,
};
use crate::{
    client::send,
    site::{Site, basic},
};

const ME: &str = "/svc-json/svc/v2/users/me";

#[tokio::test(flavor = "multi_thread")]
async fn a_new_site_is_used_in_the_browser_alone() {
    let Some(mut browser) = browser() else { return };
    let site = Site::start().await;
    let home = format!("http://{}", site.address);
    let mut tab = browser.tab();
    let tab = &mut tab;

    tab.open(&format!("{home}/wp-login.php"));
    log_in(tab, &password(&site));
    assert!(tab.url().ends_with("/wp-admin/"), "{}", tab.url());
    tab.follow(".me a[href*='profile.php']");

    tab.fill("#display_name", "Ada Lovelace");
    tab.fill("#email", "ada@example.org");
    tab.follow("#details button");
    assert!(tab.text().contains("Your account has been updated."), "{}", tab.text());
    tab.fill("#current_password", "wrong");
    tab.fill("#new_password", "a password of my own");
    tab.fill("#new_password_again", "a password of my own");
    tab.follow("#change-password button");
    assert!(tab.text().contains("The current password is wrong."), "{}", tab.text());
    assert_accessible(tab, "profile with an error");
    tab.fill("#current_password", &password(&site));
    tab.fill("#new_password", "a password of my own");
    tab.fill("#new_password_again", "a password of my own");
    tab.follow("#change-password button");
    assert!(tab.text().contains("Your password has been changed."), "{}", tab.text());
    assert_accessible(tab, "profile");
    save_screenshot(tab, "profile-changed");

    tab.follow("a[href*='authorize-application.php']");
    tab.fill("#app_name", "Notebook");
    tab.follow("#approve");
    let shown = tab.eval("document.querySelector('#new-password').textContent");
    let credentials = basic(&format!("admin:{}", shown.as_str().unwrap_or_default()));
    let me = send(site.address, "GET", ME, &[("Authorization", &credentials)], "").await;
    assert_eq!(me.json()["name"], "Ada Lovelace", "{}", me.body);
    tab.follow("main a[href*='profile.php']");

    tab.follow("a[href*='-explorer/']");
    open_operation(tab, &home, "post-/svc/v2/media");
    let image = concat!(env!("CARGO_MANIFEST_DIR"), "/conformance/site/content/uploads/2024/03/small.png");
    let media = upload(tab, std::path::Path::new(image));
    assert_eq!(media["mime_type"], "image/png", "{media}");
    let picture = media["source_url"].as_str().unwrap_or_default();
    open_operation(tab, &home, "post-/svc/v2/posts");
    let content = format!("<p>It lives under the hedge.</p><img src=\"{picture}\" alt=\"A hedgehog\">");
    let body = json!({"title": "A hedgehog arrives", "content": content, "status": "publish"});
    let post = execute(tab, &json!({}), &body);
    assert_eq!(post["status"], "publish", "{post}");

    tab.open(&home);
    tab.fill("input[type=search]", "hedgehog");
    tab.follow_key(Key::Enter);
    assert!(tab.text().contains("A hedgehog arrives"), "{}", tab.text());
    assert_accessible(tab, "search");
    tab.open(post["link"].as_str().unwrap_or_default());
    tab.wait_for("document.querySelector('article img, main img').naturalWidth > 0");
    tab.fill("#comment", "Leave it some water.");
    tab.follow("#commentform [type=submit]");
    assert!(tab.text().contains("Leave it some water.") && tab.text().contains("Ada Lovelace"), "{}", tab.text());
    assert_accessible(tab, "post with a comment and the comment form");
    save_screenshot(tab, "commented-post");

    tab.open(&format!("{home}/wp-admin/profile.php"));
    tab.follow("header a[href*='logout']");
    assert!(tab.text().contains("You are logged out."), "{}", tab.text());
    log_in(tab, "a password of my own");
    assert!(tab.url().ends_with("/wp-admin/"), "{}", tab.url());
}
