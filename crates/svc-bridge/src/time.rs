//! Times as databases and PHP write them: `2026-11-27 14:00:00`.

use chrono::NaiveDateTime;

/// The form of a time: `0` is any digit.
const FORM: &[u8] = b"0000-00-00 00:00:00";

/// Length of a time, in bytes.
pub(crate) const LENGTH: usize = FORM.len();

/// Seconds since the epoch of the time with which a text begins, in UTC. `None` if it begins with something else.
pub(crate) fn seconds(text: &[u8]) -> Option<i64> {
    let text = text.get(..LENGTH)?;
    let is_time =
        text.iter().zip(FORM).all(|(byte, form)| if *form == b'0' { byte.is_ascii_digit() } else { byte == form });
    let text = std::str::from_utf8(text).ok().filter(|_| is_time)?;
    NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S").ok().map(|time| time.and_utc().timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_utc() {
        for (text, expected) in [
            ("1970-01-01 00:00:00", Some(0)),
            ("2000-03-01 00:00:01 and more", Some(951_868_801)),
            ("2024-02-29 23:59:59", Some(1_709_251_199)),
            ("2024-02-29T23:59:59", None),
            ("2024-02-29", None),
            ("2024-13-01 00:00:00", None),
            ("0000-00-00 00:00:00", None),
        ] {
            assert_eq!(seconds(text.as_bytes()), expected, "{text}");
        }
    }
}
