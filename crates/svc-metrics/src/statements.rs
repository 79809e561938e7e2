//! The statements of one request, for the log of slow requests.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// Number of statements that are kept: those that took longest.
const MAX_KEPT: usize = 10;

/// Length to which a statement is cut, in bytes.
const MAX_LENGTH: usize = 500;

/// How a quote within a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuoteEscapes {
    /// Doubled, as in SQLite and standard SQL.
    Doubled,
    /// Doubled, or with a backslash before it, as in MySQL.
    DoubledOrBackslash,
}

/// The statements of one request. Their values are hidden.
#[derive(Debug, Default)]
pub struct StatementLog(Mutex<StatementReport>);

/// What a [`StatementLog`] has recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatementReport {
    /// Number of statements.
    pub n_statements: usize,
    /// Time of all of them. Some may have run at the same time.
    pub time: Duration,
    /// Those that took longest, in the order in which they ended.
    pub slowest: Vec<(Duration, String)>,
}

impl StatementLog {
    /// Records a statement that has ended.
    pub fn record(&self, sql: &str, escapes: QuoteEscapes, took: Duration) {
        let mut report = self.report_mut();
        report.n_statements += 1;
        report.time += took;
        if report.slowest.len() == MAX_KEPT {
            let fastest = report.slowest.iter().enumerate().min_by_key(|(_, (took, _))| *took);
            match fastest {
                Some((position, (fastest, _))) if *fastest < took => drop(report.slowest.remove(position)),
                _ => return,
            }
        }
        report.slowest.push((took, without_values(sql, escapes)));
    }

    /// What was recorded so far.
    pub fn report(&self) -> StatementReport {
        self.report_mut().clone()
    }

    fn report_mut(&self) -> MutexGuard<'_, StatementReport> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The beginning of a statement, at most 500 bytes, with `?` for each text and number.
pub fn without_values(sql: &str, escapes: QuoteEscapes) -> String {
    let mut text = String::new();
    let mut chars = sql.chars().peekable();
    let mut is_in_name = false;
    while let Some(c) = chars.next() {
        if text.len() >= MAX_LENGTH {
            text.push('…');
            break;
        }
        if c == '\'' {
            text.push('?');
            while let Some(inner) = chars.next() {
                if inner == '\\' && escapes == QuoteEscapes::DoubledOrBackslash {
                    chars.next();
                } else if inner == '\'' && chars.next_if_eq(&'\'').is_none() {
                    break;
                }
            }
        } else if c.is_ascii_digit() && !is_in_name {
            text.push('?');
            while chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '.').is_some() {}
        } else {
            text.push(c);
        }
        is_in_name = c.is_alphanumeric() && !c.is_ascii_digit() || c == '_' || is_in_name && c.is_ascii_digit();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_hidden() {
        let (doubled, backslash) = (QuoteEscapes::Doubled, QuoteEscapes::DoubledOrBackslash);
        for (sql, expected) in [
            ("SELECT a FROM wp_2_posts WHERE id = ? AND b = 12.5", "SELECT a FROM wp_2_posts WHERE id = ? AND b = ?"),
            ("x IN (1, 23,0xff) LIMIT 5", "x IN (?, ?,?) LIMIT ?"),
            ("a = 'secret' AND b = 'it''s 5' OR c", "a = ? AND b = ? OR c"),
            ("a = 'x", "a = ?"),
            ("", ""),
        ] {
            assert_eq!([doubled, backslash].map(|escapes| without_values(sql, escapes)), [expected; 2]);
        }
        assert_eq!(without_values(r"a = 'it\'s' AND b1 = 'x", backslash), "a = ? AND b1 = ?");
        assert_eq!(without_values(r"a LIKE ? ESCAPE '\' AND b = 'secret'", doubled), "a LIKE ? ESCAPE ? AND b = ?");
        let long = without_values(&"é".repeat(MAX_LENGTH), doubled);
        assert!(long.len() <= MAX_LENGTH + '…'.len_utf8() && long.ends_with('…'));
    }

    #[test]
    fn the_slowest_are_kept() {
        let log = StatementLog::default();
        for n in 1..=30 {
            log.record(
                &format!("S{}", char::from(b'A' + n as u8 % 26)),
                QuoteEscapes::Doubled,
                Duration::from_millis(if n % 2 == 0 { 1 } else { n }),
            );
        }
        let report = log.report();
        assert_eq!((report.n_statements, report.time.as_millis()), (30, 225 + 15));
        let times: Vec<u128> = report.slowest.iter().map(|(took, _)| took.as_millis()).collect();
        assert_eq!(times, [11, 13, 15, 17, 19, 21, 23, 25, 27, 29]);
    }
}
