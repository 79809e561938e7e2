//! Schemas of the registry, which follow JSON Schema draft 4, as JSON Schema 2020-12, which OpenAPI 3.1 uses.

use serde_json::{Map, Value, json};

/// The deepest nesting of schemas.
const MAX_DEPTH: usize = 64;

/// The names of JSON types.
const TYPES: &[&str] = &["null", "boolean", "object", "array", "number", "string", "integer"];

/// The values that a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usage {
    /// Values that clients send.
    Request,
    /// Values that the server returns. Stored values may violate the rules for new ones, and every field may be absent,
    /// since it depends on the context and on `_fields`.
    Response,
}

/// Converts a schema.
pub(crate) fn convert(source: &Value, usage: Usage) -> Value {
    Value::Object(convert_at(source, usage, MAX_DEPTH))
}

fn convert_at(source: &Value, usage: Usage, depth: usize) -> Map<String, Value> {
    let mut out = Map::new();
    let Value::Object(source) = source else { return out };
    let Some(depth) = depth.checked_sub(1) else { return out };
    let types = types(source);
    put_types(&mut out, &types);
    for name in ["title", "description"] {
        copy(source, &mut out, name, |value| value.as_str().is_some_and(|text| !text.is_empty()));
    }
    put_enum(source, &mut out, usage);
    let format = source.get("format").and_then(Value::as_str).unwrap_or_default();
    if let Some(format) = self::format(format, usage) {
        out.insert("format".to_owned(), format.into());
    }
    if format == "ip" && usage == Usage::Request {
        // The registry of formats has one for each version of addresses.
        out.insert("anyOf".to_owned(), json!([{ "format": "ipv4" }, { "format": "ipv6" }]));
    }
    put_nested(source, &mut out, usage, depth);
    if types.contains(&"array") && !out.contains_key("items") {
        // Tools expect a schema of the items.
        out.insert("items".to_owned(), json!({}));
    }
    if usage == Usage::Request {
        put_rules(source, &mut out);
        put_default(source, &mut out);
    } else if types.contains(&"object") && !types.contains(&"array") && is_map(&out) {
        out = or_empty_list(out);
    }
    if source.get("readonly").is_some_and(is_true) {
        out.insert("readOnly".to_owned(), true.into());
    }
    if let Some(contexts) = source.get("context").filter(|contexts| contexts.is_array()) {
        out.insert("x-contexts".to_owned(), contexts.clone());
    }
    out
}

fn copy(source: &Map<String, Value>, out: &mut Map<String, Value>, name: &str, fits: impl Fn(&Value) -> bool) {
    if let Some(value) = source.get(name).filter(|value| fits(value)) {
        out.insert(name.to_owned(), value.clone());
    }
}

fn is_true(value: &Value) -> bool {
    *value == Value::Bool(true) || value.as_i64() == Some(1)
}

/// The JSON types that a schema names. An unknown type name, such as `date`, accepts any value.
fn types(source: &Map<String, Value>) -> Vec<&'static str> {
    let names: Vec<&str> = match source.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => return Vec::new(),
    };
    let known = names.iter().map(|name| {
        let name = if *name == "bool" { "boolean" } else { name };
        TYPES.iter().copied().find(|known| *known == name)
    });
    let mut out = known.collect::<Option<Vec<_>>>().unwrap_or_default();
    // Integers are numbers.
    if out.contains(&"number") {
        out.retain(|name| *name != "integer");
    }
    let mut seen = Vec::new();
    out.retain(|name| {
        !seen.contains(name) && {
            seen.push(*name);
            true
        }
    });
    let allows_null = source.get("enum").and_then(Value::as_array).is_some_and(|all| all.contains(&Value::Null));
    if allows_null && !out.is_empty() && !out.contains(&"null") {
        out.push("null");
    }
    out
}

fn put_types(out: &mut Map<String, Value>, types: &[&str]) {
    match types {
        [] => {}
        [only] => {
            out.insert("type".to_owned(), (*only).into());
        }
        several => {
            out.insert("type".to_owned(), several.into());
        }
    }
}

/// The listed values. Returned values may be others, such as those of stored content or of extensions: for them, the listed
/// ones are examples.
fn put_enum(source: &Map<String, Value>, out: &mut Map<String, Value>, usage: Usage) {
    let Some(Value::Array(values)) = source.get("enum") else { return };
    let mut unique: Vec<&Value> = Vec::new();
    for value in values {
        if !unique.contains(&value) {
            unique.push(value);
        }
    }
    if !unique.is_empty() {
        let keyword = if usage == Usage::Request { "enum" } else { "examples" };
        out.insert(keyword.to_owned(), unique.into_iter().cloned().collect());
    }
}

