//! Passkeys in a browser, with the virtual authenticator of the DevTools protocol.

use serde_json::{Value, json};

use super::{Tab, browser, check_page, log_in, password};
use crate::{passkeys::move_to_localhost, site::Site};

/// Adds a device with passkeys to the browser. Returns its ID.
fn add_device(tab: &mut Tab) -> Value {
    tab.call("WebAuthn.enable", json!({"enableUI": false}));
    let options = json!({
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": true, "hasUserVerification": true,
        "isUserVerified": true, "automaticPresenceSimulation": true,
    });
    tab.call("WebAuthn.addVirtualAuthenticator", json!({"options": options}))["authenticatorId"].clone()
}

fn log_out(tab: &mut Tab) {
    tab.call("Network.clearBrowserCookies", json!({}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passkey_is_added_used_and_removed() {
    let Some(mut browser) = browser() else { return };
    let site = Site::start().await;
    let (home, password) = (move_to_localhost(&site), password(&site));
    let mut tab = browser.tab();
    let tab = &mut tab;
    let device = add_device(tab);
    let (login, page) = (format!("{home}/wp-login.php"), format!("{home}/wp-admin/two-factor.php"));

    tab.open(&login);
    check_page(tab, "passkeys-log-in");
    log_in(tab, &password);
    tab.open(&page);
    check_page(tab, "passkeys-off");
    tab.fill("#passkey_name", "Laptop");
    tab.fill("#passkey_password", &password);
    tab.follow("#new-passkey button");
    check_page(tab, "passkeys-new");
    tab.follow("[data-passkey] button");
    assert!(tab.text().contains("Two-factor log-in is on."), "{}", tab.text());
    check_page(tab, "passkeys-codes");
    let code = tab.eval("document.querySelector('.codes code').textContent").as_str().unwrap().to_owned();
    tab.open(&page);
    assert!(!tab.text().contains(&code), "shown once");
    check_page(tab, "passkeys-on");
    tab.open(&format!("{home}/wp-admin/profile.php"));
    check_page(tab, "passkeys-profile");

    // Alone, and remembered.
    log_out(tab);
    tab.open(&login);
    tab.click("[name=rememberme][type=checkbox]");
    tab.follow("#passkey button");
    assert!(tab.url().contains("/wp-admin/"), "{}: {}", tab.url(), tab.text());
    let cookies = tab.call("Network.getCookies", json!({"urls": [format!("{home}/")]}));
    let session =
        cookies["cookies"].as_array().unwrap().iter().find(|c| c["name"].as_str().unwrap().contains("logged_in"));
    assert_eq!(session.unwrap()["session"], false, "remembered");

    // After the password.
    log_out(tab);
    tab.open(&login);
    log_in(tab, &password);
    check_page(tab, "passkeys-second-factor");
    tab.follow("#passkey button");
    assert!(tab.url().contains("/wp-admin/"), "{}: {}", tab.url(), tab.text());

    // A user who cancels, or a device without the passkey, gets a message, and can go on.
    tab.open(&page);
    tab.call("WebAuthn.setUserVerified", json!({"authenticatorId": device, "isUserVerified": false}));
    log_out(tab);
    tab.open(&login);
    tab.click("#passkey button");
    tab.wait_for("document.querySelector('#passkey [role=alert]').offsetHeight > 0");
    assert!(tab.text().contains("No passkey was used."), "{}", tab.text());
    check_page(tab, "passkeys-none");
    tab.call("WebAuthn.setUserVerified", json!({"authenticatorId": device, "isUserVerified": true}));
    tab.follow("#passkey button");

    // A change is confirmed with the passkey, and without scripts with a code.
    tab.open(&page);
    tab.fill("#current_password", &password);
    tab.click("[data-passkey=confirm] button");
    tab.wait_for("document.querySelector('[data-passkey=confirm] [role=status]').offsetHeight > 0");
    check_page(tab, "passkeys-confirmed");
    tab.follow("button[value=new-codes]");
    assert!(tab.text().contains("These codes replace the old ones."), "{}", tab.text());
    let new_code = tab.eval("document.querySelector('.codes code').textContent").as_str().unwrap().to_owned();
    assert_ne!(code, new_code);
    tab.scripts(false);
    tab.open(&page);
    tab.fill("#current_password", &password);
    tab.fill("#code", &new_code);
    tab.follow("button[value=turn-off]");
    assert!(tab.text().contains("Two-factor log-in is off."), "{}", tab.text());
}
