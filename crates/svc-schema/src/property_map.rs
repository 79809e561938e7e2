//! Schemas by member name, for lookups with names that strangers chose.

use std::hash::{BuildHasherDefault, Hasher};

use indexmap::IndexMap;

use crate::compile::Node;

/// Up to this many, looking at each is quicker than hashing.
const FEW: usize = 8;

/// The members of an object schema, by name.
#[derive(Debug, Default)]
pub(crate) struct PropertyMap(IndexMap<Box<str>, Node, BuildHasherDefault<Fold>>);

impl PropertyMap {
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        if self.0.len() <= FEW {
            return self.0.iter().find(|(key, _)| ***key == *name).map(|(_, node)| node);
        }
        self.0.get(name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(|name| &**name)
    }
}

impl FromIterator<(Box<str>, Node)> for PropertyMap {
    fn from_iter<I: IntoIterator<Item = (Box<str>, Node)>>(members: I) -> Self {
        PropertyMap(members.into_iter().collect())
    }
}

/// Whether a map has a member.
pub(crate) fn has_member(map: &serde_json::Map<String, serde_json::Value>, name: &str) -> bool {
    if map.len() <= FEW { map.keys().any(|key| key == name) } else { map.contains_key(name) }
}

/// A quick hash without a key. Only names of schemas are ever stored under it, and they come from code, so that nobody can
/// fill a table with names that collide.
#[derive(Default)]
pub(crate) struct Fold(u64);

impl Fold {
    fn fold(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for Fold {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.fold(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.fold(u64::from(byte));
    }

    fn finish(&self) -> u64 {
        // The table looks at the high bits and at the low ones.
        self.0 ^ (self.0 >> 32)
    }
}