/// The format in the OpenAPI format registry. Dates without a time zone are what the API returns. Empty strings replace
/// absent URLs and e-mail addresses.
fn format(format: &str, usage: Usage) -> Option<&'static str> {
    match (format, usage) {
        ("date-time", Usage::Request) => Some("date-time"),
        ("date-time", Usage::Response) => Some("date-time-local"),
        ("uri", Usage::Request) => Some("uri"),
        ("uri", Usage::Response) => Some("uri-reference"),
        ("email", Usage::Request) => Some("email"),
        ("uuid", _) => Some("uuid"),
        ("hex-color", Usage::Request) => Some("hex-color"),
        _ => None,
    }
}

/// Schemas within the schema.
fn put_nested(source: &Map<String, Value>, out: &mut Map<String, Value>, usage: Usage, depth: usize) {
    let mut required: Vec<Value> = match source.get("required") {
        Some(Value::Array(names)) => names.iter().filter(|name| name.is_string()).cloned().collect(),
        _ => Vec::new(),
    };
    for group in ["properties", "patternProperties"] {
        let Some(Value::Object(all)) = source.get(group) else { continue };
        if group == "properties" {
            let names = all.iter().filter(|(_, property)| property.get("required").is_some_and(is_true));
            required.extend(names.map(|(name, _)| Value::from(name.clone())));
        }
        let nested: Map<String, Value> =
            all.iter().map(|(name, property)| (name.clone(), convert_at(property, usage, depth).into())).collect();
        out.insert(group.to_owned(), nested.into());
    }
    if usage == Usage::Request && !required.is_empty() {
        out.insert("required".to_owned(), required.into());
    }
    match source.get("additionalProperties") {
        Some(Value::Bool(allowed)) if usage == Usage::Request || *allowed => {
            out.insert("additionalProperties".to_owned(), (*allowed).into());
        }
        Some(schema @ Value::Object(_)) => {
            out.insert("additionalProperties".to_owned(), convert_at(schema, usage, depth).into());
        }
        _ => {}
    }
    if let Some(items) = source.get("items").filter(|items| items.is_object()) {
        out.insert("items".to_owned(), convert_at(items, usage, depth).into());
    }
    for group in ["anyOf", "oneOf"] {
        let Some(Value::Array(all)) = source.get(group) else { continue };
        let all: Vec<Value> = all.iter().map(|schema| convert_at(schema, usage, depth).into()).collect();
        if !all.is_empty() {
            // Returned values that match several schemas are no error. Forms of a value that clients send overlap, since
            // strings are accepted for other types.
            out.insert("anyOf".to_owned(), all.into());
        }
    }
}

/// The schema of an object that may be empty: PHP encodes an empty map as a list.
pub(crate) fn or_empty_list(mut object: Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    for name in ["title", "description"] {
        if let Some(value) = object.shift_remove(name) {
            out.insert(name.to_owned(), value);
        }
    }
    out.insert("anyOf".to_owned(), json!([object, { "type": "array", "items": {}, "maxItems": 0 }]));
    out
}

/// Whether an object has no properties of fixed names, so that it may be empty.
fn is_map(converted: &Map<String, Value>) -> bool {
    converted.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty)
        || converted.contains_key("additionalProperties")
}

/// Rules for values that clients send.
fn put_rules(source: &Map<String, Value>, out: &mut Map<String, Value>) {
    for name in ["minimum", "maximum", "multipleOf"] {
        copy(source, out, name, Value::is_number);
    }
    for name in ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"] {
        copy(source, out, name, Value::is_u64);
    }
    for (flag, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if source.get(flag).is_some_and(is_true)
            && let Some(value) = out.shift_remove(bound)
        {
            out.insert(flag.to_owned(), value);
        }
    }
    copy(source, out, "uniqueItems", Value::is_boolean);
    if let Some(pattern) = source.get("pattern").and_then(Value::as_str).and_then(portable) {
        out.insert("pattern".to_owned(), pattern.into());
    }
}

/// An expression without the parts that ECMAScript reads differently.
fn portable(pattern: &str) -> Option<String> {
    let anchored = |start: &str, end: &str, inner: String| format!("{start}{inner}{end}");
    let (start, rest) = pattern.strip_prefix('^').map_or(("", pattern), |rest| ("^", rest));
    let (end, inner) =
        rest.strip_suffix('$').filter(|rest| !rest.ends_with('\\')).map_or(("", rest), |rest| ("$", rest));
    let alternatives = crate::pattern::parse(inner).ok()?;
    let texts = alternatives.iter().map(|all| all.iter().map(|piece| piece.text.as_deref()).collect());
    let texts = texts.collect::<Option<Vec<String>>>()?;
    (texts.len() == 1).then(|| anchored(start, end, texts.concat()))
}

