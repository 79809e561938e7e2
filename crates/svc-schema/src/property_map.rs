//! Schemas by member name.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::compile::Node;

/// Up to this many names, comparing with each is quicker than hashing: nearly all differ in length.
const FEW: usize = 32;

/// The members of an object schema, by name.
#[derive(Debug, Default)]
pub(crate) struct PropertyMap {
    names: Box<[Box<str>]>,
    nodes: Box<[Node]>,
    /// Where a name stands, when there are many.
    places: HashMap<Box<str>, usize>,
}

impl PropertyMap {
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        let place = if self.names.len() <= FEW {
            self.names.iter().position(|key| **key == *name)
        } else {
            self.places.get(name).copied()
        };
        self.nodes.get(place?)
    }

    /// [`Self::get`] for names that come nearly in the order of the schema, as clients send them: `next` is where the
    /// search begins, and is moved behind what was found.
    pub(crate) fn get_next(&self, name: &str, next: &mut usize) -> Option<&Node> {
        if self.names.len() > FEW {
            return self.get(name);
        }
        let (before, from) = self.names.split_at((*next).min(self.names.len()));
        let found = |keys: &[Box<str>]| keys.iter().position(|key| **key == *name);
        let place = found(from).map(|place| before.len() + place).or_else(|| found(before))?;
        *next = place + 1;
        self.nodes.get(place)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }
}

impl FromIterator<(Box<str>, Node)> for PropertyMap {
    fn from_iter<I: IntoIterator<Item = (Box<str>, Node)>>(members: I) -> Self {
        let (names, nodes): (Vec<Box<str>>, Vec<Node>) = members.into_iter().unzip();
        let places = if names.len() > FEW { names.iter().cloned().zip(0..).collect() } else { HashMap::new() };
        PropertyMap { names: names.into(), nodes: nodes.into(), places }
    }
}

/// Whether a map has a member.
pub(crate) fn has_member(map: &Map<String, Value>, name: &str) -> bool {
    if map.len() <= FEW { map.keys().any(|key| key == name) } else { map.contains_key(name) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::Schema;

    #[test]
    fn few_and_many_names_are_found() {
        for n in [1, 31, 32, 33, 200] {
            let members: Map = (0..n).map(|i| (format!("name-{i}"), json!({ "type": "integer" }))).collect();
            let schema =
                Schema::compile(json!({ "type": "object", "properties": members, "additionalProperties": false }));
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
