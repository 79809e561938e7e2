//! Ids that the recorded WordPress gave out during a run, and those of the server under test, related one to one.

use std::{collections::HashMap, ops::RangeInclusive};

/// Ids given out after the site was seeded. They are not compared by value.
const GIVEN_OUT: RangeInclusive<u64> = 100_001..=499_999;

/// Number of digits of such an id.
const DIGITS: usize = 6;

/// Which id of the server corresponds to which recorded id, within one scenario.
#[derive(Default)]
pub(crate) struct Ids {
    received: HashMap<u64, u64>,
    recorded: HashMap<u64, u64>,
}

impl Ids {
    /// Whether the received id corresponds to the recorded one; ids seen for the first time are related from now on.
    pub(crate) fn relate(&mut self, recorded: u64, received: u64) -> bool {
        match (self.received.get(&recorded), self.recorded.get(&received)) {
            (None, None) => {
                self.received.insert(recorded, received);
                self.recorded.insert(received, recorded);
                true
            }
            (there, back) => there == Some(&received) && back == Some(&recorded),
        }
    }
}

/// Whether a recorded number is an id that is related rather than compared.
pub(crate) fn is_given_out(id: u64) -> bool {
    GIVEN_OUT.contains(&id)
}

/// Reads such an id out of a run of digits.
pub(crate) fn given_out(digits: &str) -> Option<u64> {
    if digits.len() != DIGITS || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|id| is_given_out(*id))
}

/// Splits a text into what is between runs of digits, and these runs: texts at even indexes, digits at odd ones.
pub(crate) fn split_digits(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut in_digits) = (0, false);
    for (at, byte) in text.bytes().enumerate() {
        if byte.is_ascii_digit() != in_digits {
            parts.push(&text[start..at]);
            (start, in_digits) = (at, !in_digits);
        }
    }
    parts.push(&text[start..]);
    if in_digits {
        parts.push("");
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_related_one_to_one() {
        let mut ids = Ids::default();
        #[rustfmt::skip]
        let rows = [
            (100_001, 7, true), (100_001, 7, true), (100_001, 8, false), (100_002, 7, false),
            (100_003, 100_003, true), (100_004, 100_003, false), (100_003, 100_004, false),
        ];
        for (recorded, received, expected) in rows {
            assert_eq!(ids.relate(recorded, received), expected, "{recorded} {received}");
        }
    }

    #[test]
    fn texts_are_split_at_their_digits() {
        #[rustfmt::skip]
        let rows: [(&str, &[&str]); 4] = [
            ("", &[""]), ("é1", &["é", "1", ""]), ("12/x3y", &["", "12", "/x", "3", "y"]), ("x", &["x"]),
        ];
        for (text, parts) in rows {
            assert_eq!(split_digits(text), parts);
        }
        assert_eq!([given_out("100001"), given_out("1000010"), given_out("999999")], [Some(100_001), None, None]);
    }
}
