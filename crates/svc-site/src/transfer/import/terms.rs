//! Stores the terms that have entries of their own in a file.

use std::sync::Arc;

use svc_model::{MetaKind, Term, TermId};
use svc_php::serialize::from_stored;
use svc_store::{StoredText, meta, terms};
use svc_versions::Context;

use super::{
    Import, ImportError,
    item::{has_objects, new_term, term_slug},
};
use crate::{sanitize, transfer::is_transferred};

impl Import {
    /// Stores a term unless the site has it. Its parent precedes it in the file.
    pub(super) async fn term(self: &Arc<Self>, cx: &Context, term: svc_wxr::Term) -> Result<(), ImportError> {
        if self.site.registries.taxonomies.get(&term.taxonomy).is_none() {
            self.state().report.problem(format!("{}: the site has no taxonomy “{}”.", term.name, term.taxonomy));
            return Ok(());
        }
        let slug = term_slug(&term.slug, &term.name);
        if slug.is_empty() {
            self.state().report.problem(format!("{}: a term has neither a name nor a slug.", term.taxonomy));
            return Ok(());
        }
        let old = term.id;
        let write = move |tx: &mut svc_store::Tx| {
            if let Some(existing) = terms::by_slug(tx, &slug, &term.taxonomy)? {
                return Ok((existing.id, false));
            }
            let parent = match &*term.parent {
                "" => None,
                parent => terms::by_slug(tx, &term_slug(parent, ""), &term.taxonomy)?,
            };
            let new = Term {
                description: sanitize::term_description(&term.description),
                parent: parent.map_or(TermId(0), |parent| parent.id),
                ..new_term(&term.taxonomy, &term.name, &term.slug, slug.clone())
            };
            let id = terms::insert(tx, &new)?.id;
            let values = term.meta.iter().filter(|row| is_transferred(&row.key)).filter_map(|row| {
                let value = from_stored(row.value.as_bytes());
                (!has_objects(&value)).then(|| (row.key.as_str(), StoredText::of(value)))
            });
            let rows: Vec<(&str, StoredText)> = values.collect();
            let rows: Vec<(&str, &StoredText)> = rows.iter().map(|(key, value)| (*key, value)).collect();
            meta::add_many(tx, MetaKind::Term, id.0, &rows)?;
            Ok((id, true))
        };
        let (id, is_new) = self.site.write(cx, write).await?;
        let mut state = self.state();
        state.terms.insert(old, id);
        state.report.terms = state.report.terms.saturating_add(u64::from(is_new));
        Ok(())
    }
}
