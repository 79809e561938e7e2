//! TypeScript declarations from a document.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::operation_methods;

/// Declarations of a document's schemas, and of a type `Operations` with the path, the parameters, the body and
/// the result of each operation.
///
/// Fields of returned items are optional unless they are in the context `view`, which requests without `context` have.
/// Select fields with `Pick<Post, "id" | "title">` if the request has `_fields`.
pub fn typescript(document: &Value) -> String {
    let mut out = String::from("// Types of the REST API, generated from its OpenAPI document. Do not edit.\n\n");
    let schemas = document["components"]["schemas"].as_object();
    for (name, schema) in schemas.into_iter().flatten() {
        comment(&mut out, schema, 0);
        let is_item = schema["properties"].get("_links").is_some();
        let text = type_of(schema, is_item, 0);
        put(&mut out, format_args!("export type {name} = {text};\n\n"));
    }
    out.push_str("/** The operations by id. */\nexport type Operations = {\n");
    for (path, method, operation) in operation_methods(document) {
        put_operation(&mut out, path, method, operation);
    }
    out.push_str("};\n");
    out
}

/// Writing to a string cannot fail.
fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _written = out.write_fmt(text);
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth)
}

fn comment(out: &mut String, schema: &Value, depth: usize) {
    let text = schema["description"].as_str().unwrap_or_default();
    if !text.is_empty() {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ").replace("*/", "*\\/");
        put(out, format_args!("{}/** {line} */\n", indent(depth)));
    }
}

fn put_operation(out: &mut String, path: &str, method: &str, operation: &Value) {
    let id = operation["operationId"].as_str().unwrap_or_default();
    put(out, format_args!("  /** {} */\n", operation["summary"].as_str().unwrap_or_default().replace("*/", "*\\/")));
    put(out, format_args!("  {}: {{\n", key(id)));
    put(out, format_args!("    method: {};\n    path: {};\n", quoted(&method.to_ascii_uppercase()), quoted(path)));
    for (place, name) in [("path", "params"), ("query", "query")] {
        let all = operation["parameters"].as_array().into_iter().flatten();
        let all: Vec<&Value> = all.filter(|parameter| parameter["in"] == place).collect();
        let has_fields = place == "query"
            && operation["parameters"]
                .as_array()
                .into_iter()
                .flatten()
                .any(|parameter| parameter.get("$ref").is_some());
        if all.is_empty() && !has_fields {
            continue;
        }
        put(out, format_args!("    {name}: {{\n"));
        for parameter in all {
            comment(out, parameter, 3);
            let mark = if parameter["required"] == true { "" } else { "?" };
            let text = type_of(&parameter["schema"], false, 3);
            put(out, format_args!("      {}{mark}: {text};\n", key(parameter["name"].as_str().unwrap_or_default())));
        }
        if has_fields {
            out.push_str("      _fields?: string[];\n      _embed?: string[];\n");
        }
        out.push_str("    };\n");
    }
    if let Some(schema) = operation["requestBody"]["content"]["application/json"].get("schema") {
        put(out, format_args!("    body: {};\n", type_of(schema, false, 2)));
    }
    let success = operation["responses"].as_object().into_iter().flatten().find(|(status, _)| status.starts_with('2'));
    let schema = success.map_or(&Value::Null, |(_, response)| &response["content"]["application/json"]["schema"]);
    put(out, format_args!("    result: {};\n  }};\n", type_of(schema, false, 2)));
}

/// The type of a schema. `is_item`: whether it is returned, so that `x-contexts` decides which properties exist.
fn type_of(schema: &Value, is_item: bool, depth: usize) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|target| target.rsplit('/').next()) {
        return name.to_owned();
    }
    if let Some(values) = schema["enum"].as_array() {
        return union(values.iter().map(literal));
    }
    for group in ["anyOf", "oneOf"] {
        if let Some(all) = schema[group].as_array().filter(|all| all.iter().any(says_type)) {
            return union(all.iter().map(|schema| type_of(schema, is_item, depth)));
        }
    }
    match &schema["type"] {
        Value::String(name) => named(name, schema, is_item, depth),
        Value::Array(names) => {
            union(names.iter().filter_map(Value::as_str).map(|name| named(name, schema, is_item, depth)))
        }
        _ => "unknown".to_owned(),
    }
}

