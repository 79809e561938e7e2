//! The site's time zone.

use chrono::{Datelike as _, NaiveDateTime};
use svc_schema::dates::{SiteZone, date_with_gmt};

/// Turns stored moments of the site's zone into UTC and back.
#[derive(Clone, Debug)]
pub struct TimeZone(SiteZone);

const STORED: &str = "%Y-%m-%d %H:%M:%S";

impl TimeZone {
    /// The zone that the options `timezone_string` and `gmt_offset` (hours) name.
    pub fn from_options(timezone: &str, gmt_offset: &str) -> Self {
        TimeZone(SiteZone::from_options(timezone, svc_php::numeric::text_to_float(gmt_offset)))
    }

    /// A moment of the zone in UTC.
    pub fn to_utc(&self, local: NaiveDateTime) -> NaiveDateTime {
        moment(self.0.to_utc(local.and_utc().timestamp()))
    }

    /// A moment in UTC in the zone.
    pub fn to_local(&self, utc: NaiveDateTime) -> NaiveDateTime {
        moment(self.0.to_local(utc.and_utc().timestamp()))
    }

    /// A date of the interface on the zone's clock; a time that the clock skips counts on from before the jump.
    pub fn moment(&self, text: &str) -> Option<NaiveDateTime> {
        self.pair(text, false).map(|(_, utc)| self.to_local(utc))
    }

    /// A stored moment as the interface shows it: on the zone's clock, which skips an hour when summer time begins. Times of
    /// UTC are shown so too, as on the peer.
    pub fn shown(&self, stored: NaiveDateTime) -> String {
        self.to_local(self.to_utc(stored)).format("%Y-%m-%dT%H:%M:%S").to_string()
    }

    /// How many hours the zone is ahead of UTC at a moment in UTC.
    pub fn hours_at(&self, utc: NaiveDateTime) -> f64 {
        self.0.offset_at(utc.and_utc().timestamp()) as f64 / 3600.0
    }

    /// A date of the interface as `(local, UTC)`. `is_utc` says what a date without zone is in (specification, "Date
    /// helpers"). `None` when it is no date.
    pub fn pair(&self, text: &str, is_utc: bool) -> Option<(NaiveDateTime, NaiveDateTime)> {
        let (local, utc) = date_with_gmt(text, is_utc, &self.0)?;
        // Years of more digits have no place in the columns.
        let read = |stored: &str| NaiveDateTime::parse_from_str(stored, STORED).ok().filter(|d| d.year() <= 9999);
        Some((read(&local)?, read(&utc)?))
    }
}

/// Seconds since 1970 on a clock without zone; out of chrono's range (beyond any stored year) is the beginning.
fn moment(seconds: i64) -> NaiveDateTime {
    chrono::DateTime::from_timestamp(seconds, 0).map(|d| d.naive_utc()).unwrap_or_default()
}
