//! Formats dates with PHP's format characters, in English.

use std::fmt::Write;

use chrono::{Datelike, NaiveDateTime, Timelike};

/// Maximum length of a format, in characters.
const FORMAT_LIMIT: usize = 100;

/// Formats a local time like PHP's `date`: `F j, Y` gives `January 5, 2024`. Characters that need a time zone are
/// omitted.
///
/// Source: the format characters of PHP's `date`.
pub fn format(local: NaiveDateTime, format: &str) -> String {
    format_with(local, None, format)
}

/// Formats a local time whose zone is `offset` seconds ahead of UTC.
pub(crate) fn format_at(local: NaiveDateTime, offset: i64, format: &str) -> String {
    format_with(local, Some(offset), format)
}

fn format_with(local: NaiveDateTime, offset: Option<i64>, format: &str) -> String {
    let mut out = String::new();
    let mut letters = format.chars().take(FORMAT_LIMIT);
    while let Some(letter) = letters.next() {
        // Writing to a String cannot fail.
        let _written = match offset.and_then(|offset| letter_of_zone(local, offset, letter)) {
            Some(text) => out.write_str(&text),
            None => letter_of(&mut out, local, letter, &mut letters),
        };
    }
    out
}

/// Format characters that depend on the time zone.
fn letter_of_zone(local: NaiveDateTime, offset: i64, letter: char) -> Option<String> {
    let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs() / 60);
    let ahead = |colon: &str| format!("{sign}{:02}{colon}{:02}", minutes / 60, minutes % 60);
    Some(match letter {
        'O' => ahead(""),
        'P' | 'T' | 'e' => ahead(":"),
        'p' if offset == 0 => "Z".to_owned(),
        'p' => ahead(":"),
        'Z' => offset.to_string(),
        'U' => (local.and_utc().timestamp() - offset).to_string(),
        'c' => format!("{}{}", local.format("%Y-%m-%dT%H:%M:%S"), ahead(":")),
        'r' => format!("{} {}", local.format("%a, %d %b %Y %H:%M:%S"), ahead("")),
        'I' => "0".to_owned(),
        'u' => "000000".to_owned(),
        'v' => "000".to_owned(),
        _ => return None,
    })
}

/// The difference to the current time in a single unit: `5 days ago`, `1 hour from now`. Source: `human_time_diff`.
pub(crate) fn human_time_diff(local: NaiveDateTime, now: NaiveDateTime) -> String {
    let seconds = (now - local).num_seconds();
    let n = seconds.abs();
    let units = [
        (60, "second"),
        (3_600, "minute"),
        (86_400, "hour"),
        (604_800, "day"),
        (2_592_000, "week"),
        (31_536_000, "month"),
    ];
    let sizes = [1, 60, 3_600, 86_400, 604_800, 2_592_000, 31_536_000];
    let place = units.iter().position(|(below, _)| n < *below).unwrap_or(units.len());
    let name = units.get(place).map_or("year", |(_, name)| name);
    let count = ((n as f64 / f64::from(sizes[place])).round() as i64).max(1);
    let plural = if count == 1 { "" } else { "s" };
    if seconds < 0 { format!("{count} {name}{plural} from now") } else { format!("{count} {name}{plural} ago") }
}

/// Parses a date from an attribute: `2024-05-05T10:00:00`, with or without a time.
pub(crate) fn read(text: &str) -> Option<NaiveDateTime> {
    let clock = text.get(..19).unwrap_or(text);
    let whole = ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M"];
    whole
        .iter()
        .find_map(|format| NaiveDateTime::parse_from_str(clock, format).ok())
        .or_else(|| chrono::NaiveDate::parse_from_str(text.get(..10)?, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0))
}

fn letter_of(
    out: &mut String,
    t: NaiveDateTime,
    letter: char,
    rest: &mut impl Iterator<Item = char>,
) -> std::fmt::Result {
    let (_, hour12) = t.hour12();
    match letter {
        'd' => write!(out, "{:02}", t.day()),
        'j' => write!(out, "{}", t.day()),
        'D' => write!(out, "{}", t.format("%a")),
        'l' => write!(out, "{}", t.format("%A")),
        'N' => write!(out, "{}", t.weekday().number_from_monday()),
        'w' => write!(out, "{}", t.weekday().num_days_from_sunday()),
        'z' => write!(out, "{}", t.ordinal0()),
        'S' => out.write_str(ordinal_ending(t.day())),
        'W' => write!(out, "{:02}", t.iso_week().week()),
        'o' => write!(out, "{}", t.iso_week().year()),
        'F' => write!(out, "{}", t.format("%B")),
        'M' => write!(out, "{}", t.format("%b")),
        'm' => write!(out, "{:02}", t.month()),
        'n' => write!(out, "{}", t.month()),
        't' => write!(out, "{}", days_in_month(t)),
        'L' => write!(out, "{}", u8::from(t.date().leap_year())),
        'Y' => write!(out, "{}", t.year()),
        // Expanded years: with a sign if they have more than four digits, or always.
        'x' if (0..=9999).contains(&t.year()) => write!(out, "{:04}", t.year()),
        'x' | 'X' => write!(out, "{:+05}", t.year()),
        'y' => write!(out, "{:02}", t.year().rem_euclid(100)),
        'a' => out.write_str(if t.hour() < 12 { "am" } else { "pm" }),
        'A' => out.write_str(if t.hour() < 12 { "AM" } else { "PM" }),
        'g' => write!(out, "{hour12}"),
        'h' => write!(out, "{hour12:02}"),
        'G' => write!(out, "{}", t.hour()),
        'H' => write!(out, "{:02}", t.hour()),
        'i' => write!(out, "{:02}", t.minute()),
        's' => write!(out, "{:02}", t.second()),
        'e' | 'I' | 'O' | 'P' | 'p' | 'T' | 'Z' | 'c' | 'r' | 'U' | 'u' | 'v' | 'B' => Ok(()),
        '\\' => rest.next().map_or(Ok(()), |plain| out.write_char(plain)),
        plain => out.write_char(plain),
    }
}

fn ordinal_ending(day: u32) -> &'static str {
    match (day % 10, day) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

fn days_in_month(t: NaiveDateTime) -> u8 {
    match t.month() {
        2 if t.date().leap_year() => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::NaiveDate;

    /// Results of PHP's `gmdate` for the same time and formats.
    #[test]
    fn formats_as_php_does() {
        let t = NaiveDate::from_ymd_opt(2024, 2, 3).unwrap().and_hms_opt(0, 5, 9).unwrap();
        #[rustfmt::skip]
        let rows = [
            ("F j, Y", "February 3, 2024"), ("d/m/y", "03/02/24"), ("l jS \\o\\f F", "Saturday 3rd of February"),
            ("g:i a", "12:05 am"), ("h:i A", "12:05 AM"), ("G H i s", "0 00 05 09"), ("N w z t L W o", "6 6 33 29 1 05 2024"),
            ("D, M n", "Sat, Feb 2"), ("x X", "2024 +2024"), ("", ""), ("\\", ""),
        ];
        for (text, expected) in rows {
            assert_eq!(format(t, text), expected, "{text}");
        }
        let endings = [(1, "st"), (2, "nd"), (11, "th"), (12, "th"), (13, "th"), (21, "st"), (22, "nd"), (31, "st")];
        for (day, ending) in endings {
            assert_eq!(ordinal_ending(day), ending);
        }
    }
}
