//! Functions on single values: type checks, casts, equality, and the formats of colors, IP addresses and UUIDs.

use serde_json::{Map, Value};
use svc_php::{
    cast::{is_scalar, to_text, truthy},
    float,
    list::{TooManyItems, integer_key, split_list},
    numeric::{Num, from_json},
};
pub use svc_php::{
    list::is_list_like,
    numeric::{is_integer, is_numeric},
};

/// Maximum nesting of values that are compared or printed. Request values are never nested deeper.
pub(crate) const MAX_VALUE_DEPTH: usize = 512;

/// Whether a value is a list, a map with integer keys, or a scalar, which is split at commas.
pub fn is_array(value: &Value) -> bool {
    is_scalar(value) || is_list_like(value)
}

/// Whether a value is a map or the empty string. An empty list counts as an empty map; unlike in WordPress, other lists
/// do not count. Source: specification, "Validation", table of type checks.
pub fn is_object(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        Value::Array(items) => items.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

/// Whether a value is a boolean, the integer 0 or 1, or one of the strings `true`, `false`, `0`, `1` in any case.
pub fn is_boolean(value: &Value) -> bool {
    match value {
        Value::Bool(_) => true,
        Value::Number(n) => matches!(from_json(n), Num::Int(0 | 1)),
        Value::String(s) => ["true", "false", "0", "1"].iter().any(|word| s.eq_ignore_ascii_case(word)),
        _ => false,
    }
}

/// Converts a value to a list: scalars are split at commas and white space, maps lose their keys, null is empty.
///
/// # Errors
/// [`TooManyItems`] for a scalar with too many items.
pub fn sanitize_array(value: Value) -> Result<Vec<Value>, TooManyItems> {
    Ok(match value {
        Value::Array(items) => items,
        Value::Object(map) => map.into_iter().map(|(_, item)| item).collect(),
        Value::Null => Vec::new(),
        scalar => split_list(&to_text(&scalar))?.map(Value::from).collect(),
    })
}

/// Converts a value to a map. Other values become an empty map.
pub fn sanitize_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Converts a value to a boolean. The strings `false` (in any case), `0` and the empty string are false.
pub fn sanitize_boolean(value: &Value) -> bool {
    match value {
        Value::String(s) => !s.is_empty() && !s.eq_ignore_ascii_case("false") && s != "0",
        other => truthy(other),
    }
}

/// Equality as in `enum`: lists by element, maps regardless of order, an integer equals a float of the same value,
/// everything else strictly.
pub fn are_values_equal(a: &Value, b: &Value) -> bool {
    equal(a, b, MAX_VALUE_DEPTH)
}

fn equal(a: &Value, b: &Value, depth_left: usize) -> bool {
    if depth_left == 0 {
        return false;
    }
    match (a, b) {
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(v, w)| equal(v, w, depth_left - 1))
        }
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(k, v)| y.get(k).is_some_and(|w| equal(v, w, depth_left - 1)))
        }
        // In PHP, a map with the keys 0, 1, 2 … is a list.
        (Value::Object(map), Value::Array(list)) | (Value::Array(list), Value::Object(map)) => {
            map.len() == list.len()
                && list
                    .iter()
                    .enumerate()
                    .all(|(i, v)| map.get(&i.to_string()).is_some_and(|w| equal(v, w, depth_left - 1)))
        }
        (Value::Number(x), Value::Number(y)) => match (from_json(x), from_json(y)) {
            (Num::Int(x), Num::Int(y)) => x == y,
            (x, y) => x.to_float() == y.to_float(),
        },
        _ => a == b,
    }
}

/// Sorts the keys of all maps in a value.
pub fn stabilize(value: Value) -> Value {
    sort_keys(value, MAX_VALUE_DEPTH)
}

fn sort_keys(value: Value, depth_left: usize) -> Value {
    if depth_left == 0 {
        return value;
    }
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(|item| sort_keys(item, depth_left - 1)).collect()),
        Value::Object(map) => {
            let mut entries: Vec<(String, Value)> = map.into_iter().collect();
            entries.sort_by(|(a, _), (b, _)| key_order(a).cmp(&key_order(b)));
            Value::Object(entries.into_iter().map(|(key, item)| (key, sort_keys(item, depth_left - 1))).collect())
        }
        scalar => scalar,
    }
}

/// Sorts integer keys numerically, before all others.
fn key_order(key: &str) -> (bool, i64, &str) {
    match integer_key(key) {
        Some(n) => (false, n, ""),
        None => (true, 0, key),
    }
}

/// A value in PHP's default JSON encoding: `/` and non-ASCII characters are escaped, whole floats have no decimal
/// point.
pub(crate) fn json_text(value: &Value) -> String {
    let mut out = String::new();
    write_json(value, &mut out, MAX_VALUE_DEPTH);
    out
}

