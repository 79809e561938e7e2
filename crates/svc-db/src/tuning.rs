//! Intervals and sizes that tests reduce.

use std::time::Duration;

use crate::dialect::Dialect;

/// Called with the dialect, the prefix of table names, and the text of a statement before it is executed.
pub type OnStatement = fn(Dialect, &str, &str);

/// Intervals and sizes. The defaults are meant for use; tests reduce them.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Tuning {
    /// How long a transaction number must have been the highest of a server before it is used.
    pub settle_time: Duration,
    /// How long a server's start time is assumed to be unchanged on one connection.
    pub start_time_ttl: Duration,
    /// How long a logged table must not have been changed before the time of its last change identifies its state, in
    /// seconds.
    pub margin_seconds: i64,
    /// Comparisons of the logged rows take at most this part of the time.
    pub pause: u32,
    /// How often logged rows are compared although they do not seem to have changed, if other tables have.
    pub verify_interval: Duration,
    /// Number of logged rows that are hashed with one statement.
    pub compared_rows: u64,
    /// Observes the statements that are counted.
    pub on_statement: Option<OnStatement>,
}

impl Tuning {
    /// Short intervals and small sizes, for tests.
    pub const QUICK: Tuning = Tuning {
        settle_time: Duration::from_millis(20),
        start_time_ttl: Duration::from_millis(50),
        margin_seconds: 2,
        pause: 1,
        verify_interval: Duration::from_millis(500),
        compared_rows: 16,
        on_statement: None,
    };
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            settle_time: Duration::from_secs(1),
            start_time_ttl: Duration::from_secs(1),
            margin_seconds: 10,
            pause: 10,
            verify_interval: Duration::from_hours(1),
            compared_rows: 2_000,
            on_statement: None,
        }
    }
}
