//! The block type of the recorded site: its attributes and its render function.

use serde_json::{Map, Value, json};
use svc_content::blocks::BlockType;
use svc_controllers::RestSetup;

/// Registers the block.
pub(crate) fn register(setup: &mut RestSetup) {
    let mut badge = BlockType::new("fixture/badge", "Badge")
        .attribute("label", json!({"type": "string", "default": "New"}))
        .attribute("count", json!({"type": "integer", "minimum": 0}))
        .attribute("tone", json!({"type": "string", "enum": ["calm", "loud"], "default": "calm"}))
        .supports(json!({"html": false}))
        .rendered_by(|attributes, _content| html(attributes));
    "A few words on a coloured ground.".clone_into(&mut badge.description);
    badge.category = Some("widgets".to_owned());
    badge.icon = Some("tag".to_owned());
    badge.keywords = vec!["label".to_owned()];
    setup.registries.blocks.register(badge);
}

fn html(attributes: &Map<String, Value>) -> String {
    let text = |name: &str| attributes.get(name).and_then(Value::as_str).unwrap_or_default();
    let count = attributes.get("count").and_then(Value::as_i64).map_or(String::new(), |n| format!(" ({n})"));
    let (tone, label) = (svc_text::esc_attr(text("tone")), svc_text::esc_html(text("label")));
    format!("<span class=\"badge {tone}\">{label}{count}</span>")
}
