//! The contents of sitemaps (sitemaps.org): an index, and lists of posts, terms and authors.
//!
//! File names and structure are those of WordPress: `wp-sitemap.xml`, `wp-sitemap-posts-post-1.xml`,
//! `wp-sitemap-taxonomies-category-1.xml`, `wp-sitemap-users-1.xml`. They do not depend on the brand. Sites that
//! discourage search engines have none.

use svc_auth::UserVisibility;
use svc_model::{PostType, Taxonomy};
use svc_store::{
    Db, Order,
    posts::{self, PostOrderBy, PostQuery},
    terms::{self, TermOrderBy, TermQuery},
    users::{self, UserOrderBy, UserQuery},
};

use crate::{Settings, Site, SiteResult, url_resolver::urls};

/// The name of the index.
pub const INDEX: &str = "wp-sitemap.xml";

/// The most URLs of a list. WordPress has 2,000; the rows of a list are loaded at once, so this bounds memory.
const MAX_URLS: u64 = 1_000;

/// The most lists of one kind in the index.
const MAX_LISTS: u64 = 1_000;

/// An entry of a sitemap.
pub struct SitemapEntry {
    /// The URL of the page, or of another sitemap.
    pub url: String,
    /// Time of the last modification, RFC 3339; empty if unknown.
    pub modified: String,
}

/// A sitemap.
pub struct Sitemap {
    /// The entries are sitemaps, not pages.
    pub is_index: bool,
    /// The entries, in order.
    pub entries: Vec<SitemapEntry>,
}

/// The kind of pages in a list.
enum SitemapKind<'a> {
    Posts(&'a PostType),
    Terms(&'a Taxonomy),
    Users,
}

impl SitemapKind<'_> {
    /// The name in file names.
    fn name(&self) -> String {
        match self {
            SitemapKind::Posts(post_type) => format!("posts-{}", post_type.name),
            SitemapKind::Terms(taxonomy) => format!("taxonomies-{}", taxonomy.name),
            SitemapKind::Users => "users".to_owned(),
        }
    }
}

/// Builds the sitemaps of a site.
pub struct Sitemaps<'a> {
    /// The site.
    pub site: &'a Site,
    /// The site's settings.
    pub settings: &'a Settings,
    /// The snapshot.
    pub db: &'a mut Db,
}

impl Sitemaps<'_> {
    /// The sitemap with this file name; `None` if there is none.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn find(&mut self, file: &str) -> SiteResult<Option<Sitemap>> {
        if self.settings.option("blog_public") == "0" {
            return Ok(None);
        }
        if matches!(file, INDEX | "index") {
            let entries = self.index()?;
            return Ok(Some(Sitemap { is_index: true, entries }));
        }
        let Some((name, number)) = parse(file) else { return Ok(None) };
        let site = self.site;
        let Some(subject) = subjects(site).find(|subject| subject.name() == name) else { return Ok(None) };
        let mut entries = self.entries(&subject, number)?;
        if entries.is_empty() {
            return Ok(None);
        }
        entries.retain(|entry| !entry.url.is_empty());
        Ok(Some(Sitemap { is_index: false, entries }))
    }

    /// The sitemaps that are not empty.
    fn index(&mut self) -> SiteResult<Vec<SitemapEntry>> {
        let site = self.site;
        let mut out = Vec::new();
        for subject in subjects(site) {
            let lists = self.count(&subject)?.div_ceil(MAX_URLS).min(MAX_LISTS);
            out.extend((1..=lists).map(|number| SitemapEntry {
                url: self.settings.urls.site.home_url(&format!("/wp-sitemap-{}-{number}.xml", subject.name())),
                modified: String::new(),
            }));
        }
        Ok(out)
    }

    fn count(&mut self, subject: &SitemapKind<'_>) -> SiteResult<u64> {
        let total = match subject {
            SitemapKind::Posts(post_type) => posts::query(self.db, &post_query(post_type, 1).limit(Some(1)))?.total,
            SitemapKind::Terms(taxonomy) => terms::query(self.db, &term_query(taxonomy, 1).limit(Some(1)))?.total,
            SitemapKind::Users => users::query(self.db, &user_query(self.site, 1).limit(Some(1)))?.total,
        };
        let has_home = matches!(subject, SitemapKind::Posts(post_type) if self.lists_home(post_type, 1));
        Ok(total.unwrap_or_default() + u64::from(has_home))
    }

    /// Whether the list starts with the front page: a site whose front page is no page lists it with the pages.
    fn lists_home(&self, post_type: &PostType, number: u64) -> bool {
        number == 1 && post_type.name == "page" && self.settings.option("show_on_front") != "page"
    }

    fn entries(&mut self, subject: &SitemapKind<'_>, number: u64) -> SiteResult<Vec<SitemapEntry>> {
        let undated = |url: String| SitemapEntry { url, modified: String::new() };
        match subject {
            SitemapKind::Posts(post_type) => {
                let ids = posts::query(self.db, &post_query(post_type, number))?.ids;
                let rows = posts::get_many(self.db, &ids)?;
                let found = urls::post_urls(self.db, self.site, self.settings, &rows)?;
                let home = self.lists_home(post_type, number).then(|| undated(self.settings.urls.site.home_url("/")));
                let entry = |post: &svc_model::Post| SitemapEntry {
                    url: found.urls.get(&post.id).cloned().unwrap_or_default(),
                    modified: post
                        .modified_gmt
                        .map(|at| at.format("%Y-%m-%dT%H:%M:%S+00:00").to_string())
                        .unwrap_or_default(),
                };
                Ok(home.into_iter().chain(rows.iter().map(entry)).collect())
            }
            SitemapKind::Terms(taxonomy) => {
                let ids = terms::query(self.db, &term_query(taxonomy, number))?.ids;
                let rows = terms::get_many(self.db, &ids)?;
                let all = urls::term_urls(self.db, self.site, self.settings, &rows)?;
                Ok(all.into_iter().map(undated).collect())
            }
            SitemapKind::Users => {
                let ids = users::query(self.db, &user_query(self.site, number))?.ids;
                let rows = users::get_many(self.db, &ids)?;
                Ok(rows.iter().map(|user| undated(self.settings.urls.author(user))).collect())
            }
        }
    }
}

