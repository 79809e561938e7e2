//! The block type of the recorded site: its attributes and its render function.

use serde_json::{Map, Value, json};
use svc_content::blocks::BlockType;
use svc_controllers::RestSetup;
use svc_text::{Html, esc_attr, esc_html, html};

/// Registers the block.
pub(crate) fn register(setup: &mut RestSetup) {
    let mut badge = BlockType::new("fixture/badge", "Badge")
        .attribute("label", json!({"type": "string", "default": "New"}))
        .attribute("count", json!({"type": "integer", "minimum": 0}))
        .attribute("tone", json!({"type": "string", "enum": ["calm", "loud"], "default": "calm"}))
        .supports(json!({"html": false}))
        .rendered_by(|attributes, _content| badge(attributes));
    "A few words on a coloured ground.".clone_into(&mut badge.description);
    badge.category = Some("widgets".to_owned());
    badge.icon = Some("tag".to_owned());
    badge.keywords = vec!["label".to_owned()];
    setup.registries.blocks.register(badge);
}

fn badge(attributes: &Map<String, Value>) -> Html {
    let text = |name: &str| attributes.get(name).and_then(Value::as_str).unwrap_or_default();
    let count = attributes.get("count").and_then(Value::as_i64).map(|n| html!(" ({})", n));
    let (tone, label) = (esc_attr(text("tone")), esc_html(text("label")));
    html!("<span class=\"badge {}\">{}{}</span>", tone, label, count)
}
