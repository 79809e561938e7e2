//! Stores templates.

use svc_model::{Post, PostId, Term, TermId, UserId};
use svc_store::{
    StoredText, Tx,
    meta::{self, MetaKind},
    posts, terms,
};

use crate::{
    SiteResult,
    templates::load::{Kind, THEME},
};

/// Slugs that are tried before one is taken that is used already.
pub const MAX_TRIES: u32 = 100;

/// What a transaction makes of the posts.
#[derive(Clone)]
pub struct Change {
    pub row: Post,
    /// The row that `row` was made of.
    pub base: Option<Post>,
    /// The theme and the place that a new post is for; the place of a changed one, when it is to be changed.
    pub theme: Option<String>,
    pub area: Option<String>,
    pub origin: Option<String>,
    pub suggested: Option<String>,
    /// The blocks that editors need not be shown again.
    pub ignored_hooks: Vec<String>,
    pub by: UserId,
}

impl Change {
    /// Makes the change to the row as it is now: what is the same as before this change stays as another request has left it.
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

/// Stores a new post with its theme.
pub fn insert(tx: &mut Tx, change: &mut Change, kind: Kind, address: &impl Fn(&Post) -> String) -> SiteResult<()> {
    let theme = change.theme.clone().unwrap_or_default();
    let theme_term = term(tx, THEME, &theme)?;
    change.row.slug = free_slug(tx, &svc_text::sanitize_title(&change.row.slug), kind, theme_term)?;
    change.row.id = posts::insert(tx, &change.row)?;
    change.row.guid = address(&change.row);
    posts::update(tx, &change.row)?;
    terms::set_object_terms(tx, change.row.id, THEME, &[theme_term])?;
    if let Some(origin) = &change.origin {
        meta::update(tx, MetaKind::Post, change.row.id.0, "origin", &StoredText::of(origin))?;
    }
    Ok(())
}

/// A slug that no other template of the theme has.
pub fn free_slug(tx: &mut Tx, wanted: &str, kind: Kind, theme: TermId) -> SiteResult<String> {
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

/// The term of this name, made when it is first used.
pub fn term(tx: &mut Tx, taxonomy: &str, name: &str) -> SiteResult<TermId> {
    if let Some(term) = terms::by_name(tx, name, taxonomy)?.into_iter().next() {
        return Ok(term.id);
    }
    let slug = svc_text::sanitize_title(name);
    let term = Term { taxonomy: taxonomy.to_owned(), name: name.to_owned(), slug, ..Term::default() };
    Ok(terms::insert(tx, &term)?.id)
}
