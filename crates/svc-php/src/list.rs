//! PHP's one array type seen through JSON: which maps are lists, and texts that are lists.
//!
//! Source: `wp_parse_list`, `wp_parse_id_list`, `wp_is_numeric_array`, and PHP's rule for integer keys.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::cast::{is_scalar, to_int, to_text};

/// The integer that a map key is to PHP: decimal digits without leading zeros, of 64 bits.
///
/// `"0"`, `"17"` and `"-3"` are integers; `"01"`, `"-0"`, `"1.5"` and `""` are texts.
pub fn integer_key(key: &str) -> Option<i64> {
    let digits = key.strip_prefix('-').unwrap_or(key);
    let canonical = match digits.as_bytes() {
        [b'0'] => digits.len() == key.len(),
        [b'1'..=b'9', ..] => true,
        _ => false,
    };
    if canonical { key.parse().ok() } else { None }
}

/// Whether a value is an array all of whose keys are integers: lists, and maps with such keys only.
pub fn is_list_like(value: &Value) -> bool {
    match value {
        Value::Array(_) => true,
        Value::Object(map) => map.keys().all(|k| integer_key(k).is_some()),
        _ => false,
    }
}

/// White space between the items of a text that is a list: what `\s` matches in bytes.
fn is_separator(c: char) -> bool {
    matches!(c, ',' | ' ' | '\t' | '\n' | '\r' | '\u{0B}' | '\u{0C}')
}

/// The items of a text separated by commas or white space; none are empty.
pub fn split_list(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_separator).filter(|item| !item.is_empty())
}

/// A value as a list: lists and maps keep their scalar items, other values are cast to text and split.
pub fn parse_list(value: &Value) -> Vec<Cow<'_, Value>> {
    match value {
        Value::Array(items) => items.iter().filter(|v| is_scalar(v)).map(Cow::Borrowed).collect(),
        Value::Object(map) => map.values().filter(|v| is_scalar(v)).map(Cow::Borrowed).collect(),
        other => split_list(&to_text(other)).map(|item| Cow::Owned(Value::from(item))).collect(),
    }
}

/// A value as a list of texts, by the same rules.
pub fn parse_text_list(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => split_list(text).map(str::to_owned).collect(),
        other => parse_list(other).iter().map(|item| to_text(item).into_owned()).collect(),
    }
}

/// `absint`: the integer without its sign.
pub fn absint(value: &Value) -> u64 {
    to_int(value).unsigned_abs()
}

/// The ids of a list: each item's absolute integer, the first of equal ones kept.
pub fn parse_id_list(value: &Value) -> Vec<u64> {
    unique_ids(value).into_iter().map(|(_, id)| id).collect()
}

/// The ids of a list in the shape in which PHP prints them: dropping a duplicate leaves a gap in the keys, and a list with
/// a gap prints as a map. A map keeps its keys.
pub fn parse_id_list_value(value: &Value) -> Value {
    let keys: Option<Vec<&String>> =
        value.as_object().map(|map| map.iter().filter(|(_, v)| is_scalar(v)).map(|(key, _)| key).collect());
    let key_of = |index: usize| match &keys {
        Some(keys) => keys.get(index).map_or_else(String::new, |key| (*key).clone()),
        None => index.to_string(),
    };
    list_shape(unique_ids(value).into_iter().map(|(index, id)| (key_of(index), Value::from(id))).collect())
}

fn unique_ids(value: &Value) -> Vec<(usize, u64)> {
    let mut seen = std::collections::HashSet::new();
    let ids = parse_list(value).into_iter().map(|item| absint(&item)).enumerate();
    ids.filter(|(_, id)| seen.insert(*id)).collect()
}

/// Prints a map whose keys run 0, 1, 2 … as a list, and the empty map as an empty list, as PHP does with arrays. Only the
/// value itself changes, not what it holds.
pub fn list_shape(value: Value) -> Value {
    match value {
        Value::Object(map) if runs_from_zero(&map) => Value::Array(map.into_iter().map(|(_, v)| v).collect()),
        other => other,
    }
}

/// [`list_shape`] of a value and of everything in it: a value as PHP prints it once it has kept it in arrays.
pub fn list_shapes(value: Value) -> Value {
    match value {
        Value::Object(map) => list_shape(map.into_iter().map(|(name, item)| (name, list_shapes(item))).collect()),
        Value::Array(items) => items.into_iter().map(list_shapes).collect(),
        other => other,
    }
}

fn runs_from_zero(map: &Map<String, Value>) -> bool {
    map.keys().enumerate().all(|(index, key)| integer_key(key) == i64::try_from(index).ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn integer_keys() {
        for key in ["0", "17", "-3", "9223372036854775807", "-9223372036854775808"] {
            assert!(integer_key(key).is_some(), "{key}");
        }
        for key in ["", "-", "01", "-0", "1.5", "+1", " 1", "9223372036854775808", "a"] {
            assert!(integer_key(key).is_none(), "{key}");
        }
    }

    #[test]
    fn lists() {
        let rows = [
            (json!("a, b,,c\td"), json!(["a", "b", "c", "d"])),
            (json!(""), json!([])),
            (json!(true), json!(["1"])),
            (json!(0.3), json!(["0.3"])),
            (json!(null), json!([])),
            (json!(["a,b", 1, null, [1], "c"]), json!(["a,b", 1, "c"])),
            (json!({"x": 1, "y": {}}), json!([1])),
            (json!("a\u{a0}b"), json!(["a\u{a0}b"])),
        ];
        for (value, expected) in rows {
            let list: Vec<Value> = parse_list(&value).into_iter().map(Cow::into_owned).collect();
            assert_eq!(Value::Array(list), expected, "{value}");
        }
    }

    #[test]
    fn ids() {
        assert_eq!(parse_id_list(&json!("3,-3, 7x,abc")), [3, 7, 0]);
        assert_eq!(parse_id_list_value(&json!("1,1,2")), json!({"0": 1, "2": 2}));
        assert_eq!(parse_id_list_value(&json!([5, "6"])), json!([5, 6]));
        assert_eq!(parse_id_list_value(&json!({"a": null, "b": "0", "c": 0, "d": 4})), json!({"b": 0, "d": 4}));
        assert_eq!(absint(&json!(i64::MIN)), 9_223_372_036_854_775_808);
    }

    #[test]
    fn shapes() {
        assert_eq!(list_shape(json!({"0": "a", "1": "b"})), json!(["a", "b"]));
        assert_eq!(list_shape(json!({"1": "a", "0": "b"})), json!({"1": "a", "0": "b"}));
        assert_eq!(list_shape(json!({})), json!([]));
    }
}
