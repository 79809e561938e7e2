//! Stored dates: `YYYY-MM-DD HH:MM:SS`, with zeros for "none".

use chrono::{Datelike as _, NaiveDate, NaiveDateTime, Timelike as _};

/// The stored form of no date.
pub const ZERO: &str = "0000-00-00 00:00:00";

/// Parses a stored date. The zero date and invalid dates are `None`.
pub fn parse(text: &str) -> Option<NaiveDateTime> {
    let b = text.as_bytes();
    if b.len() < 19 || b[4] != b'-' || b[7] != b'-' || b[13] != b':' || b[16] != b':' {
        return None;
    }
    let number = |from: usize, to: usize| -> Option<u32> {
        b[from..to].iter().try_fold(0u32, |n, c| c.is_ascii_digit().then(|| n * 10 + u32::from(c - b'0')))
    };
    let year = i32::try_from(number(0, 4)?).ok()?;
    NaiveDate::from_ymd_opt(year, number(5, 7)?, number(8, 10)?)?.and_hms_opt(
        number(11, 13)?,
        number(14, 16)?,
        number(17, 19)?,
    )
}

/// Formats a date for storage. Years outside 0 to 9999 cannot be stored and become the zero date.
pub fn format(stamp: Option<NaiveDateTime>) -> String {
    let Some(t) = stamp.filter(|t| (0..=9999).contains(&t.year())) else { return ZERO.to_owned() };
    format_time(&t)
}

fn format_time(t: &NaiveDateTime) -> String {
    let (y, mo, d, h, mi, s) = (t.year(), t.month(), t.day(), t.hour(), t.minute(), t.second());
    format!("{y:04}-{mo:02}-{d:02} {h:02}:{mi:02}:{s:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let rows = [
            ("2024-02-29 23:59:58", Some("2024-02-29 23:59:58")),
            (ZERO, None),
            ("2024-02-30 00:00:00", None),
            ("", None),
            ("2024-01-01", None),
            ("2024-01-01T00:00:0é", None),
            ("0000-01-01 00:00:00", Some("0000-01-01 00:00:00")),
        ];
        for (text, expected) in rows {
            let stamp = parse(text);
            assert_eq!(stamp.map(|_| format(stamp)).as_deref(), expected, "{text}");
        }
        assert_eq!(format(None), ZERO);
    }
}
