//! One argument per keyword of the argument schema, as `fixture-demo.php` registers them on the peer.

use svc_schema::{Arg, Args, Schema};

#[rustfmt::skip]
const ROWS: &[(&str, &str)] = &[
    ("str", r##"{"type": "string", "description": "Any text."}"##),
    ("str_len", r##"{"type": "string", "minLength": 2, "maxLength": 5}"##),
    ("str_one", r##"{"type": "string", "minLength": 1, "maxLength": 1}"##),
    ("str_pattern", r##"{"type": "string", "pattern": "^[a-z]+-[0-9]+$"}"##),
    ("str_pattern_u", r##"{"type": "string", "pattern": "^.{3}$"}"##),
    ("str_enum", r##"{"type": "string", "enum": ["red", "green", "blue"]}"##),
    ("str_enum_one", r##"{"type": "string", "enum": ["only"]}"##),
    ("str_def", r##"{"type": "string", "default": "fallback"}"##),
    ("int", r##"{"type": "integer"}"##),
    ("int_def", r##"{"type": "integer", "default": 7}"##),
    ("int_range", r##"{"type": "integer", "minimum": 1, "maximum": 10}"##),
    ("int_excl", r##"{"type": "integer", "minimum": 1, "maximum": 10, "exclusiveMinimum": true, "exclusiveMaximum": true}"##),
    ("int_mixed", r##"{"type": "integer", "minimum": 1, "maximum": 10, "exclusiveMinimum": true}"##),
    ("int_mixed2", r##"{"type": "integer", "minimum": 1, "maximum": 10, "exclusiveMaximum": true}"##),
    ("int_min", r##"{"type": "integer", "minimum": 5}"##),
    ("int_min_ex", r##"{"type": "integer", "minimum": 5, "exclusiveMinimum": true}"##),
    ("int_max", r##"{"type": "integer", "maximum": 5}"##),
    ("int_max_ex", r##"{"type": "integer", "maximum": 5, "exclusiveMaximum": true}"##),
    ("int_mult", r##"{"type": "integer", "multipleOf": 3}"##),
    ("int_enum", r##"{"type": "integer", "enum": [1, 2, 4]}"##),
    ("num", r##"{"type": "number"}"##),
    ("num_mult", r##"{"type": "number", "multipleOf": 0.25}"##),
    ("num_range", r##"{"type": "number", "minimum": -1.5, "maximum": 1.5}"##),
    ("bool", r##"{"type": "boolean"}"##),
    ("nul", r##"{"type": "null"}"##),
    ("hex", r##"{"type": "string", "format": "hex-color"}"##),
    ("date", r##"{"type": "string", "format": "date-time"}"##),
    ("email", r##"{"type": "string", "format": "email"}"##),
    ("ip", r##"{"type": "string", "format": "ip"}"##),
    ("uuid", r##"{"type": "string", "format": "uuid"}"##),
    ("uri", r##"{"type": "string", "format": "uri"}"##),
    ("line", r##"{"type": "string", "format": "text-field"}"##),
    ("lines", r##"{"type": "string", "format": "textarea-field"}"##),
    ("arr", r##"{"type": "array", "items": {"type": "string"}}"##),
    ("arr_int", r##"{"type": "array", "items": {"type": "integer"}}"##),
    ("arr_len", r##"{"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 3}"##),
    ("arr_one", r##"{"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1}"##),
    ("arr_uni", r##"{"type": "array", "items": {"type": ["object", "array", "integer", "string"]}, "uniqueItems": true}"##),
    ("arr_enum", r##"{"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}}"##),
    ("arr_obj", r##"{"type": "array", "items": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}, "tag": {"type": "string"}}, "additionalProperties": false}}"##),
    ("arr_bare", r##"{"type": "array"}"##),
    ("obj", r##"{"type": "object", "properties": {"a": {"type": "integer", "required": true}, "b": {"type": "string"}, "c": {"type": "boolean"}}, "additionalProperties": false}"##),
    ("obj_free", r##"{"type": "object", "properties": {"a": {"type": "integer"}}}"##),
    ("obj_add", r##"{"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": {"type": "integer"}}"##),
    ("obj_pat", r##"{"type": "object", "patternProperties": {"^n_": {"type": "number"}, "^s_": {"type": "string"}}, "additionalProperties": false}"##),
    ("obj_count", r##"{"type": "object", "minProperties": 1, "maxProperties": 2}"##),
    ("obj_req", r##"{"type": "object", "required": ["x", "y"], "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}}"##),
    ("obj_deep", r##"{"type": "object", "properties": {"in": {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "integer", "maximum": 9}}}}}}"##),
    ("any", r##"{"anyOf": [{"type": "integer", "title": "Count", "minimum": 10}, {"type": "string", "title": "Word", "maxLength": 4}]}"##),
    ("any_plain", r##"{"anyOf": [{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}, {"type": "object", "properties": {"c": {"type": "boolean"}}}, {"type": "array", "items": {"type": "integer"}}]}"##),
    ("one", r##"{"oneOf": [{"type": "integer", "title": "Small", "maximum": 10}, {"type": "integer", "title": "Even", "multipleOf": 2}]}"##),
    ("one_plain", r##"{"type": "string", "oneOf": [{"pattern": "^a"}, {"pattern": "z$"}]}"##),
    ("multi", r##"{"type": ["integer", "string"]}"##),
    ("multi_null", r##"{"type": ["string", "null"], "format": "date-time"}"##),
    ("multi_mix", r##"{"type": ["boolean", "object", "array"], "items": {"type": "integer"}, "properties": {"k": {"type": "string"}}}"##),
];

/// All of them.
pub fn all() -> Args {
    let arg = |json: &str| Arg::new(Schema::compile(serde_json::from_str(json).expect("a row is JSON")));
    ROWS.iter().map(|(name, json)| (*name, arg(json))).collect()
}
