//! Dates of the REST API and the database: RFC 3339 strings, the site's time zone, and `Y-m-d H:i:s` columns.
//!
//! Source: specification, "Date helpers". Nothing here reads the clock.

use chrono::{DateTime, MappedLocalTime, NaiveDateTime, Offset, TimeZone};
use chrono_tz::Tz;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// The time zone of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteZone {
    /// A zone of the IANA time zone database.
    Named(Tz),
    /// A fixed offset, in seconds east of UTC.
    Offset(i32),
}

impl SiteZone {
    /// The zone of the options `timezone_string` and `gmt_offset` (in hours east of UTC). A valid name takes
    /// precedence; otherwise the offset is truncated to whole minutes.
    pub fn from_options(timezone_string: &str, gmt_offset: f64) -> Self {
        if !timezone_string.is_empty()
            && let Ok(zone) = timezone_string.parse()
        {
            return SiteZone::Named(zone);
        }
        let hours = if gmt_offset.is_finite() { gmt_offset.clamp(-99.0, 99.0) } else { 0.0 };
        SiteZone::Offset((hours * 60.0).trunc() as i32 * 60)
    }

    /// UTC.
    pub const UTC: SiteZone = SiteZone::Offset(0);

    /// The offset at a timestamp, in seconds east of UTC.
    pub fn offset_at(&self, timestamp: i64) -> i64 {
        match self {
            SiteZone::Offset(seconds) => i64::from(*seconds),
            SiteZone::Named(zone) => {
                naive(timestamp).map_or(0, |utc| i64::from(zone.offset_from_utc_datetime(&utc).fix().local_minus_utc()))
            }
        }
    }

    /// The local time of a timestamp, as seconds since the epoch on the local clock.
    pub fn to_local(&self, timestamp: i64) -> i64 {
        timestamp.saturating_add(self.offset_at(timestamp))
    }

    /// The timestamp of a local time. An ambiguous time has the offset that is valid when the clock shows it in UTC, as
    /// in WordPress: the first occurrence west of Greenwich, the second east of it. A skipped time uses the offset
    /// before the transition.
    pub fn to_utc(&self, local: i64) -> i64 {
        let offset = match self {
            SiteZone::Offset(seconds) => i64::from(*seconds),
            SiteZone::Named(zone) => {
                let found = naive(local).map(|time| zone.offset_from_local_datetime(&time));
                match found {
                    Some(MappedLocalTime::Single(offset)) => i64::from(offset.fix().local_minus_utc()),
                    Some(MappedLocalTime::Ambiguous(first, second)) => {
                        let [first, second] = [first, second].map(|offset| i64::from(offset.fix().local_minus_utc()));
                        if self.offset_at(local) == second { second } else { first }
                    }
                    // In a gap: the old offset. No zone is a day ahead of UTC, so the clock shows this time, less a day,
                    // in UTC before the transition.
                    Some(MappedLocalTime::None) | None => self.offset_at(local.saturating_sub(DAY)),
                }
            }
        };
        local.saturating_sub(offset)
    }
}

fn naive(seconds: i64) -> Option<NaiveDateTime> {
    DateTime::from_timestamp(seconds, 0).map(|time| time.naive_utc())
}

/// Days from the epoch to a day of the proleptic Gregorian calendar. Month and day may be out of range and carry over.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let months = year * 12 + month - 1;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    // Years start in March, so that the leap day comes last.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Year, month and day of a number of days since the epoch.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// A UTC or local time as `Y-m-d H:i:s`, with `separator` in the middle. Years before 0 have a minus sign.
fn format(seconds: i64, separator: char) -> String {
    let (year, month, day) = civil(seconds.div_euclid(DAY));
    let time = seconds.rem_euclid(DAY);
    let sign = if year < 0 { "-" } else { "" };
    let (hour, minute, second) = (time / HOUR, time % HOUR / MINUTE, time % MINUTE);
    format!("{sign}{:04}-{month:02}-{day:02}{separator}{hour:02}:{minute:02}:{second:02}", year.abs())
}

