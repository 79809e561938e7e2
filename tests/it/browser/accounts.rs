//! Login and account pages in a browser: with the mouse, with the keyboard only, and without JavaScript.

use super::{Key, Tab, browser, log_in, password, save_screenshot};
use crate::{
    client::send,
    site::{Site, basic},
};

const ME: &str = "/svc-json/svc/v2/users/me";

async fn is_accepted(site: &Site, password: &str) -> bool {
    let credentials = basic(&format!("admin:{password}"));
    send(site.address, "GET", ME, &[("Authorization", &credentials)], "").await.status == 200
}

fn value(url: &str, name: &str) -> String {
    let start = format!("{name}=");
    let pairs = url.split(['?', '&', '#']).find_map(|pair| pair.strip_prefix(&start));
    pairs.unwrap_or_else(|| panic!("no {name} in {url}")).to_owned()
}

/// Whether the tab's cookies authenticate the user.
fn is_logged_in(tab: &mut Tab, home: &str) -> bool {
    tab.open(&format!("{home}/wp-admin/profile.php"));
    !tab.url().contains("wp-login.php")
}

#[tokio::test(flavor = "multi_thread")]
async fn log_in_authorize_an_application_and_log_out() {
    let Some(mut browser) = browser() else { return };
    let site = Site::start().await;
    let home = format!("http://{}", site.address);
    let password = password(&site);
    let mut tab = browser.tab();
    let tab = &mut tab;

    // The authorization page of an application redirects to the login page first.
    let done = format!("{home}/about/");
    tab.open(&format!("{home}/wp-admin/authorize-application.php?app_name=Notebook&success_url={done}"));
    assert!(tab.url().starts_with(&format!("{home}/wp-login.php?redirect_to=")));
    save_screenshot(tab, "log-in");
    log_in(tab, "wrong");
    assert!(tab.text().contains("The user name or password is wrong"), "{}", tab.text());
    assert_eq!(tab.eval("document.querySelector('#user_login').value"), "admin", "the user name is still in the form");
    save_screenshot(tab, "log-in-wrong");
    tab.fill("#user_pass", &password);
    tab.follow("#wp-submit");

    assert!(tab.text().contains("The application Notebook requests access"), "{}", tab.text());
    save_screenshot(tab, "authorize");
    tab.follow("#approve");
    let there = tab.url();
    assert!(there.starts_with(&done), "{there}");
    assert_eq!(value(&there, "user_login"), "admin");
    let app_password = value(&there, "password");
    assert!(is_accepted(&site, &app_password).await);

    tab.open(&format!("{home}/wp-admin/profile.php"));
    assert!(tab.text().contains("Notebook") && tab.text().contains("This browser"), "{}", tab.text());
    save_screenshot(tab, "profile");
    tab.follow("button[aria-label='Revoke Notebook']");
    assert!(tab.text().contains("has been revoked"), "{}", tab.text());
    assert!(!is_accepted(&site, &app_password).await);

    let cookies = tab.call("Storage.getCookies", serde_json::json!({}))["cookies"].clone();
    assert!(cookies.as_array().unwrap().iter().all(|c| c["httpOnly"] == true && c["sameSite"] == "Lax"), "{cookies}");
    tab.follow("header a[href*='logout']");
    assert!(tab.text().contains("You are logged out."), "{}", tab.text());
    assert!(!is_logged_in(tab, &home));
    // The old cookies are no longer valid.
    tab.call("Storage.setCookies", serde_json::json!({"cookies": cookies}));
    assert!(!is_logged_in(tab, &home));
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_work_with_the_keyboard_and_without_scripts() {
    let Some(mut browser) = browser() else { return };
    let site = Site::start().await;
    let home = format!("http://{}", site.address);
    let password = password(&site);
    let mut tab = browser.tab();
    let tab = &mut tab;
    tab.scripts(false);
    tab.open(&format!("{home}/wp-admin/authorize-application.php?app_name=Keys"));
    let focused = |tab: &mut Tab| {
        tab.eval("(e => e.id || e.name || e.textContent.trim())(document.activeElement)").as_str().unwrap().to_owned()
    };
    let reach = |tab: &mut Tab, wanted: &str| {
        for _ in 0..20 {
            tab.press(Key::Tab);
            if focused(tab) == wanted {
                let outline = tab.eval("getComputedStyle(document.activeElement).outlineStyle");
                assert_ne!(outline, "none", "{wanted} has no focus outline");
                return;
            }
        }
        panic!("{wanted} is not reachable by keyboard");
    };
    reach(tab, "user_login");
    tab.type_text("admin");
    reach(tab, "user_pass");
    tab.type_text(&password);
    reach(tab, "rememberme");
    tab.press(Key::Space);
    assert_eq!(tab.eval("document.activeElement.checked"), true);
    tab.follow_key(Key::Enter);
    reach(tab, "approve");
    tab.follow_key(Key::Enter);
    let shown = tab.eval("document.querySelector('#new-password').textContent");
    assert!(is_accepted(&site, &shown.as_str().unwrap().replace(' ', "")).await);
    save_screenshot(tab, "approved");
    reach(tab, "Log Out");
    tab.follow_key(Key::Enter);
    assert!(tab.text().contains("You are logged out."));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_page_can_be_framed_by_another_site() {
    let Some(mut browser) = browser() else { return };
    let site = Site::start().await;
    let home = format!("http://{}", site.address);
    let mut tab = browser.tab();
    // The same server under another host name has another origin.
    let other_origin = home.replace("127.0.0.1", "localhost");
    tab.open(&format!("{other_origin}/robots.txt"));
    tab.call("Log.enable", serde_json::json!({}));
    for path in ["/wp-login.php", "/wp-admin/authorize-application.php", "/about/"] {
        tab.eval(&format!(
            "var f = document.createElement('iframe'); f.src = '{home}{path}'; document.body.append(f); 0"
        ));
        let message = tab.event("Log.entryAdded")["entry"]["text"].as_str().unwrap_or_default().to_owned();
        assert!(message.contains("frame-ancestors") && message.contains(&home), "{path}: {message}");
    }
}
