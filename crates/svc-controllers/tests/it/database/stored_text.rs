//! Text that looks like serialized PHP. WordPress serializes it again before storing it, so that reading it never creates
//! an object. This must hold for every field that is stored as meta or as an option.

use serde_json::{Value, json};
use svc_routing::Method;
use svc_store::{Meta, MetaKind, meta, options};
use svc_versions::Context;

use super::engines;
use crate::harness::{ADMIN, Harness};

/// Text that a client sends, and whether WordPress serializes it again.
#[rustfmt::skip]
const TEXTS: [(&str, bool); 27] = [
    (r#"O:8:"stdClass":0:{}"#, true),
    (r#"O:8:"stdClass":1:{s:1:"a";i:1;}"#, true),
    (r#"O:3:"A\B":0:{}"#, true),
    (r#"O:1:}"#, true),
    (r#"O:8:"stdClass":0:{} and more"#, true),
    (r#"a:1:{i:0;O:8:"stdClass":0:{}}"#, true),
    (r#"a:0:{}"#, true),
    (r#"a:1:{i:0;s:1:"x";}"#, true),
    (r#"a:9:{"#, false),
    (r#"s:1:"x";"#, true),
    (r#"s:0:"";"#, true),
    (r#"s:4:"é";"#, true),
    (r#"s:19:"O:8:"stdClass":0:{}";"#, true),
    (r#"s:1:x;"#, false),
    (r#"E:3:"A:B";"#, true),
    ("i:5;", true),
    ("i:-5;", true),
    ("i:5;}", true),
    ("i:five;", false),
    ("d:0.5;", true),
    ("d:1E+25;", true),
    ("b:0;", true),
    ("b:1;", true),
    ("N;", true),
    ("O:8:x", false),
    ("plain text", false),
    (r#"C:1:"A":0:{}"#, false),
];

/// What WordPress stores for a text.
fn expected(text: &str, again: bool) -> String {
    if again { format!("s:{}:\"{text}\";", text.len()) } else { text.to_owned() }
}

fn load(h: &Harness, kind: MetaKind, id: i64) -> Meta {
    h.site.store.read_blocking(|db| meta::load_one(db, kind, id)).unwrap()
}

async fn post(h: &Harness, route: &str, body: Value) -> Value {
    let response = h.json(ADMIN, Method::POST, route, body).await;
    assert!((200..=201).contains(&response.status), "{route}: {:?}", response.body);
    response.body
}

#[tokio::test(flavor = "multi_thread")]
async fn serialized_looking_text_is_stored_as_in_wordpress_and_returned_unchanged() {
    for (engine, h) in engines::each() {
        for (n, (text, again)) in TEXTS.into_iter().enumerate() {
            let context = format!("{engine}: {text}");
            let stored = expected(text, again);

            // Users: an existing one and a new one.
            let names = json!({"first_name": text, "last_name": text, "nickname": text, "description": text});
            let user = post(&h, "/svc/v2/users/6", names.clone()).await;
            let mut new = names.clone();
            new["username"] = json!(format!("user{n}"));
            new["email"] = json!(format!("user{n}@example.org"));
            new["password"] = json!("a password of some length");
            let new = post(&h, "/svc/v2/users", new).await;
            for user in [user, new] {
                let rows = load(&h, MetaKind::User, user["id"].as_i64().unwrap());
                for field in ["first_name", "last_name", "nickname", "description"] {
                    assert_eq!(rows.first(field).unwrap().as_stored(), stored, "{context}: {field}");
                    assert_eq!(user[field], text, "{context}: {field}");
                }
            }
            // Changing another field does not change these.
            let user = post(&h, "/svc/v2/users/6", json!({"url": format!("http://{n}.example")})).await;
            assert_eq!((&user["first_name"], &user["description"]), (&json!(text), &json!(text)), "{context}");
            assert_eq!(load(&h, MetaKind::User, 6).first("first_name").unwrap().as_stored(), stored, "{context}");

            // Images.
            let image = post(&h, "/svc/v2/media/1200", json!({"alt_text": text})).await;
            assert_eq!(image["alt_text"], text, "{context}");
            let rows = load(&h, MetaKind::Post, 1200);
            assert_eq!(rows.first("_wp_attachment_image_alt").unwrap().as_stored(), stored, "{context}");

            // Registered meta: a single value and a list.
            let post_meta = json!({"fx_string": text, "fx_strings": [text, "second"]});
            let body = json!({"title": "t", "content": "c", "meta": post_meta});
            let created = post(&h, "/svc/v2/posts", body).await;
            assert_eq!(created["meta"]["fx_string"], text, "{context}");
            assert_eq!(created["meta"]["fx_strings"], json!([text, "second"]), "{context}");
            let rows = load(&h, MetaKind::Post, created["id"].as_i64().unwrap());
            assert_eq!(rows.first("fx_string").unwrap().as_stored(), stored, "{context}");
            assert_eq!(rows.first("fx_strings").unwrap().as_stored(), stored, "{context}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn serialized_looking_options_are_stored_as_in_wordpress_and_returned_unchanged() {
    for (engine, h) in engines::each() {
        for (text, again) in TEXTS {
            // Quotation marks in the site title are stored as entities, so it cannot contain a serialized string.
            let escaped = text.replace('"', "&quot;");
            let again = again && !text.starts_with("s:");
            let settings = post(&h, "/svc/v2/settings", json!({"title": text})).await;
            assert_eq!(settings["title"], escaped, "{engine}: {text}");
            let row = h.site.store.read_blocking(|db| options::get(db, "blogname")).unwrap().unwrap();
            assert_eq!(row.as_stored(), expected(&escaped, again), "{engine}: {text}");
            assert_eq!(
                h.site.settings(&Context::background()).unwrap().option("blogname"),
                escaped,
                "{engine}: {text}"
            );
        }
    }
}
