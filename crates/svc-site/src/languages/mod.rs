//! The languages of posts and terms, and the groups of those that are translations of each other, in the data model of the plugin Polylang.
//!
//! An object has a language if it has the term of the language. A group is a term, too: its objects are those in the group, and its description
//! is a stored array of their ids by language. What is read, changed and written back is in one transaction.

mod groups;

use std::collections::{HashMap, HashSet};

use svc_auth::{
    Caller,
    caps::{Object, PostCap},
};
use svc_model::{Post, PostId, Taxonomy, Term, TermId};
use svc_store::{
    Db, Tx,
    language_terms::{self, of_terms},
    posts, terms,
};

pub use self::groups::Translations;
pub(crate) use self::groups::{join, leave};
pub use crate::settings::languages::{Language, LanguageTerm, LanguageUrls, Languages, Translated};
use crate::{
    Access, Settings, Site, SiteResult,
    errors::languages as errors,
    settings::languages::{OPTION, group_array},
    stored_arrays::int,
    terms::paths::access_to_terms,
};

/// The terms of objects by id, their languages and groups among them. One query.
///
/// # Errors
/// Errors of the store.
pub fn terms_of(db: &mut Db, of: Translated, ids: &[i64]) -> SiteResult<HashMap<i64, Vec<Term>>> {
    Ok(match of {
        Translated::Posts => {
            let ids: Vec<PostId> = ids.iter().copied().map(PostId).collect();
            terms::of_objects(db, &ids)?.into_iter().map(|(id, terms)| (id.0, terms)).collect()
        }
        Translated::Terms => {
            let ids: Vec<TermId> = ids.iter().copied().map(TermId).collect();
            of_terms(db, &ids)?.into_iter().map(|(id, terms)| (id.0, terms)).collect()
        }
    })
}

/// The codes of the languages of posts, for their URLs: one query, or none if URLs do not have them.
///
/// # Errors
/// Errors of the store.
pub fn slugs_of_posts(db: &mut Db, settings: &Settings, rows: &[Post]) -> SiteResult<HashMap<PostId, String>> {
    let translated = rows.iter().filter(|post| settings.urls.have_language_of_type(&post.post_type));
    slugs(db, settings, Translated::Posts, translated.map(|post| post.id.0), PostId)
}

/// The codes of the languages of terms, for their URLs: one query, or none if URLs do not have them.
///
/// # Errors
/// Errors of the store.
pub fn slugs_of_terms<'t>(
    db: &mut Db,
    settings: &Settings,
    rows: impl Iterator<Item = &'t Term>,
) -> SiteResult<HashMap<TermId, String>> {
    let translated = rows.filter(|term| settings.urls.have_language_of_taxonomy(&term.taxonomy));
    slugs(db, settings, Translated::Terms, translated.map(|term| term.id.0), TermId)
}

fn slugs<Id: std::hash::Hash + Eq>(
    db: &mut Db,
    settings: &Settings,
    of: Translated,
    ids: impl Iterator<Item = i64>,
    id: fn(i64) -> Id,
) -> SiteResult<HashMap<Id, String>> {
    let ids: Vec<i64> = ids.collect();
    let Some(languages) = settings.urls.languages().filter(|_| !ids.is_empty()) else { return Ok(HashMap::new()) };
    let found = terms_of(db, of, &ids)?;
    let slug = |terms: &[Term]| Some(languages.of(of, terms)?.slug.clone());
    Ok(found.iter().filter_map(|(number, terms)| Some((id(*number), slug(terms)?))).collect())
}

/// Replaces the terms that an object has in one of the taxonomies.
fn set_terms(tx: &mut Tx, of: Translated, id: i64, taxonomy: &str, after: &[&Term]) -> SiteResult<()> {
    match of {
        Translated::Posts => {
            let after: Vec<TermId> = after.iter().map(|term| term.id).collect();
            terms::set_object_terms(tx, PostId(id), taxonomy, &after)?;
        }
        Translated::Terms => {
            let before = of_terms(tx, &[TermId(id)])?.remove(&TermId(id)).unwrap_or_default();
            let before = before.iter().filter(|term| term.taxonomy == taxonomy).map(|term| term.taxonomy_id);
            let after: Vec<_> = after.iter().map(|term| term.taxonomy_id).collect();
            language_terms::set_of_term(tx, TermId(id), &before.collect::<Vec<_>>(), &after)?;
        }
    }
    Ok(())
}

/// Gives an object the requested language. Without one, it keeps its language; an object without a language gets that of its parent, or the
/// default language. Returns the language.
///
/// # Errors
/// If the language does not exist; errors of the store.
pub(crate) fn set_language<'l>(
    tx: &mut Tx,
    languages: &'l Languages,
    of: Translated,
    (id, parent): (i64, i64),
    requested: Option<&str>,
) -> SiteResult<&'l Language> {
    let ids: Vec<i64> = [id, parent].into_iter().filter(|id| *id != 0).collect();
    let found = terms_of(tx, of, &ids)?;
    let of_object = |id: i64| languages.of(of, found.get(&id).map_or(&[][..], Vec::as_slice));
    let before = of_object(id);
    let language = match requested {
        Some(slug) => languages.get(slug),
        None => before.or_else(|| of_object(parent)).or_else(|| languages.default_language()),
    };
    let language = language.ok_or_else(errors::unknown_language)?;
    if before.is_none_or(|before| before.slug != language.slug) {
        let term = language.term(of).ok_or_else(errors::unknown_language)?;
        let term = Term { id: term.id, taxonomy_id: term.taxonomy_id, ..Term::default() };
        set_terms(tx, of, id, of.languages(), &[&term])?;
    }
    Ok(language)
}

