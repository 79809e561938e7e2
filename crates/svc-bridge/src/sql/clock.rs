//! What finds something else the next time though no row has changed: clocks, chance, and variables of the session.

use std::{collections::HashSet, sync::LazyLock};

use crate::time;

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
        let seconds = time::seconds(text.as_bytes()).filter(|_| text.len() == time::LENGTH);
        seconds.is_some_and(|seconds| self.is_now(seconds) || self.is_now(seconds - self.offset))
    }
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
