//! Slugs of terms with those of their ancestors.

use std::collections::{HashMap, HashSet};

use svc_model::{Term, TermId};
use svc_store::{Db, terms};

use crate::{Access, Settings, Site, SiteResult};

/// The slugs from the topmost ancestor down to each of these terms, by id. Two queries, or none if all terms are at the
/// top.
///
/// # Errors
/// Errors of the store.
pub fn slug_paths<'t>(
    db: &mut Db,
    taxonomy: &str,
    wanted: impl Iterator<Item = &'t Term>,
) -> SiteResult<HashMap<TermId, Vec<String>>> {
    let wanted: Vec<&Term> = wanted.collect();
    if wanted.iter().all(|t| t.parent.is_none()) {
        return Ok(wanted.into_iter().map(|t| (t.id, vec![t.slug.clone()])).collect());
    }
    let parents: HashMap<TermId, TermId> = terms::hierarchy(db, taxonomy)?.into_iter().collect();
    let chains: Vec<(TermId, Vec<TermId>)> = wanted.iter().map(|t| (t.id, with_ancestors(t.id, &parents))).collect();
    let mut all: Vec<TermId> = chains.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    let slugs: HashMap<TermId, String> = terms::get_many(db, &all)?.into_iter().map(|t| (t.id, t.slug)).collect();
    Ok(chains.into_iter().map(|(id, ids)| (id, ids.iter().filter_map(|id| slugs.get(id).cloned()).collect())).collect())
}

/// A context for the capability rules with these terms.
pub fn access_to_terms<'a>(site: &'a Site, settings: &'a Settings, about: &[Term]) -> Access<'a> {
    Access::new(site, settings).with_terms(about.iter().map(|t| (t.id, t.taxonomy.clone())))
}

/// A term and its ancestors, topmost first; a cycle is followed once.
pub fn with_ancestors(id: TermId, parents: &HashMap<TermId, TermId>) -> Vec<TermId> {
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
    fn chains_end_at_the_top_and_stop_at_cycles() {
        let parents: HashMap<TermId, TermId> =
            [(2, 1), (3, 2), (4, 5), (5, 4), (6, 6), (7, 99)].map(|(id, above)| (TermId(id), TermId(above))).into();
        let rows: [(i64, &[i64]); 5] = [(1, &[1]), (3, &[1, 2, 3]), (4, &[5, 4]), (6, &[6]), (7, &[99, 7])];
        for (id, expected) in rows {
            assert_eq!(
                with_ancestors(TermId(id), &parents).iter().map(|id| id.0).collect::<Vec<_>>(),
                expected,
                "{id}"
            );
        }
    }
}
