//! The `uniqueItems` keyword: detects duplicate items of a list.
//!
//! The order of properties does not matter. Unlike in `enum`, `1`, `1.0` and `"1"` are distinct.

use std::{
    borrow::Borrow,
    hash::{BuildHasher, RandomState},
    sync::OnceLock,
};

use serde_json::Value;
use svc_php::{
    list::integer_key,
    numeric::{Num, from_json},
};

use crate::values::MAX_VALUE_DEPTH;

/// Up to this number of items are compared pairwise.
const MAX_PAIRWISE: usize = 16;

/// Whether two of the items are equal.
pub(crate) fn has_duplicates<V: Borrow<Value>>(items: &[V]) -> bool {
    if items.len() <= MAX_PAIRWISE {
        if let Some(numbers) = integers(items) {
            return numbers[..items.len()].iter().enumerate().any(|(index, n)| numbers[..index].contains(n));
        }
        let is_duplicate =
            |(index, item): (usize, &V)| items[..index].iter().any(|other| equal(item.borrow(), other.borrow()));
        return items.iter().enumerate().any(is_duplicate);
    }
    // Hash with random keys, so that clients cannot construct collisions; then compare items with equal hashes.
    let mixer = Mixer::new();
    let mut hashed: Vec<(u64, &Value)> = items.iter().map(|item| (mixer.hash(item.borrow()), item.borrow())).collect();
    hashed.sort_unstable_by_key(|(hash, _)| *hash);
    hashed.chunk_by(|(a, _), (b, _)| a == b).any(|group| {
        group.iter().enumerate().any(|(index, (_, item))| group[..index].iter().any(|(_, other)| equal(item, other)))
    })
}

/// The items, if all are integers, as in lists of ids. The rest of the array is padding.
fn integers<V: Borrow<Value>>(items: &[V]) -> Option<[i64; MAX_PAIRWISE]> {
    let mut numbers = [0; MAX_PAIRWISE];
    for (slot, item) in numbers.iter_mut().zip(items) {
        *slot = item.borrow().as_i64()?;
    }
    Some(numbers)
}

fn equal(a: &Value, b: &Value) -> bool {
    equal_to_depth(a, b, MAX_VALUE_DEPTH)
}

fn equal_to_depth(a: &Value, b: &Value, depth_left: usize) -> bool {
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
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(v, w)| equal_to_depth(v, w, below))
        }
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(key, v)| y.get(key).is_some_and(|w| equal_to_depth(v, w, below)))
        }
        // In PHP, a map with the keys 0, 1, 2 … is a list.
        (Value::Object(map), Value::Array(list)) | (Value::Array(list), Value::Object(map)) => {
            let item = |index: usize| map.get(&index.to_string());
            map.len() == list.len()
                && list.iter().enumerate().all(|(index, v)| item(index).is_some_and(|w| equal_to_depth(v, w, below)))
        }
        _ => a == b,
    }
}

/// Hashes words with random keys, using the folded 128-bit product of fast hash tables.
struct Mixer {
    start: u64,
    factor: u64,
}

impl Mixer {
    fn new() -> Self {
        static KEYS: OnceLock<RandomState> = OnceLock::new();
        let keys = KEYS.get_or_init(RandomState::new);
        Mixer { start: keys.hash_one(0_u8), factor: keys.hash_one(1_u8) | 1 }
    }

    fn word(&self, hash: u64, word: u64) -> u64 {
        let product = u128::from(hash ^ word) * u128::from(self.factor);
        ((product >> 64) as u64 ^ product as u64).wrapping_add(self.start)
    }

    fn text(&self, hash: u64, text: &str) -> u64 {
        let (words, rest) = text.as_bytes().as_chunks::<8>();
        let hash = words.iter().fold(hash, |hash, word| self.word(hash, u64::from_le_bytes(*word)));
        let last = rest.iter().fold(rest.len() as u64, |last, byte| last << 8 | u64::from(*byte));
        self.word(hash, last)
    }

    fn hash(&self, value: &Value) -> u64 {
        self.hash_to_depth(value, MAX_VALUE_DEPTH)
    }

