//! Titles of saved templates whose slug names one object: a page, an author or a term.
//!
//! Only templates without title and description get them, and only in responses: nothing is stored. Naming a list takes
//! a fixed number of queries.

use std::collections::HashMap;

use svc_model::{Post, PostType, PostTypes, Taxonomies, Taxonomy, Term, User};
use svc_store::{
    Db,
    posts::{self, PostQuery},
    terms::{self, TermQuery},
    users::{self, UserQuery},
};

use crate::{
    Site, SiteResult,
    templates::template::{Template, TemplateKind},
};

/// The object that a template is for.
#[derive(Debug)]
enum TemplateObject<'a> {
    Author(&'a str),
    Post(&'a PostType, &'a str),
    Term(&'a Taxonomy, &'a str),
}

/// Slug prefixes of such templates, at any position in a slug.
const PREFIXES: [&str; 6] = ["author-", "category-", "page-", "single-", "tag-", "taxonomy-"];

/// The object that a template with this slug is for.
fn subject<'a>(slug: &'a str, types: &'a PostTypes, taxonomies: &'a Taxonomies) -> Option<TemplateObject<'a>> {
    let (at, beginning) = PREFIXES.iter().filter_map(|b| Some((slug.find(b)?, b))).min()?;
    let rest = &slug[at + beginning.len()..];
    // Names may contain hyphens, so the longest matching name is used.
    let after = |name: &str| rest.strip_prefix(name)?.strip_prefix('-');
    let found = match *beginning {
        "author-" => TemplateObject::Author(rest),
        "category-" => TemplateObject::Term(taxonomies.get("category")?, rest),
        "tag-" => TemplateObject::Term(taxonomies.get("post_tag")?, rest),
        "page-" => TemplateObject::Post(types.get("page")?, rest),
        "single-" => {
            let named = types.iter().filter_map(|kind| Some((kind, after(&kind.name)?)));
            let (kind, slug) = named.max_by_key(|(kind, _)| kind.name.len())?;
            TemplateObject::Post(kind, slug)
        }
        _ => {
            let named = taxonomies.iter().filter_map(|kind| Some((kind, after(&kind.name)?)));
            let (kind, slug) = named.max_by_key(|(kind, _)| kind.name.len())?;
            TemplateObject::Term(kind, slug)
        }
    };
    let (TemplateObject::Author(slug) | TemplateObject::Post(_, slug) | TemplateObject::Term(_, slug)) = found;
    (!slug.is_empty()).then_some(found)
}

