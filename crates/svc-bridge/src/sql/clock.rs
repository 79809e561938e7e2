//! What finds something else the next time though no row has changed: clocks, chance, and variables of the session.

use std::{collections::HashSet, sync::LazyLock};

/// Differences between the clock and a time in a statement up to which that is the time of the statement, in seconds.
const NOW: i64 = 4;

/// Functions of time. UNIX_TIMESTAMP() counts only without arguments.
pub(super) const CLOCKS: [&str; 12] = [
    "NOW",
    "CURDATE",
    "CURTIME",
    "CURRENT_DATE",
    "CURRENT_TIME",
    "CURRENT_TIMESTAMP",
    "LOCALTIME",
    "LOCALTIMESTAMP",
    "UTC_DATE",
    "UTC_TIME",
    "UTC_TIMESTAMP",
    "SYSDATE",
];

/// Functions of chance, and of the session.
pub(super) const UNSTABLE: [&str; 19] = [
    "CURRENT_USER",
    "RAND",
    "RANDOM_BYTES",
    "UUID",
    "UUID_SHORT",
    "SLEEP",
    "BENCHMARK",
    "GET_LOCK",
    "RELEASE_LOCK",
    "RELEASE_ALL_LOCKS",
    "IS_FREE_LOCK",
    "IS_USED_LOCK",
    "LAST_INSERT_ID",
    "LASTVAL",
    "NEXTVAL",
    "SETVAL",
    "CONNECTION_ID",
    "ROW_COUNT",
    "LOAD_FILE",
];

/// Functions of MySQL and MariaDB that depend only on their arguments, or are [`CLOCKS`], and keywords in front of parentheses. Others may be
/// stored functions, which read anything.
static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| include_str!("functions.txt").split_whitespace().collect());

/// Whether a word in front of parentheses is a function that reads no tables, or a keyword.
pub(super) fn is_known(word: &str) -> bool {
    KNOWN.contains(&*word.to_ascii_uppercase())
}

/// Functions that may be called without parentheses.
pub(super) const BARE: [&str; 9] = [
    "CURRENT_DATE",
    "CURRENT_TIME",
    "CURRENT_TIMESTAMP",
    "CURRENT_USER",
    "LOCALTIME",
    "LOCALTIMESTAMP",
    "UTC_DATE",
    "UTC_TIME",
    "UTC_TIMESTAMP",
];

/// Variables that only change when somebody configures the database server, besides those of character sets.
const SETTINGS: [&str; 5] = ["time_zone", "sql_mode", "version", "max_allowed_packet", "lower_case_table_names"];

/// The clock while statements were run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    /// When the first one may have run and when the last one had, in seconds since the epoch.
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// Difference of the site's time zone, in seconds.
    pub(crate) offset: i64,
}

impl Clock {
    fn is_now(&self, seconds: i64) -> bool {
        (self.start - NOW..=self.end + NOW).contains(&seconds)
    }

    /// Whether a token is the time of the statement, as a number or a text.
    pub(super) fn is_time(&self, token: &str) -> bool {
        let text = token.trim_matches(['\'', '"']);
        if text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().is_ok_and(|seconds| self.is_now(seconds));
        }
        seconds_of(text).is_some_and(|seconds| self.is_now(seconds) || self.is_now(seconds - self.offset))
    }
}

/// Seconds since the epoch of a time such as `2026-11-27 14:00:00`, in UTC.
fn seconds_of(text: &str) -> Option<i64> {
    let is_time = text.len() == 19
        && text.bytes().zip("0000-00-00 00:00:00".bytes()).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            form => byte == form,
        });
    let number = |from: usize, end: usize| text.get(from..end)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    // Days since 0000-03-01: a year that begins in March has its leap day at the end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days =
        year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + (153 * month + 2) / 5 + day
            - 1
            - 719_468;
    is_time.then_some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

/// Whether tokens begin with a variable that only changes when somebody configures the database server.
pub(super) fn is_setting(tokens: &str) -> bool {
    let text = tokens.to_ascii_lowercase().replace('`', "");
    let text = text.trim_start_matches("@@");
    let text = text.strip_prefix("global.").or_else(|| text.strip_prefix("session.")).unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let is_charset =
        ["character_set_", "collation_"].iter().any(|start| name.len() > start.len() && name.starts_with(start));
    (SETTINGS.contains(&name) || is_charset) && !rest.starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_utc() {
        for (text, seconds) in [
            ("1970-01-01 00:00:00", Some(0)),
            ("2000-03-01 00:00:01", Some(951_868_801)),
            ("2024-02-29 23:59:59", Some(1_709_251_199)),
            ("2024-02-29T23:59:59", None),
            ("2024-02-29", None),
        ] {
            assert_eq!(seconds_of(text), seconds, "{text}");
        }
    }

    #[test]
    fn settings_of_the_server() {
        for (tokens, expected) in [
            ("@@SESSION.sql_mode", true),
            ("@@global.`time_zone`", true),
            ("@@collation_connection", true),
            ("@@sql_mode,@@a", true),
            ("@@collation_", false),
            ("@@wait_timeout", false),
            ("@@time_zone_other", false),
            ("@@sql_mode.a", false),
        ] {
            assert_eq!(is_setting(tokens), expected, "{tokens}");
        }
    }
}
