//! When to ask the authority: with growing pauses after failures, also over restarts, and never twice a day after a success.

use chrono::{NaiveDateTime, TimeDelta};
use serde::{Deserialize, Serialize};

/// Pause after the first failure. Let's Encrypt allows five failures an hour.
const FIRST_PAUSE: TimeDelta = TimeDelta::minutes(5);

/// The longest pause after a failure.
const LONGEST_PAUSE: TimeDelta = TimeDelta::hours(6);

/// Pause after a success, whatever the clock shows. Let's Encrypt issues five equal certificates a week.
const AFTER_SUCCESS: TimeDelta = TimeDelta::days(1);

/// Attempts to get a certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Attempts {
    purpose: String,
    /// Failures since the last success. An attempt counts as a failure until it succeeds.
    n_failures: u32,
    last: Option<NaiveDateTime>,
    /// Why the last attempt failed.
    #[serde(default)]
    error: Option<String>,
}

impl Attempts {
    /// The stored attempts, if they were for this purpose.
    pub(super) fn of(stored: Option<Attempts>, purpose: &str) -> Self {
        let none = || Attempts { purpose: purpose.to_owned(), ..Attempts::default() };
        stored.filter(|attempts| attempts.purpose == purpose).unwrap_or_else(none)
    }

    /// With an attempt that begins now.
    pub(super) fn begin(self, now: NaiveDateTime) -> Self {
        Attempts { n_failures: self.n_failures.saturating_add(1), last: Some(now), ..self }
    }

    /// After an attempt that succeeded.
    pub(super) fn succeed(self) -> Self {
        Attempts { n_failures: 0, error: None, ..self }
    }

    /// After an attempt that failed.
    pub(super) fn fail(self, error: String) -> Self {
        Attempts { error: Some(error), ..self }
    }

    pub(super) fn into_error(self) -> Option<String> {
        self.error
    }

    /// The time of the next attempt: the earliest time if there was none.
    pub(super) fn due(&self) -> NaiveDateTime {
        let Some(last) = self.last else { return NaiveDateTime::MIN };
        let pause = match self.n_failures {
            0 => AFTER_SUCCESS,
            n => (FIRST_PAUSE * 2_i32.pow((n - 1).min(10))).min(LONGEST_PAUSE),
        };
        last + pause
    }

    pub(super) fn last(&self) -> Option<NaiveDateTime> {
        self.last
    }

    pub(super) fn n_failures(&self) -> u32 {
        self.n_failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end_with_a_success() {
        let start: NaiveDateTime = "2030-01-01T00:00:00".parse().unwrap();
        let mut attempts = Attempts::of(None, "a");
        assert!(attempts.due() < start, "the first attempt is at once");
        let mut pauses = Vec::new();
        for _ in 0..9 {
            attempts = attempts.begin(start);
            pauses.push((attempts.due() - start).num_minutes());
        }
        assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 320, 360, 360]);
        let stored: Attempts = serde_json::from_str(&serde_json::to_string(&attempts).unwrap()).unwrap();
        assert_eq!(Attempts::of(Some(stored.clone()), "a"), attempts, "a restart changes nothing");
        assert_eq!(Attempts::of(Some(stored), "b"), Attempts::of(None, "b"), "other names are tried at once");
        assert_eq!((attempts.succeed().due() - start).num_hours(), 24);
    }
}
