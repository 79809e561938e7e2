//! How one widget is set: a PHP array, kept as it is stored so that its hash stays the same.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};
use svc_php::{
    Array, Key, Php,
    serialize::{serialize, unserialize},
};

use crate::{Site, stored_arrays::int};

/// The settings of one widget.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instance(pub Array);

impl Instance {
    /// The settings that a map of JSON values holds.
    pub fn from_json(map: &Map<String, Value>) -> Self {
        match Php::from(Value::Object(map.clone())) {
            Php::Array(array) => Instance(array),
            _ => Instance::default(),
        }
    }

    /// A setting as stored.
    pub fn get(&self, name: &str) -> Option<&Php> {
        self.0.get(&Key::from(name)).filter(|value| !matches!(value, Php::Null))
    }

    /// A setting as text; empty when there is none.
    pub fn text(&self, name: &str) -> String {
        self.get(name).map(|v| svc_php::cast::to_text(&Value::from(v.clone())).into_owned()).unwrap_or_default()
    }

    /// Whether a setting is switched on.
    pub fn is_on(&self, name: &str) -> bool {
        self.get(name).is_some_and(|v| svc_php::cast::truthy(&Value::from(v.clone())))
    }

    /// A setting as a number.
    pub fn number(&self, name: &str) -> i64 {
        self.get(name).map(int).unwrap_or_default()
    }

    /// Sets one setting; one that is there keeps its place.
    pub fn set(&mut self, name: &str, value: Php) {
        self.0.insert(Key::from(name), value);
    }
}

/// Settings as clients see them: to be read (`raw`), and to be sent back unchanged (`encoded`, `hash`).
pub fn shown(site: &Site, stored: Option<&Instance>) -> Value {
    let php = stored.map_or(Php::Null, |instance| Php::Array(instance.0.clone()));
    let serialized = serialize(&php);
    let raw = match Value::from(php) {
        // Settings are a map, also when there are none.
        Value::Array(list) => list.into_iter().enumerate().map(|(n, v)| (n.to_string(), v)).collect(),
        Value::Object(map) => map,
        _ => Map::new(),
    };
    json!({"encoded": STANDARD.encode(&serialized), "hash": site.hash(&serialized), "raw": raw})
}

/// Settings that a client sends back; `None` when they are not what it was given.
pub fn taken_back(site: &Site, encoded: &str, hash: &str) -> Option<Instance> {
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
