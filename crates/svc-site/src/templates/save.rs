//! Stores templates.

use svc_model::{Post, PostId, Term, TermId, UserId};
use svc_store::{
    StoredText, Tx,
    meta::{self, MetaKind},
    posts, terms,
};

use crate::{
    SiteResult,
    templates::load::{THEME, TemplateKind},
};

/// Maximum number of suffixes to try for a unique slug.
pub const MAX_TRIES: u32 = 100;

/// The changes of a transaction to a template's post.
#[derive(Clone)]
pub struct TemplateChange {
    /// The new row.
    pub row: Post,
    /// The row that `row` was derived from.
    pub base: Option<Post>,
    /// The theme and area of a new post; the area of an existing one only if it changes.
    pub theme: Option<String>,
    /// Area of a template part.
    pub area: Option<String>,
    /// Source of the template before it was saved, stored in meta.
    pub origin: Option<String>,
    /// Value of the meta `is_wp_suggestion`, if set.
    pub suggested: Option<String>,
    /// Hooked blocks that are no longer inserted for editors.
    pub ignored_hooks: Vec<String>,
    /// The caller.
    pub by: UserId,
}

impl TemplateChange {
    /// Reapplies the change to the current row: fields that it does not change keep the values of concurrent requests.
    pub fn rebase(&mut self, now: Post) {
        let Some(base) = &self.base else { return };
        let row = std::mem::replace(&mut self.row, now);
        let texts = [
            (&mut self.row.title, row.title, &base.title),
            (&mut self.row.content, row.content, &base.content),
            (&mut self.row.excerpt, row.excerpt, &base.excerpt),
        ];
        for (now, wanted, before) in texts {
            if wanted != *before {
                *now = wanted;
            }
        }
        if row.author != base.author {
            self.row.author = row.author;
        }
        (self.row.modified, self.row.modified_gmt, self.row.status) = (row.modified, row.modified_gmt, row.status);
    }
}

/// Inserts a new post with its theme. If the requested slug is empty after sanitizing, the title or the id is its slug.
pub fn insert(
    tx: &mut Tx,
    change: &mut TemplateChange,
    kind: TemplateKind,
    permalink: &impl Fn(&Post) -> String,
) -> SiteResult<()> {
    let theme = change.theme.clone().unwrap_or_default();
    let theme_term = find_or_create_term(tx, THEME, &theme)?;
    let title = svc_text::sanitize_title(&change.row.title);
    let named = Some(svc_text::sanitize_title(&change.row.slug)).filter(|slug| !matches!(slug.as_str(), "" | "0"));
    let wanted = named.unwrap_or(title);
    change.row.slug = unique_slug(tx, &wanted, kind, theme_term)?;
    change.row.id = posts::insert(tx, &change.row)?;
    if change.row.slug.is_empty() {
        change.row.slug = unique_slug(tx, &change.row.id.to_string(), kind, theme_term)?;
    }
    change.row.guid = permalink(&change.row);
    posts::update(tx, &change.row)?;
    terms::set_object_terms(tx, change.row.id, THEME, &[theme_term])?;
    if let Some(origin) = &change.origin {
        meta::update(tx, MetaKind::Post, change.row.id.0, "origin", &StoredText::of(origin))?;
    }
    Ok(())
}

/// A slug that is unique among the theme's templates.
pub fn unique_slug(tx: &mut Tx, wanted: &str, kind: TemplateKind, theme: TermId) -> SiteResult<String> {
    let mut slug = wanted.to_owned();
    for n in 2..MAX_TRIES {
        let others: Vec<PostId> = posts::by_slug(tx, &slug, &[kind.post_type()])?.iter().map(|p| p.id).collect();
        let of_theme = terms::of_objects(tx, &others)?;
        if !of_theme.values().flatten().any(|t| t.taxonomy == THEME && t.id == theme) {
            break;
        }
        slug = format!("{wanted}-{n}");
    }
    Ok(slug)
}

/// The term with this name, created on first use.
pub fn find_or_create_term(tx: &mut Tx, taxonomy: &str, name: &str) -> SiteResult<TermId> {
    if let Some(term) = terms::by_name(tx, name, taxonomy)?.into_iter().next() {
        return Ok(term.id);
    }
    let slug = svc_text::sanitize_title(name);
    let term = Term { taxonomy: taxonomy.to_owned(), name: name.to_owned(), slug, ..Term::default() };
    Ok(terms::insert(tx, &term)?.id)
}
