//! Permalinks of posts of several types at once, for example for comments or search results.

use std::collections::{HashMap, HashSet};

use svc_auth::Caller;
use svc_model::{Post, PostId, PostType, Taxonomy, Term, TermId};
use svc_permalinks::RestBase;
use svc_store::{Db, posts, terms, users};

use crate::{Access, Settings, Site, SiteResult, languages::slugs_of_posts, terms::paths::slug_paths};

use crate::settings::urls::{rest_base, taxonomy_rest_base};

pub use crate::settings::urls::PermalinkParts;

/// The permalinks of these posts, by id; posts of unregistered types have none. The number of queries does not depend
/// on the number of posts: at most one per type of object in the permalink structure, twice if attachments have
/// parents.
///
/// # Errors
/// Errors of the store.
pub fn of_posts(db: &mut Db, site: &Site, settings: &Settings, rows: &[Post]) -> SiteResult<HashMap<PostId, String>> {
    of_posts_below(db, site, settings, rows, |_| false)
}

/// Like [`of_posts`], as this caller sees them: private posts that the caller may not read have URLs without a path.
///
/// # Errors
/// Errors of the store.
pub fn for_reader(
    db: &mut Db,
    site: &Site,
    settings: &Settings,
    caller: &Caller,
    rows: &[Post],
) -> SiteResult<HashMap<PostId, String>> {
    let private: Vec<Post> = rows.iter().filter(|post| post.status == "private").cloned().collect();
    let access = Access::of_posts(site, settings, db, &private)?;
    let hidden: HashSet<PostId> =
        private.iter().filter(|post| !access.can_read(caller, post)).map(|post| post.id).collect();
    links(db, site, settings, rows, |_| false, &hidden)
}

/// Like [`of_posts`]. Attachments of a private post for which `reads` is true have the permalinks that its readers see.
///
/// # Errors
/// Errors of the store.
pub fn of_posts_below(
    db: &mut Db,
    site: &Site,
    settings: &Settings,
    rows: &[Post],
    reads: impl Fn(PostId) -> bool,
) -> SiteResult<HashMap<PostId, String>> {
    links(db, site, settings, rows, reads, &HashSet::new())
}

/// The permalinks; those of hidden posts have no path.
fn links(
    db: &mut Db,
    site: &Site,
    settings: &Settings,
    rows: &[Post],
    reads: impl Fn(PostId) -> bool,
    hidden: &HashSet<PostId>,
) -> SiteResult<HashMap<PostId, String>> {
    let mut parents: Vec<PostId> =
        rows.iter().filter(|p| p.post_type == "attachment" && !p.parent.is_none()).map(|p| p.parent).collect();
    parents.sort_unstable();
    parents.dedup();
    let mut parent_urls = HashMap::new();
    if !parents.is_empty() {
        let has_page = |p: &Post| {
            let is_shown =
                site.registries.statuses.get(&p.status).is_some_and(|s| s.public || s.private && reads(p.id));
            is_shown && site.registries.types.get(&p.post_type).is_some_and(PostType::is_viewable)
        };
        let found: Vec<Post> = posts::get_many(db, &parents)?.into_iter().filter(has_page).collect();
        let parts_of = parts_of(db, site, settings, &found)?;
        parent_urls = permalinks(site, settings, &found, &parts_of);
    }
    let mut parts_of = parts_of(db, site, settings, rows)?;
    for post in rows.iter().filter(|p| p.post_type == "attachment") {
        parts_of.entry(post.id).or_default().parent = parent_urls.get(&post.parent).cloned();
    }
    for id in hidden {
        parts_of.entry(*id).or_default().unreadable = true;
    }
    Ok(permalinks(site, settings, rows, &parts_of))
}

/// The REST route of a post of any type; empty for types that are not in the REST API.
pub fn rest_route(site: &Site, settings: &Settings, post: &Post) -> String {
    let post_type = site.registries.types.get(&post.post_type);
    post_type.map_or_else(String::new, |post_type| rest_route_of(site, settings, post_type, post.id))
}

