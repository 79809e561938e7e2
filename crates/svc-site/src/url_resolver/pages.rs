//! What a URL shows, among what the viewer may read, and where it redirects.

use chrono::{NaiveDate, NaiveDateTime, TimeDelta};
use svc_auth::{Caller, UserVisibility};
use svc_model::{Post, PostId, PostType, Taxonomy, Term, TermId, User, UserId};
use svc_permalinks::{Archive, AuthorKey, DateKey, Lookup, LookupTarget, TermKey};
use svc_store::{
    Db, MetaKind, Order, StoredText, meta,
    posts::{self, Clauses, PostOrderBy, PostQuery, TaxClause},
    terms, users,
};

use super::{UrlResolver, urls};
use crate::{
    Settings, Site, SiteResult,
    languages::{Language, Translated, terms_of},
};

/// Maximum number of terms that a URL can combine.
const MAX_TERMS: usize = 8;

/// The target of a URL.
pub enum PageTarget {
    /// A single post of any type.
    Single(Box<Post>),
    /// A page of a list.
    List(Box<List>),
    /// The static front page.
    Front(Box<Post>),
    /// There is no such page, or the visitor may not read it.
    NotFound,
}

/// The subject of a list.
pub enum ListSubject {
    /// The latest posts.
    Home,
    /// Posts with a term.
    Term(Box<Term>, Box<Taxonomy>),
    /// Posts by an author.
    Author(Box<User>),
    /// Posts from a date.
    Date(DateKey),
    /// Search results.
    Search(String),
    /// Posts of a type.
    Type(Box<PostType>),
}

/// A page of a list.
pub struct List {
    /// What the list consists of.
    pub subject: ListSubject,
    /// The posts on the page; empty without [`PageResolver::with_posts`].
    pub posts: Vec<Post>,
    /// Page number, from 1.
    pub number: u64,
    /// Number of pages.
    pub pages: u64,
    /// Posts per page.
    pub per_page: u64,
    /// Number of posts on all pages.
    pub total: u64,
    /// Whether a feed is requested.
    pub feed: bool,
    /// The terms that all posts have, with their taxonomies.
    pub terms: Vec<(String, TermId)>,
    /// The author of all posts.
    pub author: Option<UserId>,
    /// Code of the language of all posts.
    pub language: Option<String>,
}

/// The response to a URL, before it is rendered.
pub struct Resolved {
    /// The lookup that has found the target.
    pub lookup: Lookup,
    /// The target. For a redirect it is what the new URL shows.
    pub target: PageTarget,
    /// The permalink of the post, or the URL of the first page of the list; `None` if it has no URL of its own.
    pub url: Option<String>,
    /// The URL of a permanent redirect.
    pub redirect: Option<String>,
}

impl Resolved {
    fn not_found() -> Self {
        Resolved { lookup: Lookup::default(), target: PageTarget::NotFound, url: None, redirect: None }
    }

    /// Shows these texts of the post, if it is the target. Returns whether it is.
    pub fn show_instead(&mut self, post: Post) -> bool {
        match &mut self.target {
            PageTarget::Single(target) | PageTarget::Front(target) if target.id == post.id => {
                **target = post;
                true
            }
            _ => false,
        }
    }

    /// The canonical URL of the page: of a list, that of its own page number.
    pub fn canonical(&self, settings: &Settings) -> Option<String> {
        let first = self.url.as_ref()?;
        Some(match &self.target {
            PageTarget::List(list) => urls::page_url(&settings.urls.site, first, list.number),
            _ => first.clone(),
        })
    }
}

/// Resolves URLs in one snapshot.
pub struct PageResolver<'a> {
    /// The site.
    pub site: &'a Site,
    /// The site's settings.
    pub settings: &'a Settings,
    /// The snapshot.
    pub db: &'a mut Db,
    /// The viewer of the page.
    pub viewer: &'a Caller,
    /// The language of the URL: lists have only posts in it.
    pub language: Option<&'a Language>,
    /// The post that a preview link shows to the viewer.
    pub previewed: Option<PostId>,
    /// Whether lists have their posts, or only the number of them.
    pub with_posts: bool,
}

