//! The changes of a transaction, for caches that are adjusted after a commit instead of being discarded.

use std::any::Any;

use crate::rows::Rows;
use crate::schema::Schema;

/// The changes of a transaction: tables, ids of rows, and what the owner of the schema has noted.
#[derive(Debug, Default)]
pub struct ChangeSummary {
    rows: Vec<Rows>,
    ids: Vec<(Rows, i64)>,
    /// Rows of which not all changed ids are known.
    unknown: Vec<Rows>,
    note: Option<Box<dyn Any + Send>>,
}

impl ChangeSummary {
    /// Records a change of unknown rows.
    pub(crate) fn add_unknown(&mut self, rows: &[Rows]) {
        for rows in rows {
            push_new(&mut self.unknown, *rows);
            push_new(&mut self.rows, *rows);
        }
    }

    /// Records a change of the rows of these objects.
    pub(crate) fn add(&mut self, rows: Rows, ids: &[i64]) {
        push_new(&mut self.rows, rows);
        self.ids.extend(ids.iter().map(|id| (rows, *id)));
    }

    /// A value in which the owner of the schema notes what else the transaction changes.
    pub(crate) fn note_mut<T: Any + Send + Default>(&mut self) -> &mut T {
        if !self.note.as_ref().is_some_and(|note| note.is::<T>()) {
            self.note = Some(Box::new(T::default()));
        }
        self.note.as_mut().and_then(|note| note.downcast_mut()).expect("a note of this type was just created")
    }

    /// The value of [`Tx::note`](crate::Tx::note), if there is one.
    pub fn note<T: Any>(&self) -> Option<&T> {
        self.note.as_ref()?.downcast_ref()
    }

    /// The ids of the changed objects, if all are known.
    pub fn ids(&self, rows: Rows) -> Option<Vec<i64>> {
        let of_rows = || self.ids.iter().filter(|(of, _)| *of == rows).map(|(_, id)| *id).collect();
        (!self.unknown.contains(&rows)).then(of_rows)
    }

    /// The change counters of tables with changes.
    pub(crate) fn counters(&self, schema: &Schema) -> Vec<&'static str> {
        let changed = schema.tables.iter().filter(|table| table.rows.iter().any(|rows| self.rows.contains(rows)));
        let counters = |table: &'static crate::schema::Table| table.counters.iter().map(|counter| counter.counter);
        changed.flat_map(|table| counters(table).chain(table.derived_counters.iter().copied())).collect()
    }
}

fn push_new(all: &mut Vec<Rows>, rows: Rows) {
    if !all.contains(&rows) {
        all.push(rows);
    }
}
