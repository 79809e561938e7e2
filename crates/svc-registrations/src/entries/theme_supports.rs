//! `[theme_supports]`: features of the theme, by their names in the REST API.

use serde_json::{Map, Value};
use svc_controllers::themes::supports;

/// Reads the table. The members of objects get the order of the REST API's schema, because TOML has none.
///
/// Only the types of features are checked: themes declare values that the schema does not list, such as `top` of a background.
///
/// # Errors
/// If a feature does not exist or has another type.
pub(super) fn read_theme_supports(features: Map<String, Value>) -> Result<Map<String, Value>, String> {
    let schemas = supports::schemas();
    let read = |(name, value): (String, Value)| {
        let schema = schemas.get(&name).ok_or_else(|| format!("themes have no feature `{name}`"))?;
        if !has_type(&value, schema) {
            return Err(format!("`{name}` must be of type {}", types(schema).join(" or ")));
        }
        let value = in_order(value, schema);
        Ok((name, value))
    };
    features.into_iter().map(read).collect()
}

/// The types that a schema allows; empty if it allows all.
fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Whether the value has exactly a type of the schema, and its items that of theirs: unlike parameters of requests, TOML has types.
fn has_type(value: &Value, schema: &Value) -> bool {
    let types = types(schema);
    let is_allowed = |name: &str| types.is_empty() || types.contains(&name);
    match value {
        Value::Null => is_allowed("null"),
        Value::Bool(_) => is_allowed("boolean"),
        Value::Number(number) => is_allowed("number") || !number.is_f64() && is_allowed("integer"),
        Value::String(_) => is_allowed("string"),
        Value::Array(items) => is_allowed("array") && items.iter().all(|item| has_type(item, &schema["items"])),
        Value::Object(_) => is_allowed("object"),
    }
}

/// The value with the members of objects in the order of the schema.
fn in_order(value: Value, schema: &Value) -> Value {
    match value {
        Value::Object(mut map) => {
            let names = schema["properties"].as_object().into_iter().flat_map(Map::keys);
            let known: Vec<_> = names.filter_map(|name| map.shift_remove_entry(name)).collect();
            known.into_iter().chain(map).collect()
        }
        Value::Array(list) => list.into_iter().map(|item| in_order(item, &schema["items"])).collect(),
        other => other,
    }
}
