//! PHP's casts to integer, float, string and boolean, and its trim functions.

use std::borrow::Cow;

use serde_json::Value;

use crate::{
    float,
    numeric::{Num, from_json, text_to_float, text_to_int},
};

/// `(int)`: a string gives its leading number (saturating), a float is truncated, an array or object is 1 unless
/// empty.
pub fn to_int(value: &Value) -> i64 {
    match value {
        Value::Null => 0,
        Value::Bool(b) => i64::from(*b),
        Value::Number(n) => from_json(n).to_int(),
        Value::String(s) => text_to_int(s),
        Value::Array(_) | Value::Object(_) => i64::from(truthy(value)),
    }
}

/// `(float)`, by the rules of [`to_int`].
pub fn to_float(value: &Value) -> f64 {
    match value {
        Value::Number(n) => from_json(n).to_float(),
        Value::String(s) => text_to_float(s),
        _ => to_int(value) as f64,
    }
}

/// `(string)`: null and false are empty, true is `1`, arrays and objects are the word `Array`.
pub fn to_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null | Value::Bool(false) => Cow::Borrowed(""),
        Value::Bool(true) => Cow::Borrowed("1"),
        Value::Number(n) => Cow::Owned(match from_json(n) {
            Num::Int(n) => n.to_string(),
            Num::Float(f) => float::to_text(f),
        }),
        Value::String(s) => Cow::Borrowed(s),
        Value::Array(_) | Value::Object(_) => Cow::Borrowed("Array"),
    }
}

/// `(bool)`: null, false, 0, `""`, `"0"`, the empty array and the empty object are false.
pub fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(b) => *b,
        Value::Number(n) => from_json(n).to_float() != 0.0,
        Value::String(s) => !s.is_empty() && s != "0",
        Value::Array(a) => !a.is_empty(),
        Value::Object(o) => !o.is_empty(),
    }
}

/// Whether a value is a boolean, a number or a string.
pub fn is_scalar(value: &Value) -> bool {
    matches!(value, Value::Bool(_) | Value::Number(_) | Value::String(_))
}

/// A float as a JSON value. JSON has no infinity: an infinite float becomes the largest finite float of its sign, NaN
/// becomes 0.
pub fn float_value(float: f64) -> Value {
    let finite = if float.is_nan() { 0.0 } else { float.clamp(f64::MIN, f64::MAX) };
    Value::from(finite)
}

/// The characters that PHP's `trim` removes by default: fewer than Unicode's white space.
fn is_trimmed(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\0' | '\u{0B}')
}

/// `trim`
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_trimmed)
}

/// `ltrim`
pub fn trim_start(text: &str) -> &str {
    text.trim_start_matches(is_trimmed)
}

/// `rtrim`
pub fn trim_end(text: &str) -> &str {
    text.trim_end_matches(is_trimmed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn casts() {
        // value, integer, float, string, boolean
        let rows = [
            (json!(null), 0, 0.0, "", false),
            (json!(true), 1, 1.0, "1", true),
            (json!(false), 0, 0.0, "", false),
            (json!(-1.5), -1, -1.5, "-1.5", true),
            (json!(0), 0, 0.0, "0", false),
            (json!("0"), 0, 0.0, "0", false),
            (json!("0.0"), 0, 0.0, "0.0", true),
            (json!("12abc"), 12, 12.0, "12abc", true),
            (json!(""), 0, 0.0, "", false),
            (json!([]), 0, 0.0, "Array", false),
            (json!({"a": 0}), 1, 1.0, "Array", true),
            (json!(18_446_744_073_709_551_615_u64), 0, 18_446_744_073_709_551_615.0, "1.844674407371E+19", true),
        ];
        for (value, int, float, text, truth) in rows {
            assert_eq!(
                (to_int(&value), to_float(&value), &*to_text(&value), truthy(&value)),
                (int, float, text, truth)
            );
        }
    }

    #[test]
    fn floats_are_finite_in_json() {
        assert_eq!(float_value(f64::INFINITY), json!(f64::MAX));
        assert_eq!(float_value(f64::NEG_INFINITY), json!(f64::MIN));
        assert_eq!(float_value(f64::NAN), json!(0.0));
    }

    #[test]
    fn trims_take_php_white_space_only() {
        assert_eq!(trim(" \t\n\r\0\x0Ba\u{a0} "), "a\u{a0}");
        assert_eq!((trim_start(" a "), trim_end(" a ")), ("a ", " a"));
        assert_eq!(trim("\x0Ca"), "\x0Ca");
    }
}