fn write_json(value: &Value, out: &mut String, depth_left: usize) {
    if depth_left == 0 {
        return out.push_str("null");
    }
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(n) => match from_json(n) {
            Num::Int(n) => out.push_str(&n.to_string()),
            Num::Float(f) => out.push_str(&float::shortest(f, 'e')),
        },
        Value::String(s) => write_json_text(s, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_json(item, out, depth_left - 1);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let is_list = map.keys().enumerate().all(|(i, k)| integer_key(k) == i64::try_from(i).ok());
            out.push(if is_list { '[' } else { '{' });
            for (index, (key, item)) in map.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                if !is_list {
                    write_json_text(key, out);
                    out.push(':');
                }
                write_json(item, out, depth_left - 1);
            }
            out.push(if is_list { ']' } else { '}' });
        }
    }
}

fn write_json_text(text: &str, out: &mut String) {
    use std::fmt::Write;
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '/' => out.push_str("\\/"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(c),
            other => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

/// The color in a string: `#` and 3 or 6 hexadecimal digits, with nothing after them.
pub fn parse_hex_color(text: &str) -> Option<&str> {
    let digits = text.strip_prefix('#')?;
    (matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit())).then_some(text)
}

/// Whether a string is an IPv4 address in dotted form (leading zeros are allowed, up to three digits) or an IPv6
/// address.
pub fn is_ip_address(text: &str) -> bool {
    is_ipv4(text, true) || is_ipv6(text)
}

fn is_ipv4(text: &str, allow_leading_zeros: bool) -> bool {
    let is_part = |part: &str| {
        let fits = matches!(part.len(), 1..=3) && part.bytes().all(|b| b.is_ascii_digit());
        let leads_with_zero = part.len() > 1 && part.starts_with('0');
        fits && (allow_leading_zeros || !leads_with_zero) && part.parse::<u16>().is_ok_and(|n| n <= 255)
    };
    text.split('.').count() == 4 && text.split('.').all(is_part)
}

/// Eight groups of up to four hexadecimal digits, of which the last two may be an IPv4 address, and one `::` in place
/// of groups of zeros, or, as in WordPress, of no group.
fn is_ipv6(text: &str) -> bool {
    if text.len() > 64 {
        return false;
    }
    let n_groups = |part: &str, may_end_in_ipv4: bool| -> Option<usize> {
        if part.is_empty() {
            return Some(0);
        }
        let groups: Vec<&str> = part.split(':').collect();
        let mut n = 0;
        for (index, group) in groups.iter().enumerate() {
            let is_last = index + 1 == groups.len();
            if is_last && may_end_in_ipv4 && group.contains('.') {
                n += if is_ipv4(group, false) { 2 } else { return None };
            } else if matches!(group.len(), 1..=4) && group.bytes().all(|b| b.is_ascii_hexdigit()) {
                n += 1;
            } else {
                return None;
            }
        }
        Some(n)
    };
    match text.split_once("::") {
        None => n_groups(text, true) == Some(8),
        Some((head, tail)) => match (n_groups(head, false), n_groups(tail, true)) {
            (Some(head), Some(tail)) => head + tail <= 8,
            _ => false,
        },
    }
}

/// Whether a string is a lower-case UUID with hyphens, of `version` if it is set. Only version 4 is supported.
pub fn is_uuid(text: &str, version: Option<u8>) -> bool {
    if text.len() != 36 || text.bytes().any(|b| b.is_ascii_uppercase()) {
        return false;
    }
    let Ok(id) = uuid::Uuid::try_parse(text) else { return false };
    match version {
        None => true,
        Some(4) => id.get_version_num() == 4 && matches!(text.as_bytes()[19], b'8' | b'9' | b'a' | b'b'),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // WordPress accepts any list as an object.
    #[test]
    fn lists_are_not_objects() {
        assert!(
            !is_object(&json!(["a"]))
                && is_object(&json!([]))
                && is_object(&json!({"0": "a"}))
                && is_object(&json!(""))
        );
        assert_eq!(sanitize_object(json!(["a"])), Map::new());
    }

    // WordPress accepts a trailing line feed.
    #[test]
    fn formats_reject_a_trailing_line_feed() {
        assert_eq!(parse_hex_color("#fff"), Some("#fff"));
        for text in ["#fff\n", "#ffff", "fff", "#ggg", "#"] {
            assert_eq!(parse_hex_color(text), None, "{text:?}");
        }
        let id = "123e4567-e89b-42d3-a456-426655440000";
        assert!(is_uuid(id, None) && is_uuid(id, Some(4)) && !is_uuid(id, Some(5)));
        assert!(!is_uuid(&format!("{id}\n"), None) && !is_uuid(&id.to_uppercase(), None));
        for other in ["123e4567-e89b-12d3-a456-426655440000", "123e4567-e89b-42d3-c456-426655440000"] {
            assert!(is_uuid(other, None) && !is_uuid(other, Some(4)), "{other}");
        }
        assert!(!is_ip_address("1.2.3.4\n") && !is_ip_address("::1\n"));
    }

    #[test]
    fn ip_addresses() {
        for text in [
            "01.002.3.255",
            "::",
            "::1",
            "1::",
            "1:2:3:4:5:6:7:8",
            "::ffff:1.2.3.4",
            "1:2:3:4:5:6:1.2.3.4",
            "::0.2.13.4",
            "1:0:2001:ff:ff:1::",
            "1:2:3::4:5:6",
            // As in WordPress, `::` may stand for no group at all.
            "1:2:3:4::5:6:7:8",
        ] {
            assert!(is_ip_address(text), "{text}");
        }
        for text in [
            "",
            "1.2.3",
            "1.2.3.256",
            "1.2.3.4.5",
            "1.2.3.+4",
            "1.2.3.0004",
            "1:2:3:4::5:6:7:8:9",
            "12345::",
            "1:2:3:4:5:6:7",
            "fe80::1%eth0",
            ":1",
            "1:::2",
            "::1.2.3.04",
        ] {
            assert!(!is_ip_address(text), "{text}");
        }
    }

    #[test]
    fn enum_equality() {
        assert!(are_values_equal(&json!({"a": [1, null], "b": 2.0}), &json!({"b": 2, "a": [1.0, null]})));
        assert!(!are_values_equal(&json!("1"), &json!(1)));
        assert!(are_values_equal(&json!({"0": "x"}), &json!(["x"])) && are_values_equal(&json!({}), &json!([])));
        for (a, b) in [
            (json!([1]), json!([1, 2])),
            (json!({"a": 1}), json!({"a": 1, "b": 2})),
            (json!({"0": "x", "1": "y"}), json!(["x"])),
        ] {
            assert!(!are_values_equal(&a, &b) && !are_values_equal(&b, &a), "{a} {b}");
        }
    }

    #[test]
    fn booleans() {
        for value in [json!(true), json!(0), json!(1), json!("1"), json!("FALSE")] {
            assert!(is_boolean(&value), "{value}");
        }
        for value in [json!(2), json!(-1), json!(1.0), json!("yes"), json!(""), json!(null), json!([])] {
            assert!(!is_boolean(&value), "{value}");
        }
    }

    #[test]
    fn stabilize_sorts_integer_keys_first() {
        let value = json!({"b": [{"y": 1, "x": 2}], "10": 1, "a": 2, "9": {"d": 3, "-1": 4}, "": 5});
        let sorted = r#"{"9":{"-1":4,"d":3},"10":1,"":5,"a":2,"b":[{"x":2,"y":1}]}"#;
        assert_eq!(stabilize(value).to_string(), sorted);
    }

    #[test]
    fn work_ends_at_the_maximum_depth() {
        fn list(inner: Value) -> Value {
            Value::Array(vec![inner])
        }
        fn map(key: &str, inner: Value) -> Value {
            Value::Object(Map::from_iter([(key.to_owned(), inner)]))
        }
        let nestings: [fn(Value) -> Value; 2] = [list, |inner| map("a", inner)];
        for nest in nestings {
            let deep = |depth: usize, inner: Value| (0..depth).fold(inner, |inner, _| nest(inner));
            let equals_itself = |depth: usize| are_values_equal(&deep(depth, json!(1)), &deep(depth, json!(1)));
            assert_eq!((equals_itself(MAX_VALUE_DEPTH - 1), equals_itself(MAX_VALUE_DEPTH)), (true, false));
            let unsorted = || json!({"y": 1, "x": 2});
            let is_sorted = |depth: usize| stabilize(deep(depth, unsorted())).to_string().contains(r#"{"x":2,"y":1}"#);
            assert_eq!((is_sorted(MAX_VALUE_DEPTH - 1), is_sorted(MAX_VALUE_DEPTH)), (true, false));
            let shows_number = |depth: usize| json_text(&deep(depth, json!(1))).contains('1');
            assert_eq!((shows_number(MAX_VALUE_DEPTH - 1), shows_number(MAX_VALUE_DEPTH)), (true, false));
        }
        let maps = |depth: usize| (0..depth).fold(json!(1), |inner, _| map("0", inner));
        let lists = |depth: usize| (0..depth).fold(json!(1), |inner, _| list(inner));
        let are_equal = |depth: usize| are_values_equal(&maps(depth), &lists(depth));
        assert_eq!((are_equal(MAX_VALUE_DEPTH - 1), are_equal(MAX_VALUE_DEPTH)), (true, false));
    }

    #[test]
    fn json_in_messages() {
        assert_eq!(
            json_text(&json!([1.0, "a/é🎉\"", {"x": {}, "0": null}])),
            r#"[1,"a\/\u00e9\ud83c\udf89\"",{"x":[],"0":null}]"#
        );
    }
}
