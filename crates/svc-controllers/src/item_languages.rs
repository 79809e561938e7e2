//! The schemas of the fields and parameters for languages, and the translations of items that a caller may read.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};
use svc_auth::Caller;
use svc_model::{PostId, Term, TermId};
use svc_schema::build::{SchemaBuilder, array, integer, object, string, types};
use svc_site::{
    Access, Settings, Site, SiteResult,
    languages::{Languages, Translated},
};
use svc_store::{Db, posts, terms};

use crate::contexts::VIEW_EDIT_EMBED;

/// Name of the field and of the parameter of lists.
pub(crate) const LANG: &str = "lang";
/// Name of the field.
pub(crate) const TRANSLATIONS: &str = "translations";

/// What an item has of languages.
#[derive(Clone, Debug, Default)]
pub(crate) struct ItemLanguages {
    /// The code of its language.
    pub(crate) slug: Option<String>,
    /// The translations, itself among them, that the caller may read.
    pub(crate) translations: Map<String, Value>,
    /// The other members of its group, readable or not, on whose rows the translations depend.
    pub(crate) members: Vec<i64>,
}

/// The schema of the language of an object. Null if it has none; a write of null changes nothing.
pub(crate) fn lang_field(languages: &Languages) -> SchemaBuilder {
    let values = languages.slugs().into_iter().map(Value::from).chain([Value::Null]);
    types(["string", "null"]).describe("Code of the language.").one_of(values).context(VIEW_EDIT_EMBED)
}

/// The schema of the translations of an object.
pub(crate) fn translations_field(languages: &Languages) -> SchemaBuilder {
    let id = || integer().minimum(0);
    object(languages.slugs().into_iter().map(|slug| (slug, id())))
        .describe("IDs of the translations by language, with the object's own. A write joins them; 0 removes one.")
        .additional_properties(false)
        .context(VIEW_EDIT_EMBED)
}

/// The schema of the parameter of lists.
pub(crate) fn lang_param(languages: &Languages) -> SchemaBuilder {
    array(string().one_of(languages.slugs()).first(&["enum"]))
        .default(json!([]))
        .describe("Only return items in these languages; if empty, those in all languages.")
}

/// The languages of items and their translations that `readable` returns, which is called with the ids of the other members of all groups.
pub(crate) fn of_items(
    db: &mut Db,
    languages: &Languages,
    of: Translated,
    items: &[(i64, &[Term])],
    readable: impl FnOnce(&mut Db, &[i64]) -> SiteResult<HashSet<i64>>,
) -> SiteResult<HashMap<i64, ItemLanguages>> {
    let mut members: HashMap<i64, Vec<(&str, i64)>> = HashMap::new();
    for (id, terms) in items {
        let Some(group) = languages.group(of, terms) else { continue };
        let of_group = languages.members(group).into_iter().filter(|(_, member)| member != id);
        members.insert(*id, of_group.map(|(language, member)| (language.slug.as_str(), member)).collect());
    }
    let mut ids: Vec<i64> = members.values().flatten().map(|(_, id)| *id).collect();
    ids.sort_unstable();
    ids.dedup();
    let shown = if ids.is_empty() { HashSet::new() } else { readable(db, &ids)? };
    Ok(items
        .iter()
        .map(|(id, terms)| {
            let slug = languages.of(of, terms).map(|language| language.slug.clone());
            let others = members.remove(id).unwrap_or_default();
            let listed = |(other, member): &&(&str, i64)| shown.contains(member) && Some(*other) != slug.as_deref();
            let mut translations: Map<String, Value> =
                slug.iter().map(|slug| (slug.clone(), Value::from(*id))).collect();
            translations.extend(others.iter().filter(listed).map(|(slug, id)| ((*slug).to_owned(), Value::from(*id))));
            (*id, ItemLanguages { slug, translations, members: others.into_iter().map(|(_, id)| id).collect() })
        })
        .collect())
}

/// The posts of a type among these that the caller may read. The caller of this function records that the result depends on their rows.
pub(crate) fn readable_posts(
    db: &mut Db,
    (site, settings, caller): (&Site, &Settings, &Caller),
    post_type: &str,
    ids: &[i64],
) -> SiteResult<HashSet<i64>> {
    let ids: Vec<PostId> = ids.iter().copied().map(PostId).collect();
    let found = db.recorded_by_caller(|db| posts::outlines(db, &ids))?;
    let access = Access::of_posts(site, settings, db, &found)?;
    let is_shown = |post: &&svc_model::Post| post.post_type == post_type && access.can_read(caller, post);
    Ok(found.iter().filter(is_shown).map(|post| post.id.0).collect())
}

/// The terms of a taxonomy among these.
pub(crate) fn existing_terms(db: &mut Db, taxonomy: &str, ids: &[i64]) -> SiteResult<HashSet<i64>> {
    let ids: Vec<TermId> = ids.iter().copied().map(TermId).collect();
    let found = terms::without_counts(db, &ids)?;
    Ok(found.iter().filter(|term| term.taxonomy == taxonomy).map(|term| term.id.0).collect())
}
