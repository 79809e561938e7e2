//! Attributes of a block against the schemas of its type.

use serde_json::{Map, Value};
use svc_content::blocks::BlockType;
use svc_schema::Schema;

/// The attributes that the code of a block sees: those that do not fit their schema are left out, and defaults fill the
/// gaps. Those without a schema stay.
///
/// Source: `WP_Block_Type::prepare_attributes_for_render`.
pub fn completed(block_type: &BlockType, given: &Map<String, Value>) -> Map<String, Value> {
    let fits = |name: &str, value: &Value| match block_type.attributes.get(name) {
        Some(schema) => fits(schema, value, name),
        None => true,
    };
    let mut attrs: Map<String, Value> =
        given.iter().filter(|(name, value)| fits(name, value)).map(|(n, v)| (n.clone(), v.clone())).collect();
    for (name, schema) in &block_type.attributes {
        if let Some(default) = schema.get("default").filter(|_| !attrs.contains_key(name)) {
            attrs.insert(name.clone(), default.clone());
        }
    }
    attrs
}

/// Whether a value fits. Most schemas are nothing but a type, which needs no compiling.
fn fits(schema: &Value, value: &Value, name: &str) -> bool {
    let is_plain = schema.get("enum").is_none() && schema.get("items").is_none() && schema.get("properties").is_none();
    match (schema.get("type").and_then(Value::as_str), value) {
        (Some("string"), Value::String(_)) | (Some("boolean"), Value::Bool(_)) if is_plain => true,
        // Text that the editor has written; it is no type of the interface.
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
    fn attributes_that_do_not_fit_give_way_to_defaults() {
        let block_type = BlockType::new("a/b", "B")
            .attribute("tone", json!({"type": "string", "enum": ["calm", "loud"], "default": "calm"}))
            .attribute("count", json!({"type": "integer", "minimum": 0}))
            .attribute("on", json!({"type": "boolean", "default": true}));
        for (given, expected) in [
            (json!({}), json!({"tone": "calm", "on": true})),
            (json!({"tone": "x", "count": -1, "on": false}), json!({"on": false, "tone": "calm"})),
            (
                json!({"tone": "loud", "count": "3", "other": [1]}),
                json!({"tone": "loud", "count": "3", "other": [1], "on": true}),
            ),
        ] {
            assert_eq!(Value::Object(completed(&block_type, given.as_object().unwrap())), expected);
        }
    }
}