impl PageResolver<'_> {
    /// What the first of the lookups with a target shows, and where the path redirects. `path` is that of the lookups.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn resolve(&mut self, lookups: &[Lookup], path: &str) -> SiteResult<Resolved> {
        for lookup in lookups {
            match self.resolve_one(lookup)? {
                PageTarget::NotFound => {}
                found => return self.with_urls(lookup.clone(), found, path),
            }
        }
        for lookup in lookups {
            if let Some(moved) = self.moved(lookup, path)? {
                return Ok(moved);
            }
        }
        Ok(Resolved::not_found())
    }

    /// Adds the URL of the target, and the redirect to it.
    fn with_urls(&mut self, lookup: Lookup, target: PageTarget, path: &str) -> SiteResult<Resolved> {
        // Later pages of a post or its comments, and previews, have no canonical URL here.
        let plain =
            lookup.page == 0 && lookup.comment_page == 0 && lookup.feed.is_none() && !lookup.embed && !lookup.preview;
        let mut resolved = Resolved { lookup, target, url: None, redirect: None };
        match &resolved.target {
            PageTarget::Single(post) if post.post_type == "attachment" && !resolved.lookup.embed => {
                let Some(file) = self.file_url(post)? else { return Ok(Resolved::not_found()) };
                resolved.redirect = Some(file);
            }
            PageTarget::Single(post) => {
                // The permalink of a post that is not public must not be revealed.
                let is_public = self.site.registries.statuses.get(&post.status).is_some_and(|s| s.public);
                let url = self.url_of(post)?;
                resolved.redirect = urls::redirect_to(&url, path).filter(|_| plain && is_public);
                resolved.url = Some(url);
            }
            PageTarget::Front(post) if self.language.is_none() => resolved.url = Some(self.url_of(post)?),
            PageTarget::Front(_) => {
                let url = self.in_language(self.settings.urls.site.home_url("/"));
                resolved.redirect = urls::redirect_to(&url, path).filter(|_| plain);
                resolved.url = Some(url);
            }
            PageTarget::List(list) if list.feed => {}
            PageTarget::List(list) => {
                // Where the front page has no translation, the newest posts in the language are in its place, not on the posts page, which may
                // be in another one.
                let is_in_place_of_front = self.language.is_some()
                    && matches!(resolved.lookup.target, LookupTarget::Front)
                    && matches!(list.subject, ListSubject::Home);
                let url = match is_in_place_of_front {
                    true => Some(self.settings.urls.site.home_url("/")),
                    false => urls::list_url(self.db, self.site, self.settings, &list.subject)?,
                };
                let has_language = match &list.subject {
                    ListSubject::Term(..) => true,
                    ListSubject::Home => !is_in_place_of_front && urls::posts_page(self.settings).is_some(),
                    _ => false,
                };
                resolved.url = if has_language { url } else { url.map(|url| self.in_language(url)) };
                let canonical = resolved.canonical(self.settings);
                resolved.redirect = canonical.and_then(|url| urls::redirect_to(&url, path)).filter(|_| plain);
            }
            PageTarget::NotFound => {}
        }
        Ok(resolved)
    }

    /// The redirect to the post that had a URL like this one before its slug or date was changed.
    fn moved(&mut self, lookup: &Lookup, path: &str) -> SiteResult<Option<Resolved>> {
        let LookupTarget::Post(key) = &lookup.target else { return Ok(None) };
        let Some(post) = self.singles().at_old_url(key)? else { return Ok(None) };
        if !self.site.registries.statuses.get(&post.status).is_some_and(|s| s.public) {
            return Ok(None);
        }
        let url = self.url_of(&post)?;
        let there = if lookup.embed {
            self.settings.urls.site.permalinks.end(&format!("{}/embed", url.trim_end_matches('/')))
        } else {
            url.clone()
        };
        Ok(urls::redirect_to(&there, path).map(|to| Resolved {
            lookup: lookup.clone(),
            target: PageTarget::Single(Box::new(post)),
            url: Some(url),
            redirect: Some(to),
        }))
    }

    /// The URL of a list in the language of the request.
    fn in_language(&self, url: String) -> String {
        self.settings.urls.in_language(&url, self.language.map(|language| language.slug.as_str()))
    }

    fn url_of(&mut self, post: &Post) -> SiteResult<String> {
        let mut found = urls::post_urls(self.db, self.site, self.settings, std::slice::from_ref(post))?;
        Ok(found.urls.remove(&post.id).unwrap_or_default())
    }

    /// The URL of an attachment's file, to which its page redirects.
    fn file_url(&mut self, post: &Post) -> SiteResult<Option<String>> {
        let file = meta::get(self.db, MetaKind::Post, post.id.0, "_wp_attached_file")?;
        let file = file.as_ref().map(StoredText::text).filter(|f| !f.is_empty() && !f.contains(".."));
        Ok(file.map(|file| format!("{}/{}", self.settings.uploads_url(), file.trim_start_matches('/'))))
    }

    fn resolve_one(&mut self, lookup: &Lookup) -> SiteResult<PageTarget> {
        match &lookup.target {
            LookupTarget::Front => self.front(lookup),
            LookupTarget::Post(_) | LookupTarget::Page(_) | LookupTarget::Attachment(_) => {
                match self.singles().find(lookup)? {
                    Some(post) if self.is_posts_page(&post) && !lookup.embed => self.newest_posts(lookup),
                    found => Ok(single(found)),
                }
            }
            LookupTarget::Archive(archive) => self.archive(archive, lookup),
            LookupTarget::Robots | LookupTarget::Favicon | LookupTarget::Sitemap(_) | LookupTarget::NotFound => {
                Ok(PageTarget::NotFound)
            }
        }
    }

    fn singles(&mut self) -> UrlResolver<'_> {
        let PageResolver { site, settings, db, viewer, previewed, .. } = self;
        UrlResolver { site, settings, db, viewer, previewed: *previewed }
    }

    fn front(&mut self, lookup: &Lookup) -> SiteResult<PageTarget> {
        if self.has_front_page() && lookup.feed.is_none() {
            let Some(front) = self.singles().front()? else { return Ok(PageTarget::NotFound) };
            if let Some(front) = self.translated_front(front)? {
                return Ok(PageTarget::Front(Box::new(front)));
            }
        }
        self.newest_posts(lookup)
    }

    /// The translation of the front page in the language of the URL; `None` if there is none that is public. A front page without a
    /// language is that of all languages.
    fn translated_front(&mut self, front: Post) -> SiteResult<Option<Post>> {
        let (Some(languages), Some(wanted)) = (self.settings.urls.languages(), self.language) else {
            return Ok(Some(front));
        };
        let terms = terms_of(self.db, Translated::Posts, &[front.id.0])?.remove(&front.id.0).unwrap_or_default();
        match languages.of(Translated::Posts, &terms) {
            Some(own) if own.slug != wanted.slug => {}
            _ => return Ok(Some(front)),
        }
        let members = languages.group(Translated::Posts, &terms).map(|group| languages.members(group));
        let id = members.into_iter().flatten().find(|(language, _)| language.slug == wanted.slug).map(|(_, id)| id);
        let Some(id) = id else { return Ok(None) };
        let found = posts::get(self.db, PostId(id))?.filter(|post| post.post_type == "page");
        Ok(found.filter(|post| self.site.registries.statuses.get(&post.status).is_some_and(|status| status.public)))
    }

    fn newest_posts(&mut self, lookup: &Lookup) -> SiteResult<PageTarget> {
        let query = self.newest(lookup).post_types(vec!["post".to_owned()]);
        let mut list = self.list(ListSubject::Home, query, lookup)?;
        if list.number == 1 && !list.feed && self.with_posts {
            self.prepend_sticky(&mut list)?;
        }
        Ok(self.or_not_found(list, true))
    }

    fn has_front_page(&self) -> bool {
        self.settings.option("show_on_front") == "page" && self.settings.number("page_on_front") > 0
    }

    /// Whether the page lists the posts instead of its own content.
    fn is_posts_page(&self, post: &Post) -> bool {
        post.post_type == "page" && urls::posts_page(self.settings) == Some(post.id)
    }

    /// Moves sticky posts to the top of the first page, and adds those that are on later pages.
    fn prepend_sticky(&mut self, list: &mut List) -> SiteResult<()> {
        let mut top = posts::get_many(self.db, &self.settings.sticky_list)?;
        let public = self.site.registries.statuses.public_names();
        top.retain(|p| p.post_type == "post" && public.contains(&p.status.as_str()));
        if let (Some(languages), Some(wanted)) = (self.settings.urls.languages(), self.language) {
            let ids: Vec<i64> = top.iter().map(|post| post.id.0).collect();
            let found = terms_of(self.db, Translated::Posts, &ids)?;
            let of = |post: &Post| languages.of(Translated::Posts, found.get(&post.id.0)?);
            top.retain(|post| of(post).is_some_and(|language| language.slug == wanted.slug));
        }
        list.posts.retain(|p| !self.settings.sticky.contains(&p.id));
        list.posts.splice(0..0, top);
        Ok(())
    }

    /// The query that all lists have in common.
    fn newest(&self, lookup: &Lookup) -> PostQuery {
        let limit = page_size(self.settings, lookup);
        PostQuery::default()
            .statuses(self.site.registries.statuses.public_names().into_iter().map(str::to_owned).collect())
            .order_by(vec![(PostOrderBy::Date, Order::Desc)])
            .limit(Some(limit))
            .offset(offset(self.settings, lookup))
            .total(true)
    }

    fn list(&mut self, subject: ListSubject, mut query: PostQuery, lookup: &Lookup) -> SiteResult<List> {
        let is_translated = query.post_types.iter().any(|name| self.settings.urls.have_language_of_type(name));
        let language = self.language.filter(|_| is_translated);
        if let Some(language) = language {
            let taxonomy = Translated::Posts.languages().to_owned();
            let clause = TaxClause { taxonomy, terms: vec![language.of_posts.id], ..TaxClause::default() };
            query.extra_tax.push(Clauses { clauses: vec![clause], ..Clauses::default() });
        }
        if !self.with_posts {
            // The first page is found at once, and if it is not full, it has the number of posts.
            query.offset = 0;
        }
        let page = posts::query(self.db, &query)?;
        let posts = if self.with_posts { posts::get_many(self.db, &page.ids)? } else { Vec::new() };
        let total = page.total.unwrap_or_default();
        let per_page = page_size(self.settings, lookup);
        let pages = total.div_ceil(per_page);
        let (number, feed) = (lookup.paged.max(1), lookup.feed.is_some());
        let PostQuery { tax, author_in, .. } = query;
        let terms = tax.clauses.into_iter().filter_map(|clause| Some((clause.taxonomy, *clause.terms.first()?)));
        let (terms, author) = (terms.collect(), author_in.first().copied());
        let language = language.map(|language| language.slug.clone());
        Ok(List { subject, posts, number, pages, per_page, total, feed, terms, author, language })
    }

    /// A page past the end is not found; so is an empty first page unless `allow_empty`.
    fn or_not_found(&self, list: List, allow_empty: bool) -> PageTarget {
        let past = list.number > 1 && list.number > list.pages;
        if past || list.total == 0 && !allow_empty { PageTarget::NotFound } else { PageTarget::List(Box::new(list)) }
    }

    fn archive(&mut self, archive: &Archive, lookup: &Lookup) -> SiteResult<PageTarget> {
        let mut query = self.newest(lookup);
        let mut subject = None;
        let mut allow_empty = false;
        query.post_types = vec!["post".to_owned()];
        if let Some(name) = &archive.post_type {
            let Some(post_type) = self.site.registries.types.get(name).filter(|t| t.has_archive.is_some()) else {
                return Ok(PageTarget::NotFound);
            };
            query.post_types = vec![post_type.name.clone()];
            subject = Some(ListSubject::Type(Box::new(PostType::clone(post_type))));
            allow_empty = true;
        }
        if !archive.date.is_empty() {
            let Some((from, to)) = span(archive.date) else { return Ok(PageTarget::NotFound) };
            (query.after, query.before) = (Some(from - TimeDelta::seconds(1)), Some(to));
            subject = Some(ListSubject::Date(archive.date));
        }
        if let Some(key) = &archive.author {
            let Some(user) = self.author(key)? else { return Ok(PageTarget::NotFound) };
            query.author_in = vec![user.id];
            subject = Some(ListSubject::Author(Box::new(user)));
        }
        for key in archive.terms.iter().take(MAX_TERMS) {
            let Some((term, taxonomy)) = self.term(key)? else { return Ok(PageTarget::NotFound) };
            if subject.is_none() {
                query.post_types = self.types_with(&taxonomy);
            }
            query.tax.clauses.push(TaxClause {
                taxonomy: taxonomy.name.clone(),
                terms: vec![term.id],
                include_children: taxonomy.hierarchical,
                ..TaxClause::default()
            });
            subject = Some(ListSubject::Term(Box::new(term), Box::new(taxonomy)));
            allow_empty = true;
        }
        if let Some(text) = &archive.search {
            query.post_types = self.searched_types();
            query.search = svc_store::posts::search_text(Some(text.clone()));
            query.without_password = true;
            query.order_by = vec![(PostOrderBy::Relevance, Order::Desc)];
            subject = Some(ListSubject::Search(text.clone()));
            allow_empty = true;
        }
        let Some(subject) = subject else { return Ok(PageTarget::NotFound) };
        let list = self.list(subject, query, lookup)?;
        Ok(self.or_not_found(list, allow_empty))
    }

    fn author(&mut self, key: &AuthorKey) -> SiteResult<Option<User>> {
        if self.site.policies.users == UserVisibility::Private {
            return Ok(None);
        }
        Ok(match key {
            AuthorKey::Id(id) => match i64::try_from(*id) {
                Ok(id) => users::get(self.db, UserId(id))?,
                Err(_) => None,
            },
            AuthorKey::Slug(slug) => users::by_slug(self.db, slug)?,
        })
    }

    fn term(&mut self, key: &TermKey) -> SiteResult<Option<(Term, Taxonomy)>> {
        let name = match key {
            TermKey::Id(name, _) | TermKey::Path(name, _) => name,
        };
        let Some(taxonomy) = self.site.registries.taxonomies.get(name).filter(|t| t.publicly_queryable).cloned() else {
            return Ok(None);
        };
        let term = match key {
            TermKey::Id(_, id) => match i64::try_from(*id) {
                Ok(id) => terms::get(self.db, TermId(id), Some(name))?,
                Err(_) => None,
            },
            // The last slug names the term; the ones before it are ignored.
            TermKey::Path(_, path) => match path.trim_matches('/').rsplit('/').next() {
                Some(slug) => terms::by_slug(self.db, slug, name)?,
                None => None,
            },
        };
        Ok(term.map(|t| (t, taxonomy)))
    }

    /// The types with pages that a taxonomy classifies.
    fn types_with(&self, taxonomy: &Taxonomy) -> Vec<String> {
        let has_pages = |name: &&String| self.site.registries.types.get(name).is_some_and(PostType::is_viewable);
        taxonomy.object_types.iter().filter(has_pages).cloned().collect()
    }

    fn searched_types(&self) -> Vec<String> {
        let searched = |t: &&PostType| !t.exclude_from_search && t.public && t.name != "attachment";
        self.site.registries.types.iter().filter(searched).map(|t| t.name.clone()).collect()
    }
}

