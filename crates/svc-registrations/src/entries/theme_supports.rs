//! `[theme_supports]`: features of the theme, by their names in the REST API.

use serde_json::{Map, Value, json};
use svc_controllers::themes::supports;
use svc_schema::Schema;

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
        let kind = Schema::compile(json!({"type": schema["type"]}));
        kind.validate(&value, &name).map_err(|error| error.message().to_owned())?;
        let value = in_order(value, schema);
        Ok((name, value))
    };
    features.into_iter().map(read).collect()
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
