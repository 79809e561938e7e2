//! Numbers as PHP reads and prints them: numeric strings, and the two ways of printing a float.
//!
//! Integers are 64 bits wide; whole numbers beyond that are floats.

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

    /// The number as an integer: a float is cut toward zero, and one beyond 64 bits wraps; infinity and NaN give 0.
    pub fn to_int(self) -> i64 {
        match self {
            Num::Int(n) => n,
            Num::Float(f) => float_to_int(f),
        }
    }

    /// Whether it equals its rounded value.
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

/// White space that may stand around a numeric string.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C)
}

/// What the start of a text reads as.
struct Prefix {
    number: Num,
    /// Where the number ends in the text, before any white space that follows.
    end: usize,
    /// A whole number that did not fit 64 bits and is a float for that reason.
    saturated: Option<i64>,
}

fn prefix(text: &str) -> Option<Prefix> {
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
            return Some(Prefix { number: Num::Int(n), end: at, saturated: None });
        }
        let cap = if negative { i64::MIN } else { i64::MAX };
        return Some(Prefix { number: Num::Float(body.parse().ok()?), end: at, saturated: Some(cap) });
    }
    Some(Prefix { number: Num::Float(body.parse().ok()?), end: at, saturated: None })
}

/// The number that a whole text is, or `None` when it is not a numeric string.
///
/// Optional white space, sign, digits with at most one point, exponent, white space. `"1e3"`, `" .5"`, `"7."` are
/// numeric; `""`, `"."`, `"0x1A"`, `"1 2"`, `"INF"` are not. Source: PHP 8's rule for numeric strings.
pub fn numeric_string(text: &str) -> Option<Num> {
    let found = prefix(text)?;
    text.as_bytes()[found.end..].iter().all(|b| is_space(*b)).then_some(found.number)
}

/// The number that a value is, or `None`: numbers, and numeric strings.
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

/// Whether a value is numeric and equals its own rounded value (specification, "Validation", type checks).
pub fn is_integer(value: &Value) -> bool {
    number(value).is_some_and(Num::is_whole)
}

/// The integer that a text starts with, 0 when none; beyond 64 bits it saturates, and infinity (`1e999`) gives 0.
pub fn text_to_int(text: &str) -> i64 {
    match prefix(text) {
        None => 0,
        Some(Prefix { saturated: Some(cap), .. }) => cap,
        Some(Prefix { number: Num::Float(f), .. }) if f.is_infinite() => 0,
        // The cast of Rust cuts toward zero and saturates, as PHP does here (unlike for float values).
        Some(Prefix { number: Num::Float(f), .. }) => f as i64,
        Some(Prefix { number: Num::Int(n), .. }) => n,
    }
}

/// The float that a text starts with, 0 when none.
pub fn text_to_float(text: &str) -> f64 {
    prefix(text).map_or(0.0, |p| p.number.to_float())
}

/// A float as an integer: cut toward zero, wrapping beyond 64 bits.
pub fn float_to_int(float: f64) -> i64 {
    const TWO_64: f64 = 18_446_744_073_709_551_616.0;
    if !float.is_finite() {
        return 0;
    }
    let cut = float.trunc();
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&cut) {
        return cut as i64;
    }
    // Exact: a float this large is a whole number, and the remainder of a power of two is representable.
    let wrapped = cut.rem_euclid(TWO_64);
    wrapped as u64 as i64
}

/// How a float prints when it is cast to text: up to 14 significant digits, `1.0E+25` beyond.
pub fn float_to_text(float: f64) -> String {
    print(float, Some(14), 'E')
}

/// How a float prints in JSON: the shortest digits that read back, `1.0e+25` beyond 17 places.
pub fn float_to_json(float: f64) -> String {
    print(float, None, 'e')
}

fn print(float: f64, digits: Option<usize>, exponent_mark: char) -> String {
    if float.is_nan() {
        return "NAN".to_owned();
    }
    if float.is_infinite() {
        return if float > 0.0 { "INF" } else { "-INF" }.to_owned();
    }
    let sign = if float.is_sign_negative() { "-" } else { "" };
    if float == 0.0 {
        return format!("{sign}0");
    }
    // Rust's `{:e}` gives `d.ddde±x` with either the shortest digits or a fixed number of them, correctly rounded.
    let text = match digits {
        Some(n) => format!("{:.*e}", n - 1, float.abs()),
        None => format!("{:e}", float.abs()),
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mut digit_text: String = mantissa.chars().filter(|c| *c != '.').collect();
    digit_text.truncate(digit_text.trim_end_matches('0').len().max(1));
    let limit = digits.unwrap_or(17) as i32;
    let point = exponent + 1;
    if point < -3 || point > limit {
        let (first, rest) = digit_text.split_at(1);
        let rest = if rest.is_empty() { "0" } else { rest };
        let mark_sign = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{first}.{rest}{exponent_mark}{mark_sign}{}", exponent.abs());
    }
    if point <= 0 {
        return format!("{sign}0.{}{digit_text}", "0".repeat(point.unsigned_abs() as usize));
    }
    let point = point as usize;
    if digit_text.len() <= point {
        return format!("{sign}{digit_text}{}", "0".repeat(point - digit_text.len()));
    }
    let (whole, fraction) = digit_text.split_at(point);
    format!("{sign}{whole}.{fraction}")
}

/// A number rounded to a whole one and printed with a comma between groups of three digits.
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
    fn printed_floats() {
        let rows: &[(f64, &str, &str)] = &[
            (1.0, "1", "1"),
            (-0.0, "-0", "-0"),
            (0.1 + 0.2, "0.3", "0.30000000000000004"),
            (1e-7, "1.0E-7", "1.0e-7"),
            (0.0001, "0.0001", "0.0001"),
            (1e14, "1.0E+14", "100000000000000"),
            (123_456.789, "123456.789", "123456.789"),
            (1e25, "1.0E+25", "1.0e+25"),
            (9.824_928_374_923_492e52, "9.8249283749235E+52", "9.824928374923492e+52"),
            (f64::MAX, "1.7976931348623E+308", "1.7976931348623157e+308"),
        ];
        for (float, text, json) in rows {
            assert_eq!((float_to_text(*float).as_str(), float_to_json(*float).as_str()), (*text, *json));
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
