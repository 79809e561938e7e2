//! Resolves a URL to a post or a list, among those that the viewer may read.

use chrono::{NaiveDate, NaiveDateTime, TimeDelta};
use svc_auth::Caller;
use svc_model::{Post, PostType, Taxonomy, Term, TermId, User, UserId};
use svc_permalinks::{Archive, AuthorKey, DateKey, Lookup, LookupTarget, TermKey};
use svc_site::{Settings, Site, SiteResult, url_resolver::UrlResolver};
use svc_store::{
    Db, Order,
    posts::{self, PostOrderBy, PostQuery, TaxClause},
    terms, users,
};

/// Maximum number of terms that a URL can combine.
const MAX_TERMS: usize = 8;

/// The target of a URL.
pub(crate) enum PageTarget {
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
pub(crate) enum ListSubject {
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
pub(crate) struct List {
    pub(crate) subject: ListSubject,
    pub(crate) posts: Vec<Post>,
    /// Page number, from 1.
    pub(crate) number: u64,
    /// Number of pages.
    pub(crate) pages: u64,
    /// Posts per page.
    pub(crate) per_page: u64,
    /// Number of posts on all pages.
    pub(crate) total: u64,
    /// Whether a feed is requested.
    pub(crate) feed: bool,
}

/// Resolves URLs in one snapshot.
pub(crate) struct PageResolver<'a> {
    pub(crate) site: &'a Site,
    pub(crate) settings: &'a Settings,
    pub(crate) db: &'a mut Db,
    /// The viewer of the page.
    pub(crate) viewer: &'a Caller,
}

impl PageResolver<'_> {
    /// Returns the first lookup with a target, and the target.
    pub(crate) fn resolve(&mut self, lookups: &[Lookup]) -> SiteResult<(Lookup, PageTarget)> {
        for lookup in lookups {
            match self.resolve_one(lookup)? {
                PageTarget::NotFound => {}
                found => return Ok((lookup.clone(), found)),
            }
        }
        Ok((Lookup::default(), PageTarget::NotFound))
    }

    fn resolve_one(&mut self, lookup: &Lookup) -> SiteResult<PageTarget> {
        match &lookup.target {
            LookupTarget::Front => self.front(lookup),
            LookupTarget::Post(_) | LookupTarget::Page(_) | LookupTarget::Attachment(_) => {
                self.singles().find(lookup).map(single)
            }
            LookupTarget::Archive(archive) => self.archive(archive, lookup),
            LookupTarget::Robots | LookupTarget::Favicon | LookupTarget::Sitemap(_) | LookupTarget::NotFound => {
                Ok(PageTarget::NotFound)
            }
        }
    }

    fn singles(&mut self) -> UrlResolver<'_> {
        UrlResolver { site: self.site, settings: self.settings, db: self.db, viewer: self.viewer }
    }

    fn front(&mut self, lookup: &Lookup) -> SiteResult<PageTarget> {
        if self.has_front_page() && lookup.feed.is_none() {
            return Ok(self.singles().front()?.map_or(PageTarget::NotFound, |p| PageTarget::Front(Box::new(p))));
        }
        let query = self.newest(lookup).post_types(vec!["post".to_owned()]);
        let mut list = self.list(ListSubject::Home, query, lookup)?;
        if list.number == 1 && !list.feed {
            self.prepend_sticky(&mut list)?;
        }
        Ok(self.or_not_found(list, true))
    }

    fn has_front_page(&self) -> bool {
        self.settings.option("show_on_front") == "page" && self.settings.number("page_on_front") > 0
    }

    /// Moves sticky posts to the top of the first page, and adds those that are on later pages.
    fn prepend_sticky(&mut self, list: &mut List) -> SiteResult<()> {
        let mut top = posts::get_many(self.db, &self.settings.sticky_list)?;
        let public = self.site.registries.statuses.public_names();
        top.retain(|p| p.post_type == "post" && public.contains(&p.status.as_str()));
        list.posts.retain(|p| !self.settings.sticky.contains(&p.id));
        list.posts.splice(0..0, top);
        Ok(())
    }

    /// The query that all lists have in common.
    fn newest(&self, lookup: &Lookup) -> PostQuery {
        let limit = self.page_size(lookup);
        PostQuery::default()
            .statuses(self.site.registries.statuses.public_names().into_iter().map(str::to_owned).collect())
            .order_by(vec![(PostOrderBy::Date, Order::Desc)])
            .limit(Some(limit))
            .offset(lookup.paged.max(1).saturating_sub(1).saturating_mul(limit).min(i64::MAX as u64))
            .total(true)
    }

    fn page_size(&self, lookup: &Lookup) -> u64 {
        let option = if lookup.feed.is_some() { "posts_per_rss" } else { "posts_per_page" };
        self.settings.number(option).clamp(1, 100).unsigned_abs()
    }

    fn list(&mut self, subject: ListSubject, query: PostQuery, lookup: &Lookup) -> SiteResult<List> {
        let page = posts::query(self.db, &query)?;
        let posts = posts::get_many(self.db, &page.ids)?;
        let total = page.total.unwrap_or_default();
        let per_page = self.page_size(lookup);
        let pages = total.div_ceil(per_page);
        let (number, feed) = (lookup.paged.max(1), lookup.feed.is_some());
        Ok(List { subject, posts, number, pages, per_page, total, feed })
    }

    /// A page past the end is not found; so is an empty first page unless `allow_empty`.
    fn or_not_found(&self, list: List, allow_empty: bool) -> PageTarget {
        let past = list.number > 1 && list.number > list.pages;
        if past || list.posts.is_empty() && !allow_empty {
            PageTarget::NotFound
        } else {
            PageTarget::List(Box::new(list))
        }
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