/// Sets titles and descriptions of templates that have none and are for one object.
///
/// # Errors
/// Errors of the store.
pub fn set_titles(db: &mut Db, site: &Site, templates: &mut [Template]) -> SiteResult<()> {
    let nameless =
        |t: &Template| t.kind == TemplateKind::Template && matches!(&*t.title, "" | "0") && t.description.is_empty();
    let slugs: Vec<(usize, String)> =
        templates.iter().enumerate().filter(|(_, t)| nameless(t)).map(|(idx, t)| (idx, t.slug.clone())).collect();
    let subjects: Vec<(usize, TemplateObject<'_>)> = slugs
        .iter()
        .filter_map(|(idx, slug)| Some((*idx, subject(slug, &site.registries.types, &site.registries.taxonomies)?)))
        .collect();
    if subjects.is_empty() {
        return Ok(());
    }
    let found = TemplateObjects::load(db, &subjects)?;
    for (idx, subject) in subjects {
        let (title, description) = found.texts(&subject);
        templates[idx].title = title;
        templates[idx].description = description;
    }
    Ok(())
}

/// The objects that the templates of a list are for.
#[derive(Default)]
struct TemplateObjects {
    authors: HashMap<String, User>,
    /// By type and slug.
    posts: HashMap<(String, String), Post>,
    /// By taxonomy and slug.
    terms: HashMap<(String, String), Term>,
    /// Number of users with the same name, in lower case, and of terms per taxonomy.
    same_authors: HashMap<String, usize>,
    same_terms: HashMap<(String, String), usize>,
}

impl TemplateObjects {
    fn load(db: &mut Db, subjects: &[(usize, TemplateObject<'_>)]) -> SiteResult<Self> {
        let mut found = TemplateObjects::default();
        let (mut users, mut posts, mut terms) = (UserQuery::default(), PostQuery::default(), TermQuery::default());
        for (_, subject) in subjects {
            match subject {
                TemplateObject::Author(slug) => users.slugs.push((*slug).to_owned()),
                TemplateObject::Post(kind, slug) => {
                    posts.post_types.push(kind.name.clone());
                    posts.slugs.push((*slug).to_owned());
                }
                TemplateObject::Term(taxonomy, slug) => {
                    terms.taxonomies.push(taxonomy.name.clone());
                    terms.slugs.push((*slug).to_owned());
                }
            }
        }
        if !users.slugs.is_empty() {
            found.load_authors(db, &users)?;
        }
        if !posts.slugs.is_empty() {
            posts.post_types.sort_unstable();
            posts.post_types.dedup();
            posts.statuses = vec!["publish".to_owned()];
            let ids = posts::query(db, &posts)?.ids;
            // If several posts have the same slug, the newest, which comes first.
            for post in posts::get_many(db, &ids)? {
                found.posts.entry((post.post_type.clone(), post.slug.clone())).or_insert(post);
            }
        }
        if !terms.slugs.is_empty() {
            terms.taxonomies.sort_unstable();
            terms.taxonomies.dedup();
            found.load_terms(db, &terms)?;
        }
        Ok(found)
    }

    fn load_authors(&mut self, db: &mut Db, query: &UserQuery) -> SiteResult<()> {
        let ids = users::query(db, query)?.ids;
        let authors = users::get_many(db, &ids)?;
        let names: Vec<String> = authors.iter().map(|a| a.display_name.clone()).collect();
        self.authors = authors.into_iter().map(|a| (a.nicename.clone(), a)).collect();
        if !names.is_empty() {
            let ids = users::query(db, &UserQuery::default().names(names))?.ids;
            for same in users::get_many(db, &ids)? {
                *self.same_authors.entry(same.display_name.to_lowercase()).or_default() += 1;
            }
        }
        Ok(())
    }

    fn load_terms(&mut self, db: &mut Db, query: &TermQuery) -> SiteResult<()> {
        let ids = terms::query(db, query)?.ids;
        let terms = terms::get_many(db, &ids)?;
        let names: Vec<String> = terms.iter().map(|t| t.name.clone()).collect();
        self.terms = terms.into_iter().map(|t| ((t.taxonomy.clone(), t.slug.clone()), t)).collect();
        if !names.is_empty() {
            let query = TermQuery::default().taxonomies(query.taxonomies.clone()).names(names);
            let ids = terms::query(db, &query)?.ids;
            for same in terms::get_many(db, &ids)? {
                *self.same_terms.entry((same.taxonomy, same.name.to_lowercase())).or_default() += 1;
            }
        }
        Ok(())
    }

    /// Title and description.
    fn texts(&self, subject: &TemplateObject<'_>) -> (String, String) {
        let (label, slug, name, same) = match subject {
            TemplateObject::Author(slug) => {
                let name = self.authors.get(*slug).map(|a| a.display_name.as_str());
                let Some(name) = name else { return (format!("Deleted author: {slug}"), String::new()) };
                ("Author", *slug, Some(name), self.same_authors.get(&name.to_lowercase()))
            }
            TemplateObject::Post(kind, slug) => {
                let post = self.posts.get(&(kind.name.clone(), (*slug).to_owned()));
                (kind.singular_label.as_str(), *slug, post.map(|p| p.title.as_str()), None)
            }
            TemplateObject::Term(taxonomy, slug) => {
                let name = self.terms.get(&(taxonomy.name.clone(), (*slug).to_owned())).map(|t| t.name.as_str());
                let same = name.and_then(|n| self.same_terms.get(&(taxonomy.name.clone(), n.to_lowercase())));
                (taxonomy.singular_label.as_str(), *slug, name, same)
            }
        };
        let Some(name) = name else { return (format!("Not found: {label} ({slug})"), String::new()) };
        let title = match same {
            Some(2..) => format!("{label}: {name} ({slug})"),
            _ => format!("{label}: {name}"),
        };
        (title, format!("Renders the pages of {name}."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(slug: &str, expected: &str) {
        let (types, taxonomies) = (PostTypes::default(), Taxonomies::default());
        let found = match subject(slug, &types, &taxonomies) {
            Some(TemplateObject::Author(slug)) => format!("author {slug}"),
            Some(TemplateObject::Post(kind, slug)) => format!("{} {slug}", kind.name),
            Some(TemplateObject::Term(taxonomy, slug)) => format!("{} {slug}", taxonomy.name),
            None => String::new(),
        };
        assert_eq!(found, expected, "{slug}");
    }

    #[test]
    fn slugs_identify_the_object_of_a_template() {
        check("page-about", "page about");
        check("page-", "");
        check("pages-about", "");
        check("author-jane", "author jane");
        check("category-news", "category news");
        check("tag-a-b", "post_tag a-b");
        check("single-post", "");
        check("single-post-hello", "post hello");
        check("single-nosuch-hello", "");
        check("taxonomy-post_tag-a", "post_tag a");
        check("taxonomy-category", "");
        check("archive-post", "");
    }

    #[test]
    fn the_first_prefix_is_used_at_any_position() {
        check("front-page-about", "page about");
        check("category-page-about", "category page-about");
        check("single-nosuch-page-about", "");
        check("my-author-jane", "author jane");
    }
}