    /// Equal for equal values: entries are added up, so their order does not matter, and an index counts as a key.
    fn hash_to_depth(&self, value: &Value, depth_left: usize) -> u64 {
        let tagged = |tag: u64, word: u64| self.word(self.word(self.start, tag), word);
        if depth_left == 0 {
            return self.start;
        }
        let index = |index: i64| self.word(self.start, index as u64);
        let entry = |key: u64, item: &Value| self.word(key, self.hash_to_depth(item, depth_left - 1));
        match value {
            Value::Null => tagged(0, 0),
            Value::Bool(b) => tagged(1, u64::from(*b)),
            Value::Number(n) => match from_json(n) {
                Num::Int(n) => tagged(2, n as u64),
                Num::Float(f) => tagged(3, f.to_bits()),
            },
            Value::String(text) => self.text(tagged(4, 0), text),
            Value::Array(items) => {
                let entries = (0..).zip(items).map(|(at, item)| entry(index(at), item));
                tagged(5, entries.fold(0, u64::wrapping_add))
            }
            Value::Object(map) => {
                let key = |name: &str| integer_key(name).map_or_else(|| self.text(!self.start, name), index);
                let entries = map.iter().map(|(name, item)| entry(key(name), item));
                tagged(5, entries.fold(0, u64::wrapping_add))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn integer_lists() {
        let rows = [
            (json!([]), false),
            (json!([0]), false),
            (json!([3, 1, 2]), false),
            (json!([7, 1, 7]), true),
            (json!([i64::MAX, u64::MAX, i64::MIN]), false),
        ];
        for (items, expected) in rows {
            let items = items.as_array().unwrap();
            assert_eq!(has_duplicates(items), expected, "{items:?}");
            let many: Vec<Value> = items.iter().cloned().chain((100..200).map(Value::from)).collect();
            assert_eq!(has_duplicates(&many), expected, "{items:?}");
        }
    }

    #[test]
    fn pairwise_and_hashed_comparison_agree() {
        let rows = [
            (json!([1, 1.0, "1", true, null]), false),
            (json!([{"a": 1, "b": [2]}, {"b": [2], "a": 1}]), true),
            (json!([{"1": "b", "0": "a"}, ["a", "b"]]), true),
            (json!([{}, []]), true),
            (json!([[1, 2], [2, 1]]), false),
            (json!([["a", "b"], {"a": 0, "b": 1}]), false),
            (json!([0.0, -0.0]), false),
            (json!([1.5, 1.5]), true),
            (json!([[0.0], [-0.0]]), false),
            (json!([[{}], [[]]]), true),
            (json!([{"a": {}}, {"a": []}]), true),
            (json!([{"a": 1}, {"a": 1, "b": 2}]), false),
            (json!(["ab", "bb"]), false),
            (json!(["12345678a", "12345678b"]), false),
        ];
        for (items, expected) in rows {
            let items = items.as_array().unwrap();
            assert_eq!(has_duplicates(items), expected, "{items:?}");
            let filler: Vec<Value> = (100..200).map(Value::from).collect();
            let many: Vec<&Value> = items.iter().chain(&filler).collect();
            assert_eq!(has_duplicates(&many), expected, "{items:?}");
            let mixer = Mixer::new();
            let all_equal = items.iter().all(|item| mixer.hash(item) == mixer.hash(&items[0]));
            assert_eq!(all_equal, expected, "{items:?}");
        }
    }

    #[test]
    fn values_nested_too_deeply_are_distinct() {
        fn map(key: &str, inner: Value) -> Value {
            Value::Object([(key.to_owned(), inner)].into_iter().collect())
        }
        let nestings: [fn(Value) -> Value; 3] =
            [|inner| Value::Array(vec![inner]), |inner| map("a", inner), |inner| map("0", inner)];
        for nest in nestings {
            let deep = |depth: usize, value: i64| (0..depth).fold(json!(value), |inner, _| nest(inner));
            let has_twins = |depth: usize| has_duplicates(&[deep(depth, 1), deep(depth, 1)]);
            assert_eq!((has_twins(MAX_VALUE_DEPTH - 1), has_twins(MAX_VALUE_DEPTH)), (true, false));
            let mixer = Mixer::new();
            let have_equal_hashes = |depth: usize| mixer.hash(&deep(depth, 1)) == mixer.hash(&deep(depth, 2));
            assert_eq!((have_equal_hashes(MAX_VALUE_DEPTH - 1), have_equal_hashes(MAX_VALUE_DEPTH)), (false, true));
        }
    }
}
