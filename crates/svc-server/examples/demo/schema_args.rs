//! One argument for each keyword of schemas.

use serde_json::{Value, json};
use svc_schema::{Args, Schema};

/// The arguments of `/demo/v1/schema`, in the order in which the index shows them.
pub(super) fn schema_args() -> Args {
    let Value::Object(all) = table() else { unreachable!("the table is a map") };
    all.into_iter().map(|(name, source)| (name, Schema::compile(source))).collect()
}

#[rustfmt::skip]
fn table() -> Value {
    json!({
        "str": {"type": "string", "description": "Any text."},
        "str_len": {"type": "string", "minLength": 2, "maxLength": 5},
        "str_one": {"type": "string", "minLength": 1, "maxLength": 1},
        "str_pattern": {"type": "string", "pattern": "^[a-z]+-[0-9]+$"},
        "str_pattern_u": {"type": "string", "pattern": "^.{3}$"},
        "str_enum": {"type": "string", "enum": ["red", "green", "blue"]},
        "str_enum_one": {"type": "string", "enum": ["only"]},
        "str_def": {"type": "string", "default": "fallback"},
        "int": {"type": "integer"},
        "int_def": {"type": "integer", "default": 7},
        "int_range": {"type": "integer", "minimum": 1, "maximum": 10},
        "int_excl": {"type": "integer", "minimum": 1, "maximum": 10, "exclusiveMinimum": true, "exclusiveMaximum": true},
        "int_mixed": {"type": "integer", "minimum": 1, "maximum": 10, "exclusiveMinimum": true},
        "int_mixed2": {"type": "integer", "minimum": 1, "maximum": 10, "exclusiveMaximum": true},
        "int_min": {"type": "integer", "minimum": 5},
        "int_min_ex": {"type": "integer", "minimum": 5, "exclusiveMinimum": true},
        "int_max": {"type": "integer", "maximum": 5},
        "int_max_ex": {"type": "integer", "maximum": 5, "exclusiveMaximum": true},
        "int_mult": {"type": "integer", "multipleOf": 3},
        "int_enum": {"type": "integer", "enum": [1, 2, 4]},
        "num": {"type": "number"},
        "num_mult": {"type": "number", "multipleOf": 0.25},
        "num_range": {"type": "number", "minimum": -1.5, "maximum": 1.5},
        "bool": {"type": "boolean"},
        "nul": {"type": "null"},
        "hex": {"type": "string", "format": "hex-color"},
        "date": {"type": "string", "format": "date-time"},
        "email": {"type": "string", "format": "email"},
        "ip": {"type": "string", "format": "ip"},
        "uuid": {"type": "string", "format": "uuid"},
        "uri": {"type": "string", "format": "uri"},
        "line": {"type": "string", "format": "text-field"},
        "lines": {"type": "string", "format": "textarea-field"},
        "arr": {"type": "array", "items": {"type": "string"}},
        "arr_int": {"type": "array", "items": {"type": "integer"}},
        "arr_len": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 3},
        "arr_one": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1},
        "arr_uni": {"type": "array", "items": {"type": ["object", "array", "integer", "string"]}, "uniqueItems": true},
        "arr_enum": {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}},
        "arr_obj": {"type": "array", "items": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}, "tag": {"type": "string"}}, "additionalProperties": false}},
        "arr_bare": {"type": "array"},
        "obj": {"type": "object", "properties": {"a": {"type": "integer", "required": true}, "b": {"type": "string"}, "c": {"type": "boolean"}}, "additionalProperties": false},
        "obj_free": {"type": "object", "properties": {"a": {"type": "integer"}}},
        "obj_add": {"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": {"type": "integer"}},
        "obj_pat": {"type": "object", "patternProperties": {"^n_": {"type": "number"}, "^s_": {"type": "string"}}, "additionalProperties": false},
        "obj_count": {"type": "object", "minProperties": 1, "maxProperties": 2},
        "obj_req": {"type": "object", "required": ["x", "y"], "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}},
        "obj_deep": {"type": "object", "properties": {"in": {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "integer", "maximum": 9}}}}}},
        "any": {"anyOf": [{"type": "integer", "title": "Count", "minimum": 10}, {"type": "string", "title": "Word", "maxLength": 4}]},
        "any_plain": {"anyOf": [{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}, {"type": "object", "properties": {"c": {"type": "boolean"}}}, {"type": "array", "items": {"type": "integer"}}]},
        "one": {"oneOf": [{"type": "integer", "title": "Small", "maximum": 10}, {"type": "integer", "title": "Even", "multipleOf": 2}]},
        "one_plain": {"type": "string", "oneOf": [{"pattern": "^a"}, {"pattern": "z$"}]},
        "multi": {"type": ["integer", "string"]},
        "multi_null": {"type": ["string", "null"], "format": "date-time"},
        "multi_mix": {"type": ["boolean", "object", "array"], "items": {"type": "integer"}, "properties": {"k": {"type": "string"}}},
    })
}
