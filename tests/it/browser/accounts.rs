//! A person's way through sign-in: with the mouse, with the keyboard alone, and with scripts switched off.

use super::{Key, Tab, browser, picture};
use crate::{
    client::send,
    site::{Site, basic},
};

const ME: &str = "/svc-json/svc/v2/users/me";

async fn works(site: &Site, password: &str) -> bool {
    let credentials = basic(&format!("admin:{password}"));
    send(site.address, "GET", ME, &[("Authorization", &credentials)], "").await.status == 200
}

fn value(url: &str, name: &str) -> String {
    let start = format!("{name}=");
    let pairs = url.split(['?', '&', '#']).find_map(|pair| pair.strip_prefix(&start));
    pairs.unwrap_or_else(|| panic!("no {name} in {url}")).to_owned()
}

/// Whether the cookies of the tab open the account.
fn is_signed_in(tab: &mut Tab, home: &str) -> bool {
    tab.open(&format!("{home}/wp-admin/profile.php"));
    !tab.address().contains("wp-login.php")
}

#[tokio::test(flavor = "multi_thread")]
async fn from_the_first_run_to_the_log_out() {
    let Some(mut browser) = browser() else { return };
    let site = Site::start().await;
    let home = format!("http://{}", site.address);
    let password = site.created.as_ref().expect("a new site").password.expose().to_owned();
    let mut tab = browser.tab();
    let tab = &mut tab;

    // An application sends its user to be asked; who is not logged in is asked to do that first.
    let done = format!("{home}/about/");
    tab.open(&format!("{home}/wp-admin/authorize-application.php?app_name=Notebook&success_url={done}"));
    assert!(tab.address().starts_with(&format!("{home}/wp-login.php?redirect_to=")));
    picture(tab, "log-in");
    tab.fill("#user_login", "admin");
    tab.fill("#user_pass", "wrong");
    tab.follow("#wp-submit");
    assert!(tab.text().contains("The user name or password is wrong"), "{}", tab.text());
    assert_eq!(tab.eval("document.querySelector('#user_login').value"), "admin", "the name is kept");
    picture(tab, "log-in-wrong");
    tab.fill("#user_pass", &password);
    tab.follow("#wp-submit");

    assert!(tab.text().contains("The application Notebook requests access"), "{}", tab.text());
    picture(tab, "authorize");
    tab.follow("#approve");
    let there = tab.address();
    assert!(there.starts_with(&done), "{there}");
    assert_eq!(value(&there, "user_login"), "admin");
    let given = value(&there, "password");
    assert!(works(&site, &given).await);

    tab.open(&format!("{home}/wp-admin/"));
    assert!(tab.text().contains("Notebook") && tab.text().contains("This browser"), "{}", tab.text());
    picture(tab, "profile");
    tab.follow("button[aria-label='Revoke Notebook']");
    assert!(tab.text().contains("has been revoked"), "{}", tab.text());
    assert!(!works(&site, &given).await);

    let cookies = tab.call("Storage.getCookies", serde_json::json!({}))["cookies"].clone();
    assert!(cookies.as_array().unwrap().iter().all(|c| c["httpOnly"] == true && c["sameSite"] == "Lax"), "{cookies}");
    tab.follow("header a[href*='logout']");
    assert!(tab.text().contains("You are logged out."), "{}", tab.text());
    assert!(!is_signed_in(tab, &home));
    // Putting the old cookies back opens nothing.
    tab.call("Storage.setCookies", serde_json::json!({"cookies": cookies}));
    assert!(!is_signed_in(tab, &home));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_keyboard_and_no_script_are_enough() {
    let Some(mut browser) = browser() else { return };
    let site = Site::start().await;
    let home = format!("http://{}", site.address);
    let password = site.created.as_ref().expect("a new site").password.expose().to_owned();
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
                assert_ne!(outline, "none", "{wanted} shows that it has the focus");
                return;
            }
        }
        panic!("the keyboard does not reach {wanted}");
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
    assert!(works(&site, &shown.as_str().unwrap().replace(' ', "")).await);
    picture(tab, "approved");
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
    // The same server under another name is another site.
    let elsewhere = home.replace("127.0.0.1", "localhost");
    tab.open(&format!("{elsewhere}/robots.txt"));
    tab.call("Log.enable", serde_json::json!({}));
    for path in ["/wp-login.php", "/wp-admin/authorize-application.php", "/about/"] {
        tab.eval(&format!(
            "var f = document.createElement('iframe'); f.src = '{home}{path}'; document.body.append(f); 0"
        ));
        let said = tab.event("Log.entryAdded")["entry"]["text"].as_str().unwrap_or_default().to_owned();
        assert!(said.contains("frame-ancestors") && said.contains(&home), "{path}: {said}");
    }
}
