//! Prepares a block's attributes with the schemas of its block type.

use serde_json::{Map, Value};
use svc_content::blocks::BlockType;
use svc_schema::Schema;

/// The attributes that a block's renderer receives: those that are invalid for their schema are removed, and defaults
/// are added. Attributes without a schema are unchanged.
///
/// Source: `WP_Block_Type::prepare_attributes_for_render`.
pub(crate) fn complete_attributes(block_type: &BlockType, stored: &Map<String, Value>) -> Map<String, Value> {
    let is_valid = |name: &str, value: &Value| match block_type.attributes.get(name) {
        Some(schema) => is_valid(schema, value, name),
        None => true,
    };
    let mut attrs: Map<String, Value> =
        stored.iter().filter(|(name, value)| is_valid(name, value)).map(|(n, v)| (n.clone(), v.clone())).collect();
    for (name, schema) in &block_type.attributes {
        if let Some(default) = schema.get("default").filter(|_| !attrs.contains_key(name)) {
            attrs.insert(name.clone(), default.clone());
        }
    }
    attrs
}

/// Whether a value is valid. Most schemas are only a type, which is checked without compiling the schema.
fn is_valid(schema: &Value, value: &Value, name: &str) -> bool {
    let is_plain = schema.get("enum").is_none() && schema.get("items").is_none() && schema.get("properties").is_none();
    match (schema.get("type").and_then(Value::as_str), value) {
        (Some("string"), Value::String(_)) | (Some("boolean"), Value::Bool(_)) if is_plain => true,
        // The editor's rich text, which is not a type of JSON Schema.
        (Some("rich-text"), _) => true,
        (Some("object"), Value::Object(_)) if is_plain => true,
        (Some("number" | "integer"), Value::Number(number)) if is_plain && number.is_i64() => {
            schema.get("minimum").is_none() || Schema::compile(schema.clone()).validate(value, name).is_ok()
        }
        _ => Schema::compile(schema.clone()).validate(value, name).is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn invalid_attributes_are_replaced_by_defaults() {
        let block_type = BlockType::new("a/b", "B")
            .attribute("tone", json!({"type": "string", "enum": ["calm", "loud"], "default": "calm"}))
            .attribute("count", json!({"type": "integer", "minimum": 0}))
            .attribute("on", json!({"type": "boolean", "default": true}));
        for (stored, expected) in [
            (json!({}), json!({"tone": "calm", "on": true})),
            (json!({"tone": "x", "count": -1, "on": false}), json!({"on": false, "tone": "calm"})),
            (
                json!({"tone": "loud", "count": "3", "other": [1]}),
                json!({"tone": "loud", "count": "3", "other": [1], "on": true}),
            ),
        ] {
            assert_eq!(Value::Object(complete_attributes(&block_type, stored.as_object().unwrap())), expected);
        }
    }
}
