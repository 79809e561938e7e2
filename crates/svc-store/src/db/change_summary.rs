//! The changes of a transaction, for caches that are adjusted after a commit instead of being discarded.

use crate::dependencies::Rows;
use crate::tables::{REVISIONS, TABLES};

/// A change of the number of posts of a type, status and author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClassChange {
    pub(crate) post_type: String,
    pub(crate) status: String,
    /// `None` if the author is unknown.
    pub(crate) author: Option<i64>,
    pub(crate) n: i64,
}

/// The changes of a transaction: tables, posts, and numbers of posts.
#[derive(Debug, Default)]
pub(crate) struct ChangeSummary {
    rows: Vec<Rows>,
    posts: Vec<i64>,
    classes: Vec<ClassChange>,
    /// Whether posts were changed of which neither the ids nor the types and statuses are known.
    has_unknown_posts: bool,
}

impl ChangeSummary {
    /// Records a change of unknown rows.
    pub(crate) fn add_unknown(&mut self, rows: &[Rows]) {
        self.has_unknown_posts |= rows.contains(&Rows::Posts);
        rows.iter().for_each(|rows| self.add_table(*rows));
    }

    /// Records a change of the rows of these objects.
    pub(crate) fn add(&mut self, rows: Rows, ids: &[i64]) {
        self.add_table(rows);
        if rows == Rows::Posts {
            self.posts.extend(ids);
        }
    }

    /// Records that a number of posts has got, or lost, a type and status. The author is optional.
    pub(crate) fn count(&mut self, post_type: &str, status: &str, author: Option<i64>, n: i64) {
        let (post_type, status) = (post_type.to_ascii_lowercase(), status.to_ascii_lowercase());
        self.classes.push(ClassChange { post_type, status, author, n });
    }

    fn add_table(&mut self, rows: Rows) {
        if !self.rows.contains(&rows) {
            self.rows.push(rows);
        }
    }

    /// The ids of the changed posts, if all are known.
    pub(crate) fn posts(&self) -> Option<&[i64]> {
        (!self.has_unknown_posts).then_some(&self.posts)
    }

    /// The changed numbers of posts, if all are known.
    pub(crate) fn classes(&self) -> Option<&[ClassChange]> {
        (!self.has_unknown_posts).then_some(&self.classes)
    }

    /// The groups of tables ([`crate::tables::EPOCHS`]) with changes.
    pub(crate) fn groups(&self) -> Vec<&'static str> {
        let is_changed = |name| Rows::of_table(name).iter().any(|rows| self.rows.contains(rows));
        let mut groups: Vec<&'static str> = TABLES.iter().filter(|t| is_changed(t.name)).map(|t| t.epoch).collect();
        if self.rows.contains(&Rows::Posts) {
            groups.extend(["authors", REVISIONS]);
        }
        groups
    }
}
