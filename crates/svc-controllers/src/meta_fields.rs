//! Registered meta as a property of items.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_resource::{Field, Fields};
use svc_schema::{Error, build::object};
use svc_site::MetaRegistry;
use svc_store::Meta;

/// Adds the member `meta` to a table: a member for each registered value, read from the stored meta that `stored` finds
/// in an item. The caller says what `set` does.
pub(crate) fn add_member<'f, I: 'static, D: 'static>(
    fields: &'f mut Fields<I, D>,
    registry: &MetaRegistry,
    kind: &str,
    subtype: &str,
    stored: fn(&I) -> &Meta,
) -> &'f mut Field<I, D> {
    const NOTHING: [(&str, Value); 0] = [];
    let mut schema = object(NOTHING).describe("Further values kept with it.").context(&["view", "edit"]);
    if registry.fields(kind, subtype).next().is_none() {
        // No members are PHP's empty map.
        schema = schema.keyword("properties", json!([]));
    }
    let subfield = fields.add("meta", schema);
    for field in registry.fields(kind, subtype) {
        let read = Arc::clone(field);
        subfield.subfield(&field.name, field.source()).get(move |item| read.read(stored(item)));
    }
    // Without registered meta the member is there all the same, as an empty map prints.
    subfield.validate_raw(is_map).get(|_| Value::Array(Vec::new()))
}

/// Meta is a map; the registrations check what is in it.
pub(crate) fn is_map(value: &Value, _: &str) -> Result<bool, Error> {
    Ok(value.is_object() || value.is_array())
}
