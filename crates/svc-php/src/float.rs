//! Formats floats as PHP prints them.
//!
//! Source: PHP's `serialize_precision = -1` and `precision = 14`, measured on PHP 8.2.

/// The shortest digits that parse to the same float: `0.1`, `1`, `-0`, `1.0e+25`, `1.5e-5`.
///
/// `e` is the exponent's letter: `'e'` in JSON, `'E'` in serialized and exported text. Infinities and NaN are `INF`,
/// `-INF` and `NAN`.
pub fn shortest(value: f64, e: char) -> String {
    if !value.is_finite() {
        return not_finite(value).to_owned();
    }
    layout(&format!("{value:e}"), 17, e)
}

/// A float cast to a string: at most 14 significant digits, exponents as in `1.0E+25`.
pub fn to_text(value: f64) -> String {
    if !value.is_finite() {
        return not_finite(value).to_owned();
    }
    layout(&format!("{value:.13e}"), 14, 'E')
}

fn not_finite(value: f64) -> &'static str {
    match value {
        v if v.is_nan() => "NAN",
        v if v > 0.0 => "INF",
        _ => "-INF",
    }
}

/// Formats Rust's scientific notation (`-1.25e-7`) as PHP does: positional if the point lies within `digits` digits
/// and at most three zeros follow it, scientific otherwise.
fn layout(scientific: &str, digits: i32, e: char) -> String {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let mut figures: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    figures.truncate(figures.trim_end_matches('0').len().max(1));
    // The number of digits before the point, as in 0.FIGURES * 10^point.
    let point = exponent + 1;
    let mut out = String::with_capacity(28);
    out.push_str(sign);
    if figures == "0" {
        out.push('0');
    } else if point > digits || point < -3 {
        let (first, rest) = figures.split_at(1);
        out.push_str(first);
        out.push('.');
        out.push_str(if rest.is_empty() { "0" } else { rest });
        out.push(e);
        out.push(if exponent < 0 { '-' } else { '+' });
        out.push_str(&exponent.unsigned_abs().to_string());
    } else if point <= 0 {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', point.unsigned_abs() as usize));
        out.push_str(&figures);
    } else {
        let whole = point.unsigned_abs() as usize;
        if figures.len() <= whole {
            out.push_str(&figures);
            out.extend(std::iter::repeat_n('0', whole - figures.len()));
        } else {
            out.push_str(&figures[..whole]);
            out.push('.');
            out.push_str(&figures[whole..]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortest_and_cast_text() {
        // value, as JSON prints it, as a cast to string prints it
        let rows: &[(f64, &str, &str)] = &[
            (0.0, "0", "0"),
            (-0.0, "-0", "-0"),
            (1.0, "1", "1"),
            (-1.5, "-1.5", "-1.5"),
            (0.1, "0.1", "0.1"),
            (0.1 + 0.2, "0.30000000000000004", "0.3"),
            (1e14, "100000000000000", "1.0E+14"),
            (1e15, "1000000000000000", "1.0E+15"),
            (1e16, "10000000000000000", "1.0E+16"),
            (1e17, "1.0e+17", "1.0E+17"),
            (123_456_789_012_345_678.0, "1.2345678901234568e+17", "1.2345678901235E+17"),
            (1e25, "1.0e+25", "1.0E+25"),
            (0.0001, "0.0001", "0.0001"),
            (0.00001, "1.0e-5", "1.0E-5"),
            (1e-7, "1.0e-7", "1.0E-7"),
            (123_456.789, "123456.789", "123456.789"),
            (1.5e-5, "1.5e-5", "1.5E-5"),
            (5e-324, "5.0e-324", "4.9406564584125E-324"),
            (f64::MAX, "1.7976931348623157e+308", "1.7976931348623E+308"),
            (f64::INFINITY, "INF", "INF"),
            (f64::NEG_INFINITY, "-INF", "-INF"),
            (f64::NAN, "NAN", "NAN"),
        ];
        for (value, json, text) in rows {
            assert_eq!(shortest(*value, 'e'), *json);
            assert_eq!(to_text(*value), *text);
        }
    }
}
