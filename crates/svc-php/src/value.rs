//! PHP values as a tree, and their conversion from and to JSON values.
//!
//! Casts and comparisons are in the modules [`cast`](crate::cast) and [`compare`](crate::compare).

use indexmap::IndexMap;
use serde_json::{Map, Number, Value};

/// A PHP value.
///
/// Strings are bytes, as in PHP: they need not be UTF-8.
#[derive(Debug, Clone, PartialEq)]
pub enum Php {
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A float, including infinities and NaN.
    Float(f64),
    /// A string.
    Bytes(Vec<u8>),
    /// An ordered map. PHP's lists are maps, too.
    Array(Array),
    /// An object, not instantiated: its class name and its properties in order.
    Object(Box<Object>),
    /// Serialized text that is preserved byte for byte: a reference (`r:`, `R:`), a custom payload (`C:`) or an enum
    /// case (`E:`). References count the values of the whole tree, so they are valid while its shape is unchanged.
    Opaque(Vec<u8>),
}

/// An array key: integer strings such as `"17"` or `"-3"` are integers, all others are strings.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ArrayKey {
    /// An integer key.
    Int(i64),
    /// A string key.
    Bytes(Vec<u8>),
}

/// An object as stored, without knowledge of its class.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// The class name.
    pub class: Vec<u8>,
    /// Properties in order. As in PHP, the names of protected and private ones start with a NUL byte.
    pub properties: Vec<(ArrayKey, Php)>,
}

/// PHP's single array type: ordered, with integer and string keys.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Array {
    entries: IndexMap<ArrayKey, Php>,
    next: Option<i64>,
}

impl Array {
    /// An empty array.
    pub fn new() -> Self {
        Array::default()
    }

    /// Sets an entry. An existing key keeps its position.
    pub fn insert(&mut self, key: ArrayKey, value: Php) {
        self.update_next(&key);
        self.entries.insert(key, value);
    }

    /// Appends a value under the next integer key, one above the highest used so far. Returns `false` if there is no
    /// such key.
    pub fn push(&mut self, value: Php) -> bool {
        self.push_slot(value).is_some()
    }

    /// [`Array::push`] that returns the new entry.
    pub(crate) fn push_slot(&mut self, value: Php) -> Option<&mut Php> {
        let key = ArrayKey::Int(self.next.unwrap_or_default());
        // PHP rejects appending after the highest integer.
        if self.next == Some(i64::MAX) && self.entries.contains_key(&key) {
            return None;
        }
        self.update_next(&key);
        Some(self.slot(key, || value))
    }

    /// The entry of this key; inserts `make()` if there is none.
    pub(crate) fn slot(&mut self, key: ArrayKey, make: impl FnOnce() -> Php) -> &mut Php {
        self.update_next(&key);
        self.entries.entry(key).or_insert_with(make)
    }

    fn update_next(&mut self, key: &ArrayKey) {
        if let ArrayKey::Int(n) = key
            && self.next.is_none_or(|next| *n >= next)
        {
            self.next = Some(n.saturating_add(1));
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &ArrayKey) -> Option<&Php> {
        self.entries.get(key)
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Entries in order.
    pub fn iter(&self) -> impl Iterator<Item = (&ArrayKey, &Php)> {
        self.entries.iter()
    }

    /// Whether the keys are 0, 1, 2 … in order, so that JSON encodes a list. True for the empty array.
    pub fn is_list(&self) -> bool {
        self.entries.keys().zip(0..).all(|(key, n)| *key == ArrayKey::Int(n))
    }
}

impl FromIterator<(ArrayKey, Php)> for Array {
    fn from_iter<T: IntoIterator<Item = (ArrayKey, Php)>>(entries: T) -> Self {
        let mut array = Array::new();
        entries.into_iter().for_each(|(key, value)| array.insert(key, value));
        array
    }
}

impl FromIterator<Php> for Array {
    fn from_iter<T: IntoIterator<Item = Php>>(items: T) -> Self {
        let mut array = Array::new();
        items.into_iter().for_each(|item| _ = array.push(item));
        array
    }
}

impl IntoIterator for Array {
    type Item = (ArrayKey, Php);
    type IntoIter = indexmap::map::IntoIter<ArrayKey, Php>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl ArrayKey {
    /// The key for a string, by PHP's rule for array keys.
    pub fn from_bytes(text: &[u8]) -> Self {
        integer_key(text).map_or_else(|| ArrayKey::Bytes(text.to_vec()), ArrayKey::Int)
    }

    /// The key as text.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            ArrayKey::Int(n) => n.to_string().into_bytes(),
            ArrayKey::Bytes(text) => text.clone(),
        }
    }
}

impl From<&str> for ArrayKey {
    fn from(text: &str) -> Self {
        ArrayKey::from_bytes(text.as_bytes())
    }
}

/// The integer in canonical form: no sign except `-`, no leading zeros, not `-0`, within 64 bits.
fn integer_key(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let canonical = match digits {
        [b'0'] => text.len() == 1,
        [b'1'..=b'9', rest @ ..] => rest.len() < 19 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if canonical { std::str::from_utf8(text).ok()?.parse().ok() } else { None }
}

impl From<&str> for Php {
    fn from(text: &str) -> Self {
        Php::Bytes(text.as_bytes().to_vec())
    }
}

/// JSON objects and arrays both become arrays; integers beyond 64 bits become floats.
impl From<Value> for Php {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Php::Null,
            Value::Bool(b) => Php::Bool(b),
            Value::Number(n) => match n.as_i64() {
                Some(int) => Php::Int(int),
                None => Php::Float(n.as_f64().unwrap_or_default()),
            },
            Value::String(text) => Php::Bytes(text.into_bytes()),
            Value::Array(items) => Php::Array(items.into_iter().map(Php::from).collect()),
            Value::Object(properties) => {
                Php::Array(properties.into_iter().map(|(k, v)| (ArrayKey::from(k.as_str()), Php::from(v))).collect())
            }
        }
    }
}

