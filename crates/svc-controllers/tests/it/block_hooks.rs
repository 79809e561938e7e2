//! Block hooks, in process, on the recorded fixture.

use crate::harness::{ADMIN, Harness, NOBODY};
use serde_json::json;
use svc_content::blocks::BlockType;
use svc_routing::Method;

const STORED: &str = "<!-- wp:heading -->h<!-- /wp:heading -->";
const MARKED: &str = r#"<!-- wp:heading {"metadata":{"ignoredHookedBlocks":["my/after"]}} -->h<!-- /wp:heading -->"#;

fn harness() -> Harness {
    Harness::with(|setup| {
        for (name, anchor, position) in [
            ("my/after", "core/heading", "after"),
            ("my/last", "core/post-content", "lastChild"),
            ("my/link", "core/navigation", "firstChild"),
        ] {
            let file = json!({"name": name, "blockHooks": {anchor: position}});
            let block_type = BlockType::from_json(&file).expect("valid block type");
            setup.registries.blocks.register(block_type.rendered_by(move |_, _| svc_text::html!("[{}]", name)));
        }
    })
}

/// Compares the content in context `edit` and the rendered content before the first update, after it, and after an update
/// that removes the hooked blocks.
#[tokio::test(flavor = "multi_thread")]
async fn hooked_blocks_are_part_of_the_content_after_the_first_edit() {
    let h = harness();
    let rows = [
        ("posts", format!("{MARKED}<!-- wp:my/after /--><!-- wp:my/last /-->"), "h[my/after][my/last]"),
        ("navigation", format!("<!-- wp:my/link /-->{MARKED}<!-- wp:my/after /-->"), "[my/link]h[my/after]"),
    ];
    for (base, edited, rendered) in rows {
        let route = format!("/svc/v2/{base}");
        let sent = json!({"title": "t", "content": STORED, "status": "publish"});
        let created = h.json(ADMIN, Method::POST, &route, sent).await.body;
        let item = format!("{route}/{}", created["id"]);
        let read = async |user: i64, query: &str| h.get(user, &item, query).await.body["content"].clone();
        let put = async |content: &str| h.json(ADMIN, Method::PUT, &item, json!({"content": content})).await.body;

        assert_eq!((&created["content"]["raw"], &created["content"]["rendered"]), (&json!(edited), &json!(rendered)));
        assert_eq!(read(ADMIN, "context=edit").await["raw"], json!(edited));
        assert_eq!(read(NOBODY, "").await["rendered"], json!(rendered));

        assert_eq!(put(&edited).await["content"]["raw"], json!(edited));
        assert_eq!(read(NOBODY, "").await["rendered"], json!(rendered));
        assert_eq!(put(STORED).await["content"]["raw"], json!(MARKED), "the hooked blocks were removed");
        assert_eq!(read(NOBODY, "").await["rendered"], json!("h"));
    }
}
