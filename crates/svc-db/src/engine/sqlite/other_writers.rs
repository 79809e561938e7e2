//! Finds out whether another program has written to the database, and to which tables.
//!
//! Triggers count the changes of each group of tables, whichever program makes them. The writer of this process records
//! the counts that its own transactions will leave behind; any other counts were made by others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use svc_versions::Versions;

use super::EPOCH_TABLE;
use crate::conn::Row;
use crate::error::Result;
use crate::quoted::quoted;
use crate::schema::{Schema, Table};

/// The change counters by table group; `None` in a database without them.
type Counts = Option<HashMap<String, i64>>;

/// Executes a query on the connection of the caller.
pub(super) type Query<'q> = dyn FnMut(&str, &mut dyn FnMut(&Row<'_>) -> Result<()>) -> Result<()> + 'q;

/// The counts that are known to belong to what the versions say.
pub(super) struct OtherWriters {
    versions: Arc<Versions>,
    schema: &'static Schema,
    /// Name of the table of counters, quoted.
    table: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    known: Counts,
    /// The counts after the transaction that this process is committing.
    expected: Option<Counts>,
}

impl OtherWriters {
    /// Starts with the current counts.
    pub(super) fn new(versions: Arc<Versions>, schema: &'static Schema, prefix: &str, query: &mut Query<'_>) -> Self {
        let table = quoted(&format!("{prefix}{EPOCH_TABLE}"));
        let others = OtherWriters { versions, schema, table, state: Mutex::default() };
        others.lock().known = others.counts(query);
        others
    }

    /// Invalidates what others have changed, as the caller's connection sees it.
    pub(super) fn look(&self, query: &mut Query<'_>) {
        let counts = self.counts(query);
        let mut state = self.lock();
        if counts == state.known && counts.is_some() || state.expected.as_ref() == Some(&counts) {
            return;
        }
        match (&state.known, &counts) {
            (Some(known), Some(counts)) => {
                let has_changed = |group: &str| known.get(group) != counts.get(group);
                let of_table = |table: &&Table| table.counters.iter().any(|rows| has_changed(rows.counter));
                let rows = self.schema.tables.iter().filter(of_table).flat_map(|table| table.rows);
                self.versions.change(rows.flat_map(|rows| rows.all_changed())).end();
            }
            _ => self.versions.change_all(),
        }
        state.known = counts;
    }

    /// Records the counts that the open transaction of this process leaves behind. Call it before the commit.
    pub(super) fn expect(&self, query: &mut Query<'_>) {
        let counts = self.counts(query);
        self.lock().expected = Some(counts);
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

    fn counts(&self, query: &mut Query<'_>) -> Counts {
        let mut counts = HashMap::new();
        let sql = format!("SELECT family, n FROM {}", self.table);
        let read: Result<()> = query(&sql, &mut |row| {
            counts.insert(row.text(0)?, row.int(1)?);
            Ok(())
        });
        read.ok().map(|()| counts)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
