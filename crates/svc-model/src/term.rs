//! A stored term.

use crate::{TermId, TermTaxonomyId};

/// A row of the `terms` table, joined with its row of `term_taxonomy`.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the fields are the tables' columns")]
pub struct Term {
    pub id: TermId,
    pub taxonomy_id: TermTaxonomyId,
    pub taxonomy: String,
    /// As stored, with `&` escaped as `&amp;`.
    pub name: String,
    pub slug: String,
    pub group: i64,
    pub description: String,
    pub parent: TermId,
    pub count: i64,
}
