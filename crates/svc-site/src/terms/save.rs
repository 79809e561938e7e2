//! Stores a term in one transaction.

use std::{collections::HashMap, sync::Arc};

use svc_auth::{Caller, caps::Object};
use svc_model::{Taxonomy, Term, TermId};
use svc_store::{
    Db, Tx,
    meta::{self, MetaKind},
    options,
    terms::{self, TermQuery},
};

use crate::{
    Settings, Site, SiteResult,
    errors::terms as errors,
    languages::{self, Translated, Translations},
    registries::meta::{self as registered_meta, MetaRights},
    sanitize,
    terms::{draft::TermDraft, paths},
};

/// Maximum length of a name in characters (column `terms.name`).
pub const MAX_NAME: usize = 200;

/// Everything that the transaction needs, so that it can be retried.
pub struct SaveTerm {
    /// The site.
    pub site: Arc<Site>,
    /// Its options.
    pub settings: Arc<Settings>,
    /// Who changes the term.
    pub caller: Caller,
    /// The taxonomy.
    pub taxonomy: Arc<Taxonomy>,
    /// The changes.
    pub draft: TermDraft,
    /// The term to update; `None` to create one.
    pub existing: Option<TermId>,
}

/// The default term of a taxonomy.
pub fn default_term(db: &mut Db, taxonomy: &str) -> SiteResult<Option<Term>> {
    for option in [format!("default_{taxonomy}"), format!("default_term_{taxonomy}")] {
        let id = options::get(db, &option)?.map_or(0, |v| svc_php::numeric::text_to_int(v.text()));
        if id > 0
            && let Some(term) = terms::get(db, TermId(id), Some(taxonomy))?
        {
            return Ok(Some(term));
        }
    }
    Ok(None)
}

/// Stores the meta fields of a request.
///
/// # Errors
/// See [`crate::MetaRegistry::changes`]; errors of the store.
pub fn store_meta(
    tx: &mut Tx,
    site: &Site,
    settings: &Settings,
    caller: &Caller,
    term: &Term,
    values: &serde_json::Value,
) -> SiteResult<()> {
    let id = term.id.0;
    let access = paths::access_to_terms(site, settings, std::slice::from_ref(term));
    let may = |cap: &str, key: &str| caller.can(cap, Object::Meta(MetaKind::Term, id, key), &access);
    let rights = MetaRights {
        edit: &|key| may("edit_term_meta", key),
        delete: &|key| may("delete_term_meta", key),
        unfiltered_html: access.can(caller, "unfiltered_html"),
    };
    let stored = meta::load_one(tx, MetaKind::Term, id)?;
    let changes = site.registries.meta.changes("term", &term.taxonomy, &stored, values, &rights, caller)?;
    drop(access);
    registered_meta::store(tx, MetaKind::Term, id, &changes)
}

/// The sanitized slug of a request; `None` if it is empty, so that one is generated from the name.
pub(crate) fn given_slug(slug: Option<&str>) -> Option<String> {
    slug.map(svc_text::sanitize_title).filter(|s| !s.is_empty() && s != "0")
}

impl SaveTerm {
    /// Creates or updates the term and returns the stored row.
    ///
    /// # Errors
    /// Validation errors of the draft; errors of the store.
    pub fn run(&self, tx: &mut Tx) -> SiteResult<Term> {
        let existing = match self.existing {
            Some(id) => Some(terms::get(tx, id, Some(&self.taxonomy.name))?.ok_or_else(errors::not_found)?),
            None => None,
        };
        let parent = self.parent(tx, existing.as_ref())?;
        // Fields that the request does not change are sanitized again: stored texts may be older than the sanitizers.
        let before = existing.clone().unwrap_or_default();
        let name = sanitize::term_name(self.draft.name.as_deref().unwrap_or(&before.name));
        if svc_text::trim(&name).is_empty() {
            return Err(errors::empty_name().into());
        }
        let description = self.draft.description.as_deref().unwrap_or(&before.description);
        let term = Term {
            name,
            description: sanitize::term_description(description),
            parent,
            taxonomy: self.taxonomy.name.clone(),
            ..before
        };
        let is_long = term.name.chars().count() > MAX_NAME;
        let term = match existing {
            None if is_long => return Err(errors::name_too_long().into()),
            None => self.create(tx, term)?,
            Some(before) => self.update(tx, term, &before, is_long)?,
        };
        self.store_language(tx, &term)?;
        Ok(term)
    }

