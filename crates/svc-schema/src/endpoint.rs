//! Derives the arguments of create and update endpoints from an item schema.

use serde_json::{Map, Value};
use svc_php::cast::truthy;

use crate::{Arg, Args, Sanitizer, Schema, Validator, compile::MAX_DEPTH};

/// Whether an endpoint creates or updates items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodKind {
    /// Creates items: defaults and required properties apply.
    Creatable,
    /// Updates items: nothing is required, and missing properties stay unchanged.
    Editable,
}

/// The keywords of an argument, in the order in which route descriptions list them. Source: specification, "Argument
/// schema".
pub const KEYWORDS: [&str; 25] = [
    "title",
    "description",
    "default",
    "type",
    "format",
    "enum",
    "items",
    "properties",
    "additionalProperties",
    "patternProperties",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "anyOf",
    "oneOf",
];

/// The arguments derived from an item schema's `properties`, validated and sanitized by schema.
///
/// Empty values (`null`, `false`) of `validate_callback` and `sanitize_callback` in `arg_options` disable that step;
/// set a function on the [`Arg`] afterwards. Source: specification, "Endpoint arguments built from an item schema".
pub fn endpoint_args(item_schema: &Value, kind: MethodKind) -> Args {
    let Some(Value::Object(properties)) = item_schema.get("properties") else { return Args::new() };
    let writable = properties.iter().filter(|(_, property)| !property.get("readonly").is_some_and(truthy));
    writable.map(|(name, property)| (name.clone(), endpoint_arg(property, kind))).collect()
}

fn endpoint_arg(property: &Value, kind: MethodKind) -> Arg {
    let keyword = |name: &str| property.get(name).filter(|v| !v.is_null());
    let mut source = Map::new();
    if kind == MethodKind::Creatable {
        if let Some(default) = keyword("default") {
            source.insert("default".to_owned(), default.clone());
        }
        if keyword("required").is_some_and(truthy) {
            source.insert("required".to_owned(), true.into());
        }
    }
    for name in KEYWORDS {
        if let Some(value) = keyword(name).filter(|_| name != "default") {
            source.insert(name.to_owned(), value.clone());
        }
    }
    let mut arg = Arg { validate: Validator::BySchema, sanitize: Sanitizer::BySchema, ..Arg::default() };
    if let Some(Value::Object(options)) = keyword("arg_options") {
        for (name, value) in options {
            match name.as_str() {
                "validate_callback" if !truthy(value) => arg.validate = Validator::None,
                "sanitize_callback" if !truthy(value) => arg.sanitize = Sanitizer::None,
                "validate_callback" | "sanitize_callback" => {}
                "required" | "default" if kind == MethodKind::Editable => {}
                _ => {
                    source.insert(name.clone(), value.clone());
                }
            }
        }
    }
    let schema = Schema::compile(Value::Object(source));
    Arg { required: schema.is_required(), default: schema.default().cloned(), schema: Some(schema), ..arg }
}

/// Sets `additionalProperties` to false on every object schema that lacks it, including those in `properties`,
/// `patternProperties` and `items`. Source: specification, "Schema default for objects".
pub fn default_additional_properties_to_false(mut schema: Value) -> Value {
    close_objects(&mut schema, MAX_DEPTH);
    schema
}

