//! Schemas by property name.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Up to this number of names, comparing them is faster than hashing: nearly all differ in length.
const MAX_LINEAR: usize = 32;

/// The schemas `S` of an object's properties, by name.
#[derive(Debug)]
pub(crate) struct PropertyMap<S> {
    names: Box<[Box<str>]>,
    schemas: Box<[S]>,
    /// Positions by name, if there are many.
    positions: HashMap<Box<str>, usize>,
}

impl<S> PropertyMap<S> {
    pub(crate) fn get(&self, name: &str) -> Option<&S> {
        let position = if self.names.len() <= MAX_LINEAR {
            self.names.iter().position(|key| **key == *name)
        } else {
            self.positions.get(name).copied()
        };
        self.schemas.get(position?)
    }

    /// [`Self::get`] for names in approximately the order of the schema, as clients send them. The search starts at
    /// `next`, which is moved behind the match.
    pub(crate) fn get_next(&self, name: &str, next: &mut usize) -> Option<&S> {
        if self.names.len() > MAX_LINEAR {
            return self.get(name);
        }
        let (before, after) = self.names.split_at((*next).min(self.names.len()));
        let found = |keys: &[Box<str>]| keys.iter().position(|key| **key == *name);
        let position = found(after).map(|position| before.len() + position).or_else(|| found(before))?;
        *next = position + 1;
        self.schemas.get(position)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }
}

impl<S> Default for PropertyMap<S> {
    fn default() -> Self {
        PropertyMap { names: Box::default(), schemas: Box::default(), positions: HashMap::new() }
    }
}

impl<S> FromIterator<(Box<str>, S)> for PropertyMap<S> {
    fn from_iter<I: IntoIterator<Item = (Box<str>, S)>>(properties: I) -> Self {
        let (names, schemas): (Vec<Box<str>>, Vec<S>) = properties.into_iter().unzip();
        let positions =
            if names.len() > MAX_LINEAR { names.iter().cloned().zip(0..).collect() } else { HashMap::new() };
        PropertyMap { names: names.into(), schemas: schemas.into(), positions }
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

    #[test]
    fn names_in_any_order_have_their_own_schema() {
        let schema = Schema::compile(json!({"type": "object", "properties": {
            "a": {"type": "integer"}, "b": {"type": "array"}, "c": {"type": "boolean"}, "d": {"type": "null"}, "e": {"type": "object"},
        }}));
        let values = json!({"a": 7, "b": [{}], "c": true, "d": null, "e": {"x": 1}});
        for order in ["abcde", "edcba", "acbed", "bdace", "aceb", "ce"] {
            let value: Map = order.chars().map(|c| (c.to_string(), values[c.to_string()].clone())).collect();
            assert_eq!(schema.validate(&value.into(), "p"), Ok(()), "{order}");
        }
    }

    type Map = serde_json::Map<String, serde_json::Value>;
}
