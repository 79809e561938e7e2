//! The canonical URLs of pages: permalinks, and the pages of lists.

use std::collections::HashMap;

use svc_auth::UserVisibility;
use svc_model::{Post, PostId, Taxonomy, Term, TermId, User, UserId};
use svc_permalinks::{PageLink, PostLink, SiteUrls};
use svc_store::{Db, posts, stamp, terms, users};

use super::{List, ListSubject};
use crate::{
    Settings, Site, SiteResult,
    languages::{slugs_of_posts, slugs_of_terms},
};

fn number(id: i64) -> u64 {
    u64::try_from(id).unwrap_or_default()
}

/// Permalinks and authors of posts.
pub struct PostUrls {
    /// Permalinks by id.
    pub urls: HashMap<PostId, String>,
    /// Authors by id.
    pub authors: HashMap<UserId, User>,
}

/// Loads the permalinks and authors of posts of any type, with a fixed number of queries.
///
/// # Errors
/// Errors of the store.
pub fn post_urls(db: &mut Db, site: &Site, settings: &Settings, rows: &[Post]) -> SiteResult<PostUrls> {
    let urls = &settings.urls;
    let mut ids: Vec<UserId> = rows.iter().map(|p| p.author).filter(|id| !id.is_none()).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut authors: HashMap<UserId, User> = users::get_many(db, &ids)?.into_iter().map(|u| (u.id, u)).collect();
    let categories = if urls.uses_category() { first_categories(db, rows)? } else { HashMap::new() };
    let ancestors = posts::ancestor_slugs(db, rows)?;
    let languages = slugs_of_posts(db, settings, rows)?;
    let by_post = rows
        .iter()
        .map(|post| {
            let path = || {
                let parents = ancestors.get(&post.id).into_iter().flatten().map(String::as_str);
                parents.chain([post.slug.as_str()]).collect::<Vec<_>>().join("/")
            };
            let id = number(post.id.0);
            let url = match urls.site.post_types.iter().find(|t| t.name == post.post_type) {
                Some(post_type) => urls.site.custom_post_link(post_type, id, &path(), false, false),
                None if post.post_type == "page" => {
                    urls.site.page_link(&PageLink { id, path: &path(), ..PageLink::default() })
                }
                None => urls.site.post_link(&PostLink {
                    id,
                    slug: &post.slug,
                    date: &stamp::format(post.date),
                    author: authors.get(&post.author).map_or("", |u| &u.nicename),
                    category: categories.get(&post.id).map_or("", String::as_str),
                    plain: site.registries.types.get(&post.post_type).is_none_or(|t| t.name != "post"),
                    leave_name: false,
                }),
            };
            (post.id, urls.in_language(&url, languages.get(&post.id).map(String::as_str)))
        })
        .collect();
    if site.policies.users == UserVisibility::Private {
        authors.clear();
    }
    Ok(PostUrls { urls: by_post, authors })
}

/// The path of each post's category with the lowest id.
fn first_categories(db: &mut Db, rows: &[Post]) -> SiteResult<HashMap<PostId, String>> {
    let ids: Vec<PostId> = rows.iter().map(|p| p.id).collect();
    let mut unique_with_index: Vec<(PostId, Term)> = Vec::new();
    for (post, all) in terms::of_objects(db, &ids)? {
        let first = all.into_iter().filter(|t| t.taxonomy == "category").min_by_key(|t| t.id);
        unique_with_index.extend(first.map(|t| (post, t)));
    }
    let all: Vec<Term> = unique_with_index.iter().map(|(_, t)| t.clone()).collect();
    let paths = term_paths(db, &all)?;
    Ok(unique_with_index
        .into_iter()
        .map(|(p, t)| (p, paths.get(&t.id).map(|s| s.join("/")).unwrap_or(t.slug)))
        .collect())
}

/// Maximum depth of terms in paths.
const DEPTH_LIMIT: usize = 100;