    /// Gives a term of a translated taxonomy its language, and makes it a translation of the named ones.
    fn store_language(&self, tx: &mut Tx, term: &Term) -> SiteResult<()> {
        let Some(languages) = self.settings.languages_of_taxonomy(&self.taxonomy.name) else { return Ok(()) };
        let object = (term.id.0, term.parent.0);
        let requested = self.draft.language.as_deref();
        let language = languages::set_language(tx, languages, Translated::Terms, object, requested)?;
        let is_changed = requested.is_some() || self.draft.translations.is_some();
        if self.existing.is_some() && !is_changed {
            return Ok(());
        }
        let by = (&*self.site, &*self.settings, &self.caller);
        let none = Translations::default();
        let named = self.draft.translations.as_ref().unwrap_or(&none);
        languages::join(tx, languages, Translated::Terms, (term.id.0, language), named, |tx, ids| {
            languages::check_terms(tx, by, &self.taxonomy, ids)
        })
    }

    /// The slug of a term whose slug a term in another language has: with the code of its own language.
    fn in_language(&self, tx: &mut Tx, slug: &str, (term, parent): (TermId, TermId)) -> SiteResult<Option<String>> {
        let Some(languages) = self.settings.languages_of_taxonomy(&self.taxonomy.name) else { return Ok(None) };
        let Some(other) = terms::by_slug(tx, slug, &self.taxonomy.name)?.filter(|other| other.id != term) else {
            return Ok(None);
        };
        let ids: Vec<i64> = [other.id, term, parent].into_iter().filter(|id| !id.is_none()).map(|id| id.0).collect();
        let found = languages::terms_of(tx, Translated::Terms, &ids)?;
        let of = |id: TermId| languages.of(Translated::Terms, found.get(&id.0).map_or(&[][..], Vec::as_slice));
        let requested = self.draft.language.as_deref().and_then(|slug| languages.get(slug));
        let own = requested.or_else(|| of(term)).or_else(|| of(parent)).or_else(|| languages.default_language());
        let (Some(own), Some(of_other)) = (own, of(other.id)) else { return Ok(None) };
        Ok((own.slug != of_other.slug).then(|| format!("{slug}-{}", own.slug)))
    }

    /// The new parent. A term below itself is moved to the top.
    fn parent(&self, tx: &mut Tx, existing: Option<&Term>) -> SiteResult<TermId> {
        let Some(wanted) = self.draft.parent.map(TermId) else {
            return Ok(existing.map(|t| t.parent).unwrap_or_default());
        };
        if wanted.is_none() {
            return Ok(wanted);
        }
        if terms::get(tx, wanted, Some(&self.taxonomy.name))?.is_none() {
            return Err(errors::invalid_parent().into());
        }
        let Some(existing) = existing else { return Ok(wanted) };
        let parents: HashMap<TermId, TermId> = terms::hierarchy(tx, &self.taxonomy.name)?.into_iter().collect();
        let is_below_itself = paths::with_ancestors(wanted, &parents).contains(&existing.id);
        Ok(if is_below_itself { TermId(0) } else { wanted })
    }

