//! PHP's single array type and JSON: which objects are lists in PHP, and strings that hold lists.
//!
//! Source: `wp_parse_list`, `wp_parse_id_list`, `wp_is_numeric_array`, and PHP's rule for integer keys.

use std::{borrow::Cow, fmt};

use serde_json::{Map, Value};

use crate::cast::{is_scalar, to_int, to_text};

/// The integer to which PHP converts an array key: decimal digits without leading zeros, within 64 bits.
///
/// `"0"`, `"17"` and `"-3"` are integers; `"01"`, `"-0"`, `"1.5"` and `""` stay strings.
pub fn integer_key(key: &str) -> Option<i64> {
    let digits = key.strip_prefix('-').unwrap_or(key);
    let canonical = match digits.as_bytes() {
        [b'0'] => digits.len() == key.len(),
        [b'1'..=b'9', ..] => true,
        _ => false,
    };
    if canonical { key.parse().ok() } else { None }
}

/// Whether PHP would see an array with integer keys only: any JSON array, or an object whose keys are all integers.
pub fn is_list_like(value: &Value) -> bool {
    match value {
        Value::Array(_) => true,
        Value::Object(map) => map.keys().all(|k| integer_key(k).is_some()),
        _ => false,
    }
}

/// Separators of list items: commas and the ASCII white space of `\s`.
fn is_separator(c: char) -> bool {
    matches!(c, ',' | ' ' | '\t' | '\n' | '\r' | '\u{0B}' | '\u{0C}')
}

/// Maximum number of items of a list in a string. The limits on the values of a JSON body do not count such items, and
/// an item takes up to fifty times the two bytes that it takes in the string.
pub const MAX_TEXT_ITEMS: usize = 100_000;

/// Error for a list in a string with more than [`MAX_TEXT_ITEMS`] items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyItems;

impl fmt::Display for TooManyItems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list in a string has more than {MAX_TEXT_ITEMS} items")
    }
}

impl std::error::Error for TooManyItems {}

fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_separator).filter(|item| !item.is_empty())
}

/// The number of items of a list in a string, at most one more than [`MAX_TEXT_ITEMS`]. Allocates nothing.
pub fn count_text_items(text: &str) -> usize {
    items(text).take(MAX_TEXT_ITEMS + 1).count()
}

/// Splits a string at commas and white space. Empty items are skipped.
///
/// # Errors
/// [`TooManyItems`], found before anything is allocated.
pub fn split_list(text: &str) -> Result<impl Iterator<Item = &str>, TooManyItems> {
    // An item and its separator take at least two bytes, so short texts need not be counted.
    let may_exceed = text.len() / 2 >= MAX_TEXT_ITEMS;
    if may_exceed && count_text_items(text) > MAX_TEXT_ITEMS { Err(TooManyItems) } else { Ok(items(text)) }
}

/// A value as a list: the scalar items of an array or object; any other value is cast to a string and split.
///
/// # Errors
/// Those of [`split_list`].
pub fn parse_list(value: &Value) -> Result<Vec<Cow<'_, Value>>, TooManyItems> {
    Ok(match value {
        Value::Array(items) => items.iter().filter(|v| is_scalar(v)).map(Cow::Borrowed).collect(),
        Value::Object(map) => map.values().filter(|v| is_scalar(v)).map(Cow::Borrowed).collect(),
        other => split_list(&to_text(other))?.map(|item| Cow::Owned(Value::from(item))).collect(),
    })
}

/// [`parse_list`] with each item cast to a string.
///
/// # Errors
/// Those of [`split_list`].
pub fn parse_text_list(value: &Value) -> Result<Vec<String>, TooManyItems> {
    Ok(match value {
        Value::String(text) => split_list(text)?.map(str::to_owned).collect(),
        other => parse_list(other)?.iter().map(|item| to_text(item).into_owned()).collect(),
    })
}

/// `absint`: the absolute value of the integer.
pub fn absint(value: &Value) -> u64 {
    to_int(value).unsigned_abs()
}