/// Parses a string from its start.
struct DateReader<'t>(&'t [u8]);

impl DateReader<'_> {
    /// Reads as many digits as there are, between `min` and `max`.
    fn digits(&mut self, min: usize, max: usize) -> Option<i64> {
        let n = self.0.iter().take(max).take_while(|b| b.is_ascii_digit()).count();
        if n < min {
            return None;
        }
        let (digits, rest) = self.0.split_at(n);
        self.0 = rest;
        Some(digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
    }

    fn one_of(&mut self, bytes: &[u8]) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        if !bytes.contains(first) {
            return None;
        }
        self.0 = rest;
        Some(*first)
    }

    /// Skips an optional fraction: `.` and one or more digits.
    fn fraction(&mut self) {
        let n = self.0.iter().skip(1).take_while(|b| b.is_ascii_digit()).count();
        if self.0.first() == Some(&b'.') && n > 0 {
            self.0 = &self.0[1 + n..];
        }
    }
}

/// A parsed date and time with its offset.
struct ParsedDate {
    /// Seconds since the epoch on the clock of its zone.
    clock: i64,
    /// Seconds east of UTC; `None` without a zone.
    offset: Option<i64>,
}

/// The time within the limits of a date string: hour 24 and second 60 carry over.
fn clock(days: i64, hour: i64, minute: i64, second: i64) -> Option<i64> {
    let fits = hour <= 24 && minute <= 59 && second <= 60;
    fits.then(|| days * DAY + hour * HOUR + minute * MINUTE + second)
}

/// Day 0 and month 0 carry over backwards. Day 32 and month 13 are invalid, whatever the month.
fn day(year: i64, month: i64, day: i64) -> Option<i64> {
    (month <= 12 && day <= 31).then(|| days_of(year, month, day))
}

/// `Z`, `+HH` (any two digits) or `+HH:MM` (up to 24 hours); `Some(None)` at the end of the string.
fn zone(reader: &mut DateReader<'_>) -> Option<Option<i64>> {
    if reader.0.is_empty() {
        return Some(None);
    }
    if reader.one_of(b"Z").is_some() {
        return Some(Some(0));
    }
    let sign = if reader.one_of(b"+-")? == b'-' { -1 } else { 1 };
    let hours = reader.digits(2, 2)?;
    let mut seconds = hours * HOUR;
    if reader.one_of(b":").is_some() {
        let minutes = reader.digits(2, 2)?;
        if hours > 24 || minutes > 59 {
            return None;
        }
        seconds += minutes * MINUTE;
    }
    Some(Some(sign * seconds))
}

/// Parses the RFC 3339 form that the REST API accepts, with nothing after it.
fn parse_rfc3339(text: &str) -> Option<ParsedDate> {
    let mut reader = DateReader(text.as_bytes());
    let year = reader.digits(4, 4)?;
    reader.one_of(b"-")?;
    let month = reader.digits(2, 2)?;
    reader.one_of(b"-")?;
    let days = day(year, month, reader.digits(2, 2)?)?;
    reader.one_of(b"Tt ")?;
    let hour = reader.digits(2, 2)?;
    reader.one_of(b":")?;
    let minute = reader.digits(2, 2)?;
    reader.one_of(b":")?;
    let second = reader.digits(2, 2)?;
    reader.fraction();
    let offset = zone(&mut reader)?;
    if reader.0.is_empty() { Some(ParsedDate { clock: clock(days, hour, minute, second)?, offset }) } else { None }
}

/// The string with its trailing offset (sign, digits, optional colon) replaced by `+00:00`.
fn with_offset_zero(text: &str) -> Option<String> {
    let sign = text.rfind(['+', '-'])?;
    let body = &text[sign + 1..];
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let fits = match body.split_once(':') {
        Some((hours, minutes)) => is_digits(hours) && is_digits(minutes),
        None => body.len() >= 2 && is_digits(body),
    };
    fits.then(|| format!("{}+00:00", &text[..sign]))
}

