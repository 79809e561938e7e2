//! Blocks that want to stand by others, in process, over the recorded fixture.

mod harness;

use harness::{ADMIN, Harness, NOBODY};
use serde_json::json;
use svc_content::blocks::BlockType;
use svc_routing::Method;

const STORED: &str = "<!-- wp:heading -->h<!-- /wp:heading -->";
const MARKED: &str = r#"<!-- wp:heading {"metadata":{"ignoredHookedBlocks":["my/after"]}} -->h<!-- /wp:heading -->"#;

fn harness() -> Harness {
    Harness::with(|site| {
        for (name, anchor, place) in [
            ("my/after", "core/heading", "after"),
            ("my/last", "core/post-content", "lastChild"),
            ("my/link", "core/navigation", "firstChild"),
        ] {
            let file = json!({"name": name, "blockHooks": {anchor: place}});
            let made = BlockType::from_json(&file).expect("a block type");
            site.blocks.register(made.rendered_by(move |_, _| format!("[{name}]")));
        }
    })
}

/// What an editor gets, what everybody sees: before the editor's first change, after it, and when he took away what was put in.
#[tokio::test(flavor = "multi_thread")]
async fn what_an_editor_was_shown_is_his_from_then_on() {
    let h = harness();
    let rows = [
        ("posts", format!("{MARKED}<!-- wp:my/after /--><!-- wp:my/last /-->"), "h[my/after][my/last]"),
        ("navigation", format!("<!-- wp:my/link /-->{MARKED}<!-- wp:my/after /-->"), "[my/link]h[my/after]"),
    ];
    for (base, edited, shown) in rows {
        let route = format!("/svc/v2/{base}");
        let sent = json!({"title": "t", "content": STORED, "status": "publish"});
        let made = h.json(ADMIN, Method::POST, &route, sent).await.body;
        let item = format!("{route}/{}", made["id"]);
        let read = async |user: i64, query: &str| h.get(user, &item, query).await.body["content"].clone();
        let put = async |content: &str| h.json(ADMIN, Method::PUT, &item, json!({"content": content})).await.body;

        assert_eq!((&made["content"]["raw"], &made["content"]["rendered"]), (&json!(edited), &json!(shown)));
        assert_eq!(read(ADMIN, "context=edit").await["raw"], json!(edited));
        assert_eq!(read(NOBODY, "").await["rendered"], json!(shown));

        assert_eq!(put(&edited).await["content"]["raw"], json!(edited));
        assert_eq!(read(NOBODY, "").await["rendered"], json!(shown));
        assert_eq!(put(STORED).await["content"]["raw"], json!(MARKED), "taken away");
        assert_eq!(read(NOBODY, "").await["rendered"], json!("h"));
    }
}