/// A value as a list of ids: the absolute integer of each item, without duplicates.
///
/// # Errors
/// Those of [`split_list`].
pub fn parse_id_list(value: &Value) -> Result<Vec<u64>, TooManyItems> {
    Ok(unique_ids(value)?.into_iter().map(|(_, id)| id).collect())
}

/// The list of ids as PHP encodes it: removing a duplicate leaves a gap in the keys, and PHP encodes an array with a
/// gap as an object. An object keeps its keys.
///
/// # Errors
/// Those of [`split_list`].
pub fn parse_id_list_value(value: &Value) -> Result<Value, TooManyItems> {
    let keys: Option<Vec<&String>> =
        value.as_object().map(|map| map.iter().filter(|(_, v)| is_scalar(v)).map(|(key, _)| key).collect());
    let key_of = |index: usize| match &keys {
        Some(keys) => keys.get(index).map_or_else(String::new, |key| (*key).clone()),
        None => index.to_string(),
    };
    Ok(list_shape(unique_ids(value)?.into_iter().map(|(index, id)| (key_of(index), Value::from(id))).collect()))
}

fn unique_ids(value: &Value) -> Result<Vec<(usize, u64)>, TooManyItems> {
    let mut seen = std::collections::HashSet::new();
    let ids = parse_list(value)?.into_iter().map(|item| absint(&item)).enumerate();
    Ok(ids.filter(|(_, id)| seen.insert(*id)).collect())
}

/// Converts an object whose keys are 0, 1, 2 … to an array, and the empty object to an empty array, as PHP's JSON
/// encoder does. Nested values are unchanged.
pub fn list_shape(value: Value) -> Value {
    match value {
        Value::Object(map) if runs_from_zero(&map) => Value::Array(map.into_iter().map(|(_, v)| v).collect()),
        other => other,
    }
}

/// [`list_shape`] applied to a value and all values nested in it.
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
            let list: Vec<Value> = parse_list(&value).unwrap().into_iter().map(Cow::into_owned).collect();
            assert_eq!(Value::Array(list), expected, "{value}");
        }
    }

    #[test]
    fn ids() {
        let list = |value| parse_id_list_value(&value).unwrap();
        assert_eq!(parse_id_list(&json!("3,-3, 7x,abc")).unwrap(), [3, 7, 0]);
        assert_eq!(list(json!("1,1,2")), json!({"0": 1, "2": 2}));
        assert_eq!(list(json!([5, "6"])), json!([5, 6]));
        assert_eq!(list(json!({"a": null, "b": "0", "c": 0, "d": 4})), json!({"b": 0, "d": 4}));
        assert_eq!(absint(&json!(i64::MIN)), 9_223_372_036_854_775_808);
    }

    #[test]
    fn lists_in_a_string_are_bounded() {
        let text = |n: usize| json!("1,".repeat(n) + ", , ");
        assert_eq!(parse_list(&text(MAX_TEXT_ITEMS)).unwrap().len(), MAX_TEXT_ITEMS);
        for value in [text(MAX_TEXT_ITEMS + 1), text(10 * MAX_TEXT_ITEMS)] {
            assert_eq!(parse_list(&value), Err(TooManyItems));
            assert_eq!(parse_text_list(&value), Err(TooManyItems));
            assert_eq!(parse_id_list(&value), Err(TooManyItems));
            assert_eq!(parse_id_list_value(&value), Err(TooManyItems));
        }
        assert!(
            parse_text_list(&json!(vec!["1"; MAX_TEXT_ITEMS + 1])).is_ok(),
            "other limits bound the values of JSON"
        );
        assert!(parse_text_list(&json!(",".repeat(10 * MAX_TEXT_ITEMS))).unwrap().is_empty());
    }

    #[test]
    fn shapes() {
        assert_eq!(list_shape(json!({"0": "a", "1": "b"})), json!(["a", "b"]));
        assert_eq!(list_shape(json!({"1": "a", "0": "b"})), json!({"1": "a", "0": "b"}));
        assert_eq!(list_shape(json!({})), json!([]));
    }
}
