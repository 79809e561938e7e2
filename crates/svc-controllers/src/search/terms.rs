//! Search handler for terms of public taxonomies.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;
use svc_model::{Taxonomy, Term, TermId};
use svc_routing::{BoxFuture, Link, Links, Request, Result};
use svc_site::{Access, Site, languages::slugs_of_terms, terms::paths::slug_paths, urls::taxonomy_rest_base};
use svc_store::{
    Order,
    terms::{self, TermQuery},
};

use super::{SearchHandler, SearchPage, ids, limits, result, searched_subtypes, text};
use crate::{caller, terms::TermRights};

/// The handler of type `term`.
pub(super) struct TermSearch(pub(super) Arc<Site>);

impl SearchHandler for TermSearch {
    fn kind(&self) -> &str {
        "term"
    }

    fn is_cacheable(&self) -> bool {
        true
    }

    fn subtypes(&self) -> Vec<String> {
        self.0.registries.taxonomies.iter().filter(|t| t.public && t.show_in_rest).map(|t| t.name.clone()).collect()
    }

    fn search(&self, req: Request) -> BoxFuture<Result<SearchPage>> {
        Box::pin(std::future::ready(self.find(&req)))
    }

    fn prepare(&self, ids: Vec<Value>, req: Request) -> BoxFuture<Result<Vec<(Value, Links)>>> {
        let ids: Vec<TermId> = ids.iter().filter_map(Value::as_i64).map(TermId).collect();
        Box::pin(std::future::ready(self.show(&ids, &req)))
    }
}

impl TermSearch {
    fn find(&self, req: &Request) -> Result<SearchPage> {
        let supported = self.subtypes();
        if supported.is_empty() {
            return Ok(SearchPage::default());
        }
        let mut taxonomies = searched_subtypes(req, supported)?;
        if taxonomies.is_empty() {
            // All requested subtypes belong to another type. WordPress then searches all taxonomies, including those that
            // are not in the REST API; this server searches those in the REST API only.
            taxonomies = self.subtypes();
        }
        let (limit, offset) = limits(req)?;
        let query = TermQuery::default()
            .taxonomies(taxonomies)
            .include(ids(req, "include")?.into_iter().map(TermId).collect())
            .exclude(ids(req, "exclude")?.into_iter().map(TermId).collect())
            .search(text(req).map(|s| svc_text::trim(&s).to_owned()).filter(|s| !s.is_empty()))
            .order(Order::Asc)
            .limit(Some(limit))
            .offset(offset)
            .total(true);
        let found = self.0.read(req.cx(), |db| Ok(terms::query(db, &query)?))?;
        Ok(SearchPage { ids: found.ids.into_iter().map(Value::from).collect(), total: found.total.unwrap_or_default() })
    }

    fn show(&self, ids: &[TermId], req: &Request) -> Result<Vec<(Value, Links)>> {
        let site = &self.0;
        let caller = caller(req);
        let supported = self.subtypes();
        site.read(req.cx(), |db| {
            let settings = site.settings_in(db)?;
            // A term id that several taxonomies share has one row for each of them.
            let rows: Vec<Term> =
                terms::get_many(db, ids)?.into_iter().filter(|t| supported.contains(&t.taxonomy)).collect();
            let languages = slugs_of_terms(db, &settings, rows.iter())?;
            let mut paths: HashMap<TermId, Vec<String>> = HashMap::new();
            for taxonomy in site.registries.taxonomies.iter().filter(|t| t.rewrite_hierarchical && req.wants("url")) {
                paths.extend(slug_paths(db, &taxonomy.name, rows.iter().filter(|t| t.taxonomy == taxonomy.name))?);
            }
            let access = Access::new(site, &settings).with_terms(rows.iter().map(|t| (t.id, t.taxonomy.clone())));
            let namespace = site.brand.namespace();
            let show = |term: Term| {
                let taxonomy = site.registries.taxonomies.get(&term.taxonomy)?;
                let mut links = Links::new();
                if let Some(route) = route(&settings, &namespace, taxonomy, &term) {
                    let rights = TermRights::of(&caller, &access, &term);
                    let own = Link::new(settings.urls.rest(&route)).embeddable().allow(rights.allowed_methods());
                    links.add("self", own);
                }
                let about = format!("/{namespace}/taxonomies/{}", taxonomy.name);
                links.add("about", Link::new(settings.urls.rest(&about)));
                let path = paths.get(&term.id).map_or(&[][..], Vec::as_slice);
                let ancestors: Vec<&str> = path
                    .split_last()
                    .map(|(_, ancestors)| ancestors.iter().map(String::as_str).collect())
                    .unwrap_or_default();
                let url = settings.urls.term(&term, taxonomy, &ancestors, languages.get(&term.id));
                let data = result(
                    req,
                    [
                        ("id", Some(term.id.into())),
                        ("title", Some(term.name.into())),
                        ("url", Some(url.into())),
                        ("type", Some(term.taxonomy.into())),
                        ("subtype", None),
                    ],
                );
                Some((data, links))
            };
            Ok(rows.into_iter().filter_map(show).collect())
        })
    }
}

/// The REST route of a term; `None` if its taxonomy has none.
fn route(settings: &svc_site::Settings, namespace: &str, taxonomy: &Taxonomy, term: &Term) -> Option<String> {
    let id = u64::try_from(term.id.0).ok()?;
    let route = settings.urls.site.route_for_term(Some((id, taxonomy_rest_base(taxonomy, namespace))));
    (!route.is_empty()).then_some(route)
}
