//! PHP's comparison of values of different types (`<`, `<=`), for numbers, strings, booleans, null, arrays and
//! objects.

use std::cmp::Ordering;

use serde_json::Value;

use crate::{
    cast::{to_text, truthy},
    numeric::{Num, from_json, numeric_string},
};

/// Compares two numbers: two integers exactly, all others as floats. NaN is unordered.
#[inline]
pub fn numbers(a: Num, b: Num) -> Option<Ordering> {
    match (a, b) {
        (Num::Int(a), Num::Int(b)) => Some(a.cmp(&b)),
        (a, b) => a.to_float().partial_cmp(&b.to_float()),
    }
}

/// Compares two values with PHP 8's loose rules.
///
/// Numbers and numeric strings compare as numbers, a number and any other string as strings, and a boolean or null
/// with anything as booleans (null with a string as the empty string). Arrays and objects compare by size and are
/// greater than any other value.
pub fn loose(a: &Value, b: &Value) -> Option<Ordering> {
    use Value::{Array, Bool, Null, Number, Object, String};
    let size = |v: &Value| match v {
        Array(a) => a.len(),
        Object(o) => o.len(),
        _ => 0,
    };
    match (a, b) {
        (Number(a), Number(b)) => numbers(from_json(a), from_json(b)),
        (String(x), String(y)) => match (numeric_string(x), numeric_string(y)) {
            (Some(x), Some(y)) => numbers(x, y),
            _ => Some(x.as_bytes().cmp(y.as_bytes())),
        },
        (Number(n), String(s)) => match numeric_string(s) {
            Some(s) => numbers(from_json(n), s),
            None => Some(to_text(a).as_bytes().cmp(s.as_bytes())),
        },
        (String(_), Number(_)) => loose(b, a).map(Ordering::reverse),
        (Null, String(s)) => Some("".cmp(s.as_str())),
        (String(s), Null) => Some(s.as_str().cmp("")),
        (Bool(_) | Null, _) | (_, Bool(_) | Null) => Some(truthy(a).cmp(&truthy(b))),
        (Array(_) | Object(_), Array(_) | Object(_)) => Some(size(a).cmp(&size(b))),
        (Array(_) | Object(_), _) => Some(Ordering::Greater),
        (_, Array(_) | Object(_)) => Some(Ordering::Less),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn mixed_values() {
        use Ordering::{Equal, Greater, Less};
        let rows = [
            (json!(5), json!("10"), Less),
            (json!("5"), json!("10"), Less),
            (json!("5"), json!("abc"), Less),
            (json!(5), json!("abc"), Less),
            (json!("abc"), json!(5), Greater),
            (json!(1.0), json!("1e0"), Equal),
            (json!(i64::MAX), json!(i64::MAX - 1), Greater),
            (json!(true), json!(5), Equal),
            (json!(null), json!("a"), Less),
            (json!([]), json!(5), Greater),
        ];
        for (a, b, expected) in rows {
            assert_eq!(loose(&a, &b), Some(expected), "{a} {b}");
            assert_eq!(loose(&b, &a), Some(expected.reverse()), "{b} {a}");
        }
    }
}