/// The value as PHP's JSON encoder writes it: an array whose keys are 0, 1, 2 … (or that is empty) is a JSON array,
/// any other is a JSON object. An object has its public properties, and its class as `__PHP_Incomplete_Class_Name`
/// unless that is `stdClass`.
///
/// Values without a JSON form: invalid UTF-8 becomes `?`, infinities the largest finite floats, NaN and opaque values
/// null.
impl From<Php> for Value {
    fn from(value: Php) -> Self {
        match value {
            Php::Null | Php::Opaque(_) => Value::Null,
            Php::Bool(b) => Value::Bool(b),
            Php::Int(n) => Value::from(n),
            Php::Float(f) => float_value(f),
            Php::Bytes(text) => Value::String(decode_utf8_lossy(text)),
            Php::Array(array) if array.is_list() => Value::Array(array.into_iter().map(|(_, v)| v.into()).collect()),
            Php::Array(array) => Value::Object(json_properties(array)),
            Php::Object(object) => Value::Object(public_properties(*object)),
        }
    }
}

fn json_properties(entries: impl IntoIterator<Item = (ArrayKey, Php)>) -> Map<String, Value> {
    entries.into_iter().map(|(k, v)| (decode_utf8_lossy(k.to_bytes()), v.into())).collect()
}

fn public_properties(object: Object) -> Map<String, Value> {
    let mut out = Map::new();
    if !object.class.eq_ignore_ascii_case(b"stdClass") {
        out.insert("__PHP_Incomplete_Class_Name".to_owned(), Value::String(decode_utf8_lossy(object.class)));
    }
    let hidden = |key: &ArrayKey| matches!(key, ArrayKey::Bytes(name) if name.first() == Some(&0));
    out.extend(json_properties(object.properties.into_iter().filter(|(key, _)| !hidden(key))));
    out
}

/// A float as a JSON number: infinities saturate, NaN is null.
pub(crate) fn float_value(f: f64) -> Value {
    Number::from_f64(f.clamp(f64::MIN, f64::MAX)).map_or(Value::Null, Value::Number)
}

/// Decodes UTF-8, with a question mark for each invalid sequence. Source: `wp_json_encode`.
fn decode_utf8_lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let mut out = String::new();
        for chunk in error.as_bytes().utf8_chunks() {
            out.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                out.push('?');
            }
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_follow_the_integer_rule() {
        for (text, integer) in [
            ("0", Some(0)),
            ("17", Some(17)),
            ("-3", Some(-3)),
            ("9223372036854775807", Some(i64::MAX)),
            ("9223372036854775808", None),
            ("99999999999999999999999", None),
            ("-0", None),
            ("01", None),
            ("+1", None),
            ("1.5", None),
            (" 1", None),
            ("-", None),
            ("", None),
        ] {
            let expected = integer.map_or_else(|| ArrayKey::Bytes(text.as_bytes().to_vec()), ArrayKey::Int);
            assert_eq!(ArrayKey::from(text), expected, "{text}");
        }
    }

    #[test]
    fn json_shape_follows_the_keys() {
        for (input, output) in [
            (json!({}), json!([])),
            (json!([]), json!([])),
            (json!({"0": "a", "1": "b"}), json!(["a", "b"])),
            (json!({"1": "a", "0": "b"}), json!({"1": "a", "0": "b"})),
            (json!({"01": 1}), json!({"01": 1})),
            (
                json!([1, 2.5, null, true, "x", 18446744073709551615u64]),
                json!([1, 2.5, null, true, "x", 1.8446744073709552e19]),
            ),
        ] {
            assert_eq!(Value::from(Php::from(input)), output);
        }
    }

    #[test]
    fn values_without_a_json_form() {
        for (value, output) in [
            (Php::Bytes(b"a\xE9b".to_vec()), json!("a?b")),
            (Php::Bytes(b"caf\xC3".to_vec()), json!("caf?")),
            (Php::Bytes(b"\xED\xA0\x80z".to_vec()), json!("???z")),
            (Php::Float(f64::INFINITY), json!(f64::MAX)),
            (Php::Float(f64::NAN), json!(null)),
            (Php::Opaque(b"R:1;".to_vec()), json!(null)),
        ] {
            assert_eq!(Value::from(value), output);
        }
    }

    #[test]
    fn append_counts_from_the_highest_key() {
        let mut array = Array::new();
        array.insert(ArrayKey::Int(-5), Php::Null);
        assert!(array.push(Php::Null));
        array.insert(ArrayKey::Int(7), Php::Null);
        assert!(array.push(Php::Null));
        let keys: Vec<&ArrayKey> = array.iter().map(|(k, _)| k).collect();
        assert_eq!(keys, [&ArrayKey::Int(-5), &ArrayKey::Int(-4), &ArrayKey::Int(7), &ArrayKey::Int(8)]);
        array.insert(ArrayKey::Int(i64::MAX), Php::Null);
        assert!(!array.push(Php::Null), "no key is left");
    }
}
