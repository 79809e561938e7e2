//! PHP's numeric strings, conversions between number types, and thousands separators. [`float`](crate::float) formats
//! floats.
//!
//! Integers have 64 bits; larger whole numbers are floats.

use serde_json::{Number, Value};

/// A PHP number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Num {
    /// `int`
    Int(i64),
    /// `float`
    Float(f64),
}

impl Num {
    /// The number as a float.
    pub fn to_float(self) -> f64 {
        match self {
            Num::Int(n) => n as f64,
            Num::Float(f) => f,
        }
    }

    /// The number as an integer: a float is truncated toward zero and wraps beyond 64 bits; infinity and NaN are 0.
    pub fn to_int(self) -> i64 {
        match self {
            Num::Int(n) => n,
            Num::Float(f) => float_to_int(f),
        }
    }

    /// Whether the number has no fractional part.
    pub fn is_whole(self) -> bool {
        match self {
            Num::Int(_) => true,
            Num::Float(f) => f == f.floor(),
        }
    }
}

/// A JSON number as PHP decodes it.
#[inline]
pub fn from_json(number: &Number) -> Num {
    number.as_i64().map_or_else(|| Num::Float(number.as_f64().unwrap_or(0.0)), Num::Int)
}

/// White space that is allowed around a numeric string.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C)
}

/// The number at the start of a string.
struct LeadingNumber {
    number: Num,
    /// Byte offset of the number's end, before any trailing white space.
    end: usize,
    /// The saturated integer, if the number is an integer that does not fit 64 bits and was therefore parsed as a
    /// float.
    saturated: Option<i64>,
}

fn leading_number(text: &str) -> Option<LeadingNumber> {
    let bytes = text.as_bytes();
    let start = bytes.iter().take_while(|b| is_space(**b)).count();
    let digits_from = |at: usize| bytes.get(at..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = start;
    let negative = bytes.get(at) == Some(&b'-');
    if negative || bytes.get(at) == Some(&b'+') {
        at += 1;
    }
    let whole = digits_from(at);
    at += whole;
    let mut is_float = false;
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits_from(at + 1);
        if whole == 0 && fraction == 0 {
            return None;
        }
        is_float = true;
        at += 1 + fraction;
    } else if whole == 0 {
        return None;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits_from(at + 1 + sign);
        if exponent > 0 {
            is_float = true;
            at += 1 + sign + exponent;
        }
    }
    let body = text.get(start..at)?;
    if !is_float {
        if let Ok(n) = body.parse::<i64>() {
            return Some(LeadingNumber { number: Num::Int(n), end: at, saturated: None });
        }
        let cap = if negative { i64::MIN } else { i64::MAX };
        return Some(LeadingNumber { number: Num::Float(body.parse().ok()?), end: at, saturated: Some(cap) });
    }
    Some(LeadingNumber { number: Num::Float(body.parse().ok()?), end: at, saturated: None })
}

/// Parses a numeric string; `None` if the string is not numeric as a whole.
///
/// A numeric string is optional white space, a sign, digits with at most one point, an exponent, and white space.
/// `"1e3"`, `" .5"` and `"7."` are numeric; `""`, `"."`, `"0x1A"`, `"1 2"` and `"INF"` are not. Source: PHP 8's rule
/// for numeric strings.
pub fn numeric_string(text: &str) -> Option<Num> {
    let found = leading_number(text)?;
    text.as_bytes()[found.end..].iter().all(|b| is_space(*b)).then_some(found.number)
}

/// The numeric value of a number or numeric string; `None` for any other value.
#[inline]
pub fn number(value: &Value) -> Option<Num> {
    match value {
        Value::Number(n) => Some(from_json(n)),
        Value::String(s) => numeric_string(s),
        _ => None,
    }
}

/// Whether a value is a number or a numeric string.
pub fn is_numeric(value: &Value) -> bool {
    number(value).is_some()
}

/// Whether a value is numeric and has no fractional part (specification, "Validation", type checks).
pub fn is_integer(value: &Value) -> bool {
    number(value).is_some_and(Num::is_whole)
}

