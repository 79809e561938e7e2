//! The record of what a transaction has changed, and who is told of it after the commit.

use std::any::Any;
use std::collections::BTreeMap;
use std::time::SystemTime;

use svc_versions::{Context, Key, Versions};

use crate::rows::Rows;

/// What a statement does to rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Inserts them.
    Insert,
    /// Updates them, or replaces them if they exist.
    Update,
    /// Deletes them.
    Delete,
}

impl Operation {
    /// The name in the table of changes: `insert`, `update` or `delete`.
    pub const fn name(self) -> &'static str {
        match self {
            Operation::Insert => "insert",
            Operation::Update => "update",
            Operation::Delete => "delete",
        }
    }

    /// The operation that two operations of one transaction amount to.
    fn then(self, next: Operation) -> Operation {
        match (self, next) {
            (Operation::Insert, Operation::Update) => Operation::Insert,
            (Operation::Delete, Operation::Insert) => Operation::Update,
            _ => next,
        }
    }
}

/// What rows belong to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Object {
    /// An object with this id.
    Id(i64),
    /// An object with this name, such as an option.
    Name(String),
}

/// The objects whose rows have changed. `None` if not all are known.
type Objects = Option<BTreeMap<Object, Operation>>;

/// The versions of rows around a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionStep {
    /// Before it.
    pub before: i64,
    /// After it.
    pub after: i64,
}

/// What a transaction has changed: rows by what they belong to, and facts that the owner of the schema adds. Every statement
/// that writes names its table or rows, so the record is complete.
#[derive(Debug)]
pub struct ChangeRecord {
    rows: Vec<(Rows, Objects)>,
    /// What cached values depend on.
    keys: Vec<Key>,
    facts: Vec<Box<dyn Any + Send + Sync>>,
    caller: Option<i64>,
    time: SystemTime,
    steps: Vec<(Rows, VersionStep)>,
}

impl Default for ChangeRecord {
    fn default() -> Self {
        let (rows, keys, facts, steps) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        ChangeRecord { rows, keys, facts, caller: None, time: SystemTime::UNIX_EPOCH, steps }
    }
}

impl ChangeRecord {
    /// Records a change of unknown rows.
    pub(crate) fn add_unknown(&mut self, rows: Rows) {
        if self.objects_mut(rows).take().is_some() {
            self.keys.extend(rows.all_changed());
        }
    }

    /// Records a change of the rows of the objects with these ids.
    pub(crate) fn add(&mut self, rows: Rows, ids: &[i64], operation: Operation) {
        self.keys.extend(rows.changed(ids));
        self.add_objects(rows, ids.iter().map(|id| Object::Id(*id)), operation);
    }

    /// Records a change of the rows of the objects with these names.
    pub(crate) fn add_named(&mut self, rows: Rows, names: &[&str], operation: Operation) {
        self.keys.extend(rows.all_changed());
        self.add_objects(rows, names.iter().map(|name| Object::Name((*name).to_owned())), operation);
    }

    fn add_objects(&mut self, rows: Rows, objects: impl Iterator<Item = Object>, operation: Operation) {
        let Some(known) = self.objects_mut(rows) else { return };
        for object in objects {
            known.entry(object).and_modify(|before| *before = before.then(operation)).or_insert(operation);
        }
    }

    /// Records that cached values that depend on these keys are no longer valid.
    pub(crate) fn add_keys(&mut self, keys: impl IntoIterator<Item = Key>) {
        self.keys.extend(keys);
    }

