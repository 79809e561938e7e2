//! Loads, for a whole page of terms at once, what the members that are asked for read.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use svc_auth::Caller;
use svc_model::{Taxonomy, Term, TermId};
use svc_resource::{Plan, View};
use svc_routing::Links;
use svc_store::{
    Db,
    meta::{self, MetaKind},
    terms,
};

use super::{
    fields::{TermDraft, TermItem},
    links::{self, TermRights},
};
use crate::{Access, Settings, Site, SiteResult};

/// What a request may see of the terms that it loads.
pub(super) struct TermLoader<'a> {
    pub(super) site: &'a Arc<Site>,
    pub(super) settings: &'a Arc<Settings>,
    pub(super) taxonomy: &'a Arc<Taxonomy>,
    pub(super) caller: &'a Caller,
    pub(super) view: &'a View,
}

/// A term ready to be rendered, with its links when they are asked for.
pub(super) struct LoadedTerm {
    pub(super) item: TermItem,
    pub(super) links: Option<Links>,
}

impl TermLoader<'_> {
    /// Loads what the plan reads: one query per kind of related data, whatever the number of terms.
    pub(super) fn load(
        &self,
        db: &mut Db,
        rows: Vec<Term>,
        plan: &Plan<'_, TermItem, TermDraft>,
    ) -> SiteResult<Vec<LoadedTerm>> {
        let numbers: Vec<i64> = rows.iter().map(|t| t.id.0).collect();
        let mut meta = if plan.wants("meta") { meta::load(db, MetaKind::Term, &numbers)? } else { HashMap::new() };
        let mut paths = if plan.wants("link") && self.taxonomy.rewrite_hierarchical {
            slug_paths(db, &self.taxonomy.name, rows.iter())?
        } else {
            HashMap::new()
        };
        let access = access(self.site, self.settings, &rows);
        let wants_links = self.view.wants_links();
        Ok(rows
            .into_iter()
            .map(|term| {
                let id = term.id;
                let rights = wants_links.then(|| TermRights::of(self.caller, &access, &term));
                let item = TermItem {
                    meta: meta.remove(&id.0).unwrap_or_default(),
                    path: paths.remove(&id).unwrap_or_default(),
                    term,
                    taxonomy: Arc::clone(self.taxonomy),
                    site: Arc::clone(self.site),
                    settings: Arc::clone(self.settings),
                };
                let links = rights.map(|rights| links::links(&item, rights));
                LoadedTerm { item, links }
            })
            .collect())
    }
}

/// The capability rules, knowing these terms.
pub(super) fn access<'a>(site: &'a Site, settings: &'a Settings, about: &[Term]) -> Access<'a> {
    Access::new(site, settings).with_terms(about.iter().map(|t| (t.id, t.taxonomy.clone())))
}

/// The slugs from the topmost term down to each of these, by id: two queries, whatever their number, and none when all
/// stand at the top.
///
/// # Errors
/// Those of the store.
pub(crate) fn slug_paths<'t>(
    db: &mut Db,
    taxonomy: &str,
    wanted: impl Iterator<Item = &'t Term>,
) -> SiteResult<HashMap<TermId, Vec<String>>> {
    let wanted: Vec<&Term> = wanted.collect();
    if wanted.iter().all(|t| t.parent.is_none()) {
        return Ok(wanted.into_iter().map(|t| (t.id, vec![t.slug.clone()])).collect());
    }
    let parents: HashMap<TermId, TermId> = terms::hierarchy(db, taxonomy)?.into_iter().collect();
    let chains: Vec<(TermId, Vec<TermId>)> = wanted.iter().map(|t| (t.id, chain(t.id, &parents))).collect();
    let mut all: Vec<TermId> = chains.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    let slugs: HashMap<TermId, String> = terms::get_many(db, &all)?.into_iter().map(|t| (t.id, t.slug)).collect();
    Ok(chains.into_iter().map(|(id, ids)| (id, ids.iter().filter_map(|id| slugs.get(id).cloned()).collect())).collect())
}

/// A term and those above it, topmost first; a ring is walked once.
pub(super) fn chain(id: TermId, parents: &HashMap<TermId, TermId>) -> Vec<TermId> {
    let (mut ids, mut seen) = (vec![id], HashSet::from([id]));
    let mut next = parents.get(&id).copied();
    while let Some(parent) = next.filter(|p| !p.is_none() && seen.insert(*p)) {
        ids.push(parent);
        next = parents.get(&parent).copied();
    }
    ids.reverse();
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_end_at_the_top_and_in_rings() {
        let parents: HashMap<TermId, TermId> =
            [(2, 1), (3, 2), (4, 5), (5, 4), (6, 6), (7, 99)].map(|(id, above)| (TermId(id), TermId(above))).into();
        let rows: [(i64, &[i64]); 5] = [(1, &[1]), (3, &[1, 2, 3]), (4, &[5, 4]), (6, &[6]), (7, &[99, 7])];
        for (id, expected) in rows {
            assert_eq!(chain(TermId(id), &parents).iter().map(|id| id.0).collect::<Vec<_>>(), expected, "{id}");
        }
    }
}
