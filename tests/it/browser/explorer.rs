//! The API explorer in a browser: a user logs in, creates a draft, publishes it, and sees it on the site.

use serde_json::{Value, json};

use super::{Tab, assert_accessible, browser, log_in, password, save_screenshot};
use crate::site::Site;

/// Defines `explorerRequest()`, the form of the open operation.
const FORM: &str = "window.explorerRequest = () => document.querySelector('openapi-explorer').shadowRoot?.querySelector('api-request')";

/// Opens the explorer at an operation and waits for its form.
#[track_caller]
pub(super) fn open_operation(tab: &mut Tab, home: &str, operation: &str) {
    // Another page first: changing the fragment alone loads nothing.
    tab.open("about:blank");
    tab.open(&format!("{home}/svc-explorer/#?route={operation}"));
    tab.eval(FORM);
    tab.wait_for("!!explorerRequest().querySelector('.btn-execute')");
}

/// Sends the request of the form, and returns the response.
#[track_caller]
fn response(tab: &mut Tab) -> Value {
    tab.eval("explorerRequest().querySelector('.btn-execute').click()");
    // The explorer sets the status before it has read the body, and shows an hourglass until then.
    tab.wait_for(
        "['success', 'error'].includes(explorerRequest().responseStatus) && explorerRequest().responseText !== '⌛'",
    );
    let text = tab.eval("explorerRequest().responseText");
    serde_json::from_str(text.as_str().unwrap_or_default()).unwrap_or(text)
}

/// Fills in the parameters and the body, sends the request, and returns the response.
#[track_caller]
pub(super) fn execute(tab: &mut Tab, params: &Value, body: &Value) -> Value {
    tab.wait_for("!!explorerRequest().querySelector('.request-body-param-user-input')");
    let script = format!(
        "(() => {{ const form = explorerRequest();
           const fill = (field, text) => {{ field.value = text; for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind, {{bubbles: true}})); }};
           for (const [name, value] of Object.entries({params})) fill(form.querySelector(`[data-pname=\"${{name}}\"]`), value);
           fill(form.querySelector('.request-body-param-user-input'), {}); }})()",
        json!(body.to_string())
    );
    tab.eval(&script);
    response(tab)
}

/// Sends a file from the form of an operation that accepts one, and returns the response.
#[track_caller]
pub(super) fn upload(tab: &mut Tab, file: &std::path::Path) -> Value {
    let kinds = "[...explorerRequest().querySelectorAll('select')].find(s => s.textContent.includes('multipart'))";
    tab.wait_for(&format!("!!{kinds}"));
    tab.eval(&format!(
        "(() => {{ const kinds = {kinds};
           kinds.value = [...kinds.options].find(o => o.value.includes('multipart')).value;
           kinds.dispatchEvent(new Event('change', {{bubbles: true}})); }})()"
    ));
    let input = "explorerRequest().querySelector('input[type=file][data-pname=file]')";
    tab.wait_for(&format!("!!{input}"));
    let found = tab.call("Runtime.evaluate", json!({ "expression": input }));
    let files = json!({ "files": [file], "objectId": found["result"]["objectId"] });
    tab.call("DOM.setFileInputFiles", files);
    response(tab)
}

#[tokio::test(flavor = "multi_thread")]
async fn creates_and_publishes_a_post() {
    let Some(mut browser) = browser() else { return };
    let site = Site::start().await;
    let home = format!("http://{}", site.address);
    let mut tab = browser.tab();
    let tab = &mut tab;

    tab.open(&format!("{home}/svc-explorer/"));
    assert!(tab.text().contains("Requests are anonymous"), "{}", tab.text());
    tab.follow("#caller a");
    log_in(tab, &password(&site));
    assert_eq!(tab.url().trim_end_matches('#').split('#').next(), Some(&*format!("{home}/svc-explorer/")));
    assert!(tab.text().contains("Requests are sent as admin (administrator) and change"), "{}", tab.text());
    // The page has the user in it: its script requests only the OpenAPI document.
    let requested = "JSON.stringify(performance.getEntriesByType('resource').filter(e => e.initiatorType === 'fetch').map(e => new URL(e.name).pathname))";
    tab.wait_for(&format!("{requested}.includes('openapi.json')"));
    assert_eq!(tab.eval(requested), json!(["/svc-json/openapi.json"]).to_string());
    // When the browser shows the page again, the script asks the server.
    tab.eval("document.querySelector('#user').textContent = ''; dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))");
    tab.wait_for("document.querySelector('#user').textContent === 'admin (administrator)'");
    tab.wait_for(&format!("{requested}.includes('/svc-json/svc/v2/users/me')"));

    // The first request succeeds as it is, and its body is shown.
    open_operation(tab, &home, "post-/svc/v2/posts");
    tab.wait_for("explorerRequest().querySelector('.request-body-param-user-input')?.offsetParent != null");
    let first = response(tab);
    assert_eq!((&first["status"], &first["title"]["raw"]), (&json!("draft"), &json!("A new title")), "{first}");

    open_operation(tab, &home, "post-/svc/v2/posts");
    let draft = execute(tab, &json!({}), &json!({"title": "From the explorer", "content": "Hello", "status": "draft"}));
    assert_eq!((&draft["status"], &draft["title"]["raw"]), (&json!("draft"), &json!("From the explorer")), "{draft}");
    save_screenshot(tab, "explorer");
    assert_accessible(tab, "explorer");

    open_operation(tab, &home, "patch-/svc/v2/posts/-id-");
    let published = execute(tab, &json!({"id": draft["id"].to_string()}), &json!({"status": "publish"}));
    assert_eq!(published["status"], "publish", "{published}");
    tab.open(published["link"].as_str().unwrap_or_default());
    assert!(tab.text().contains("From the explorer"), "{}", tab.text());
    save_screenshot(tab, "published-post");
}

#[tokio::test(flavor = "multi_thread")]
async fn sends_a_request_on_a_phone() {
    let Some(mut browser) = browser() else { return };
    let site = Site::start().await;
    let home = format!("http://{}", site.address);
    let mut tab = browser.tab();
    let tab = &mut tab;
    tab.call(
        "Emulation.setDeviceMetricsOverride",
        json!({"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": true}),
    );

    // The groups of operations follow each other on the page, instead of the menu at the side.
    tab.open(&format!("{home}/svc-explorer/"));
    tab.eval("window.explorerPart = selector => document.querySelector('openapi-explorer').shadowRoot?.querySelector(selector)");
    tab.wait_for("!!explorerPart('.section-tag-header')");
    save_screenshot(tab, "explorer-phone");
    let operation = "explorerPart('section[id=\"get-/svc/v2/posts\"] .endpoint-head')";
    tab.eval(&format!("{operation}.closest('.section-tag').querySelector('.section-tag-header').click()"));
    tab.wait_for(&format!("{operation}.getBoundingClientRect().height > 0"));
    tab.eval(&format!("{operation}.click()"));
    tab.eval(FORM);
    tab.wait_for("!!explorerRequest()?.querySelector('.btn-execute')");
    let posts = response(tab);
    assert!(posts[0]["title"]["rendered"].is_string(), "{posts}");
    save_screenshot(tab, "explorer-phone-operation");
    assert_eq!(tab.eval("document.documentElement.scrollWidth"), 390);
}