/// Name and number of a list: `wp-sitemap-posts-post-2.xml`.
fn parse(file: &str) -> Option<(&str, u64)> {
    let (name, number) = file.strip_prefix("wp-sitemap-")?.strip_suffix(".xml")?.rsplit_once('-')?;
    let number = number.parse().ok().filter(|n| (1..=MAX_LISTS).contains(n))?;
    Some((name, number))
}

/// Number of URLs in the lists before the one with this file name.
pub(crate) fn offset_of(file: &str) -> u64 {
    parse(file).map_or(0, |(_, number)| offset(number))
}

/// Everything that has public URLs, in the order of the index.
fn subjects(site: &Site) -> impl Iterator<Item = SitemapKind<'_>> {
    let types =
        site.registries.types.iter().filter(|t| t.is_viewable() && t.name != "attachment").map(SitemapKind::Posts);
    let taxonomies = site.registries.taxonomies.iter().filter(|t| t.public).map(SitemapKind::Terms);
    let users = (site.policies.users != UserVisibility::Private).then_some(SitemapKind::Users);
    types.chain(taxonomies).chain(users)
}

fn offset(number: u64) -> u64 {
    (number - 1) * MAX_URLS
}

fn post_query(post_type: &PostType, number: u64) -> PostQuery {
    PostQuery::published(&post_type.name, MAX_URLS)
        .order_by(vec![(PostOrderBy::Id, Order::Asc)])
        .without_password(true)
        .offset(offset(number))
}

fn term_query(taxonomy: &Taxonomy, number: u64) -> TermQuery {
    TermQuery::default()
        .taxonomies(vec![taxonomy.name.clone()])
        .hide_empty(true)
        .order_by(TermOrderBy::Id)
        .order(Order::Asc)
        .limit(Some(MAX_URLS))
        .offset(offset(number))
        .total(true)
}

/// The users whose posts are public.
fn user_query(site: &Site, number: u64) -> UserQuery {
    let types = site.registries.types.iter().filter(|t| t.is_viewable() && t.name != "attachment");
    UserQuery::default()
        .published(Some(types.map(|t| t.name.clone()).collect()))
        .order_by(UserOrderBy::Id)
        .order(Order::Asc)
        .limit(Some(MAX_URLS))
        .offset(offset(number))
        .total(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names() {
        for (file, expected) in [
            ("wp-sitemap-posts-post-1.xml", Some(("posts-post", 1))),
            ("wp-sitemap-taxonomies-post_tag-20.xml", Some(("taxonomies-post_tag", 20))),
            ("wp-sitemap-users-1.xml", Some(("users", 1))),
            ("wp-sitemap-users-0.xml", None),
            ("wp-sitemap-users-99999999999.xml", None),
            ("wp-sitemap.xsl", None),
            ("wp-sitemap-users-1.xsl", None),
        ] {
            assert_eq!(parse(file), expected, "{file}");
        }
    }
}
