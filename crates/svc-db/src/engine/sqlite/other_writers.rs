//! Finds out whether another program has written to the database, and which rows.
//!
//! The log of changes has the writes of all programs. The writer of this process records the number of the last change that its
//! own transactions will leave behind; any later ones were made by others.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use svc_versions::Versions;

use crate::change_log;
use crate::conn::Row;
use crate::error::Result;
use crate::schema::{Schema, Table};

/// The number of the last change; `None` in a database without a log.
type LastChange = Option<i64>;

/// Executes a query on the connection of the caller.
pub(super) type Query<'q> = dyn FnMut(&str, &mut dyn FnMut(&Row<'_>) -> Result<()>) -> Result<()> + 'q;

/// The last change that the versions take into account.
pub(super) struct OtherWriters {
    versions: Arc<Versions>,
    schema: &'static Schema,
    /// Name of the log, quoted.
    log: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    known: LastChange,
    /// The last change after the transaction that this process is committing.
    expected: Option<LastChange>,
}

impl OtherWriters {
    /// Starts with the current state.
    pub(super) fn new(versions: Arc<Versions>, schema: &'static Schema, prefix: &str, query: &mut Query<'_>) -> Self {
        let others = OtherWriters { versions, schema, log: change_log::table(prefix), state: Mutex::default() };
        others.lock().known = others.last(query);
        others
    }

    /// Invalidates what others have changed, as the caller's connection sees it.
    pub(super) fn look(&self, query: &mut Query<'_>) {
        // Locked first, so that a transaction of this process does not end in between.
        let mut state = self.lock();
        let last = self.last(query);
        if last == state.known && last.is_some() || state.expected.as_ref() == Some(&last) {
            return;
        }
        match (state.known, last) {
            // Numbers are never used again, so a smaller one is that of another database.
            (Some(known), Some(last)) if known < last => match self.changed_kinds(query, known) {
                Some(kinds) => {
                    // One of the rows of a table stands for all of them.
                    let has_changed = |table: &&Table| {
                        table.rows.iter().any(|rows| kinds.iter().any(|kind| kind == rows.rows.name()))
                    };
                    let rows = self.schema.tables.iter().filter(has_changed).flat_map(|table| table.rows);
                    self.versions.change(rows.flat_map(|rows| rows.rows.all_changed())).end();
                }
                None => self.versions.change_all(),
            },
            _ => self.versions.change_all(),
        }
        state.known = last;
    }

    /// Records the changes of the open transaction of this process. Call it before the commit.
    pub(super) fn expect(&self, query: &mut Query<'_>) {
        let mut state = self.lock();
        state.expected = Some(self.last(query));
    }

    /// Records whether the transaction was committed.
    pub(super) fn ended(&self, committed: bool) {
        let mut state = self.lock();
        if let Some(expected) = state.expected.take()
            && committed
        {
            state.known = expected;
        }
    }

    fn last(&self, query: &mut Query<'_>) -> LastChange {
        let mut last = None;
        let sql = format!("SELECT MAX(seq) FROM {}", self.log);
        query(&sql, &mut |row| row.int(0).map(|seq| last = Some(seq))).ok().and(last)
    }

    /// The kinds of rows with changes after a number. The last change of each kind is never deleted from the log.
    fn changed_kinds(&self, query: &mut Query<'_>, after: i64) -> Option<Vec<String>> {
        let mut kinds = Vec::new();
        let sql = format!("SELECT DISTINCT kind FROM {} WHERE seq > {after}", self.log);
        query(&sql, &mut |row| row.text(0).map(|kind| kinds.push(kind))).ok().map(|()| kinds)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
