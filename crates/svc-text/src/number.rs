//! Formats numbers, and parses integers.

/// Formats a number with thousands separators and a fixed number of decimals, with PHP's rounding. Source:
/// `number_format_i18n` in `en_US`.
pub fn number_format(number: f64, decimals: u8) -> String {
    if !number.is_finite() {
        return number.abs().to_string().to_ascii_lowercase();
    }
    let rounded = round(number, i32::from(decimals));
    let digits = format!("{:.*}", usize::from(decimals), rounded.abs());
    let (whole, fraction) = digits.split_once('.').map_or((&*digits, None), |(w, f)| (w, Some(f)));
    let mut out = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    // No minus sign if all digits are 0.
    if rounded < 0.0 && digits.bytes().any(|b| matches!(b, b'1'..=b'9')) {
        out.push('-');
    }
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// PHP 8.2's `round`, half away from zero. It rounds the number's 15 significant digits, so `1.005` becomes `1.01`.
fn round(value: f64, places: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let magnitude = value.abs().log10().floor() as i32;
    let precision = 14 - magnitude;
    let shift = 10f64.powi(places);
    let scaled = if precision > places && precision - 15 < places {
        let pre = scale(value, precision.clamp(-308, 308)).round();
        let back = (places - precision).max(-60);
        pre / 10f64.powi(-back)
    } else {
        let scaled = value * shift;
        if scaled.abs() >= 1e15 {
            return value;
        }
        scaled
    };
    // Floats have no more than 15 exact digits.
    if scaled.abs() >= 1e15 { value } else { scaled.round() / shift }
}

fn scale(value: f64, places: i32) -> f64 {
    if places >= 0 { value * 10f64.powi(places) } else { value / 10f64.powi(-places) }
}

/// Formats a byte count in the largest fitting unit: `1.5 MB`. `None` for negative numbers and between 0 and 1.
/// Source: `size_format`.
pub fn size_format(bytes: f64, decimals: u8) -> Option<String> {
    const UNITS: &[&str] = &["B", "KB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];
    if bytes == 0.0 {
        return Some(format!("{} B", number_format(0.0, decimals)));
    }
    let (power, unit) = UNITS.iter().enumerate().rev().find(|(power, _)| bytes >= 1024f64.powi(*power as i32))?;
    Some(format!("{} {unit}", number_format(bytes / 1024f64.powi(power as i32), decimals)))
}

/// Pads a number with leading zeros to `width` characters. Source: `zeroise`.
pub fn zeroise(number: i64, width: usize) -> String {
    format!("{number:0width$}")
}

/// The absolute value of a string's leading number, or 0. Source: `absint`.
///
/// Leading white space is skipped. Decimals and exponents are parsed, and the number is truncated to an integer;
/// numbers out of range saturate.
pub fn absint(text: &str) -> u64 {
    let text = text.trim_start_matches([' ', '\t', '\n', '\r', '\x0B', '\x0C']);
    let bytes = text.as_bytes();
    let digits_from = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let whole = digits_from(sign);
    let mut end = sign + whole;
    let mut is_float = false;
    if bytes.get(end) == Some(&b'.') {
        let fraction = digits_from(end + 1);
        if whole + fraction > 0 {
            (end, is_float) = (end + 1 + fraction, true);
        }
    }
    if end > sign && matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = if end + 1 + sign <= bytes.len() { digits_from(end + 1 + sign) } else { 0 };
        if exponent > 0 {
            (end, is_float) = (end + 1 + sign + exponent, true);
        }
    }
    let number = &text[..end];
    if is_float {
        // `as` saturates, as PHP does for text.
        (number.parse::<f64>().unwrap_or(0.0) as i64).unsigned_abs()
    } else {
        let limit = if number.starts_with('-') { i64::MIN } else { i64::MAX };
        if whole == 0 { 0 } else { number.parse::<i64>().unwrap_or(limit).unsigned_abs() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (number, decimals, expected) in [
            (0.0, 0, "0"),
            (1.005, 2, "1.01"),
            (0.285, 2, "0.29"),
            (5.055, 2, "5.06"),
            (-0.4, 0, "0"),
            (2.5, 0, "3"),
            (-1234.5, 0, "-1,235"),
            (999.999, 2, "1,000.00"),
            (1234567890123456789.0, 3, "1,234,567,890,123,456,768.000"),
            (123_456_789.987_654_33, 8, "123,456,789.98765433"),
            (0.1, 30, "0.100000000000000005551115123126"),
            (f64::INFINITY, 2, "inf"),
            (f64::NAN, 2, "nan"),
        ] {
            assert_eq!(number_format(number, decimals), expected, "{number} {decimals}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(size_format(1536.0, 1).as_deref(), Some("1.5 KB"));
        assert_eq!(size_format(0.0, 2).as_deref(), Some("0.00 B"));
        assert_eq!(size_format(0.5, 0), None);
        assert_eq!(zeroise(5, 5), "00005");
    }

    #[test]
    fn integers() {
        for (text, expected) in [
            (" 12ab", 12),
            ("-5", 5),
            ("1e3", 1000),
            ("1.9", 1),
            (".5", 0),
            ("- 5", 0),
            ("", 0),
            ("-", 0),
            ("1e", 1),
            ("9223372036854775808", 9_223_372_036_854_775_807),
            ("1e300", 9_223_372_036_854_775_807),
            ("-9e99", 9_223_372_036_854_775_808),
        ] {
            assert_eq!(absint(text), expected, "{text}");
        }
    }
}
