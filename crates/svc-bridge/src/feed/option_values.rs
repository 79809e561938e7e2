//! The times in the value of an option: many options have nothing but the time at which something was last done, or will be done next.

use std::hash::{DefaultHasher, Hasher as _};

/// Seconds by which a time may differ from the clock: a request takes some time until it writes.
const TOLERANCE: i64 = 2;

/// A value, as its times and a hash of the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Timed {
    rest: u64,
    /// Seconds, of unix times and of `2026-11-26 10:00:00` in whatever time zone.
    times: Vec<i64>,
}

impl Timed {
    pub(super) fn read(value: &[u8]) -> Self {
        let (mut hasher, mut times) = (DefaultHasher::new(), Vec::new());
        let mut bytes = value;
        while !bytes.is_empty() {
            let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let (length, time) = match date(bytes) {
                Some(time) => (DATE.len(), Some(time)),
                None if digits == 10 && matches!(bytes[0], b'1' | b'2') => (digits, Some(number(&bytes[..digits]))),
                None => (digits.max(1), None),
            };
            let (part, rest) = bytes.split_at(length);
            match time {
                Some(time) => {
                    times.push(time);
                    hasher.write_u8(1);
                }
                None => hasher.write(part),
            }
            bytes = rest;
        }
        Timed { rest: hasher.finish(), times }
    }

    /// Whether this value is followed by another one of which only times differ, and these by as much as the clock, so that each is the time of
    /// the write, or that time and a constant.
    pub(super) fn is_followed(&self, next: &Timed, seconds: i64) -> bool {
        let moved = |(before, after): (&i64, &i64)| before == after || (after - before - seconds).abs() <= TOLERANCE;
        self.rest == next.rest
            && !self.times.is_empty()
            && self.times.len() == next.times.len()
            && self.times.iter().zip(&next.times).all(moved)
    }
}

/// The form of dates: `0` is any digit.
const DATE: &[u8] = b"0000-00-00 00:00:00";

/// The date with which a text begins, in seconds.
fn date(bytes: &[u8]) -> Option<i64> {
    let text = bytes.get(..DATE.len())?;
    let is_date =
        text.iter().zip(DATE).all(|(byte, form)| if *form == b'0' { byte.is_ascii_digit() } else { byte == form });
    let part = |from: usize, to: usize| number(&text[from..to]);
    // Days since 1970 (https://howardhinnant.github.io/date_algorithms.html, `days_from_civil`).
    let (month, day) = (part(5, 7), part(8, 10));
    let year = part(0, 4) - i64::from(month <= 2);
    let (era, month) = (year.div_euclid(400), (month + 9) % 12);
    let year_of_era = year.rem_euclid(400);
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + (153 * month + 2) / 5 + day
        - 1
        - 719_468;
    is_date.then(|| days * 86_400 + part(11, 13) * 3_600 + part(14, 16) * 60 + part(17, 19))
}

fn number(digits: &[u8]) -> i64 {
    digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit.wrapping_sub(b'0') % 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_follow_the_clock() {
        #[track_caller]
        fn check(before: &str, after: &str, seconds: i64, expected: bool) {
            let [before, after] = [before, after].map(|value| Timed::read(value.as_bytes()));
            assert_eq!(before.is_followed(&after, seconds), expected, "{before:?} {after:?}");
        }
        assert_eq!(Timed::read(b"2024-02-29 12:00:01").times, [1_709_208_001]);
        check("{\"timeout\":1795765242}", "{\"timeout\":1795765249}", 7, true);
        check("{\"timeout\":1795765242}", "{\"timeout\":1795765249}", 5, true);
        check("{\"timeout\":1795765242}", "{\"timeout\":1795765249}", 4, false);
        check("1795765242;1795000000", "1795765249;1795000000", 7, true);
        check("at 2026-11-26 23:59:59", "at 2026-11-27 00:00:04", 5, true);
        check("at 2026-11-26 23:59:59", "on 2026-11-27 00:00:04", 5, false);
        check("1795765242 n 5", "1795765249 n 6", 7, false);
        check("5", "12", 7, false);
        check("1795765242", "1795765249,1795765249", 7, false);
        check("same", "same", 0, false);
    }
}
