//! Test vectors for svc-php: serialized values, JSON, query strings.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Map, Value, json};
use svc_php::{Array, ArrayKey, Object, Php, json as text, query, serialize};

use super::{Outcome, Vector};

/// Calls the function of this group that the vector names.
pub(super) fn call(vector: &Vector) -> Option<Outcome> {
    let argument = || from_recorded(vector.arg(0).clone());
    Some(match vector.function.as_str() {
        "json_decode" => match text::decode_php(&bytes(argument())) {
            Ok(value) => json!({"ok": true, "value": to_recorded(value)}).into(),
            Err(error) => json!({"ok": false, "error": error.number()}).into(),
        },
        "wp_json_encode" => text::encode(&Value::from(argument())).into(),
        "wp_parse_str" => match to_recorded(Php::Array(query::parse_php(&bytes(argument())))) {
            // Always recorded as an object.
            Value::Array(items) => {
                let names = (0..items.len()).map(|n| n.to_string());
                Value::Object(names.zip(items).collect()).into()
            }
            map => map.into(),
        },
        "http_build_query" => query::build(vector.arg(0).as_object()?).into(),
        "unserialize" => match serialize::unserialize(&bytes(argument())) {
            Ok(value) => json!({"ok": true, "value": to_recorded(value)}).into(),
            Err(_) => json!({"ok": false}).into(),
        },
        "maybe_serialize" => to_recorded(serialize::maybe_serialize(argument())).into(),
        "maybe_unserialize" => to_recorded(serialize::maybe_unserialize(argument())).into(),
        "is_serialized" => {
            let strict = vector.arg(1).as_bool().unwrap_or(true);
            matches!(argument(), Php::Bytes(text) if serialize::is_serialized(&text, strict)).into()
        }
        "is_serialized_string" => {
            matches!(argument(), Php::Bytes(text) if serialize::is_serialized_string(&text)).into()
        }
        _ => return None,
    })
}

fn bytes(value: Php) -> Vec<u8> {
    if let Php::Bytes(bytes) = value { bytes } else { Vec::new() }
}

/// Decodes a recorded argument with its markers `$b64`, `$float` and `$object`.
fn from_recorded(value: Value) -> Php {
    match value {
        Value::Array(items) => Php::Array(items.into_iter().map(from_recorded).collect()),
        Value::Object(mut properties) => {
            if properties.len() == 1 {
                if let Some(Value::String(coded)) = properties.get("$b64") {
                    return Php::Bytes(BASE64_STANDARD.decode(coded).unwrap_or_default());
                }
                if let Some(Value::String(name)) = properties.get("$float") {
                    return Php::Float(name.to_lowercase().parse().unwrap_or(f64::NAN));
                }
                if let Some(Value::Object(properties)) = properties.swap_remove("$object") {
                    let properties = entries(properties).collect();
                    return Php::Object(Box::new(Object { class: b"stdClass".to_vec(), properties }));
                }
            }
            Php::Array(entries(properties).collect::<Array>())
        }
        plain => plain.into(),
    }
}

fn entries(properties: Map<String, Value>) -> impl Iterator<Item = (ArrayKey, Php)> {
    properties.into_iter().map(|(name, value)| (ArrayKey::from(name.as_str()), from_recorded(value)))
}

/// Encodes a result in the format of the recordings, with markers.
fn to_recorded(value: Php) -> Value {
    match value {
        Php::Bytes(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Value::String(text),
            Err(error) => json!({"$b64": BASE64_STANDARD.encode(error.as_bytes())}),
        },
        Php::Float(f) if f.is_nan() => json!({"$float": "NAN"}),
        Php::Float(f) if f.is_infinite() => json!({"$float": if f > 0.0 { "INF" } else { "-INF" }}),
        Php::Array(array) if array.is_list() => {
            Value::Array(array.into_iter().map(|(_, item)| to_recorded(item)).collect())
        }
        Php::Array(array) => {
            Value::Object(array.into_iter().map(|(key, item)| (name(&key), to_recorded(item))).collect())
        }
        Php::Object(object) => {
            Value::Object(object.properties.into_iter().map(|(key, item)| (name(&key), to_recorded(item))).collect())
        }
        plain => plain.into(),
    }
}

fn name(key: &ArrayKey) -> String {
    String::from_utf8(key.to_bytes())
        .unwrap_or_else(|error| format!("$b64:{}", BASE64_STANDARD.encode(error.as_bytes())))
}