/// Posts on a page of a list.
fn page_size(settings: &Settings, lookup: &Lookup) -> u64 {
    let option = if lookup.feed.is_some() { "posts_per_rss" } else { "posts_per_page" };
    settings.number(option).clamp(1, 100).unsigned_abs()
}

/// Number of posts on the pages of a list before the one that the lookup is for.
pub(super) fn offset(settings: &Settings, lookup: &Lookup) -> u64 {
    lookup.paged.saturating_sub(1).saturating_mul(page_size(settings, lookup)).min(i64::MAX as u64)
}

fn single(post: Option<Post>) -> PageTarget {
    post.map_or(PageTarget::NotFound, |p| PageTarget::Single(Box::new(p)))
}

/// The time span of a date: the start, and the exclusive end. `None` for incomplete dates, such as a month without a year.
fn span(key: DateKey) -> Option<(NaiveDateTime, NaiveDateTime)> {
    let year = i32::try_from(key.year?).ok().filter(|y| (1..=9998).contains(y))?;
    let day = |y, m, d| NaiveDate::from_ymd_opt(y, m, d)?.and_hms_opt(0, 0, 0);
    let (month, date) = match (key.month, key.day) {
        (None, None) => return Some((day(year, 1, 1)?, day(year + 1, 1, 1)?)),
        (None, Some(_)) => return None,
        (Some(month), None) => {
            let next = if month == 12 { day(year + 1, 1, 1)? } else { day(year, month + 1, 1)? };
            return Some((day(year, month, 1)?, next));
        }
        (Some(month), Some(date)) => (month, date),
    };
    let start = day(year, month, date)?;
    match (key.hour, key.minute, key.second) {
        (None, None, None) => Some((start, start + TimeDelta::days(1))),
        (Some(h), None, None) => {
            let start = start + TimeDelta::hours(h.into());
            Some((start, start + TimeDelta::hours(1)))
        }
        (Some(h), Some(m), None) => {
            let start = start + TimeDelta::hours(h.into()) + TimeDelta::minutes(m.into());
            Some((start, start + TimeDelta::minutes(1)))
        }
        (Some(h), Some(m), Some(s)) => {
            let start = start + TimeDelta::seconds(i64::from(h) * 3600 + i64::from(m) * 60 + i64::from(s));
            Some((start, start + TimeDelta::seconds(1)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_spans_of_dates() {
        let key = |year, month, day, hour| DateKey { year, month, day, hour, ..DateKey::default() };
        #[rustfmt::skip]
        let rows = [
            (key(Some(2024), None, None, None), Some(("2024-01-01 00:00:00", "2025-01-01 00:00:00"))),
            (key(Some(2024), Some(2), None, None), Some(("2024-02-01 00:00:00", "2024-03-01 00:00:00"))),
            (key(Some(2024), Some(12), None, None), Some(("2024-12-01 00:00:00", "2025-01-01 00:00:00"))),
            (key(Some(2024), Some(2), Some(29), None), Some(("2024-02-29 00:00:00", "2024-03-01 00:00:00"))),
            (key(Some(2024), Some(2), Some(29), Some(23)), Some(("2024-02-29 23:00:00", "2024-03-01 00:00:00"))),
            (key(None, Some(2), None, None), None), (key(Some(2023), Some(2), Some(29), None), None),
            (key(Some(4_000_000_000), None, None, None), None),
        ];
        for (key, expected) in rows {
            let got = span(key).map(|(a, b)| (a.to_string(), b.to_string()));
            assert_eq!(got.as_ref().map(|(a, b)| (a.as_str(), b.as_str())), expected, "{key:?}");
        }
    }
}