/// The REST route of the post of this type with this id; empty if the type is not in the REST API.
///
/// As in WordPress, types with a controller of their own have routes as well. Source: `rest_get_route_for_post`.
pub fn rest_route_of(site: &Site, settings: &Settings, post_type: &PostType, id: PostId) -> String {
    let Ok(id) = u64::try_from(id.0) else { return String::new() };
    let namespace = site.brand.namespace();
    let base = RestBase { standard: true, ..rest_base(post_type, &namespace) };
    settings.urls.site.route_for_post(Some((id, base)))
}

/// The REST route of the term of this taxonomy with this id; empty if the taxonomy is not in the REST API.
///
/// Source: `rest_get_route_for_term`.
pub fn rest_route_of_term(site: &Site, settings: &Settings, taxonomy: &Taxonomy, id: TermId) -> String {
    let Ok(id) = u64::try_from(id.0) else { return String::new() };
    let namespace = site.brand.namespace();
    let base = RestBase { standard: true, ..taxonomy_rest_base(taxonomy, &namespace) };
    settings.urls.site.route_for_term(Some((id, base)))
}

fn permalinks(
    site: &Site,
    settings: &Settings,
    rows: &[Post],
    parts_of: &HashMap<PostId, PermalinkParts>,
) -> HashMap<PostId, String> {
    let no_parts = PermalinkParts::default();
    rows.iter()
        .filter_map(|post| {
            let post_type = site.registries.types.get(&post.post_type)?;
            let parts = parts_of.get(&post.id).unwrap_or(&no_parts);
            Some((post.id, settings.urls.post(post, post_type, parts)))
        })
        .collect()
}

/// Loads the parts of the permalinks that the structure uses.
fn parts_of(
    db: &mut Db,
    site: &Site,
    settings: &Settings,
    rows: &[Post],
) -> SiteResult<HashMap<PostId, PermalinkParts>> {
    let mut parts_of: HashMap<PostId, PermalinkParts> = HashMap::new();
    let plain: Vec<&Post> = rows.iter().filter(|p| p.post_type == "post").collect();
    if settings.urls.uses_author() && !plain.is_empty() {
        let mut authors: Vec<_> = plain.iter().map(|p| p.author).collect();
        authors.sort_unstable();
        authors.dedup();
        let names: HashMap<_, _> = users::get_many(db, &authors)?.into_iter().map(|u| (u.id, u.nicename)).collect();
        for post in &plain {
            parts_of.entry(post.id).or_default().author = names.get(&post.author).cloned().unwrap_or_default();
        }
    }
    if settings.urls.uses_category() && !plain.is_empty() {
        let ids: Vec<PostId> = plain.iter().map(|p| p.id).collect();
        let of_posts = terms::of_objects(db, &ids)?;
        let first_categories: Vec<(PostId, &Term)> =
            ids.iter().filter_map(|id| Some((*id, first_category(of_posts.get(id)?)?))).collect();
        let paths = slug_paths(db, "category", first_categories.iter().map(|(_, term)| *term))?;
        for (id, term) in first_categories {
            parts_of.entry(id).or_default().category = paths.get(&term.id).cloned().unwrap_or_default();
        }
    }
    for (id, language) in slugs_of_posts(db, settings, rows)? {
        parts_of.entry(id).or_default().language = Some(language);
    }
    let is_nested =
        |p: &&Post| site.registries.types.get(&p.post_type).is_some_and(|t| t.hierarchical) && !p.parent.is_none();
    let nested: Vec<Post> = rows.iter().filter(is_nested).cloned().collect();
    if !nested.is_empty() {
        for (id, path) in posts::ancestor_slugs(db, &nested)? {
            parts_of.entry(id).or_default().ancestors = path;
        }
    }
    Ok(parts_of)
}

/// The slugs from the top category down to each of these, by id, in two queries.
pub fn category_paths<'t>(
    db: &mut Db,
    categories: impl Iterator<Item = &'t Term>,
) -> SiteResult<HashMap<TermId, Vec<String>>> {
    slug_paths(db, "category", categories)
}

/// The category used in a permalink: the one with the lowest id.
pub fn first_category(terms: &[Term]) -> Option<&Term> {
    terms.iter().filter(|t| t.taxonomy == "category").min_by_key(|t| t.id)
}
