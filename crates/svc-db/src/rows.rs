//! The keys that readers of the database depend on and that writers change.
//!
//! Reads and writes of whole tables are recorded for every statement ([`crate::Db`]), so that nothing can be forgotten.
//! Frequent statements name the rows instead. Both sides use the same keys: a write of known rows changes those rows and
//! everything that depends on *any* row; a write of unknown rows also changes everything that depends on *a* row.

use svc_versions::{Context, Key};

/// Rows of a table, by the id of the object that they belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rows(&'static str);

impl Rows {
    /// The rows with this name. Rows with equal names are the same.
    pub const fn named(name: &'static str) -> Self {
        Rows(name)
    }

    /// The name.
    pub const fn name(self) -> &'static str {
        self.0
    }

    fn row(self, id: i64) -> Key {
        Key::of(&(self, "row", id))
    }

    fn any(self) -> Key {
        Key::of(&(self, "any"))
    }

    fn unknown(self) -> Key {
        Key::of(&(self, "unknown"))
    }

    /// Records that the current computation depends on the rows of these objects, whether they exist or not.
    pub fn depend_on(self, cx: &Context, ids: impl IntoIterator<Item = i64>) {
        cx.depends_on_all(std::iter::once(self.unknown()).chain(ids.into_iter().map(|id| self.row(id))));
    }

    /// Records that the current computation depends on all rows.
    pub fn depend_on_all(self, cx: &Context) {
        cx.depends_on(self.any());
    }

    /// The keys that a write of the rows of these objects changes.
    pub fn changed(self, ids: &[i64]) -> impl Iterator<Item = Key> {
        ids.iter().map(move |id| self.row(*id)).chain([self.any()])
    }

    /// The keys that a write of unknown rows changes.
    pub(crate) fn all_changed(self) -> [Key; 2] {
        [self.any(), self.unknown()]
    }
}
