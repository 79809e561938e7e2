//! Texts that are not compared, because each server has its own.
//!
//! Messages whose text the specification gives are compared to the letter. All other messages, and the titles,
//! descriptions and labels of schemas, types and tests, are replaced by a mark, so that only their presence counts.

use serde_json::{Map, Value};

/// The mark that replaces a text in recordings.
const MARK: &str = "(prose)";

/// Codes of errors whose messages the specification gives.
#[rustfmt::skip]
const FIXED_MESSAGES: &[&str] = &[
    "rest_invalid_type", "rest_property_required", "rest_additional_properties_forbidden", "rest_too_few_properties",
    "rest_too_many_properties", "rest_too_few_items", "rest_too_many_items", "rest_duplicate_items",
    "rest_invalid_multiple", "rest_out_of_bounds", "rest_too_short", "rest_too_long", "rest_invalid_pattern",
    "rest_not_in_enum", "rest_invalid_hex_color", "rest_invalid_date", "rest_invalid_email", "rest_invalid_ip",
    "rest_invalid_uuid", "rest_no_matching_schema", "rest_one_of_multiple_matches", "rest_cookie_invalid_nonce",
];

/// Keywords by which an object is taken for a schema, not for a map of properties.
const SCHEMA_KEYWORDS: &[&str] =
    &["type", "properties", "items", "$schema", "context", "readonly", "format", "enum", "required", "default"];

/// The value with its prose replaced.
pub(crate) fn without_prose(value: &Value) -> Value {
    let map = match value {
        Value::Array(list) => return list.iter().map(without_prose).collect(),
        Value::Object(map) => map,
        other => return other.clone(),
    };
    let has = |keys: &[&str]| keys.iter().all(|key| map.contains_key(*key));
    if has(&["code", "message", "data"]) && map["code"].is_string() {
        return error(map);
    }
    if has(&["label", "badge", "test"]) {
        return health_result(map);
    }
    let block_type = has(&["attributes", "api_version"]);
    let template = has(&["slug", "theme", "source", "has_theme_file"]);
    let ability = has(&["input_schema", "output_schema"]);
    let described =
        has(&["rest_base", "slug"]) || has(&["is_multi"]) || map.len() == 3 && has(&["name", "label", "description"]);
    let part = |key: &str, part: &Value| match key {
        "schema" | "args" if part.is_object() => schema(part),
        "labels" => each(part, |_| true),
        "description" | "keywords" | "example" | "variations" if block_type => MARK.into(),
        "description" if described => mark(part),
        "description" | "label" if template || ability => mark(part),
        "input_schema" | "output_schema" if ability => schema(part),
        "default_template_types" | "default_template_part_areas" if part.is_array() => {
            let texts = |item: &Value| each(item, |key| ["title", "label", "description"].contains(&key));
            part.as_array().into_iter().flatten().map(texts).collect()
        }
        _ => without_prose(part),
    };
    map.iter().map(|(key, value)| (key.clone(), part(key, value))).collect()
}

/// The mark in place of a text; empty texts and other values are unchanged.
fn mark(value: &Value) -> Value {
    if value.as_str().is_some_and(|text| !text.is_empty()) { MARK.into() } else { value.clone() }
}

/// An object with the texts of some keys replaced; anything else without its prose.
fn each(value: &Value, is_prose: impl Fn(&str) -> bool) -> Value {
    let Value::Object(map) = value else { return without_prose(value) };
    map.iter().map(|(key, v)| (key.clone(), if is_prose(key) { mark(v) } else { v.clone() })).collect()
}

fn is_fixed(code: Option<&Value>) -> bool {
    code.and_then(Value::as_str).is_some_and(|code| FIXED_MESSAGES.contains(&code))
}

fn error(map: &Map<String, Value>) -> Value {
    let mut error = map.clone();
    if !is_fixed(map.get("code")) {
        error["message"] = mark(&map["message"]);
    }
    if let Some(data) = map["data"].as_object() {
        // A parameter's text is fixed where the code of its error says so.
        let is_own = |name: &str| !is_fixed(data.get("details").and_then(|d| d.get(name)?.get("code")));
        let part = |(key, value): (&String, &Value)| {
            let value = match value {
                Value::Object(_) if key == "params" => without_prose(&each(value, is_own)),
                other => without_prose(other),
            };
            (key.clone(), value)
        };
        error["data"] = data.iter().map(part).collect();
    }
    for key in ["additional_errors", "additional_data"] {
        if let Some(value) = error.get_mut(key) {
            *value = without_prose(value);
        }
    }
    error.into()
}