fn close_objects(schema: &mut Value, depth_left: usize) {
    let Value::Object(map) = schema else { return };
    if depth_left == 0 {
        return;
    }
    let has_type = |name: &str| match map.get("type") {
        Some(Value::String(t)) => t == name,
        Some(Value::Array(types)) => types.iter().any(|t| t.as_str() == Some(name)),
        _ => false,
    };
    let (is_object, is_array) = (has_type("object"), has_type("array"));
    if is_object {
        for group in ["properties", "patternProperties"] {
            match map.get_mut(group) {
                Some(Value::Object(properties)) => {
                    properties.values_mut().for_each(|m| close_objects(m, depth_left - 1))
                }
                Some(Value::Array(properties)) => properties.iter_mut().for_each(|m| close_objects(m, depth_left - 1)),
                _ => {}
            }
        }
        if map.get("additionalProperties").is_none_or(Value::is_null) {
            map.insert("additionalProperties".to_owned(), false.into());
        }
    }
    if is_array && let Some(items) = map.get_mut("items") {
        close_objects(items, depth_left - 1);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sources(item: &Value, kind: MethodKind) -> Value {
        endpoint_args(item, kind).iter().map(|(name, arg)| (name, arg.source().clone())).collect()
    }

    #[test]
    fn only_create_uses_defaults_and_required() {
        let item = json!({"properties": {
            "id": {"type": "integer", "readonly": true},
            "a": {"description": "d", "type": "string", "default": "x", "required": true, "context": ["view"], "unknown": 1},
            "b": {"type": "string", "default": null, "arg_options": {"required": true, "default": "y", "minLength": 3}},
        }});
        assert_eq!(
            sources(&item, MethodKind::Creatable),
            json!({
                "a": {"default": "x", "required": true, "description": "d", "type": "string"},
                "b": {"type": "string", "required": true, "default": "y", "minLength": 3},
            })
        );
        assert_eq!(
            sources(&item, MethodKind::Editable),
            json!({"a": {"description": "d", "type": "string"}, "b": {"type": "string", "minLength": 3}})
        );
    }

    #[test]
    fn empty_callbacks_disable_the_steps() {
        let item = json!({"properties": {"a": {"type": "integer", "arg_options": {"validate_callback": null, "sanitize_callback": false}}}});
        let args = endpoint_args(&item, MethodKind::Creatable);
        assert!(matches!((&args.0["a"].validate, &args.0["a"].sanitize), (Validator::None, Sanitizer::None)));
        // Names of functions, which only PHP could call, have no effect.
        let item = json!({"properties": {"a": {"type": "integer", "default": 7, "required": true, "arg_options": {"validate_callback": "f", "sanitize_callback": "g"}}}});
        let args = endpoint_args(&item, MethodKind::Creatable);
        let arg = &args.0["a"];
        assert!(matches!((&arg.validate, &arg.sanitize), (Validator::BySchema, Sanitizer::BySchema)));
        assert_eq!((arg.required, &arg.default), (true, &Some(json!(7))));
        assert_eq!(arg.source(), &json!({"default": 7, "required": true, "type": "integer"}));
    }

    #[test]
    fn additional_properties_are_disallowed_at_every_level() {
        let schema = json!({"type": ["object", "null"], "properties": {"a": {"type": "array", "items": {"type": "object"}}}, "patternProperties": {"^x": {"type": "object", "additionalProperties": true}}});
        assert_eq!(
            default_additional_properties_to_false(schema),
            json!({"type": ["object", "null"], "properties": {"a": {"type": "array", "items": {"type": "object", "additionalProperties": false}}}, "patternProperties": {"^x": {"type": "object", "additionalProperties": true}}, "additionalProperties": false})
        );
        for unchanged in [json!({"type": ["string", "null"]}), json!({"type": "string", "items": {"type": "object"}})] {
            assert_eq!(default_additional_properties_to_false(unchanged.clone()), unchanged);
        }
        // PHP may have encoded the properties as a list.
        let listed = json!({"type": "object", "properties": [{"type": "object"}], "additionalProperties": null});
        assert_eq!(
            default_additional_properties_to_false(listed),
            json!({"type": "object", "properties": [{"type": "object", "additionalProperties": false}], "additionalProperties": false})
        );
    }

    #[test]
    fn schemas_below_the_maximum_depth_are_unchanged() {
        let nestings: [(fn(Value) -> Value, &str); 3] = [
            (|inner| json!({"type": "object", "properties": {"a": inner}}), "/properties/a"),
            (|inner| json!({"type": "object", "properties": [inner]}), "/properties/0"),
            (|inner| json!({"type": ["object", "array"], "items": inner}), "/items"),
        ];
        for (nest, step) in nestings {
            let schema = (0..MAX_DEPTH).fold(json!({"type": "object"}), |inner, _| nest(inner));
            let closed = default_additional_properties_to_false(schema);
            let at = |depth: usize| &closed.pointer(&step.repeat(depth)).unwrap()["additionalProperties"];
            assert_eq!((at(MAX_DEPTH - 1), at(MAX_DEPTH)), (&json!(false), &json!(null)), "{step}");
        }
    }
}