    fn create(&self, tx: &mut Tx, mut term: Term) -> SiteResult<Term> {
        let given = given_slug(self.draft.slug.as_deref());
        let mut is_given = given.is_some();
        term.slug = given.unwrap_or_else(|| svc_text::sanitize_title(&term.name));
        if let Some(slug) = self.in_language(tx, &term.slug, (TermId(0), term.parent))? {
            (term.slug, is_given) = (slug, true);
        }
        self.check_new(tx, &term, is_given)?;
        if !term.slug.is_empty() {
            term.slug = terms::unique_slug(tx, &term.slug, &term.taxonomy, term.parent, TermId(0))?;
        }
        let mut term = terms::insert(tx, &term)?;
        if term.slug.is_empty() {
            // If the name yields no slug, the id is used.
            term.slug = term.id.to_string();
            terms::update(tx, &term)?;
        }
        Ok(term)
    }

    /// Rejects a name that already exists; terms with different explicit slugs may share a name.
    ///
    /// Names are compared ignoring ASCII case. In a hierarchical taxonomy only siblings are compared. Source: recorded
    /// responses.
    fn check_new(&self, tx: &mut Tx, term: &Term, slug_is_given: bool) -> SiteResult<()> {
        let nested = self.taxonomy.hierarchical;
        let named: Vec<Term> = terms::by_name(tx, &term.name, &term.taxonomy)?
            .into_iter()
            .filter(|t| !nested || t.parent == term.parent)
            .collect();
        let Some(same_name) = named.iter().find(|t| t.name.eq_ignore_ascii_case(&term.name)) else { return Ok(()) };
        let same_slug = terms::by_slug(tx, &term.slug, &term.taxonomy)?;
        let is_same = !slug_is_given || same_name.slug == term.slug;
        if !is_same && same_slug.is_none() {
            return Ok(());
        }
        if !nested {
            return Err(errors::exists(same_name.id).into());
        }
        if is_same && named.iter().any(|t| t.name == term.name) {
            return Err(errors::exists(same_name.id).into());
        }
        match same_slug {
            Some(other) if self.has_beside(tx, &term.slug, term.parent)? => Err(errors::exists(other.id).into()),
            _ => Ok(()),
        }
    }

    /// Whether a child of this parent has this slug.
    fn has_beside(&self, tx: &mut Tx, slug: &str, parent: TermId) -> SiteResult<bool> {
        let query = TermQuery::default()
            .taxonomies(vec![self.taxonomy.name.clone()])
            .parent(Some(parent))
            .slugs(vec![slug.to_owned()])
            .limit(Some(1));
        Ok(!terms::query(tx, &query)?.ids.is_empty())
    }

    fn update(&self, tx: &mut Tx, mut term: Term, before: &Term, name_is_long: bool) -> SiteResult<Term> {
        if let Some(slug) = self.draft.slug.as_deref() {
            term.slug = svc_text::sanitize_title(slug);
        }
        // PHP treats "0" as empty.
        let is_made = matches!(term.slug.as_str(), "" | "0");
        if is_made {
            term.slug = svc_text::sanitize_title(&term.name);
        }
        let has_languages = self.settings.languages_of_taxonomy(&self.taxonomy.name).is_some();
        // With languages, terms may share a slug, which stays.
        let is_kept = has_languages && term.slug == before.slug;
        if !is_kept && let Some(slug) = self.in_language(tx, &term.slug, (term.id, term.parent))? {
            term.slug = slug;
        }
        let taken =
            !is_kept && terms::by_slug(tx, &term.slug, &term.taxonomy)?.is_some_and(|other| other.id != term.id);
        if taken {
            // A slug in the request that is taken is rejected; if the parent changes, it may get a suffix.
            if !is_made && term.parent == before.parent {
                return Err(errors::duplicate_slug(&term.slug).into());
            }
            term.slug = terms::unique_slug(tx, &term.slug, &term.taxonomy, term.parent, term.id)?;
        }
        if term.slug.is_empty() {
            term.slug = term.id.to_string();
        }
        if name_is_long {
            // A name that is too long leaves name and slug unchanged without an error, as in WordPress.
            term.name.clone_from(&before.name);
            term.slug.clone_from(&before.slug);
        }
        terms::update(tx, &term)?;
        Ok(term)
    }
}
