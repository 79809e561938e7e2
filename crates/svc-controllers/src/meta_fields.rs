//! Registered meta as the property `meta` of items.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_resource::{Field, Fields};
use svc_schema::{Error, build::object};
use svc_site::MetaRegistry;
use svc_store::Meta;

/// Adds the field `meta` to a table, with a property for each registered key. `stored` returns the stored meta of an
/// item. The caller adds `set`.
pub(crate) fn add_member<'f, I: 'static, D: 'static>(
    fields: &'f mut Fields<I, D>,
    registry: &MetaRegistry,
    kind: &str,
    subtype: &str,
    stored: fn(&I) -> &Meta,
) -> &'f mut Field<I, D> {
    const NO_PROPERTIES: [(&str, Value); 0] = [];
    let mut schema = object(NO_PROPERTIES).describe("Meta fields.").context(&["view", "edit"]);
    if registry.fields(kind, subtype).next().is_none() {
        // PHP serializes an empty map as a list.
        schema = schema.keyword("properties", json!([]));
    }
    let meta = fields.add("meta", schema);
    for field in registry.fields(kind, subtype) {
        let read = Arc::clone(field);
        meta.subfield(&field.name, field.source()).get(move |item| read.read(stored(item)));
    }
    // Without registered meta, the field is `[]`.
    meta.validate_raw(is_map).get(|_| Value::Array(Vec::new()))
}

/// Whether the value is a map. The values are checked by their registrations.
pub(crate) fn is_map(value: &Value, _: &str) -> Result<bool, Error> {
    Ok(value.is_object() || value.is_array())
}
