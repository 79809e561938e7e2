//! Loads the data of a page of terms in a fixed number of queries.

use std::{collections::HashMap, sync::Arc};

use svc_auth::Caller;
use svc_model::{Taxonomy, Term};
use svc_resource::{Plan, View};
use svc_routing::Links;
use svc_site::{
    Settings, Site, SiteResult,
    languages::{Translated, terms_of},
    terms::{
        draft::TermDraft,
        paths::{access_to_terms, slug_paths},
    },
};
use svc_store::{
    Db,
    meta::{self, MetaKind},
};

use crate::item_languages::{self, ItemLanguages, LANG, TRANSLATIONS};

use super::{
    fields::TermItem,
    links::{self, TermRights},
};

/// Loads terms for a request.
pub(super) struct TermLoader<'a> {
    pub(super) site: &'a Arc<Site>,
    pub(super) settings: &'a Arc<Settings>,
    pub(super) taxonomy: &'a Arc<Taxonomy>,
    pub(super) caller: &'a Caller,
    pub(super) view: &'a View,
}

/// A term ready to be rendered, with its links if they are requested.
pub(super) struct LoadedTerm {
    pub(super) item: TermItem,
    pub(super) links: Option<Links>,
}

impl TermLoader<'_> {
    /// Loads the data that the plan reads: one query per kind of related data, regardless of the number of terms.
    pub(super) fn load(
        &self,
        db: &mut Db,
        rows: Vec<Term>,
        plan: &Plan<'_, TermItem, TermDraft>,
    ) -> SiteResult<Vec<LoadedTerm>> {
        let ids: Vec<i64> = rows.iter().map(|t| t.id.0).collect();
        let mut meta = if plan.wants("meta") { meta::load(db, MetaKind::Term, &ids)? } else { HashMap::new() };
        let mut paths = if plan.wants("link") && self.taxonomy.rewrite_hierarchical {
            slug_paths(db, &self.taxonomy.name, rows.iter())?
        } else {
            HashMap::new()
        };
        let mut of_languages = self.languages(db, &rows, plan)?;
        let access = access_to_terms(self.site, self.settings, &rows);
        let wants_links = self.view.wants_links();
        Ok(rows
            .into_iter()
            .map(|term| {
                let id = term.id;
                let rights = wants_links.then(|| TermRights::of(self.caller, &access, &term));
                let item = TermItem {
                    meta: meta.remove(&id.0).unwrap_or_default(),
                    languages: of_languages.remove(&id.0).unwrap_or_default(),
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

    /// The languages of the terms, and their translations, if the plan reads them.
    fn languages(
        &self,
        db: &mut Db,
        rows: &[Term],
        plan: &Plan<'_, TermItem, TermDraft>,
    ) -> SiteResult<HashMap<i64, ItemLanguages>> {
        let languages = self.settings.languages_of_taxonomy(&self.taxonomy.name);
        let in_link = plan.wants("link") && self.settings.urls.have_language_of_taxonomy(&self.taxonomy.name);
        let Some(languages) = languages.filter(|_| in_link || plan.wants_any(&[LANG, TRANSLATIONS])) else {
            return Ok(HashMap::new());
        };
        let ids: Vec<i64> = rows.iter().map(|term| term.id.0).collect();
        let terms = terms_of(db, Translated::Terms, &ids)?;
        let of = |id: &i64| (*id, terms.get(id).map_or(&[][..], Vec::as_slice));
        let items: Vec<(i64, &[Term])> = ids.iter().map(of).collect();
        item_languages::of_items(db, languages, Translated::Terms, &items, |db, ids| {
            item_languages::existing_terms(db, &self.taxonomy.name, ids)
        })
    }
}
