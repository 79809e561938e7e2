//! Settings that hold keys of other services.

use serde_json::{Value, json};
use svc_controllers::RegisteredSetting;
use svc_routing::Method;
use svc_schema::build::{object, string};
use svc_store::options;
use svc_versions::Context;

use crate::harness::{ADMIN, Harness};

const KEY: &str = "wordpress_api_key";
const ACCOUNT: &str = "connectors_mail_x_application_password";

fn stored(h: &Harness, option: &str) -> Value {
    h.site
        .read(&Context::background(), |db| Ok(options::get(db, option)?))
        .unwrap()
        .map_or(Value::Null, |value| value.json())
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_have_masks_that_change_nothing_when_they_come_back() {
    let h = Harness::with(|setup| {
        setup.registered_settings.push(RegisteredSetting::new(KEY, string().default("")));
        let account = object([("username", string()), ("password", string())]);
        setup.registered_settings.push(RegisteredSetting::new(ACCOUNT, account));
    });
    let dots = |n: usize| "\u{2022}".repeat(n);
    let masked = format!("{}3456", dots(8));
    let put = |body: Value| h.json(ADMIN, Method::PUT, "/svc/v2/settings", body);
    let account = json!({"username": "ada", "password": "abcd efgh"});
    for method in [Method::POST, Method::PUT] {
        let body = json!({KEY: "abcdef123456", ACCOUNT: account.clone()});
        let response = h.json(ADMIN, method, "/svc/v2/settings", body).await;
        assert_eq!(response.body[KEY], masked, "{:?}", response.body);
        assert_eq!(response.body[ACCOUNT], json!({"username": "ada", "password": dots(16)}));
    }
    let read = h.get(ADMIN, "/svc/v2/settings", "").await.body;
    assert_eq!(read[KEY], masked);
    assert!(!read.to_string().contains("abcd"), "{read}");

    let update = json!({"path": "/svc/v2/settings", "method": "PUT", "body": {KEY: "abcdef123456"}});
    let batch = h.json(ADMIN, Method::POST, "/batch/v1", json!({"requests": [update]})).await;
    assert!(
        batch.body["responses"][0]["body"].is_object() && !batch.body.to_string().contains("abcd"),
        "{:?}",
        batch.body
    );

    // The whole response is sent back, as a form does.
    let back = put(json!({KEY: read[KEY].clone(), ACCOUNT: read[ACCOUNT].clone()})).await;
    assert_eq!((back.status, &back.body[KEY], &back.body[ACCOUNT]), (200, &read[KEY], &read[ACCOUNT]));
    assert_eq!((stored(&h, KEY), stored(&h, ACCOUNT)), (json!("abcdef123456"), account));

    // A new name with the masked password keeps the password; an empty key removes it.
    put(json!({ACCOUNT: {"username": "bob", "password": dots(16)}, KEY: ""})).await;
    assert_eq!(stored(&h, ACCOUNT), json!({"username": "bob", "password": "abcd efgh"}));
    assert_eq!(stored(&h, KEY), "");
}
