//! The site's time zone.

use chrono::{Datelike as _, NaiveDateTime};
use svc_schema::dates::{SiteZone, date_with_gmt};

/// Converts between local time and UTC.
#[derive(Clone, Debug)]
pub struct TimeZone(SiteZone);

const STORED: &str = "%Y-%m-%d %H:%M:%S";

impl TimeZone {
    /// The zone of the options `timezone_string` and `gmt_offset` (hours).
    pub fn from_options(timezone: &str, gmt_offset: &str) -> Self {
        TimeZone(SiteZone::from_options(timezone, svc_php::numeric::text_to_float(gmt_offset)))
    }

    /// Converts local time to UTC.
    pub fn to_utc(&self, local: NaiveDateTime) -> NaiveDateTime {
        from_timestamp(self.0.to_utc(local.and_utc().timestamp()))
    }

    /// Converts UTC to local time.
    pub fn to_local(&self, utc: NaiveDateTime) -> NaiveDateTime {
        from_timestamp(self.0.to_local(utc.and_utc().timestamp()))
    }

    /// Parses a date of the REST API as local time; a time that is skipped at the start of daylight saving time is
    /// moved forward.
    pub fn parse_local(&self, text: &str) -> Option<NaiveDateTime> {
        self.parse(text, false).map(|(_, utc)| self.to_local(utc))
    }

    /// Formats a stored date for the REST API in local time, where times skipped by daylight saving time are moved
    /// forward. UTC dates are formatted the same way, as in WordPress.
    pub fn format_local(&self, stored: NaiveDateTime) -> String {
        self.to_local(self.to_utc(stored)).format("%Y-%m-%dT%H:%M:%S").to_string()
    }

    /// Offset from UTC in hours at a UTC timestamp.
    pub fn offset_hours(&self, utc: NaiveDateTime) -> f64 {
        self.0.offset_at(utc.and_utc().timestamp()) as f64 / 3600.0
    }

    /// Parses a date of the REST API as `(local, UTC)`. `is_utc` is the meaning of a date without offset
    /// (specification, "Date helpers"). `None` if the date is invalid.
    pub fn parse(&self, text: &str, is_utc: bool) -> Option<(NaiveDateTime, NaiveDateTime)> {
        let (local, utc) = date_with_gmt(text, is_utc, &self.0)?;
        // Years with more than four digits do not fit the columns.
        let read = |stored: &str| NaiveDateTime::parse_from_str(stored, STORED).ok().filter(|d| d.year() <= 9999);
        Some((read(&local)?, read(&utc)?))
    }
}

/// A timestamp in seconds since 1970 without zone; 1970 if out of chrono's range (beyond any stored year).
fn from_timestamp(seconds: i64) -> NaiveDateTime {
    chrono::DateTime::from_timestamp(seconds, 0).map(|d| d.naive_utc()).unwrap_or_default()
}