/// The result of a site health test.
fn health_result(map: &Map<String, Value>) -> Value {
    let part = |(key, value): (&String, &Value)| {
        let value = match key.as_str() {
            "badge" if value.is_object() => each(value, |key| key == "label"),
            "label" | "description" | "actions" => mark(value),
            _ => value.clone(),
        };
        (key.clone(), value)
    };
    map.iter().map(part).collect()
}

/// A schema or a map of arguments: titles and descriptions that are texts, not properties of these names.
fn schema(value: &Value) -> Value {
    let map = match value {
        Value::Array(list) => return list.iter().map(schema).collect(),
        Value::Object(map) => map,
        other => return other.clone(),
    };
    let is_schema = SCHEMA_KEYWORDS.iter().any(|keyword| map.contains_key(*keyword));
    let is_link = map.contains_key("rel") && map.contains_key("href");
    let part = |(key, value): (&String, &Value)| {
        let value = match key.as_str() {
            "title" | "description" if is_schema && value.is_string() => mark(value),
            "title" if is_link => mark(value),
            "default" | "enum" => value.clone(),
            _ => schema(value),
        };
        (key.clone(), value)
    };
    map.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_prose_is_replaced() {
        #[rustfmt::skip]
        let rows = [
            (json!({"code": "x", "message": "No.", "data": null}), json!({"code": "x", "message": MARK, "data": null})),
            (json!({"code": "x", "message": "", "data": null}), json!({"code": "x", "message": "", "data": null})),
            (json!({"code": "rest_invalid_type", "message": "a is not of type string.", "data": {"status": 400}}),
             json!({"code": "rest_invalid_type", "message": "a is not of type string.", "data": {"status": 400}})),
            (json!({"code": "rest_invalid_param", "message": "No.", "data": {"params": {"a": "A.", "b": "B."},
                "details": {"a": {"code": "rest_invalid_type", "message": "A.", "data": null}, "b": {"code": "own", "message": "B.", "data": null}}}}),
             json!({"code": "rest_invalid_param", "message": MARK, "data": {"params": {"a": "A.", "b": MARK},
                "details": {"a": {"code": "rest_invalid_type", "message": "A.", "data": null}, "b": {"code": "own", "message": MARK, "data": null}}}})),
            (json!({"code": "x", "message": "No.", "data": 1, "additional_errors": [{"code": "y", "message": "No.", "data": 1}]}),
             json!({"code": "x", "message": MARK, "data": 1, "additional_errors": [{"code": "y", "message": MARK, "data": 1}]})),
            (json!({"label": "A", "badge": {"label": "B", "color": "blue"}, "test": "t", "actions": ""}),
             json!({"label": MARK, "badge": {"label": MARK, "color": "blue"}, "test": "t", "actions": ""})),
            (json!({"schema": {"title": "post", "type": "object", "properties": {"title": {"type": "string", "description": "D", "default": {"title": "t", "type": 1}}}}}),
             json!({"schema": {"title": MARK, "type": "object", "properties": {"title": {"type": "string", "description": MARK, "default": {"title": "t", "type": 1}}}}})),
            (json!({"schema": {"links": [{"rel": "r", "href": "h", "title": "T"}]}, "args": []}),
             json!({"schema": {"links": [{"rel": "r", "href": "h", "title": MARK}]}, "args": []})),
            (json!({"attributes": {}, "api_version": 3, "description": null, "title": "T"}),
             json!({"attributes": {}, "api_version": 3, "description": MARK, "title": "T"})),
            (json!({"rest_base": "b", "slug": "s", "description": "D", "labels": {"name": "N", "x": null}}),
             json!({"rest_base": "b", "slug": "s", "description": MARK, "labels": {"name": MARK, "x": null}})),
            (json!({"name": "n", "label": "L", "description": "D"}), json!({"name": "n", "label": "L", "description": MARK})),
            (json!({"name": "n", "label": "L", "description": "D", "x": 1}), json!({"name": "n", "label": "L", "description": "D", "x": 1})),
            (json!({"input_schema": {"type": "object", "title": "T"}, "output_schema": [], "label": "L"}),
             json!({"input_schema": {"type": "object", "title": MARK}, "output_schema": [], "label": MARK})),
            (json!({"default_template_types": [{"title": "T", "slug": "s"}]}), json!({"default_template_types": [{"title": MARK, "slug": "s"}]})),
            (json!([{"title": "T", "description": "D"}]), json!([{"title": "T", "description": "D"}])),
        ];
        for (value, expected) in rows {
            assert_eq!(without_prose(&value), expected, "{value}");
        }
    }
}