/// Whether a schema restricts the type, and not only the format.
fn says_type(schema: &Value) -> bool {
    ["type", "$ref", "enum", "anyOf", "oneOf"].iter().any(|keyword| schema.get(*keyword).is_some())
}

fn named(name: &str, schema: &Value, is_item: bool, depth: usize) -> String {
    match name {
        // Known values, for completion in editors, and any other string.
        "string" => match schema["examples"].as_array() {
            Some(values) if is_item => {
                let known = values.iter().filter(|value| value.is_string()).map(literal);
                union(known.chain(["(string & {})".to_owned()]))
            }
            _ => "string".to_owned(),
        },
        "boolean" | "null" => name.to_owned(),
        "integer" | "number" => "number".to_owned(),
        "array" if schema["maxItems"] == 0 => "[]".to_owned(),
        "array" => match schema.get("items") {
            Some(items) => format!("Array<{}>", type_of(items, is_item, depth)),
            None => "unknown[]".to_owned(),
        },
        "object" => object(schema, is_item, depth),
        _ => "unknown".to_owned(),
    }
}

fn object(schema: &Value, is_item: bool, depth: usize) -> String {
    let empty = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    let further = match &schema["additionalProperties"] {
        Value::Object(_) => type_of(&schema["additionalProperties"], is_item, depth),
        _ => "unknown".to_owned(),
    };
    if properties.is_empty() {
        return format!("Record<string, {further}>");
    }
    let required = schema["required"].as_array().unwrap_or(const { &Vec::new() });
    let mut out = String::from("{\n");
    for (name, property) in properties {
        comment(&mut out, property, depth + 1);
        let is_linked = matches!(name.as_str(), "_links" | "_embedded");
        let in_view = property["x-contexts"].as_array().is_none_or(|contexts| contexts.iter().any(|c| c == "view"));
        let exists = required.iter().any(|other| other == name) || (is_item && in_view && !is_linked);
        let mark = if exists { "" } else { "?" };
        let text = type_of(property, is_item, depth + 1);
        put(&mut out, format_args!("{}{}{mark}: {text};\n", indent(depth + 1), key(name)));
    }
    put(&mut out, format_args!("{}}}", indent(depth)));
    if schema["additionalProperties"].is_object() { format!("({out} & Record<string, unknown>)") } else { out }
}

fn union(all: impl Iterator<Item = String>) -> String {
    let mut unique: Vec<String> = Vec::new();
    for text in all {
        if !unique.contains(&text) {
            unique.push(text);
        }
    }
    if unique.is_empty() { "unknown".to_owned() } else { unique.join(" | ") }
}

fn literal(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Object(_) => "unknown".to_owned(),
        value => value.to_string(),
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A property name, quoted if necessary.
fn key(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_plain { name.to_owned() } else { quoted(name) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_as_types() {
        #[rustfmt::skip]
        let rows = [
            (json!({"type": ["string", "null"]}), "string | null"),
            (json!({"enum": ["a", 1, null]}), "\"a\" | 1 | null"),
            (json!({"type": "array", "items": {"type": ["integer", "number"]}}), "Array<number>"),
            (json!({"type": ["object", "array"], "maxItems": 0}), "Record<string, unknown> | []"),
            (json!({"$ref": "#/components/schemas/Post"}), "Post"),
            (json!({}), "unknown"),
            (json!({"type": "object", "properties": {"a-b": {"type": "string"}, "c": {}}, "required": ["c"]}), "{\n  \"a-b\"?: string;\n  c: unknown;\n}"),
        ];
        for (schema, expected) in rows {
            assert_eq!(type_of(&schema, false, 0), expected);
        }
    }

    #[test]
    fn returned_items_have_the_fields_of_the_view_context() {
        let schema = json!({"type": "object", "properties": {
            "id": {"type": "integer", "x-contexts": ["view", "edit"]}, "password": {"type": "string", "x-contexts": ["edit"]},
            "_links": {},
        }});
        assert_eq!(type_of(&schema, true, 0), "{\n  id: number;\n  password?: string;\n  _links?: unknown;\n}");
    }
}