/// The slugs of each term and its ancestors, top-level first, by term id. Runs two queries per taxonomy.
fn term_paths(db: &mut Db, all: &[Term]) -> SiteResult<HashMap<TermId, Vec<String>>> {
    let mut parents: HashMap<TermId, TermId> = HashMap::new();
    let mut taxonomies: Vec<&str> = all.iter().filter(|t| !t.parent.is_none()).map(|t| t.taxonomy.as_str()).collect();
    taxonomies.sort_unstable();
    taxonomies.dedup();
    for taxonomy in taxonomies {
        parents.extend(terms::hierarchy(db, taxonomy)?);
    }
    let chain = |id: TermId| {
        let mut chain = vec![id];
        // A cycle in the stored data ends at the first repeated term.
        while let Some(ancestors) = chain.last().and_then(|t| parents.get(t)).filter(|t| !chain.contains(t)) {
            chain.push(*ancestors);
            if chain.len() >= DEPTH_LIMIT {
                break;
            }
        }
        chain
    };
    let mut ancestors: Vec<TermId> = all.iter().flat_map(|t| chain(t.id)).collect();
    ancestors.sort_unstable();
    ancestors.dedup();
    let slugs: HashMap<TermId, String> = terms::get_many(db, &ancestors)?.into_iter().map(|t| (t.id, t.slug)).collect();
    let path = |id: TermId| chain(id).iter().rev().filter_map(|t| slugs.get(t).cloned()).collect();
    Ok(all.iter().map(|t| (t.id, path(t.id))).collect())
}

/// URLs of the archives of terms, in the same order.
///
/// # Errors
/// Errors of the store.
pub fn term_urls(db: &mut Db, site: &Site, settings: &Settings, all: &[Term]) -> SiteResult<Vec<String>> {
    let hierarchical = |t: &&Term| site.registries.taxonomies.get(&t.taxonomy).is_some_and(|x| x.rewrite_hierarchical);
    let nested: Vec<Term> = all.iter().filter(|t| !t.parent.is_none()).filter(hierarchical).cloned().collect();
    let paths = if nested.is_empty() { HashMap::new() } else { term_paths(db, &nested)? };
    let languages = slugs_of_terms(db, settings, all.iter())?;
    let url = |term: &Term, taxonomy: &Taxonomy| {
        let path: Vec<&str> = paths.get(&term.id).into_iter().flatten().map(String::as_str).collect();
        // The last element is the term itself.
        let parents = path.split_last().map_or(&[][..], |(_, parents)| parents);
        settings.urls.term(term, taxonomy, parents, languages.get(&term.id))
    };
    Ok(all
        .iter()
        .map(|t| site.registries.taxonomies.get(&t.taxonomy).map_or_else(String::new, |x| url(t, x)))
        .collect())
}

/// The page that lists the posts, if the front page is another page.
pub(super) fn posts_page(settings: &Settings) -> Option<PostId> {
    let id = settings.number("page_for_posts");
    (settings.option("show_on_front") == "page" && id > 0).then_some(PostId(id))
}

/// The URL of the first page of a list; `None` for lists without a URL of their own.
///
/// # Errors
/// Errors of the store.
pub fn list_url(db: &mut Db, site: &Site, settings: &Settings, subject: &ListSubject) -> SiteResult<Option<String>> {
    let urls = &settings.urls.site;
    Ok(match subject {
        ListSubject::Home => Some(match posts_page(settings) {
            Some(id) => {
                let page = posts::get(db, id)?;
                let mut found = post_urls(db, site, settings, page.as_slice())?;
                found.urls.remove(&id).unwrap_or_else(|| urls.home_url("/"))
            }
            None => urls.home_url("/"),
        }),
        ListSubject::Term(term, _) => {
            term_urls(db, site, settings, std::slice::from_ref(&**term))?.into_iter().next().filter(|u| !u.is_empty())
        }
        ListSubject::Author(user) => Some(settings.urls.author(user)),
        ListSubject::Date(date) if date.hour.is_none() => date.year.map(|y| urls.date_link(y, date.month, date.day)),
        ListSubject::Date(_) => None,
        ListSubject::Search(words) => Some(format!("{}?s={}", urls.home_url("/"), encode(words))),
        ListSubject::Type(post_type) => {
            urls.post_types.iter().find(|t| t.name == post_type.name).and_then(|t| urls.post_type_archive_link(t))
        }
    })
}

