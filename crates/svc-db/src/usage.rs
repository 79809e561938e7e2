//! What a database has done so far, and what it is doing: numbers for a monitoring system.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use svc_metrics::{Histogram, HistogramReport, Outcomes, QuoteEscapes, StatementLog, without_values};
use svc_traces::TARGET;
use tracing::Span;

use crate::dialect::Dialect;

/// The kinds of statements that are told apart.
const KINDS: [&str; 5] = ["select", "insert", "update", "delete", "other"];

/// Counters that all connections of a database share.
#[derive(Debug)]
pub(crate) struct Counters {
    statements: [Histogram; KINDS.len()],
    pub(crate) transactions: Outcomes<2>,
    pub(crate) commits: Histogram,
    /// Transactions that wait in the writer's queue (SQLite).
    pub(crate) queued: AtomicUsize,
}

/// The outcome of a transaction that was committed.
pub(crate) const COMMITTED: &str = "committed";

/// The outcome of a transaction that has changed nothing.
pub(crate) const ROLLED_BACK: &str = "rolled_back";

impl Default for Counters {
    fn default() -> Self {
        Counters {
            statements: Default::default(),
            transactions: Outcomes::new([COMMITTED, ROLLED_BACK]),
            commits: Histogram::default(),
            queued: AtomicUsize::new(0),
        }
    }
}

impl Counters {
    /// Counts a statement when the result is dropped, and records it in the log and the trace of its request.
    pub(crate) fn statement(&self, dialect: Dialect, sql: &str, log: Option<Arc<StatementLog>>) -> Timer<'_> {
        let kind = kind(sql);
        let span = tracing::info_span!(
            target: TARGET,
            "statement",
            otel.name = KINDS[kind].to_ascii_uppercase(),
            otel.kind = "client",
            db.system.name = system(dialect),
            db.query.text = without_values(sql, quote_escapes(dialect)),
        );
        Timer {
            log: log.map(|log| (log, sql.into(), quote_escapes(dialect))),
            _span: span,
            ..Timer::start(&self.statements[kind])
        }
    }

    /// Counts a commit when the result is dropped.
    pub(crate) fn commit(&self) -> Timer<'_> {
        Timer::start(&self.commits)
    }

    pub(crate) fn statements(&self) -> Vec<(&'static str, HistogramReport)> {
        KINDS.into_iter().zip(self.statements.iter().map(Histogram::report)).collect()
    }
}

/// The position of the statement's kind.
fn kind(sql: &str) -> usize {
    let verb = sql.as_bytes().get(..6).unwrap_or_default();
    let found = KINDS.iter().position(|kind| verb.eq_ignore_ascii_case(kind.as_bytes()));
    found.unwrap_or(KINDS.len() - 1)
}

/// How texts of statements are written.
fn quote_escapes(dialect: Dialect) -> QuoteEscapes {
    match dialect {
        Dialect::Sqlite => QuoteEscapes::Doubled,
        Dialect::MySql => QuoteEscapes::DoubledOrBackslash,
    }
}

/// The name of an engine in traces.
pub(crate) fn system(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "sqlite",
        Dialect::MySql => "mysql",
    }
}

/// Records the time until it is dropped.
#[must_use]
pub(crate) struct Timer<'a> {
    durations: &'a Histogram,
    began: Instant,
    log: Option<(Arc<StatementLog>, Box<str>, QuoteEscapes)>,
    /// Ends with the statement.
    _span: Span,
}

impl<'a> Timer<'a> {
    fn start(durations: &'a Histogram) -> Self {
        Timer { durations, began: Instant::now(), log: None, _span: Span::none() }
    }
}

impl Drop for Timer<'_> {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        self.durations.record(took);
        if let Some((log, sql, escapes)) = &self.log {
            log.record(sql, *escapes, took);
        }
    }
}

/// What a database has done since it was opened, and its state: see [`Database::usage`](crate::Database::usage).
#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseUsage {
    /// The time of statements with the reading of their rows, by kind: `select`, `insert`, `update`, `delete`, `other`. Statements that
    /// are texts, such as those of imports, are not counted.
    pub statements: Vec<(&'static str, HistogramReport)>,
    /// Numbers of write transactions: `committed` or `rolled_back`.
    pub transactions: Vec<(&'static str, u64)>,
    /// The time of commits. SQLite commits several transactions at once, with one disk sync.
    pub commits: HistogramReport,
    /// Write transactions that wait for their turn.
    pub waiting_writes: usize,
    /// The connections for reading; on servers, for writing as well.
    pub pool: PoolUsage,
    /// Size of the write-ahead log in bytes (SQLite).
    pub wal_bytes: Option<u64>,
    /// The read replicas, in the order of the configuration.
    pub replicas: Vec<ReplicaUsage>,
}

/// The state of a read replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaUsage {
    /// Its number in the configuration, from 1.
    pub number: usize,
    /// Why it is left out; `None` if reads use it.
    pub problem: Option<String>,
    /// For how long it has been behind the primary, as far as that was looked at.
    pub lag: Option<Duration>,
    /// Number of snapshots that it has provided.
    pub reads: u64,
}

/// The state of a pool of connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolUsage {
    /// Maximum number of connections.
    pub max: usize,
    /// Connections in use.
    pub in_use: usize,
    /// Threads that wait for a connection.
    pub waiting: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_statements() {
        for (sql, expected) in [
            ("SELECT 1", "select"),
            ("insert into t", "insert"),
            ("UPDATE t", "update"),
            ("DELETE FROM t", "delete"),
            ("REPLACE INTO t", "other"),
            ("é", "other"),
            ("", "other"),
        ] {
            assert_eq!(KINDS[kind(sql)], expected, "{sql}");
        }
    }
}
