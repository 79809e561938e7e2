//! Changed rows on a server whose tables must not be altered: a list in memory, and which states of the server correspond to which of
//! its entries.
//!
//! A state is recognized by the highest transaction number of the server ([`super::changes`]) or, because that changes with every
//! transaction in any table, by the time at which the logged table was last changed. This is the time at which the *transaction
//! began* (MariaDB), in seconds, so that a state is only known by it when [`Tuning::margin_seconds`] have passed. Longer transactions can remain
//! unnoticed until the next comparison: the README of the crate has what that means for searches.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::changes::ServerState;
use crate::row_log::{LogEntry, LogState};
use crate::tuning::Tuning;

/// Maximum number of states that are remembered.
const MAX_KNOWN: usize = 64;

/// Maximum number of entries. With more, an index is built again.
const MAX_ENTRIES: usize = 100_000;

/// The logged table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableState {
    /// Name and port of the server.
    pub(super) server: (String, i64),
    /// When the table was created or altered.
    pub(super) created: String,
    /// When it was last changed.
    pub(super) updated: String,
}

/// A state of a server and its table, read in this order.
#[derive(Clone, Debug)]
pub(super) struct Observation {
    pub(super) before: ServerState,
    /// The table and the age of its last change in seconds. `None` if the server does not know this (any more).
    pub(super) table: Option<(TableState, i64)>,
    pub(super) after: ServerState,
}

impl Observation {
    /// The table, if it identifies a state.
    fn settled(&self, margin: i64) -> Option<&TableState> {
        self.table.as_ref().filter(|(_, age)| *age >= margin).map(|(table, _)| table)
    }
}

/// A state of the server that has all changes up to an entry.
struct KnownState {
    seq: i64,
    server: Option<ServerState>,
    table: Option<TableState>,
    /// Since when this is known.
    since: Instant,
}

/// The state that a comparison in progress will have shown.
struct PendingComparison {
    server: Option<ServerState>,
    table: Option<TableState>,
    begun: Instant,
}

/// The changed rows and the known states.
pub(super) struct Ledger {
    tuning: Tuning,
    entries: VecDeque<LogEntry>,
    known: VecDeque<KnownState>,
    /// The highest transaction number that was observed last, and since when.
    quiet: Option<(ServerState, Instant)>,
    pending: Option<PendingComparison>,
    /// When the last comparison ended, and how long it took.
    compared: Option<(Instant, Duration)>,
    /// Whether a state was recognized by the table since then.
    was_inferred: bool,
}

impl Ledger {
    /// Without entries.
    pub(super) fn new(tuning: Tuning) -> Self {
        let (entries, known) = (VecDeque::new(), VecDeque::new());
        Ledger { tuning, entries, known, quiet: None, pending: None, compared: None, was_inferred: false }
    }

    /// Begins again with one entry.
    pub(super) fn begin(&mut self, mark: LogEntry) {
        *self = Ledger { entries: [mark].into(), quiet: self.quiet.take(), ..Ledger::new(self.tuning) };
    }

    /// The last entry.
    pub(super) fn last(&self) -> Option<LogEntry> {
        self.entries.back().copied()
    }

    /// The entries from one number to another.
    pub(super) fn between(&self, from: i64, to: i64, limit: usize) -> Vec<LogEntry> {
        let (start, end) =
            (self.entries.partition_point(|c| c.seq < from), self.entries.partition_point(|c| c.seq <= to));
        self.entries.iter().take(end).skip(start).take(limit).copied().collect()
    }

    /// The entry with a number.
    pub(super) fn entry(&self, seq: i64) -> Option<LogEntry> {
        self.entries.binary_search_by_key(&seq, |c| c.seq).ok().and_then(|at| self.entries.get(at)).copied()
    }

    /// Appends changes of rows. Returns the number of the last entry.
    pub(super) fn append(&mut self, ids: &[i64], mut nonce: impl FnMut() -> i64) -> Option<i64> {
        for id in ids {
            let seq = self.last()?.seq + 1;
            self.entries.push_back(LogEntry { seq, nonce: nonce(), id: *id });
        }
        let surplus = self.entries.len().saturating_sub(MAX_ENTRIES);
        self.entries.drain(..surplus);
        self.last().map(|last| last.seq)
    }

    /// Deletes the entries before a number.
    pub(super) fn trim(&mut self, before: i64) {
        let n = self.entries.partition_point(|c| c.seq < before);
        self.entries.drain(..n);
    }

