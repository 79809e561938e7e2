//! Application passwords, in process, on the recorded fixture.

use crate::harness::{ADMIN, AUTHOR, Harness, NOBODY};
use serde_json::{Value, json};
use svc_auth::application_password;
use svc_routing::{Method, Request, Transport};
use svc_schema::Schema;
use svc_site::caller::AppPassword;
use svc_store::{MetaKind, meta};
use svc_versions::Context;

const OWN: &str = "/svc/v2/users/me/application-passwords";
const OF_AUTHOR: &str = "/svc/v2/users/3/application-passwords";
const UUID_OF_AUTHOR: &str = "00000000-0000-4000-8000-000000000003";

fn stored(h: &Harness, user: i64) -> String {
    let read = |db: &mut svc_store::Db| meta::get(db, MetaKind::User, user, application_password::META_KEY);
    h.site.store.read_blocking(read).expect("read from the store").unwrap_or_default().as_stored().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_password_is_returned_only_once() {
    let h = Harness::new();
    let created = h.json(AUTHOR, Method::POST, OWN, json!({"name": " <b>Phone</b> & co "})).await;
    assert_eq!(created.status, 201, "{:?}", created.body);
    assert_eq!((&created.body["name"], &created.body["last_used"]), (&json!("Phone & co"), &Value::Null));
    let plain = created.body["password"].as_str().unwrap().to_owned();
    let uuid = created.body["uuid"].as_str().unwrap().to_owned();
    assert_eq!((plain.len(), plain.matches(' ').count()), (29, 5));
    assert!(created.header("Location").unwrap().ends_with(&format!("/users/3/application-passwords/{uuid}")));

    let text = stored(&h, AUTHOR);
    assert!(text.contains(&uuid) && !text.contains(&plain.replace(' ', "")), "only the hash is stored");
    let list = application_password::list_from_value(&svc_php::serialize::from_stored(text.as_bytes()).into());
    assert_eq!(application_password::find(&list, &plain).map(|p| p.uuid.as_str()), Some(uuid.as_str()));

    let own = format!("{OWN}/{uuid}");
    let fetched = h.get(AUTHOR, &own, "context=edit").await;
    let renamed = h.json(AUTHOR, Method::PATCH, &own, json!({"name": "Tablet", "app_id": ""})).await;
    for again in [fetched, renamed] {
        assert_eq!((again.status, again.body.get("password")), (200, None));
        assert!(!again.body.to_string().contains("generic"), "the hash is not returned either");
    }
    let again = h.json(AUTHOR, Method::PATCH, &own, json!({"name": "0"})).await;
    assert_eq!((again.status, &again.body["name"]), (200, &json!("Tablet")), "PHP takes 0 for empty");
    let deleted = h.json(AUTHOR, Method::DELETE, &own, json!({})).await;
    assert_eq!(deleted.body["previous"]["name"], "Tablet");
    assert_eq!(deleted.body["previous"].get("password"), None);
    assert!(!stored(&h, AUTHOR).contains(&uuid));
}

#[tokio::test(flavor = "multi_thread")]
async fn items_match_their_schema_in_every_context() {
    let h = Harness::new();
    let options = h.json(ADMIN, Method::OPTIONS, OWN, json!({})).await;
    let schema = Schema::compile(options.body["schema"].clone());
    for (context, n_fields) in [("view", 6), ("edit", 6), ("embed", 3)] {
        let list = h.get(ADMIN, OWN, &format!("context={context}")).await;
        assert_eq!(list.body.as_array().map(Vec::len), Some(2));
        for record in list.body.as_array().unwrap() {
            let mut record = record.clone();
            record.as_object_mut().unwrap().shift_remove("_links");
            schema.validate(&record, "record").unwrap();
            assert_eq!(record.as_object().unwrap().len(), n_fields, "{context}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn introspection_returns_the_password_of_the_request() {
    let h = Harness::new();
    let route = format!("{OWN}/introspect");
    let signed = |uuid: &str| Request::get(route.clone()).with_extension(AppPassword(uuid.to_owned()));
    assert_eq!(h.send(AUTHOR, signed(UUID_OF_AUTHOR)).await.body["uuid"], UUID_OF_AUTHOR);
    let deleted = h.send(AUTHOR, signed("nosuch")).await;
    assert_eq!((deleted.status, deleted.code()), (404, "rest_application_password_not_found"));
    let none = h.send(AUTHOR, Request::get(route.clone())).await;
    assert_eq!((none.status, none.code()), (404, "rest_no_authenticated_app_password"));
}

#[tokio::test(flavor = "multi_thread")]
async fn names_need_not_be_unique_and_all_can_be_deleted() {
    let h = Harness::new();
    for _ in 0..2 {
        assert_eq!(h.json(AUTHOR, Method::POST, OWN, json!({"name": "conformance"})).await.status, 201);
    }
    let deleted = h.json(ADMIN, Method::DELETE, OF_AUTHOR, json!({})).await;
    assert_eq!(deleted.body, json!({"deleted": true, "count": 3}));
    assert_eq!(stored(&h, AUTHOR), "a:0:{}");
    assert_eq!(h.json(ADMIN, Method::DELETE, OF_AUTHOR, json!({})).await.body["count"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors() {
    let h = Harness::new();
    let one = format!("{OF_AUTHOR}/{UUID_OF_AUTHOR}");
    let (introspect, unknown) = (format!("{OF_AUTHOR}/introspect"), format!("{OF_AUTHOR}/nosuch"));
    let huge = "/svc/v2/users/99999999999999999999/application-passwords".to_owned();
    let name = || json!({"name": "x"});
    #[rustfmt::skip]
    let rows = [
        (NOBODY, Method::GET, OWN, json!({}), 401, "rest_not_logged_in"),
        (NOBODY, Method::GET, OF_AUTHOR, json!({}), 401, "rest_cannot_list_application_passwords"),
        (4, Method::GET, OF_AUTHOR, json!({}), 403, "rest_cannot_list_application_passwords"),
        (4, Method::POST, OF_AUTHOR, name(), 403, "rest_cannot_create_application_passwords"),
        (4, Method::DELETE, OF_AUTHOR, json!({}), 403, "rest_cannot_delete_application_passwords"),
        (4, Method::GET, &one, json!({}), 403, "rest_cannot_read_application_password"),
        (4, Method::PATCH, &one, name(), 403, "rest_cannot_edit_application_password"),
        (4, Method::DELETE, &one, json!({}), 403, "rest_cannot_delete_application_password"),
        (ADMIN, Method::GET, &introspect, json!({}), 403, "rest_cannot_introspect_app_password_for_non_authenticated_user"),
        (ADMIN, Method::GET, &unknown, json!({}), 404, "rest_application_password_not_found"),
        (ADMIN, Method::GET, &huge, json!({}), 404, "rest_user_invalid_id"),
        (ADMIN, Method::POST, OF_AUTHOR, json!({"name": "<i></i>"}), 400, "application_password_empty_name"),
        (ADMIN, Method::POST, OF_AUTHOR, json!({"name": "x", "app_id": "bad"}), 400, "rest_invalid_param"),
    ];
    for (user, method, route, body, status, code) in rows {
        let response = h.json(user, method.clone(), route, body.clone()).await;
        assert_eq!((response.status, response.code()), (status, code), "{method} {route} {body} as {user}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn application_passwords_require_tls_in_production() {
    let h = Harness::with(|setup| setup.site.environment = "production");
    let one = format!("{OF_AUTHOR}/{UUID_OF_AUTHOR}");
    for (user, method, route) in [
        (ADMIN, Method::GET, OF_AUTHOR),
        (NOBODY, Method::GET, OWN),
        (AUTHOR, Method::POST, OWN),
        (AUTHOR, Method::DELETE, &one),
    ] {
        let response = h.json(user, method.clone(), route, json!({"name": "x"})).await;
        assert_eq!((response.status, response.code()), (501, "application_passwords_disabled"), "{method} {route}");
        let over_tls = Request::new(method.clone(), route)
            .with_json(&json!({"name": "x"}))
            .with_cx(Context::request(Transport::Tls));
        assert_ne!(h.send(user, over_tls).await.code(), "application_passwords_disabled", "{method} {route}");
    }
}
