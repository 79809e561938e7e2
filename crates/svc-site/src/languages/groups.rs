//! Groups of translations: how objects join and leave them.

use std::collections::HashMap;

use indexmap::IndexMap;
use sha2::{Digest as _, Sha256};
use svc_model::{Term, TermId};
use svc_php::{Array, ArrayKey, Php};
use svc_store::{StoredText, Tx, terms};

use super::{Language, Languages, Translated, set_terms, terms_of};
use crate::{
    SiteResult,
    errors::languages as errors,
    settings::languages::group_array,
    stored_arrays::{int, key_text},
};

/// The ids of the translations that a request names, by language. Zero removes that of a language from the group.
pub type Translations = IndexMap<String, i64>;

/// The members of a group, and what becomes of them.
struct Plan<'l> {
    /// The members of the group after the change: first the object, then those named, then the others.
    members: Vec<(&'l Language, i64)>,
    /// Those that leave a group.
    removed: Vec<(&'l Language, i64)>,
    /// The groups of all of them before, that of the object first.
    groups: Vec<Term>,
    /// The groups of each object before.
    groups_of: HashMap<i64, Vec<TermId>>,
}

/// Makes an object and the named ones translations of each other: their groups become one. Languages that are not named keep the translation
/// that one of the groups has. Without `named`, only the language of the object in its group is corrected.
///
/// `check` is called with the named objects and with those that leave a group: whether they exist, and the caller may edit them.
///
/// # Errors
/// If an object is not in its language; if two groups have translations in the same language that is not named; errors of `check` and of
/// the store.
pub(crate) fn join(
    tx: &mut Tx,
    languages: &Languages,
    of: Translated,
    (id, language): (i64, &Language),
    named: &Translations,
    check: impl Fn(&mut Tx, &[(&str, i64)]) -> SiteResult<()>,
) -> SiteResult<()> {
    let (others, released) = split(languages, (id, language), named)?;
    let named_ids: Vec<(&str, i64)> = others.iter().map(|(language, id)| (language.slug.as_str(), *id)).collect();
    if !named_ids.is_empty() {
        check(tx, &named_ids)?;
    }
    if released.contains(&language.slug.as_str()) {
        return match others[..] {
            [] => leave_alone(tx, languages, of, (language, id)),
            _ => Err(errors::own_language(&language.slug).into()),
        };
    }
    let plan = plan(tx, languages, of, (id, language), &others, (named, &released))?;
    if !plan.removed.is_empty() {
        let removes_all_others = plan.members.len() == 1;
        if removes_all_others {
            return leave_alone(tx, languages, of, (language, id));
        }
        let removed: Vec<(&str, i64)> =
            plan.removed.iter().map(|(language, id)| (language.slug.as_str(), *id)).collect();
        check(tx, &removed)?;
    }
    plan.store(tx, languages, of)
}

/// The named objects other than the object itself, and the languages whose translation is removed.
fn split<'l, 'n>(
    languages: &'l Languages,
    (id, language): (i64, &Language),
    named: &'n Translations,
) -> SiteResult<(Vec<(&'l Language, i64)>, Vec<&'n str>)> {
    let (mut others, mut released) = (Vec::new(), Vec::new());
    for (slug, other) in named {
        let of_slug = languages.get(slug).ok_or_else(errors::unknown_language)?;
        match *other {
            0 => released.push(slug.as_str()),
            other if other == id && *slug == language.slug => {}
            _ if *slug == language.slug => return Err(errors::own_language(slug).into()),
            other if other == id || other < 0 => return Err(errors::not_in_language(slug).into()),
            other => others.push((of_slug, other)),
        }
    }
    Ok((others, released))
}

fn plan<'l>(
    tx: &mut Tx,
    languages: &'l Languages,
    of: Translated,
    (id, language): (i64, &'l Language),
    others: &[(&'l Language, i64)],
    (named, released): (&Translations, &[&str]),
) -> SiteResult<Plan<'l>> {
    let mut members = vec![(language, id)];
    members.extend(others);
    let ids: Vec<i64> = members.iter().map(|(_, id)| *id).collect();
    let mut found = terms_of(tx, of, &ids)?;
    let mut groups: Vec<Term> = Vec::new();
    for (language, id) in &members {
        let terms = found.get(id).map_or(&[][..], Vec::as_slice);
        if languages.of(of, terms).is_none_or(|actual| actual.slug != language.slug) {
            return Err(errors::not_in_language(&language.slug).into());
        }
        if let Some(group) = languages.group(of, terms)
            && !groups.iter().any(|known| known.id == group.id)
        {
            groups.push(group.clone());
        }
    }
    let own_group = languages.group(of, found.get(&id).map_or(&[][..], Vec::as_slice)).map(|group| group.id);
    let mut in_groups: Vec<(TermId, &Language, i64)> = Vec::new();
    for group in &groups {
        let of_group = languages.members(group).into_iter().filter(|(_, id)| !ids.contains(id));
        in_groups.extend(of_group.map(|(language, id)| (group.id, language, id)));
    }
    let rest: Vec<i64> = in_groups.iter().map(|(.., id)| *id).collect();
    if !rest.is_empty() {
        found.extend(terms_of(tx, of, &rest)?);
    }
    let (mut removed, mut conflicts) = (Vec::new(), Vec::new());
    for (group, language, id) in in_groups {
        let terms = found.get(&id).map_or(&[][..], Vec::as_slice);
        let is_member = terms.iter().any(|term| term.id == group)
            && languages.of(of, terms).is_some_and(|actual| actual.slug == language.slug);
        let slug = language.slug.as_str();
        // What the description has beside the actual members is left over.
        if !is_member {
            continue;
        }
        if Some(group) == own_group && released.contains(&slug) {
            removed.push((language, id));
        } else if !members.iter().any(|(member, _)| member.slug == slug) {
            members.push((language, id));
        } else if named.contains_key(slug) {
            removed.push((language, id));
        } else {
            conflicts.push(slug);
        }
    }
    if !conflicts.is_empty() {
        return Err(errors::conflict(&conflicts).into());
    }
    let of_object = |terms: &Vec<Term>| -> Vec<TermId> {
        terms.iter().filter(|term| term.taxonomy == of.translations()).map(|term| term.id).collect()
    };
    let groups_of = found.iter().map(|(id, terms)| (*id, of_object(terms))).collect();
    Ok(Plan { members, removed, groups, groups_of })
}

impl Plan<'_> {
    /// Stores the group, and the objects in it. A post without translations has no group; a term always has one, because exports refer to it.
    fn store(self, tx: &mut Tx, languages: &Languages, of: Translated) -> SiteResult<()> {
        let Plan { members, removed, mut groups, groups_of } = self;
        if groups.is_empty() && members.len() == 1 && of == Translated::Posts {
            return Ok(());
        }
        let target = if groups.is_empty() { None } else { Some(groups.remove(0)) };
        let target = store_group(tx, languages, of, target, &members)?;
        for (_, id) in &members {
            if groups_of.get(id).is_none_or(|groups| groups[..] != [target.id]) {
                set_terms(tx, of, *id, of.translations(), &[&target])?;
            }
        }
        for member in removed.iter().copied() {
            become_alone(tx, languages, of, member)?;
        }
        let moved: Vec<i64> = members.iter().chain(&removed).map(|(_, id)| *id).collect();
        for group in groups {
            let Some(group) = terms::get(tx, group.id, Some(of.translations()))? else { continue };
            let rest = without(group_array(&group), &moved);
            if group.count <= 0 || rest.is_empty() {
                terms::delete(tx, &group, None)?;
            } else {
                terms::update(tx, &Term { description: stored(rest), ..group })?;
            }
        }
        Ok(())
    }
}

/// Takes an object out of its group. A group without objects is deleted.
pub(crate) fn leave(tx: &mut Tx, of: Translated, id: i64) -> SiteResult<()> {
    let terms = terms_of(tx, of, &[id])?.remove(&id).unwrap_or_default();
    for group in terms.iter().filter(|term| term.taxonomy == of.translations()) {
        let rest = without(group_array(group), &[id]);
        if rest.is_empty() {
            terms::delete(tx, group, None)?;
        } else {
            terms::update(tx, &Term { description: stored(rest), ..group.clone() })?;
        }
    }
    set_terms(tx, of, id, of.translations(), &[])
}

/// Takes an object out of its group, which the others keep.
fn leave_alone(tx: &mut Tx, languages: &Languages, of: Translated, member: (&Language, i64)) -> SiteResult<()> {
    leave(tx, of, member.1)?;
    become_alone(tx, languages, of, member)
}

/// An object without translations.
fn become_alone(tx: &mut Tx, languages: &Languages, of: Translated, member: (&Language, i64)) -> SiteResult<()> {
    match of {
        Translated::Posts => set_terms(tx, of, member.1, of.translations(), &[]),
        Translated::Terms => {
            let group = store_group(tx, languages, of, None, &[member])?;
            set_terms(tx, of, member.1, of.translations(), &[&group])
        }
    }
}

/// Stores the ids of the members in the description of a group, which is created if there is none. Entries that are not of languages are kept.
fn store_group(
    tx: &mut Tx,
    languages: &Languages,
    of: Translated,
    group: Option<Term>,
    members: &[(&Language, i64)],
) -> SiteResult<Term> {
    let others = group.as_ref().map(group_array).unwrap_or_default().into_iter();
    let mut array: Array = others.filter(|(key, _)| languages.get(&key_text(key)).is_none()).collect();
    for (language, id) in members {
        array.insert(ArrayKey::from(language.slug.as_str()), Php::Int(*id));
    }
    let description = stored(array);
    match group {
        Some(group) if group.description == description => Ok(group),
        Some(group) => {
            let group = Term { description, ..group };
            terms::update(tx, &group)?;
            Ok(group)
        }
        None => {
            let taxonomy = of.translations().to_owned();
            let name = new_name(tx, &taxonomy, members)?;
            Ok(terms::insert(tx, &Term { taxonomy, slug: name.clone(), name, description, ..Term::default() })?)
        }
    }
}

/// A name as the plugin makes them: `pll_` and 13 hexadecimal digits.
fn new_name(tx: &mut Tx, taxonomy: &str, members: &[(&Language, i64)]) -> SiteResult<String> {
    let mut hasher = Sha256::new();
    hasher.update(chrono::Utc::now().timestamp_micros().to_le_bytes());
    members.iter().for_each(|(_, id)| hasher.update(id.to_le_bytes()));
    let digits: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).take(7).collect();
    let name = format!("pll_{}", digits.get(..13).unwrap_or(&digits));
    Ok(terms::unique_slug(tx, &name, taxonomy, TermId(0), TermId(0))?)
}

/// The entries without these ids.
fn without(array: Array, ids: &[i64]) -> Array {
    array.into_iter().filter(|(_, id)| !ids.contains(&int(id))).collect()
}

fn stored(array: Array) -> String {
    StoredText::of(Php::Array(array)).as_stored().to_owned()
}
