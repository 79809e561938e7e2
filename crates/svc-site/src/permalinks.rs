//! Permalinks of posts of several types at once, for example for comments or search results.

use std::collections::HashMap;

use svc_model::{Post, PostId, PostType, Term, TermId};
use svc_store::{Db, posts, terms, users};

use crate::{Settings, Site, SiteResult, terms::paths::slug_paths};

/// The permalinks of these posts, by id; posts of unregistered types have none. The number of queries does not depend
/// on the number of posts: at most one per type of object in the permalink structure, twice if attachments have
/// parents.
///
/// # Errors
/// Errors of the store.
pub fn of_posts(db: &mut Db, site: &Site, settings: &Settings, rows: &[Post]) -> SiteResult<HashMap<PostId, String>> {
    let mut parents: Vec<PostId> =
        rows.iter().filter(|p| p.post_type == "attachment" && !p.parent.is_none()).map(|p| p.parent).collect();
    parents.sort_unstable();
    parents.dedup();
    let mut above = HashMap::new();
    if !parents.is_empty() {
        let has_page = |p: &Post| {
            let is_public = site.statuses.get(&p.status).is_some_and(|s| s.public);
            is_public && site.types.get(&p.post_type).is_some_and(PostType::is_viewable)
        };
        let found: Vec<Post> = posts::get_many(db, &parents)?.into_iter().filter(has_page).collect();
        let places = places(db, site, settings, &found)?;
        above = permalinks(site, settings, &found, &places);
    }
    let mut places = places(db, site, settings, rows)?;
    for post in rows.iter().filter(|p| p.post_type == "attachment") {
        places.entry(post.id).or_default().parent = above.get(&post.parent).cloned();
    }
    Ok(permalinks(site, settings, rows, &places))
}

/// The REST route of a post of any type; empty for types that are not in the REST API.
pub fn route(site: &Site, post: &Post) -> String {
    let shown = site.types.get(&post.post_type).filter(|kind| kind.show_in_rest);
    shown.map_or_else(String::new, |kind| format!("{}/{}", site.route_of_type(kind), post.id))
}

fn permalinks(
    site: &Site,
    settings: &Settings,
    rows: &[Post],
    places: &HashMap<PostId, PermalinkParts>,
) -> HashMap<PostId, String> {
    let nowhere = PermalinkParts::default();
    rows.iter()
        .filter_map(|post| {
            let kind = site.types.get(&post.post_type)?;
            let place = places.get(&post.id).unwrap_or(&nowhere);
            Some((post.id, settings.urls.post(post, kind, place)))
        })
        .collect()
}

/// Loads the parts of the permalinks that the structure uses.
fn places(db: &mut Db, site: &Site, settings: &Settings, rows: &[Post]) -> SiteResult<HashMap<PostId, PermalinkParts>> {
    let mut places: HashMap<PostId, PermalinkParts> = HashMap::new();
    let plain: Vec<&Post> = rows.iter().filter(|p| p.post_type == "post").collect();
    if settings.urls.names_author() && !plain.is_empty() {
        let mut authors: Vec<_> = plain.iter().map(|p| p.author).collect();
        authors.sort_unstable();
        authors.dedup();
        let names: HashMap<_, _> = users::get_many(db, &authors)?.into_iter().map(|u| (u.id, u.nicename)).collect();
        for post in &plain {
            places.entry(post.id).or_default().author = names.get(&post.author).cloned().unwrap_or_default();
        }
    }
    if settings.urls.names_category() && !plain.is_empty() {
        let ids: Vec<PostId> = plain.iter().map(|p| p.id).collect();
        let of_posts = terms::of_objects(db, &ids)?;
        let unique_with_index: Vec<(PostId, &Term)> =
            ids.iter().filter_map(|id| Some((*id, first_category(of_posts.get(id)?)?))).collect();
        let paths = slug_paths(db, "category", unique_with_index.iter().map(|(_, term)| *term))?;
        for (id, term) in unique_with_index {
            places.entry(id).or_default().category = paths.get(&term.id).cloned().unwrap_or_default();
        }
    }
    let is_nested = |p: &&Post| site.types.get(&p.post_type).is_some_and(|t| t.hierarchical) && !p.parent.is_none();
    let nested: Vec<Post> = rows.iter().filter(is_nested).cloned().collect();
    if !nested.is_empty() {
        for (id, path) in posts::ancestor_slugs(db, &nested)? {
            places.entry(id).or_default().ancestors = path;
        }
    }
    Ok(places)
}

/// The parts of a post's permalink that are not in its row. Loaded for many posts at once, and only the parts that the
/// permalink structure uses.
#[derive(Clone, Debug, Default)]
pub struct PermalinkParts {
    /// The author's slug.
    pub author: String,
    /// Slugs of the post's ancestors, topmost first.
    pub ancestors: Vec<String>,
    /// Slugs of the first category and its ancestors, topmost first.
    pub category: Vec<String>,
    /// The permalink of the post that an attachment is attached to, if that post is public.
    pub parent: Option<String>,
}

/// The slugs from the top category down to each of these, by id, in two queries.
pub fn category_paths<'t>(
    db: &mut Db,
    categories: impl Iterator<Item = &'t Term>,
) -> SiteResult<HashMap<TermId, Vec<String>>> {
    crate::terms::paths::slug_paths(db, "category", categories)
}

/// The category used in a permalink: the one with the lowest id.
pub fn first_category(terms: &[Term]) -> Option<&Term> {
    terms.iter().filter(|t| t.taxonomy == "category").min_by_key(|t| t.id)
}