    fn objects_mut(&mut self, rows: Rows) -> &mut Objects {
        let at = self.rows.iter().position(|(of, _)| *of == rows).unwrap_or_else(|| {
            self.rows.push((rows, Some(BTreeMap::new())));
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

    /// Completes the record of a transaction with this context.
    pub(crate) fn complete(&mut self, cx: &Context) {
        self.caller = cx.caller();
        self.time = SystemTime::now();
    }

    /// The facts of this type that [`Tx::facts`](crate::Tx::facts) has recorded.
    pub fn facts<T: Any>(&self) -> Option<&T> {
        self.facts.iter().find_map(|facts| facts.downcast_ref())
    }

    /// Whether nothing has changed.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The kinds of rows that have changed.
    pub fn kinds(&self) -> impl Iterator<Item = Rows> {
        self.rows.iter().map(|(rows, _)| *rows)
    }

    /// The objects whose rows have changed, in order, with what was done to the rows; `None` if not all are known.
    pub fn objects(&self, rows: Rows) -> Option<impl Iterator<Item = (&Object, Operation)>> {
        let known = self.rows.iter().find(|(of, _)| *of == rows).map(|(_, known)| known);
        let objects = match known {
            Some(None) => return None,
            Some(Some(objects)) => Some(objects),
            None => None,
        };
        Some(objects.into_iter().flatten().map(|(object, operation)| (object, *operation)))
    }

    /// The number of known objects whose rows have changed.
    pub(crate) fn n_objects(&self, rows: Rows) -> usize {
        self.rows.iter().filter(|(of, _)| *of == rows).filter_map(|(_, known)| known.as_ref()).map(BTreeMap::len).sum()
    }

    /// The ids of the objects whose rows have changed, ascending; `None` if not all are known.
    pub fn ids(&self, rows: Rows) -> Option<Vec<i64>> {
        let id = |(object, _): (&Object, Operation)| match object {
            Object::Id(id) => Some(*id),
            Object::Name(_) => None,
        };
        Some(self.objects(rows)?.filter_map(id).collect())
    }

    /// The id of the user whose request made the changes. `None` for anonymous requests, the command line and jobs.
    pub fn caller(&self) -> Option<i64> {
        self.caller
    }

    /// When the transaction ended, just before its commit.
    pub fn time(&self) -> SystemTime {
        self.time
    }

    /// The [versions](crate::Db::version) of these rows around the transaction, if no other program and no other transaction has
    /// changed anything in between: what was computed at the version before needs nothing but these changes to be true at the one
    /// after. `None` if that is not known, and on engines that maintain counts themselves.
    pub fn step(&self, rows: Rows) -> Option<VersionStep> {
        self.steps.iter().find(|(of, _)| *of == rows).map(|(_, step)| *step)
    }

    /// Records that nothing else was committed since the rows had the versions `before`.
    pub(crate) fn set_steps(&mut self, before: Vec<(Rows, i64)>, versions: &Versions) {
        let step = |(rows, before): (Rows, i64)| Some((rows, VersionStep { before, after: rows.version(versions)? }));
        self.steps = before.into_iter().filter_map(step).collect();
    }

    /// What cached values depend on that are no longer valid.
    pub(crate) fn keys(&self) -> &[Key] {
        &self.keys
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

    const BOATS: Rows = Rows::named("boats");
    const HARBOURS: Rows = Rows::named("harbours");
    const FLAGS: Rows = Rows::named("flags");

    #[test]
    fn records_know_the_objects_unless_a_statement_did_not() {
        let mut changes = ChangeRecord::default();
        assert!(changes.is_empty());
        changes.add(BOATS, &[2], Operation::Update);
        changes.add(BOATS, &[1, 2], Operation::Update);
        changes.add_named(FLAGS, &["red"], Operation::Update);
        assert_eq!((changes.ids(BOATS), changes.ids(HARBOURS)), (Some(vec![1, 2]), Some(vec![])));
        let flags: Vec<_> = changes.objects(FLAGS).unwrap().collect();
        assert_eq!(flags, [(&Object::Name("red".to_owned()), Operation::Update)]);
        changes.add_unknown(BOATS);
        changes.add(BOATS, &[3], Operation::Insert);
        assert_eq!(changes.ids(BOATS), None);
        assert_eq!(changes.kinds().collect::<Vec<_>>(), [BOATS, FLAGS]);
        changes.facts_mut::<Vec<u8>>().push(1);
        changes.facts_mut::<Vec<u8>>().push(2);
        changes.facts_mut::<String>().push('a');
        assert_eq!(changes.facts::<Vec<u8>>(), Some(&vec![1, 2]));
        assert_eq!(changes.facts::<u8>(), None);
        assert!(!changes.is_empty());
    }

    #[test]
    fn several_operations_amount_to_one() {
        use Operation::{Delete, Insert, Update};
        for (operations, total) in [
            (&[Insert, Update][..], Insert),
            (&[Insert, Update, Delete], Delete),
            (&[Update, Update], Update),
            (&[Delete, Insert], Update),
            (&[Update, Delete], Delete),
        ] {
            let mut changes = ChangeRecord::default();
            operations.iter().for_each(|operation| changes.add(BOATS, &[1], *operation));
            let operation = changes.objects(BOATS).unwrap().next().unwrap().1;
            assert_eq!(operation, total, "{operations:?}");
        }
    }
}
