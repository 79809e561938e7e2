//! The API explorer in a browser: a user logs in, creates a draft, publishes it, and sees it on the site.

use serde_json::{Value, json};

use super::{Tab, assert_accessible, browser, log_in, password, save_screenshot};
use crate::site::Site;

/// How often the page is checked for what the explorer renders.
const ATTEMPTS: usize = 200;

/// Opens the explorer at an operation and waits for its form.
#[track_caller]
pub(super) fn open_operation(tab: &mut Tab, home: &str, operation: &str) {
    // Another page first: changing the fragment alone loads nothing.
    tab.open("about:blank");
    tab.open(&format!("{home}/svc-explorer/#?route={operation}"));
    wait_for(tab, "!!explorerRequest()");
}

/// Waits until an expression is true. `explorerRequest()` is the form of the operation.
#[track_caller]
fn wait_for(tab: &mut Tab, expression: &str) {
    let form = "window.explorerRequest = () => document.querySelector('openapi-explorer').shadowRoot?.querySelector('api-request')";
    for _ in 0..ATTEMPTS {
        if tab.eval(&format!("{form}; {expression}")) == Value::Bool(true) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("{expression} did not become true: {}", tab.text());
}

/// Fills in the parameters and the body, sends the request, and returns the response.
#[track_caller]
pub(super) fn execute(tab: &mut Tab, params: &Value, body: &Value) -> Value {
    let script = format!(
        "(() => {{ const form = explorerRequest();
           const fill = (field, text) => {{ field.value = text; for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind, {{bubbles: true}})); }};
           for (const [name, value] of Object.entries({params})) fill(form.querySelector(`[data-pname=\"${{name}}\"]`), value);
           fill(form.querySelector('.request-body-param-user-input'), {});
           form.querySelector('.btn-execute').click(); }})()",
        json!(body.to_string())
    );
    tab.eval(&script);
    wait_for(tab, "['success', 'error'].includes(explorerRequest().responseStatus)");
    let text = tab.eval("explorerRequest().responseText");
    serde_json::from_str(text.as_str().unwrap_or_default()).unwrap_or(text)
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
    assert!(tab.text().contains("Requests are sent as admin"), "{}", tab.text());

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