    /// The entry that a snapshot corresponds to, by its table, or else by its server. It must have been opened after `begun`.
    pub(super) fn position(
        &self,
        table: Option<&TableState>,
        server: Option<&ServerState>,
        begun: Instant,
    ) -> Option<i64> {
        let is_it = |known: &&KnownState| {
            let by_table = table.is_some() && known.table.as_ref() == table;
            by_table || server.is_some() && known.server.as_ref() == server
        };
        self.known.iter().rev().find(is_it).filter(|known| known.since <= begun).map(|known| known.seq)
    }

    fn remember(&mut self, seq: i64, server: Option<ServerState>, table: Option<TableState>) {
        if server.is_none() && table.is_none() {
            return;
        }
        let mut since = Instant::now();
        self.known.retain(|known| {
            let is_same = server.is_some() && known.server == server || table.is_some() && known.table == table;
            // It was known before that the state has all changes up to this entry.
            if is_same && known.seq == seq {
                since = since.min(known.since);
            }
            !is_same
        });
        self.known.push_back(KnownState { seq, server, table, since });
        let surplus = self.known.len().saturating_sub(MAX_KNOWN);
        self.known.drain(..surplus);
    }

    /// Records a transaction of this process that was the only one between two states, and its changed rows.
    pub(super) fn record_own(
        &mut self,
        before: &ServerState,
        after: ServerState,
        ids: &[i64],
        nonce: impl FnMut() -> i64,
    ) {
        let seq = self.known.iter().rev().find(|known| known.server.as_ref() == Some(before)).map(|known| known.seq);
        // Entries after the one that the state corresponds to would be lost.
        if seq.is_none() || seq != self.last().map(|last| last.seq) {
            return;
        }
        if let Some(seq) = self.append(ids, nonce) {
            self.remember(seq, Some(after), None);
        }
    }

    /// Records an observation. If it is a known state, more of it is learned.
    pub(super) fn observe(&mut self, seen: &Observation) -> LogState {
        let now = Instant::now();
        let quiet_since = match &self.quiet {
            Some((server, since)) if *server == seen.before => *since,
            _ => now,
        };
        self.quiet = Some((seen.after.clone(), if seen.after == seen.before { quiet_since } else { now }));
        let is_quiet = seen.after == seen.before && now.duration_since(quiet_since) >= self.tuning.settle_time;
        let server = is_quiet.then(|| seen.before.clone());
        let table = seen.settled(self.tuning.margin_seconds).cloned();
        let time_since = |at: Instant| now.duration_since(at);
        let must_verify =
            self.was_inferred && self.compared.is_some_and(|(at, _)| time_since(at) >= self.tuning.verify_interval);
        let by_server = self.known.iter().rev().find(|known| known.server.as_ref() == Some(&seen.after)).map(|k| k.seq);
        if let Some(seq) = by_server.filter(|_| !must_verify) {
            // Nothing was committed since then, so the table is the one that belongs to it.
            self.remember(seq, Some(seen.after.clone()), table);
            return LogState::Current;
        }
        let by_table =
            table.as_ref().and_then(|t| self.known.iter().rev().find(|known| known.table.as_ref() == Some(t)));
        if let Some(seq) = by_table.map(|known| known.seq).filter(|_| !must_verify) {
            self.was_inferred = true;
            self.remember(seq, server, table);
            return LogState::Current;
        }
        let is_too_early = self.compared.is_some_and(|(at, took)| time_since(at) < took * self.tuning.pause);
        if is_too_early || server.is_none() && table.is_none() {
            return LogState::Unsettled;
        }
        self.pending = Some(PendingComparison { server, table, begun: now });
        LogState::Outdated
    }