/// The timestamp of a date string; `None` if it is invalid.
///
/// The form is `YYYY-MM-DD`, one of `T`, `t` and space, `HH:MM:SS`, an optional fraction (ignored), and an optional
/// `Z`, `±HH` or `±HH:MM`. The default zone is UTC. With `force_utc`, a trailing offset is ignored.
pub fn parse_date(text: &str, force_utc: bool) -> Option<i64> {
    let zeroed = if force_utc { with_offset_zero(text) } else { None };
    let parsed = parse_rfc3339(zeroed.as_deref().unwrap_or(text))?;
    Some(parsed.clock - parsed.offset.unwrap_or(0))
}

/// The local and UTC time of a date string, each as `Y-m-d H:i:s`; `None` if it is invalid.
///
/// A string without a zone is local time, unless `is_utc` is true.
pub fn date_with_gmt(text: &str, is_utc: bool, zone: &SiteZone) -> Option<(String, String)> {
    let parsed = parse_rfc3339(text)?;
    let (local, utc) = match parsed.offset {
        None if !is_utc => (parsed.clock, zone.to_utc(parsed.clock)),
        offset => {
            let utc = parsed.clock - offset.unwrap_or(0);
            (zone.to_local(utc), utc)
        }
    };
    Some((format(local, ' '), format(utc, ' ')))
}

