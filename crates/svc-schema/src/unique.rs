//! The keyword `uniqueItems`: whether two items of a list are the same.
//!
//! The order of members does not matter; `1`, `1.0` and `"1"` are three values here, unlike in `enum`.

use std::hash::{BuildHasher, Hasher, RandomState};

use serde_json::Value;
use svc_php::{
    list::integer_key,
    numeric::{Num, from_json},
};

use crate::values::MAX_VALUE_DEPTH;

/// Up to this many items are compared each with each.
const FEW: usize = 16;

/// Whether two of the items are the same.
pub(crate) fn has_duplicates<'v>(items: impl IntoIterator<Item = &'v Value>) -> bool {
    let items: Vec<&Value> = items.into_iter().collect();
    if items.len() <= FEW {
        let is_seen = |(index, item): (usize, &&Value)| items[..index].iter().any(|other| same(item, other));
        return items.iter().enumerate().any(is_seen);
    }
    // Hashes under a random key, so that nobody can make many items share one; then only those that do are compared.
    let state = RandomState::new();
    let mut hashed: Vec<(u64, &Value)> = items.into_iter().map(|item| (hash(&state, item), item)).collect();
    hashed.sort_unstable_by_key(|(hash, _)| *hash);
    hashed.chunk_by(|(a, _), (b, _)| a == b).any(|group| {
        group.iter().enumerate().any(|(index, (_, item))| group[..index].iter().any(|(_, other)| same(item, other)))
    })
}

fn same(a: &Value, b: &Value) -> bool {
    same_to(a, b, MAX_VALUE_DEPTH)
}

fn same_to(a: &Value, b: &Value, depth_left: usize) -> bool {
    if depth_left == 0 {
        return false;
    }
    let below = depth_left - 1;
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => match (from_json(x), from_json(y)) {
            (Num::Int(x), Num::Int(y)) => x == y,
            (Num::Float(x), Num::Float(y)) => x.to_bits() == y.to_bits(),
            _ => false,
        },
        (Value::Array(x), Value::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(v, w)| same_to(v, w, below)),
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(key, v)| y.get(key).is_some_and(|w| same_to(v, w, below)))
        }
        // To PHP, a map with the keys 0, 1, 2 … is that list.
        (Value::Object(map), Value::Array(list)) | (Value::Array(list), Value::Object(map)) => {
            let item = |index: usize| map.get(&index.to_string());
            map.len() == list.len()
                && list.iter().enumerate().all(|(index, v)| item(index).is_some_and(|w| same_to(v, w, below)))
        }
        _ => a == b,
    }
}

fn hash(state: &RandomState, value: &Value) -> u64 {
    hash_to(state, value, MAX_VALUE_DEPTH)
}

/// Equal for equal values: members are added up, whatever their order, and an index counts as a key.
fn hash_to(state: &RandomState, value: &Value, depth_left: usize) -> u64 {
    let mut hasher = state.build_hasher();
    if depth_left == 0 {
        return hasher.finish();
    }
    let member = |key: Key<'_>, item: &Value| {
        let mut hasher = state.build_hasher();
        match key {
            Key::Index(index) => hasher.write_i64(index),
            Key::Name(name) => hasher.write(name.as_bytes()),
        }
        hasher.write_u64(hash_to(state, item, depth_left - 1));
        hasher.finish()
    };
    match value {
        Value::Null => hasher.write_u8(0),
        Value::Bool(b) => hasher.write_u8(1 + u8::from(*b)),
        Value::Number(n) => match from_json(n) {
            Num::Int(n) => hasher.write_i64(n),
            Num::Float(f) => {
                hasher.write_u8(3);
                hasher.write_u64(f.to_bits());
            }
        },
        Value::String(text) => hasher.write(text.as_bytes()),
        Value::Array(items) => {
            let keyed = (0..).zip(items).map(|(index, item)| member(Key::Index(index), item));
            hasher.write_u64(keyed.fold(4, u64::wrapping_add));
        }
        Value::Object(map) => {
            let key_of = |name| integer_key(name).map_or(Key::Name(name), Key::Index);
            let keyed = map.iter().map(|(name, item)| member(key_of(name), item));
            hasher.write_u64(keyed.fold(4, u64::wrapping_add));
        }
    }
    hasher.finish()
}

enum Key<'k> {
    Index(i64),
    Name(&'k str),
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn few_and_many_agree() {
        let rows = [
            (json!([1, 1.0, "1", true, null]), false),
            (json!([{"a": 1, "b": [2]}, {"b": [2], "a": 1}]), true),
            (json!([{"1": "b", "0": "a"}, ["a", "b"]]), true),
            (json!([{}, []]), true),
            (json!([[1, 2], [2, 1]]), false),
            (json!([["a", "b"], {"a": 0, "b": 1}]), false),
            (json!([0.0, -0.0]), false),
        ];
        for (items, expected) in rows {
            let items = items.as_array().unwrap();
            assert_eq!(has_duplicates(items), expected, "{items:?}");
            let filler: Vec<Value> = (100..200).map(Value::from).collect();
            assert_eq!(has_duplicates(items.iter().chain(&filler)), expected, "{items:?}");
            let state = RandomState::new();
            let all_equal = items.iter().all(|item| hash(&state, item) == hash(&state, &items[0]));
            assert_eq!(all_equal, expected, "{items:?}");
        }
    }
}