/// The URL of a page of a list. `first` is the URL of its first page.
pub fn page_url(urls: &SiteUrls, first: &str, number: u64) -> String {
    if number <= 1 {
        return first.to_owned();
    }
    let (path, query) = first.split_once('?').map_or((first, None), |(p, q)| (p, Some(q)));
    if !urls.permalinks.is_pretty() {
        let joint = if query.is_some() { '&' } else { '?' };
        return format!("{first}{joint}paged={number}");
    }
    let path = urls.permalinks.end(&format!("{}/page/{number}", path.trim_end_matches('/')));
    query.map_or(path.clone(), |q| format!("{path}?{q}"))
}

/// The URLs of the previous and the next page of a list.
pub fn adjacent_pages(urls: &SiteUrls, first: &str, list: &List) -> (Option<String>, Option<String>) {
    let newer = (list.number > 1).then(|| page_url(urls, first, list.number - 1));
    let older = (list.number < list.pages).then(|| page_url(urls, first, list.number + 1));
    (newer, older)
}

/// The target of a redirect: `canonical`, unless its path is the requested one.
///
/// URLs with a query are never redirected to, so that a redirect leads to a path that is not redirected again.
pub(super) fn redirect_to(canonical: &str, path: &str) -> Option<String> {
    if canonical.contains('?') {
        return None;
    }
    let after = canonical.find("://").map_or(0, |i| i + 3);
    let canonical_path = canonical[after..].find('/').map_or("/", |i| &canonical[after + i..]);
    (decoded(canonical_path) != decoded(path)).then(|| canonical.to_owned())
}

fn decoded(path: &str) -> String {
    percent_encoding::percent_decode_str(path).decode_utf8_lossy().to_lowercase()
}

/// Encodes a value of a query.
fn encode(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string().replace("%20", "+")
}

#[cfg(test)]
mod tests {
    use super::*;
    use svc_permalinks::Permalinks;

    #[test]
    fn urls_of_list_pages() {
        let site = |structure: &str| SiteUrls::new("http://a.b", "http://a.b", "x", Permalinks::new(structure));
        #[rustfmt::skip]
        let rows = [
            ("/%postname%/", "http://a.b/", 2, "http://a.b/page/2/"),
            ("/%postname%/", "http://a.b/tag/x/", 3, "http://a.b/tag/x/page/3/"),
            ("/%postname%", "http://a.b/tag/x", 3, "http://a.b/tag/x/page/3"),
            ("/%postname%/", "http://a.b/?s=a+b", 2, "http://a.b/page/2/?s=a+b"),
            ("/%postname%/", "http://a.b/tag/x/", 1, "http://a.b/tag/x/"),
            ("", "http://a.b/", 2, "http://a.b/?paged=2"), ("", "http://a.b/?tag=x", 2, "http://a.b/?tag=x&paged=2"),
        ];
        for (structure, first, number, expected) in rows {
            assert_eq!(page_url(&site(structure), first, number), expected);
        }
    }

    #[test]
    fn redirects_only_other_paths() {
        #[rustfmt::skip]
        let rows = [
            ("http://a.b/x/", "/x", true), ("http://a.b/x/", "/x/", false), ("http://a.b/x/", "/", true),
            ("http://a.b/%e4%bd%a0/", "/%E4%BD%A0/", false), ("http://a.b/caf%c3%a9/", "/café/", false),
            ("http://a.b/?p=4", "/", false), ("http://a.b", "/", false), ("http://a.b/x/", "/X/", false),
        ];
        for (canonical, path, redirected) in rows {
            assert_eq!(redirect_to(canonical, path).is_some(), redirected, "{canonical} {path}");
        }
    }
}