/// Parses a date of a database column or form: `Y-m-d`, `y-m-d`, `d-m-Y` or `Y/m/d`, with one or two digits for month
/// and day, and an optional time and zone.
fn parse_column(text: &str) -> Option<ParsedDate> {
    let text = text.trim_matches([' ', '\t', '\n']);
    let (is_bce, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut reader = DateReader(text.as_bytes());
    let n_digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let first = reader.digits(1, 4)?;
    let separator = [reader.one_of(b"-/")?];
    let second = reader.digits(1, 2)?;
    reader.one_of(&separator)?;
    let days = if n_digits <= 2 && reader.0.iter().take_while(|b| b.is_ascii_digit()).count() == 4 {
        day(reader.digits(4, 4)?, second, first)?
    } else {
        let year = match n_digits {
            1 | 2 if first < 70 => first + 2000,
            1 | 2 => first + 1900,
            _ => first,
        };
        day(if is_bce { -year } else { year }, second, reader.digits(1, 2)?)?
    };
    if reader.0.is_empty() {
        return Some(ParsedDate { clock: days * DAY, offset: None });
    }
    reader.one_of(b"Tt ")?;
    let hour = reader.digits(1, 2)?;
    reader.one_of(b":")?;
    let minute = reader.digits(1, 2)?;
    let mut seconds = 0;
    if reader.one_of(b":").is_some() {
        seconds = reader.digits(1, 2)?;
        reader.fraction();
    }
    while reader.one_of(b" ").is_some() {}
    let offset = zone(&mut reader)?;
    if reader.0.is_empty() { Some(ParsedDate { clock: clock(days, hour, minute, seconds)?, offset }) } else { None }
}

/// The timestamp of a column, which is local time unless it has a zone; the epoch if it is invalid.
fn column_timestamp(text: &str, zone: &SiteZone) -> i64 {
    match parse_column(text) {
        Some(ParsedDate { clock, offset: Some(offset) }) => clock - offset,
        Some(ParsedDate { clock, offset: None }) => zone.to_utc(clock),
        None => 0,
    }
}

/// Converts local time to UTC, both `Y-m-d H:i:s`. An invalid date becomes the epoch.
pub fn to_gmt(local: &str, zone: &SiteZone) -> String {
    format(column_timestamp(local, zone), ' ')
}

/// Converts UTC to local time, both `Y-m-d H:i:s`. An invalid date becomes the epoch in UTC.
pub fn from_gmt(utc: &str, zone: &SiteZone) -> String {
    match parse_column(utc) {
        Some(ParsedDate { clock, offset }) => format(zone.to_local(clock - offset.unwrap_or(0)), ' '),
        None => format(0, ' '),
    }
}

/// As [`to_gmt`], in the form `Y-m-dTH:i:s+00:00`.
pub fn to_gmt_rfc3339(local: &str, zone: &SiteZone) -> String {
    format!("{}+00:00", format(column_timestamp(local, zone), 'T'))
}

/// As [`from_gmt`], in the form `Y-m-dTH:i:s+02:00` with the local offset.
pub fn from_gmt_rfc3339(utc: &str, zone: &SiteZone) -> String {
    let timestamp = column_timestamp(utc, &SiteZone::UTC);
    let offset = zone.offset_at(timestamp);
    let sign = if offset < 0 { '-' } else { '+' };
    let minutes = offset.abs() / MINUTE;
    format!("{}{sign}{:02}:{:02}", format(timestamp + offset, 'T'), minutes / 60, minutes % 60)
}

/// A column as `Y-m-dTH:i:s` without a zone; `None` if it is empty or invalid.
pub fn mysql_to_rfc3339(text: &str) -> Option<String> {
    parse_column(text).map(|parsed| format(parsed.clock, 'T'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps() {
        let rows: &[(&str, bool, Option<i64>)] = &[
            ("2020-02-29T23:59:59Z", false, Some(1_583_020_799)),
            ("2020-02-29 23:59:59", false, Some(1_583_020_799)),
            ("2020-02-29t23:59:59.123456Z", false, Some(1_583_020_799)),
            ("2017-01-16T11:30:00-05:30", false, Some(1_484_586_000)),
            ("2017-01-16T11:30:00-05:30", true, Some(1_484_566_200)),
            ("2019-11-02 23:30:60+5:30", true, Some(1_572_737_460)),
            ("2019-11-02 23:30:60+5:30", false, None),
            ("2025-02-31 23:59:00", false, Some(1_741_046_340)),
            ("2020-01-01T24:00:00Z", false, Some(1_577_923_200)),
            ("0000-00-00T00:00:00", false, Some(-62_169_984_000)),
            ("2020-01-01T00:00:00+99", false, Some(1_577_480_400)),
            ("2020-01-01T00:00:00+24:00", false, Some(1_577_750_400)),
            ("2020-01-01T00:00:00-05:59", false, Some(1_577_858_340)),
            // Only a whole offset is ignored: digits, at least two without a colon.
            ("2020-01-01T00:00:00+05", true, Some(1_577_836_800)),
            ("2020-01-01T00:00:00+5", true, None),
            ("2020-01-01T00:00:00+ab", true, None),
            ("2020-01-01T00:00:00+05:xx", true, None),
            ("1970-01-01T00:00:00Z", false, Some(0)),
            ("2020-01-01T00:00:00z", false, None),
            ("2020-01-01T00:00:00.Z", false, None),
            ("2020-01-01T00:00:00+25:00", false, None),
            ("2020-01-01T00:00:00+14:60", false, None),
            ("2020-13-01T00:00:00", false, None),
            ("2020-01-01T00:60:00", false, None),
            ("2020-01-01", true, None),
            // WordPress accepts a trailing line feed.
            ("2020-02-29T23:59:59Z\n", false, None),
            ("2020-02-29T23:59:59\n", false, None),
        ];
        for (text, force_utc, expected) in rows {
            assert_eq!(parse_date(text, *force_utc), *expected, "{text:?}");
        }
    }

    #[test]
    fn local_and_utc() {
        let new_york = SiteZone::from_options("America/New_York", 0.0);
        let india = SiteZone::from_options("", 5.5);
        let check = |text, is_utc, zone: &SiteZone, local: &str, utc: &str| {
            assert_eq!(date_with_gmt(text, is_utc, zone), Some((local.to_owned(), utc.to_owned())), "{text}");
        };
        check("2020-07-01T12:00:00", false, &new_york, "2020-07-01 12:00:00", "2020-07-01 16:00:00");
        check("2020-07-01T12:00:00", true, &new_york, "2020-07-01 08:00:00", "2020-07-01 12:00:00");
        check("2020-07-01T12:00:00Z", false, &india, "2020-07-01 17:30:00", "2020-07-01 12:00:00");
        check("2020-07-01T12:00:00+02:00", false, &india, "2020-07-01 15:30:00", "2020-07-01 10:00:00");
        // The skipped hour, and the first occurrence of the repeated hour.
        check("2020-03-08T02:30:00", false, &new_york, "2020-03-08 02:30:00", "2020-03-08 07:30:00");
        check("2020-11-01T01:30:00", false, &new_york, "2020-11-01 01:30:00", "2020-11-01 05:30:00");
        // A skipped day.
        let apia = SiteZone::from_options("Pacific/Apia", 0.0);
        check("2011-12-30T12:00:00", false, &apia, "2011-12-30 12:00:00", "2011-12-30 22:00:00");
        assert_eq!(date_with_gmt("yesterday", false, &india), None);
    }

    #[test]
    fn time_zone_options() {
        for (offset, seconds) in [(-0.5, -1800), (5.75, 20_700), (1.333, 4740), (f64::NAN, 0), (1e300, 356_400)] {
            assert_eq!(SiteZone::from_options("", offset), SiteZone::Offset(seconds));
        }
        assert_eq!(SiteZone::from_options("Nowhere/Land", 2.0), SiteZone::Offset(7200));
    }

    #[test]
    fn database_columns() {
        let rows = [
            ("2020-1-1 1:2:3", Some("2020-01-01T01:02:03")),
            ("15-03-2016 18:54:46", Some("2016-03-15T18:54:46")),
            ("16-03-02 19:13", Some("2016-03-02T19:13:00")),
            ("69-12-31", Some("2069-12-31T00:00:00")),
            ("70-01-01", Some("1970-01-01T00:00:00")),
            ("0000-01-01", Some("0000-01-01T00:00:00")),
            // The last day of a cycle of 400 years, and days after a February without a leap day.
            ("2000-02-29", Some("2000-02-29T00:00:00")),
            ("2101-03-01", Some("2101-03-01T00:00:00")),
            ("2200-02-28", Some("2200-02-28T00:00:00")),
            ("0000-00-00 00:00:00", Some("-0001-11-30T00:00:00")),
            ("-0001-11-30 00:00:00", Some("-0001-11-30T00:00:00")),
            ("2020-01-01 00:00:00 +02:00", Some("2020-01-01T00:00:00")),
            ("", None),
            ("abc", None),
        ];
        for (text, expected) in rows {
            assert_eq!(mysql_to_rfc3339(text).as_deref(), expected, "{text}");
        }
        let india = SiteZone::from_options("Asia/Kolkata", 0.0);
        assert_eq!(to_gmt("0000-00-00 00:00:00", &india), "-0001-11-29 18:06:32");
        assert_eq!(from_gmt("2012-06-01 12:34:56", &india), "2012-06-01 18:04:56");
        assert_eq!(from_gmt_rfc3339("2012-06-01 12:34:56", &india), "2012-06-01T18:04:56+05:30");
        assert_eq!(to_gmt_rfc3339("2012-06-01 12:34:56", &india), "2012-06-01T07:04:56+00:00");
        assert_eq!(from_gmt_rfc3339("2012-06-01 12:34:56", &SiteZone::UTC), "2012-06-01T12:34:56+00:00");
        let marquesas = SiteZone::from_options("Pacific/Marquesas", 0.0);
        assert_eq!(from_gmt_rfc3339("2012-06-01 12:34:56", &marquesas), "2012-06-01T03:04:56-09:30");
        // A column's own zone takes precedence.
        assert_eq!(to_gmt("2020-01-01 00:00:00 +02:00", &india), "2019-12-31 22:00:00");
        assert_eq!(from_gmt("2020-01-01 00:00:00 +02:00", &india), "2020-01-01 03:30:00");
    }
}
