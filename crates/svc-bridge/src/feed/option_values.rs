//! Values of options that each request writes, also those that are no reads: a counter, or the time at which something was last done, or will be done
//! next. What such a write changes is told apart from other changes.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hasher as _},
};

use crate::time;

/// Most options of which values are remembered.
const OPTIONS: usize = 1_000;

/// Seconds by which a time may differ from the clock: a request takes some time until it writes.
const TOLERANCE: i64 = 2;

/// A value, as far as two are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OptionValue {
    /// A hash of it without its digits.
    without_digits: u64,
    timed: Timed,
}

/// A value, as its times and a hash of the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Timed {
    rest: u64,
    /// Seconds, of unix times and of `2026-11-26 10:00:00` in whatever time zone.
    times: Vec<i64>,
}

impl OptionValue {
    pub(super) fn read(value: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        value.split(u8::is_ascii_digit).filter(|part| !part.is_empty()).for_each(|part| hasher.write(part));
        OptionValue { without_digits: hasher.finish(), timed: Timed::read(value) }
    }

    /// Reads what the connector reports of a value: two hashes in hexadecimal digits, and the times, each after a space.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(' ');
        let mut hash = || u64::from_str_radix(parts.next()?, 16).ok();
        let (without_digits, rest) = (hash()?, hash()?);
        let times = parts.map(|time| time.parse().ok()).collect::<Option<_>>()?;
        Some(OptionValue { without_digits, timed: Timed { rest, times } })
    }
}

/// The values that were written last.
#[derive(Debug, Default)]
pub(super) struct OptionValues {
    /// What renderings last wrote, without digits.
    by_reads: HashMap<Box<[u8]>, u64>,
    /// What was written by anybody, and when.
    last: HashMap<Box<[u8]>, (i64, OptionValue)>,
}

impl OptionValues {
    /// The last value of an option that was added.
    pub(super) fn last(&self, option: &[u8]) -> Option<OptionValue> {
        self.last.get(option).map(|(_, value)| value.clone())
    }

    /// Forgets the value of an option, or of all, which is not known any more.
    pub(super) fn forget(&mut self, option: Option<&[u8]>) {
        match option {
            Some(option) => drop(self.last.remove(option)),
            None => self.last.clear(),
        }
    }

    /// Adds a write at a time in seconds. Returns whether it changes the option as renderings do, by whatever request: they write it as well, and only
    /// digits differ, or only times differ, by as much as the clock since it was written before. `before` is the value that it replaces; `None` if it
    /// changes something else as well.
    pub(super) fn add(
        &mut self,
        option: &[u8],
        before: Option<&OptionValue>,
        after: OptionValue,
        now: i64,
        is_by_read: bool,
    ) -> bool {
        let is_alike = before.is_some_and(|before| {
            let last = self.last.get(option).filter(|(_, last)| last == before);
            last.is_some_and(|(then, last)| last.timed.is_followed(&after.timed, now - then))
                || before.without_digits == after.without_digits
                    && self.by_reads.get(option) == Some(&before.without_digits)
        });
        if is_by_read {
            bounded(&mut self.by_reads).insert(option.into(), after.without_digits);
        }
        bounded(&mut self.last).insert(option.into(), (now, after));
        is_alike
    }
}

/// The map, empty if it was full.
fn bounded<T>(values: &mut HashMap<Box<[u8]>, T>) -> &mut HashMap<Box<[u8]>, T> {
    if values.len() >= OPTIONS {
        values.clear();
    }
    values
}

impl Timed {
    fn read(value: &[u8]) -> Self {
        let (mut hasher, mut times) = (DefaultHasher::new(), Vec::new());
        let mut bytes = value;
        while !bytes.is_empty() {
            let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let number = || std::str::from_utf8(&bytes[..digits]).ok()?.parse().ok();
            let (length, time) = match time::seconds(bytes) {
                Some(time) => (time::LENGTH, Some(time)),
                None if digits == 10 && matches!(bytes[0], b'1' | b'2') => (digits, number()),
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
    fn is_followed(&self, next: &Timed, seconds: i64) -> bool {
        let moved = |(before, after): (&i64, &i64)| before == after || (after - before - seconds).abs() <= TOLERANCE;
        self.rest == next.rest
            && !self.times.is_empty()
            && self.times.len() == next.times.len()
            && self.times.iter().zip(&next.times).all(moved)
    }
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

    #[test]
    fn writes_of_each_request_are_told_apart() {
        let mut values = OptionValues::default();
        let mut write = |before: &str, after: &str, now, is_by_read| {
            let [before, after] = [before, after].map(|value| OptionValue::read(value.as_bytes()));
            values.add(b"a", Some(&before), after, now, is_by_read)
        };
        // A counter, once a rendering has written it.
        assert!(!write("n 1", "n 2", 10, false) && !write("n 2", "n 3", 20, true));
        assert!(write("n 3", "n 4", 30, false) && !write("n 4", "m 5", 40, false));
        // A time.
        assert!(!write("m 5", "at 1795765242", 50, false) && write("at 1795765242", "at 1795765252", 60, false));
        assert!(!write("at 1795765252", "at 1795769999", 70, false));
        // Another program has written in between.
        assert!(!write("at 1795765253", "at 1795769999", 80, false));
        assert_eq!(values.last(b"a"), Some(OptionValue::read(b"at 1795769999")));
        assert!(!values.add(b"a", None, OptionValue::read(b"at 1795770009"), 90, false), "something else as well");
        let reported = OptionValue::parse("1f 20 1795765242 5").unwrap();
        let timed = Timed { rest: 32, times: vec![1_795_765_242, 5] };
        assert_eq!(reported, OptionValue { without_digits: 31, timed });
        assert_eq!(OptionValue::parse("1 2").unwrap().timed.times, Vec::<i64>::new());
        assert_eq!(
            [OptionValue::parse(""), OptionValue::parse("1 x"), OptionValue::parse("1 2 x")],
            [None, None, None]
        );
    }
}
