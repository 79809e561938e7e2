//! The settings of a widget: a PHP array in its stored form, so that its hash does not change.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};
use svc_php::{
    Array, ArrayKey, Php,
    serialize::{serialize, unserialize},
};

use crate::{Site, stored_arrays::int};

/// The settings of one widget.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instance(pub Array);

impl Instance {
    /// Creates settings from JSON values.
    pub fn from_json(map: &Map<String, Value>) -> Self {
        match Php::from(Value::Object(map.clone())) {
            Php::Array(array) => Instance(array),
            _ => Instance::default(),
        }
    }

    /// A setting's stored value.
    pub fn get(&self, name: &str) -> Option<&Php> {
        self.0.get(&ArrayKey::from(name)).filter(|value| !matches!(value, Php::Null))
    }

    /// A setting as text; empty if not set.
    pub fn text(&self, name: &str) -> String {
        self.get(name).map(|v| svc_php::cast::to_text(&Value::from(v.clone())).into_owned()).unwrap_or_default()
    }

    /// Whether a setting is enabled.
    pub fn is_on(&self, name: &str) -> bool {
        self.get(name).is_some_and(|v| svc_php::cast::truthy(&Value::from(v.clone())))
    }

    /// A setting as an integer.
    pub fn number(&self, name: &str) -> i64 {
        self.get(name).map(int).unwrap_or_default()
    }

    /// Sets a value; an existing setting keeps its position.
    pub fn set(&mut self, name: &str, value: Php) {
        self.0.insert(ArrayKey::from(name), value);
    }
}

/// The settings in REST responses: readable (`raw`), and signed to be sent back unchanged (`encoded`, `hash`).
pub fn to_json(site: &Site, stored: Option<&Instance>) -> Value {
    let php = stored.map_or(Php::Null, |instance| Php::Array(instance.0.clone()));
    let serialized = serialize(&php);
    let raw = match Value::from(php) {
        // The settings are always an object, even if empty.
        Value::Array(list) => list.into_iter().enumerate().map(|(n, v)| (n.to_string(), v)).collect(),
        Value::Object(map) => map,
        _ => Map::new(),
    };
    json!({"encoded": STANDARD.encode(&serialized), "hash": site.hash(&serialized), "raw": raw})
}

/// Decodes settings sent back by a client; `None` if the hash is wrong.
pub fn decode_signed(site: &Site, encoded: &str, hash: &str) -> Option<Instance> {
    use subtle::ConstantTimeEq;
    let serialized = STANDARD.decode(encoded).ok()?;
    if !bool::from(site.hash(&serialized).as_bytes().ct_eq(hash.as_bytes())) {
        return None;
    }
    match unserialize(&serialized) {
        Ok(Php::Array(array)) => Some(Instance(array)),
        _ => Some(Instance::default()),
    }
}
