//! Writes the values of block bindings to the stored markup, where the attribute schemas of the block type locate
//! them.
//!
//! This module does not compute the values. Source: `WP_Block::replace_html`.

use serde_json::Value;

use crate::{
    blocks::BlockType,
    kses,
    tags::{self, TagChanges, Tags},
};

/// Writes an attribute's value to the markup. Unchanged if the markup has no element for it.
pub(super) fn set_value(html: String, block_type: &BlockType, attribute: &str, value: &Value) -> String {
    let Some(schema) = block_type.attributes.get(attribute) else { return html };
    let text = svc_php::cast::to_text(value).into_owned();
    let selectors = schema["selector"].as_str().unwrap_or_default().split(',').map(str::trim);
    match schema["source"].as_str() {
        Some("html" | "rich-text") => {
            for selector in selectors {
                let found = Tags::new(&html).find(|tag| tag.is(&html, selector));
                if let Some(content) = found.and_then(|tag| tags::inside(&html, &tag)) {
                    return format!("{}{}{}", &html[..content.start], kses::post(&text), &html[content.end..]);
                }
            }
            html
        }
        Some("attribute") => {
            let selectors: Vec<&str> = selectors.collect();
            let found = Tags::new(&html).find(|tag| selectors.iter().any(|selector| tag.is(&html, selector)));
            let (Some(tag), Some(name)) = (found, schema["attribute"].as_str()) else { return html };
            let is_url = matches!(name, "href" | "src");
            let text = if is_url { svc_text::esc_url(&text).into_string() } else { text };
            if is_url && text.is_empty() {
                return html;
            }
            let mut changes = TagChanges::of(&html);
            if is_url {
                changes.set_escaped(&tag, name, &text)
            } else {
                changes.set(&tag, name, &text)
            }
            changes.apply()
        }
        _ => html,
    }
}