    /// Records a comparison in a snapshot that was opened after the last observation: the rows that differ, and what was seen in the
    /// end.
    pub(super) fn compared(&mut self, ids: &[i64], seen: &Observation, nonce: impl FnMut() -> i64) {
        let Some(pending) = self.pending.take() else { return };
        let Some(seq) = self.append(ids, nonce) else { return };
        self.compared = Some((Instant::now(), pending.begun.elapsed()));
        self.was_inferred = false;
        let server = pending.server.filter(|server| *server == seen.after);
        let table = pending.table.filter(|table| seen.table.as_ref().is_some_and(|(now, _)| now == table));
        self.remember(seq, server, table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARGIN: i64 = Tuning::QUICK.margin_seconds;
    const SETTLE_TIME: Duration = Tuning::QUICK.settle_time;
    const VERIFY_INTERVAL: Duration = Tuning::QUICK.verify_interval;

    fn server(highest: i64) -> ServerState {
        ServerState::of_test(highest)
    }

    fn table(updated: &str) -> TableState {
        TableState { server: (String::new(), 0), created: String::new(), updated: updated.to_owned() }
    }

    fn seen(highest: i64, updated: &str, age: i64) -> Observation {
        Observation { before: server(highest), table: Some((table(updated), age)), after: server(highest) }
    }

    /// A ledger whose state with this transaction number and time is known.
    fn compared(highest: i64, updated: &str) -> Ledger {
        let mut ledger = Ledger::new(Tuning::QUICK);
        ledger.begin(LogEntry { seq: 7, nonce: 1, id: 0 });
        assert_eq!(ledger.observe(&seen(highest, updated, MARGIN)), LogState::Outdated);
        ledger.compared(&[4], &seen(highest, updated, MARGIN), || 2);
        ledger
    }

    fn of_table(ledger: &Ledger, updated: &str) -> Option<i64> {
        ledger.position(Some(&table(updated)), None, Instant::now())
    }

    fn of_server(ledger: &Ledger, highest: i64) -> Option<i64> {
        ledger.position(None, Some(&server(highest)), Instant::now())
    }

    #[test]
    fn a_compared_state_is_known_by_its_table_whatever_else_is_written() {
        let mut ledger = compared(100, "noon");
        assert_eq!((of_table(&ledger, "noon"), of_table(&ledger, "later")), (Some(8), None));
        assert_eq!(ledger.observe(&seen(140, "noon", MARGIN)), LogState::Current);
        // The number may be visible before the change.
        assert_eq!(of_server(&ledger, 140), None);
        std::thread::sleep(SETTLE_TIME);
        assert_eq!(ledger.observe(&seen(140, "noon", MARGIN)), LogState::Current);
        assert_eq!(of_server(&ledger, 140), Some(8));
        assert_eq!(ledger.observe(&seen(150, "later", 0)), LogState::Unsettled);
        assert_eq!(ledger.observe(&seen(150, "later", MARGIN)), LogState::Outdated);
    }

    #[test]
    fn states_that_were_recognized_by_the_table_are_verified() {
        let mut ledger = compared(100, "noon");
        assert_eq!(ledger.observe(&seen(140, "noon", MARGIN)), LogState::Current);
        std::thread::sleep(SETTLE_TIME);
        assert_eq!(ledger.observe(&seen(140, "noon", MARGIN)), LogState::Current);
        std::thread::sleep(VERIFY_INTERVAL);
        // Although the server is the known one by now.
        assert_eq!(of_server(&ledger, 140), Some(8));
        assert_eq!(ledger.observe(&seen(140, "noon", MARGIN)), LogState::Outdated);
        ledger.compared(&[5], &seen(140, "noon", MARGIN), || 2);
        assert_eq!((of_table(&ledger, "noon"), of_server(&ledger, 140)), (Some(9), Some(9)));
        std::thread::sleep(VERIFY_INTERVAL);
        assert_eq!(ledger.observe(&seen(140, "noon", MARGIN)), LogState::Current);
    }

    #[test]
    fn own_changes_are_known_if_they_were_alone() {
        let mut ledger = compared(100, "noon");
        std::thread::sleep(SETTLE_TIME);
        ledger.observe(&seen(100, "noon", MARGIN));
        ledger.record_own(&server(100), server(102), &[9, 10], || 3);
        assert_eq!(of_server(&ledger, 102), Some(10));
        assert_eq!(ledger.between(8, 10, 9).iter().map(|c| c.id).collect::<Vec<_>>(), [4, 9, 10]);
        // Another transaction came in between.
        ledger.record_own(&server(103), server(105), &[11], || 3);
        assert_eq!((of_server(&ledger, 105), ledger.last().map(|last| last.seq)), (None, Some(10)));
        // The table identifies the state when its last change is old enough.
        assert_eq!(ledger.observe(&seen(102, "one", 0)), LogState::Current);
        assert_eq!(of_table(&ledger, "one"), None);
        assert_eq!(ledger.observe(&seen(102, "one", MARGIN)), LogState::Current);
        assert_eq!(of_table(&ledger, "one"), Some(10));
    }

    #[test]
    fn snapshots_from_before_a_state_was_known_are_not_recognized() {
        let begun = Instant::now();
        std::thread::sleep(Duration::from_millis(1));
        let ledger = compared(100, "noon");
        assert_eq!(ledger.position(Some(&table("noon")), None, begun), None);
    }

    #[test]
    fn a_change_during_a_comparison_leaves_the_state_unknown() {
        let mut ledger = Ledger::new(Tuning::QUICK);
        ledger.begin(LogEntry { seq: 1, nonce: 1, id: 0 });
        assert_eq!(ledger.observe(&seen(100, "noon", MARGIN)), LogState::Outdated);
        ledger.compared(&[4], &seen(104, "one", 0), || 2);
        assert_eq!((of_table(&ledger, "noon"), of_table(&ledger, "one"), of_server(&ledger, 104)), (None, None, None));
    }
}