/// The leading integer of a string, or 0. Integers beyond 64 bits saturate; infinity (`1e999`) is 0.
pub fn text_to_int(text: &str) -> i64 {
    match leading_number(text) {
        None => 0,
        Some(LeadingNumber { saturated: Some(cap), .. }) => cap,
        Some(LeadingNumber { number: Num::Float(f), .. }) if f.is_infinite() => 0,
        // Rust's cast truncates toward zero and saturates, as PHP does for strings (but not for floats).
        Some(LeadingNumber { number: Num::Float(f), .. }) => f as i64,
        Some(LeadingNumber { number: Num::Int(n), .. }) => n,
    }
}

/// The leading number of a string as a float, or 0.
pub fn text_to_float(text: &str) -> f64 {
    leading_number(text).map_or(0.0, |p| p.number.to_float())
}

/// A float as an integer: truncated toward zero, wrapping beyond 64 bits.
fn float_to_int(float: f64) -> i64 {
    const TWO_64: f64 = 18_446_744_073_709_551_616.0;
    if !float.is_finite() {
        return 0;
    }
    let truncated = float.trunc();
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&truncated) {
        return truncated as i64;
    }
    // This is exact: floats of this size are whole numbers, and the remainder by a power of two is representable.
    let wrapped = truncated.rem_euclid(TWO_64);
    wrapped as u64 as i64
}

/// Rounds a number to an integer and formats it with thousands separators (`1,234`).
pub fn grouped(number: Num) -> String {
    let text = match number {
        Num::Int(n) => n.to_string(),
        Num::Float(f) => format!("{:.0}", f.round()),
    };
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("-", rest));
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + text.len() / 3);
    if digits != "0" {
        out.push_str(sign);
    }
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numeric_strings() {
        let rows: &[(&str, Option<Num>)] = &[
            ("5", Some(Num::Int(5))),
            (" \t5 \n", Some(Num::Int(5))),
            ("-0", Some(Num::Int(0))),
            ("+5", Some(Num::Int(5))),
            (".5", Some(Num::Float(0.5))),
            ("5.", Some(Num::Float(5.0))),
            ("1e3", Some(Num::Float(1000.0))),
            ("1E-2", Some(Num::Float(0.01))),
            ("9223372036854775807", Some(Num::Int(i64::MAX))),
            ("9223372036854775808", Some(Num::Float(9_223_372_036_854_775_808.0))),
            ("1e999", Some(Num::Float(f64::INFINITY))),
            ("", None),
            (".", None),
            ("-", None),
            ("1e", None),
            ("0x1A", None),
            ("1 2", None),
            ("abc", None),
            ("1e3.0", None),
            ("\u{a0}1", None),
            ("１２", None),
        ];
        for (text, expected) in rows {
            assert_eq!(numeric_string(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn casts_of_text() {
        let rows: &[(&str, i64)] = &[
            ("12abc", 12),
            (" 7", 7),
            ("abc", 0),
            ("1e3x", 1000),
            ("-1.9", -1),
            ("99999999999999999999", i64::MAX),
            ("-99999999999999999999", i64::MIN),
            ("1e308", i64::MAX),
            ("123E4567-E89B", 0),
            ("-1e400", 0),
        ];
        for (text, expected) in rows {
            assert_eq!(text_to_int(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn casts_of_floats_wrap() {
        let rows: &[(f64, i64)] =
            &[(1.9, 1), (-1.9, -1), (1e20, 7_766_279_631_452_241_920), (1e308, 0), (f64::INFINITY, 0), (f64::NAN, 0)];
        for (float, expected) in rows {
            assert_eq!(float_to_int(*float), *expected, "{float}");
        }
    }

    #[test]
    fn grouped_numbers() {
        let rows: &[(Num, &str)] = &[
            (Num::Int(5), "5"),
            (Num::Int(1000), "1,000"),
            (Num::Int(-1_234_567), "-1,234,567"),
            (Num::Float(2.5), "3"),
            (Num::Float(-0.2), "0"),
            (Num::Float(f64::NAN), "NaN"),
        ];
        for (number, expected) in rows {
            assert_eq!(grouped(*number), *expected);
        }
    }
}
