//! Schemas by property name.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::compile::Node;

/// Up to this number of names, comparing them is faster than hashing: nearly all differ in length.
const MAX_LINEAR: usize = 32;

/// The properties of an object schema, by name.
#[derive(Debug, Default)]
pub(crate) struct PropertyMap {
    names: Box<[Box<str>]>,
    nodes: Box<[Node]>,
    /// Positions by name, if there are many.
    positions: HashMap<Box<str>, usize>,
}

impl PropertyMap {
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        let position = if self.names.len() <= MAX_LINEAR {
            self.names.iter().position(|key| **key == *name)
        } else {
            self.positions.get(name).copied()
        };
        self.nodes.get(position?)
    }

    /// [`Self::get`] for names in approximately the order of the schema, as clients send them. The search starts at
    /// `next`, which is moved behind the match.
    pub(crate) fn get_next(&self, name: &str, next: &mut usize) -> Option<&Node> {
        if self.names.len() > MAX_LINEAR {
            return self.get(name);
        }
        let (before, after) = self.names.split_at((*next).min(self.names.len()));
        let found = |keys: &[Box<str>]| keys.iter().position(|key| **key == *name);
        let position = found(after).map(|position| before.len() + position).or_else(|| found(before))?;
        *next = position + 1;
        self.nodes.get(position)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }
}

impl FromIterator<(Box<str>, Node)> for PropertyMap {
    fn from_iter<I: IntoIterator<Item = (Box<str>, Node)>>(properties: I) -> Self {
        let (names, nodes): (Vec<Box<str>>, Vec<Node>) = properties.into_iter().unzip();
        let positions =
            if names.len() > MAX_LINEAR { names.iter().cloned().zip(0..).collect() } else { HashMap::new() };
        PropertyMap { names: names.into(), nodes: nodes.into(), positions }
    }
}

/// Whether an object has a property.
pub(crate) fn has_property(map: &Map<String, Value>, name: &str) -> bool {
    if map.len() <= MAX_LINEAR { map.keys().any(|key| key == name) } else { map.contains_key(name) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::Schema;

    #[test]
    fn small_and_large_maps_find_names() {
        for n in [1, 31, 32, 33, 200] {
            let properties: Map = (0..n).map(|i| (format!("name-{i}"), json!({ "type": "integer" }))).collect();
            let schema =
                Schema::compile(json!({ "type": "object", "properties": properties, "additionalProperties": false }));
            for i in 0..n {
                let name = format!("name-{i}");
                assert!(schema.validate(&json!({ name.clone(): 1 }), "p").is_ok());
                assert_eq!(schema.validate(&json!({ name: "x" }), "p").unwrap_err().code(), "rest_invalid_type");
            }
            let backwards: Map = (0..n).rev().map(|i| (format!("name-{i}"), json!(i))).collect();
            assert!(schema.validate(&backwards.into(), "p").is_ok());
            let unknown = schema.validate(&json!({ "other": 1 }), "p").unwrap_err();
            assert_eq!(unknown.code(), "rest_additional_properties_forbidden");
        }
    }

    type Map = serde_json::Map<String, serde_json::Value>;
}