/// Checks that these are posts of the type that the caller may edit. An error names the language of the first that is not of the type.
pub(crate) fn check_posts(
    tx: &mut Tx,
    (site, settings, caller): (&Site, &Settings, &Caller),
    post_type: &str,
    ids: &[(&str, i64)],
) -> SiteResult<()> {
    let numbers: Vec<PostId> = ids.iter().map(|(_, id)| PostId(*id)).collect();
    let found: Vec<Post> = posts::get_many(tx, &numbers)?.into_iter().filter(|p| p.post_type == post_type).collect();
    let known: HashSet<i64> = found.iter().map(|post| post.id.0).collect();
    if let Some((slug, _)) = ids.iter().find(|(_, id)| !known.contains(id)) {
        return Err(errors::not_in_language(slug).into());
    }
    let access = Access::of_posts(site, settings, tx, &found)?;
    let may = found.iter().all(|post| caller.can_post(PostCap::Edit, post, &access));
    if may { Ok(()) } else { Err(errors::cannot_edit().into()) }
}

/// As [`check_posts`], for terms of a taxonomy.
pub(crate) fn check_terms(
    tx: &mut Tx,
    (site, settings, caller): (&Site, &Settings, &Caller),
    taxonomy: &Taxonomy,
    ids: &[(&str, i64)],
) -> SiteResult<()> {
    let numbers: Vec<TermId> = ids.iter().map(|(_, id)| TermId(*id)).collect();
    let mut found = terms::without_counts(tx, &numbers)?;
    found.retain(|term| term.taxonomy == taxonomy.name);
    let known: HashSet<i64> = found.iter().map(|term| term.id.0).collect();
    if let Some((slug, _)) = ids.iter().find(|(_, id)| !known.contains(id)) {
        return Err(errors::not_in_language(slug).into());
    }
    let access = access_to_terms(site, settings, &found);
    let may = found.iter().all(|term| caller.can("edit_term", Object::Term(term.id), &access));
    if may { Ok(()) } else { Err(errors::cannot_edit().into()) }
}

/// The translation of a term in the language of a post; the term itself if there is none.
pub(crate) fn translated_term(tx: &mut Tx, languages: &Languages, post: PostId, term: TermId) -> SiteResult<TermId> {
    let of_post = terms_of(tx, Translated::Posts, &[post.0])?.remove(&post.0).unwrap_or_default();
    let Some(language) = languages.of(Translated::Posts, &of_post) else { return Ok(term) };
    let of_term = terms_of(tx, Translated::Terms, &[term.0])?.remove(&term.0).unwrap_or_default();
    let Some(group) = languages.group(Translated::Terms, &of_term) else { return Ok(term) };
    let translation = languages.members(group).into_iter().find(|(member, _)| member.slug == language.slug);
    Ok(translation.map_or(term, |(_, id)| TermId(id)))
}

/// The ids of the other posts in the group of a post, on a site with languages.
///
/// # Errors
/// Errors of the store.
pub(crate) fn translations_of_post(tx: &mut Tx, post: PostId) -> SiteResult<Vec<i64>> {
    if !is_used(tx)? {
        return Ok(Vec::new());
    }
    let terms = terms_of(tx, Translated::Posts, &[post.0])?.remove(&post.0).unwrap_or_default();
    let groups = terms.iter().filter(|term| term.taxonomy == Translated::Posts.translations());
    let ids = groups.flat_map(group_array).map(|(_, id)| int(&id));
    Ok(ids.filter(|id| *id > 0 && *id != post.0).collect())
}

/// Takes a post out of its group before it is deleted, on a site with languages.
///
/// # Errors
/// Errors of the store.
pub(crate) fn post_is_deleted(tx: &mut Tx, post: PostId) -> SiteResult<()> {
    if !is_used(tx)? {
        return Ok(());
    }
    leave(tx, Translated::Posts, post.0)
}

/// Takes a term out of its group, and takes its language away, before it is deleted, on a site with languages.
///
/// # Errors
/// Errors of the store.
pub fn term_is_deleted(tx: &mut Tx, term: TermId) -> SiteResult<()> {
    if !is_used(tx)? {
        return Ok(());
    }
    leave(tx, Translated::Terms, term.0)?;
    set_terms(tx, Translated::Terms, term.0, Translated::Terms.languages(), &[])
}

/// Whether the site has the plugin's settings. Reads an option that is cached.
fn is_used(db: &mut Db) -> SiteResult<bool> {
    Ok(svc_store::options::autoloaded(db)?.contains_key(OPTION))
}
