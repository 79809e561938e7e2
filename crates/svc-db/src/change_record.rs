//! The record of what a transaction has changed, and who is told of it after the commit.

use std::any::Any;

use svc_versions::Key;

use crate::rows::Rows;
use crate::schema::Schema;

/// What a transaction has changed: rows by what they belong to, and facts that the owner of the schema adds. Every statement
/// that writes names its table or rows, so the record is complete.
#[derive(Debug, Default)]
pub struct ChangeRecord {
    /// Rows, and the ids of the objects that they belong to; `None` if not all are known.
    rows: Vec<(Rows, Option<Vec<i64>>)>,
    /// What cached values depend on.
    keys: Vec<Key>,
    facts: Vec<Box<dyn Any + Send + Sync>>,
}

impl ChangeRecord {
    /// Records a change of unknown rows.
    pub(crate) fn add_unknown(&mut self, rows: Rows) {
        self.keys.extend(rows.all_changed());
        self.ids_mut(rows).take();
    }

    /// Records a change of the rows of these objects.
    pub(crate) fn add(&mut self, rows: Rows, ids: &[i64]) {
        self.keys.extend(rows.changed(ids));
        if let Some(known) = self.ids_mut(rows) {
            known.extend_from_slice(ids);
        }
    }

    /// Records that cached values that depend on these keys are no longer valid.
    pub(crate) fn add_keys(&mut self, keys: impl IntoIterator<Item = Key>) {
        self.keys.extend(keys);
    }

    fn ids_mut(&mut self, rows: Rows) -> &mut Option<Vec<i64>> {
        let at = self.rows.iter().position(|(of, _)| *of == rows).unwrap_or_else(|| {
            self.rows.push((rows, Some(Vec::new())));
            self.rows.len() - 1
        });
        &mut self.rows[at].1
    }

    /// The facts of this type.
    pub(crate) fn facts_mut<T: Any + Default + Send + Sync>(&mut self) -> &mut T {
        let at = self.facts.iter().position(|facts| facts.is::<T>()).unwrap_or_else(|| {
            self.facts.push(Box::new(T::default()));
            self.facts.len() - 1
        });
        self.facts[at].downcast_mut().expect("facts are found by their type")
    }

    /// The facts of this type that [`Tx::facts`](crate::Tx::facts) has recorded.
    pub fn facts<T: Any>(&self) -> Option<&T> {
        self.facts.iter().find_map(|facts| facts.downcast_ref())
    }

    /// Whether nothing has changed.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The ids of the objects whose rows have changed; `None` if not all are known.
    pub fn ids(&self, rows: Rows) -> Option<&[i64]> {
        match self.rows.iter().find(|(of, _)| *of == rows) {
            Some((_, ids)) => ids.as_deref(),
            None => Some(&[]),
        }
    }

    /// What cached values depend on that are no longer valid.
    pub(crate) fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The change counters of tables with changes.
    pub(crate) fn counters(&self, schema: &Schema) -> Vec<&'static str> {
        let has_changed = |rows: &Rows| self.rows.iter().any(|(changed, _)| changed == rows);
        let changed = schema.tables.iter().filter(|table| table.rows.iter().any(has_changed));
        let counters = |table: &'static crate::schema::Table| table.counters.iter().map(|counter| counter.counter);
        changed.flat_map(|table| counters(table).chain(table.derived_counters.iter().copied())).collect()
    }
}

/// Told of the transactions of this process after their commit, in the order of the commits.
pub trait Subscriber: Send + Sync {
    /// Called before the writer learns that the transaction is committed, so keep it short: it must not wait or read from the
    /// database. Cached values that depend on the changes are invalid already.
    fn committed(&self, changes: &ChangeRecord);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_know_the_ids_unless_a_statement_did_not() {
        let (boats, harbours) = (Rows::named("boats"), Rows::named("harbours"));
        let mut changes = ChangeRecord::default();
        assert!(changes.is_empty());
        changes.add(boats, &[1]);
        changes.add(boats, &[2]);
        assert_eq!((changes.ids(boats), changes.ids(harbours)), (Some(&[1, 2][..]), Some(&[][..])));
        changes.add_unknown(boats);
        changes.add(boats, &[3]);
        assert_eq!(changes.ids(boats), None);
        changes.facts_mut::<Vec<u8>>().push(1);
        changes.facts_mut::<Vec<u8>>().push(2);
        changes.facts_mut::<String>().push('a');
        assert_eq!(changes.facts::<Vec<u8>>(), Some(&vec![1, 2]));
        assert_eq!(changes.facts::<u8>(), None);
        assert!(!changes.is_empty());
    }
}