/// The default, unless it violates its own schema, such as an empty string for a number.
fn put_default(source: &Map<String, Value>, out: &mut Map<String, Value>) {
    let Some(default) = source.get("default").filter(|default| !default.is_null()) else { return };
    // Defaults of booleans and lists may be written as clients send them.
    let default = svc_schema::Schema::compile(json!({ "type": out.get("type"), "items": out.get("items") }))
        .parse(default.clone(), "default")
        .unwrap_or_else(|_| default.clone());
    if fits(&default, out) {
        out.insert("default".to_owned(), default);
    }
}

/// Whether a value has one of the types, and one of the listed values.
fn fits(value: &Value, schema: &Map<String, Value>) -> bool {
    let is = |name: &str| match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(number) => name == "number" || (name == "integer" && !number.is_f64()),
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    };
    let has_type = match schema.get("type") {
        Some(Value::String(name)) => is(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).any(is),
        _ => true,
    };
    let is_listed = |schema: &Map<String, Value>, value: &Value| match schema.get("enum") {
        Some(Value::Array(values)) => values.contains(value),
        _ => true,
    };
    let items_fit = match (value, schema.get("items")) {
        (Value::Array(values), Some(Value::Object(items))) => values.iter().all(|item| fits(item, items)),
        _ => true,
    };
    has_type && is_listed(schema, value) && items_fit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draft_4_becomes_2020_12() {
        #[rustfmt::skip]
        let rows = [
            (json!({"type": "bool", "default": "1"}), json!({"type": "boolean", "default": true})),
            (json!({"type": "integer", "default": ""}), json!({"type": "integer"})),
            (json!({"type": ["array"], "items": {"type": "string"}, "default": "a,b"}), json!({"type": "array", "items": {"type": "string"}, "default": ["a", "b"]})),
            (json!({"type": "string", "enum": ["a", null, "a"]}), json!({"type": ["string", "null"], "enum": ["a", null]})),
            (json!({"type": "number", "minimum": 0, "exclusiveMinimum": true}), json!({"type": "number", "exclusiveMinimum": 0})),
            (json!({"type": "object", "properties": {"a": {"type": "string", "required": true, "readonly": true}}}),
             json!({"type": "object", "properties": {"a": {"type": "string", "readOnly": true}}, "required": ["a"]})),
            (json!({"type": "string", "pattern": r"^[\w\/\-]+$"}), json!({"type": "string", "pattern": r"^[\w/\-]+$"})),
            (json!({"type": "date", "arg_options": {}, "properties": []}), json!({})),
            (json!({"type": "string", "format": "text-field"}), json!({"type": "string"})),
            (json!({"type": "string", "format": "ip"}), json!({"type": "string", "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]})),
        ];
        for (source, expected) in rows {
            assert_eq!(convert(&source, Usage::Request), expected, "{source}");
        }
    }

    #[test]
    fn responses_have_no_rules_for_input() {
        #[rustfmt::skip]
        let rows = [
            (json!({"type": "string", "minLength": 1, "required": true, "default": "x"}), json!({"type": "string"})),
            (json!({"type": "string", "format": "date-time", "context": ["view"]}), json!({"type": "string", "format": "date-time-local", "x-contexts": ["view"]})),
            (json!({"type": "object", "additionalProperties": {"type": "string"}}), json!({"anyOf": [{"type": "object", "additionalProperties": {"type": "string"}}, {"type": "array", "items": {}, "maxItems": 0}]})),
            (json!({"type": "object", "properties": {"a": {}}}), json!({"type": "object", "properties": {"a": {}}})),
            (json!({"type": "string", "enum": ["a"]}), json!({"type": "string", "examples": ["a"]})),
            (json!({"oneOf": [{"type": "string"}, {"type": "number"}]}), json!({"anyOf": [{"type": "string"}, {"type": "number"}]})),
        ];
        for (source, expected) in rows {
            assert_eq!(convert(&source, Usage::Response), expected, "{source}");
        }
    }

    #[test]
    fn endless_nesting_ends() {
        let mut schema = json!({"type": "array"});
        for _ in 0..100 {
            schema = json!({"type": "array", "items": schema});
        }
        assert!(convert(&schema, Usage::Request).is_object());
    }
}
