//! Writes the site's content, or a selection of it, as a WXR file. Source: `export_wp`.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    io::Write,
};

use chrono::{NaiveDate, NaiveDateTime};
use svc_model::{Comment, MetaKind, Post, PostId, Term, TermId, Timestamp, UserId};
use svc_store::{
    Beyond, Db, Meta, Order,
    comments::{self, CommentOrderBy, CommentQuery},
    meta,
    posts::{self, Clauses, PostOrderBy, PostQuery, TaxClause},
    stamp,
    terms::{self, TermOrderBy, TermQuery},
    users,
};
use svc_text::{Quotes, specialchars_decode};
use svc_wxr::{Author, ExportedSite, Item, ItemTerm, MetaRow, Writer};

use crate::{
    Settings, Site, SiteError, SiteResult,
    media::attached::AttachmentFiles,
    permalinks,
    transfer::{AMPERSAND, is_transferred},
    users::locales::language_tag,
};

/// Types of posts that are not exported.
const NOT_EXPORTED: [&str; 4] = ["revision", "customize_changeset", "oembed_cache", "user_request"];

/// Taxonomies whose terms are only exported with the posts that have them.
const ONLY_WITH_POSTS: [&str; 4] = ["post_format", "wp_theme", "wp_template_part_area", "link_category"];

/// Statuses of comments that are not exported.
const SPAM: &str = "spam";

/// Number of IDs that are read at a time, and of posts.
const IDS: usize = 1_000;
const POSTS: usize = 50;

/// The part of the site that is exported. `None` is no restriction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportFilter {
    /// Only posts of this type, with the files that are attached to them or that are their featured images.
    pub post_type: Option<String>,
    /// Only posts of this author.
    pub author: Option<UserId>,
    /// Only posts with this term of the taxonomy `category`, or a term below it.
    pub category: Option<TermId>,
    /// Only posts of this status.
    pub status: Option<String>,
    /// Only posts of this day or later, in the site's time zone.
    pub from: Option<NaiveDate>,
    /// Only posts of this day or earlier.
    pub to: Option<NaiveDate>,
}

impl ExportFilter {
    /// Whether everything is exported.
    pub fn is_everything(&self) -> bool {
        *self == ExportFilter::default()
    }
}

/// What was exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportReport {
    /// Number of posts of all types.
    pub items: u64,
    /// Number of terms that have entries of their own.
    pub terms: u64,
    /// Number of meta values that were left out, because XML cannot represent them.
    pub left_out: u64,
}

/// Types of posts that can be exported, in the order of their registration.
pub fn types(site: &Site) -> impl Iterator<Item = &svc_model::PostType> {
    site.registries.types.iter().filter(|t| !NOT_EXPORTED.contains(&t.name.as_str()))
}

/// The name of an export that is made at this time: `my-site.2026-11-26.xml`.
pub fn file_name(settings: &Settings, now: NaiveDateTime) -> String {
    let title = svc_text::sanitize_title(&specialchars_decode(settings.option("blogname"), Quotes::Both));
    let title: String = title.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(60).collect();
    let title = if title.is_empty() { "site" } else { &title };
    format!("{title}.{}.xml", now.format("%Y-%m-%d"))
}

/// Writes the file, and calls `progress` with the number of posts so far. `now` is the time in UTC.
///
/// The database is read in this snapshot, in a constant amount of memory except for the IDs of the posts.
///
/// # Errors
/// Errors of the store; an error of the output as one of the store.
pub fn export(
    db: &mut Db,
    site: &Site,
    filter: &ExportFilter,
    now: NaiveDateTime,
    out: impl Write,
    progress: &mut dyn FnMut(u64),
) -> SiteResult<ExportReport> {
    let settings = site.settings_in(db)?;
    let output = |error: std::io::Error| SiteError::Store(svc_store::StoreError::Other(error.to_string()));
    let ids = selected(db, site, filter)?;
    let authors = authors(db, &ids)?;
    let mut writer = Writer::new(out, &site_info(&settings, now)).map_err(output)?;
    let mut report = ExportReport::default();
    let logins: HashMap<UserId, String> = authors.iter().map(|a| (UserId(a.id), a.login.clone())).collect();
    for author in &authors {
        writer.author(author).map_err(output)?;
    }
    for term in terms_of(db, site, filter)? {
        writer.term(&term).map_err(output)?;
        report.terms = report.terms.saturating_add(1);
    }
    for chunk in ids.chunks(POSTS) {
        for item in items(db, site, &settings, chunk, &logins)? {
            writer.item(&item).map_err(output)?;
            report.items = report.items.saturating_add(1);
        }
        progress(report.items);
    }
    report.left_out = writer.n_left_out();
    writer.finish().map_err(output)?;
    Ok(report)
}

fn site_info(settings: &Settings, now: NaiveDateTime) -> ExportedSite {
    let text = |option: &str| specialchars_decode(settings.option(option), Quotes::Both);
    ExportedSite {
        version: String::new(),
        title: text("blogname"),
        description: text("blogdescription"),
        language: language_tag(settings.option("WPLANG")),
        base_url: settings.option("home").to_owned(),
        written: rss_date(Some(now)),
        generator: concat!("svc ", env!("CARGO_PKG_VERSION")).to_owned(),
    }
}

/// The date of a feed; empty for none.
fn rss_date(date: Timestamp) -> String {
    date.map_or_else(String::new, |date| date.format("%a, %d %b %Y %H:%M:%S +0000").to_string())
}

/// The IDs of the selected posts, in ascending order.
fn selected(db: &mut Db, site: &Site, filter: &ExportFilter) -> SiteResult<Vec<PostId>> {
    let all: Vec<String> = types(site).map(|t| t.name.clone()).collect();
    let wanted = filter.post_type.iter().filter(|name| all.contains(name)).cloned().collect::<Vec<_>>();
    if filter.post_type.is_some() && wanted.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = PostQuery::default()
        .post_types(if wanted.is_empty() { all } else { wanted })
        .author_in(filter.author.into_iter().collect())
        .statuses(filter.status.iter().cloned().collect())
        .after(filter.from.and_then(|day| day.and_hms_opt(0, 0, 0)))
        .before(filter.to.and_then(|day| day.and_hms_opt(23, 59, 59)))
        .dates_inclusive(true);
    if let Some(term) = filter.category {
        let clause = TaxClause {
            taxonomy: "category".to_owned(),
            terms: vec![term],
            include_children: true,
            ..TaxClause::default()
        };
        query = query.tax(Clauses { clauses: vec![clause], ..Clauses::default() });
    }
    let mut ids: BTreeSet<PostId> = all_of(db, query)?.into_iter().collect();
    if filter.is_everything() || filter.post_type.as_deref() == Some("attachment") {
        return Ok(ids.into_iter().collect());
    }
    // Files that belong to the posts.
    let posts: Vec<PostId> = ids.iter().copied().collect();
    for chunk in posts.chunks(IDS) {
        let attached = PostQuery::default().post_types(vec!["attachment".to_owned()]).parent_in(chunk.to_vec());
        ids.extend(all_of(db, attached)?);
        let numbers: Vec<i64> = chunk.iter().map(|id| id.0).collect();
        let featured: Vec<PostId> = meta::load(db, MetaKind::Post, &numbers)?
            .values()
            .filter_map(|meta| meta.text("_thumbnail_id").parse().ok().map(PostId))
            .collect();
        let files = posts::outlines(db, &featured)?.into_iter().filter(|post| post.post_type == "attachment");
        ids.extend(files.map(|post| post.id));
    }
    Ok(ids.into_iter().collect())
}

/// The IDs of all posts of a list, page by page.
fn all_of(db: &mut Db, query: PostQuery) -> SiteResult<Vec<PostId>> {
    let mut ids = Vec::new();
    let mut query = query.order_by(vec![(PostOrderBy::Id, Order::Asc)]).limit(Some(IDS as u64)).next(true);
    loop {
        let page = posts::query(db, &query)?;
        ids.extend(page.ids);
        match page.next {
            Some((_, position)) => query = query.beyond(Some(Beyond::Position(position))),
            None => return Ok(ids),
        }
    }
}

/// The authors of these posts.
fn authors(db: &mut Db, ids: &[PostId]) -> SiteResult<Vec<Author>> {
    let mut found: BTreeSet<UserId> = BTreeSet::new();
    for chunk in ids.chunks(IDS) {
        found.extend(posts::outlines(db, chunk)?.into_iter().filter(is_kept).map(|post| post.author));
    }
    let ids: Vec<UserId> = found.into_iter().collect();
    let mut authors = Vec::with_capacity(ids.len());
    for chunk in ids.chunks(IDS) {
        let numbers: Vec<i64> = chunk.iter().map(|id| id.0).collect();
        let names = meta::load(db, MetaKind::User, &numbers)?;
        for user in users::get_many(db, chunk)? {
            let name = |key: &str| names.get(&user.id.0).map_or(String::new(), |meta| meta.text(key).to_owned());
            authors.push(Author {
                id: user.id.0,
                first_name: name("first_name"),
                last_name: name("last_name"),
                login: user.login,
                email: user.email,
                display_name: user.display_name,
            });
        }
    }
    Ok(authors)
}

/// Posts that were begun and never saved are not exported.
fn is_kept(post: &Post) -> bool {
    post.status != "auto-draft"
}

/// The terms that have entries of their own, each after its parent: all of them if everything is exported, or the selected category.
fn terms_of(db: &mut Db, site: &Site, filter: &ExportFilter) -> SiteResult<Vec<svc_wxr::Term>> {
    let mut found: Vec<Term> = Vec::new();
    if let Some(id) = filter.category {
        found.extend(terms::get(db, id, Some("category"))?.map(|term| Term { parent: TermId(0), ..term }));
    } else if filter.is_everything() {
        for taxonomy in site.registries.taxonomies.iter().filter(|t| !ONLY_WITH_POSTS.contains(&t.name.as_str())) {
            let query = TermQuery::default().taxonomies(vec![taxonomy.name.clone()]).order_by(TermOrderBy::Id);
            let ids = terms::query(db, &query.order(Order::Asc))?.ids;
            for chunk in ids.chunks(IDS) {
                found.extend(terms::get_many(db, chunk)?.into_iter().filter(|term| term.taxonomy == taxonomy.name));
            }
        }
    }
    let slugs: HashMap<TermId, String> = found.iter().map(|term| (term.id, term.slug.clone())).collect();
    let ids: Vec<i64> = found.iter().map(|term| term.id.0).collect();
    let mut rows = HashMap::new();
    for chunk in ids.chunks(IDS) {
        rows.extend(meta::load(db, MetaKind::Term, chunk)?);
    }
    let ordered = parents_first(found);
    let term = |term: Term| svc_wxr::Term {
        id: term.id.0,
        parent: slugs.get(&term.parent).cloned().unwrap_or_default(),
        meta: rows.get(&term.id.0).map(meta_rows).unwrap_or_default(),
        taxonomy: term.taxonomy,
        slug: term.slug,
        name: term.name,
        description: term.description,
    };
    Ok(ordered.into_iter().map(term).collect())
}

/// The terms in an order in which each follows its parent. Terms that are below themselves come last.
fn parents_first(terms: Vec<Term>) -> Vec<Term> {
    let known: HashSet<TermId> = terms.iter().map(|term| term.id).collect();
    let (mut ordered, mut placed) = (Vec::with_capacity(terms.len()), HashSet::new());
    let mut waiting = terms;
    loop {
        let before = waiting.len();
        let (ready, rest): (Vec<Term>, Vec<Term>) = waiting
            .into_iter()
            .partition(|term| term.parent.is_none() || !known.contains(&term.parent) || placed.contains(&term.parent));
        placed.extend(ready.iter().map(|term| term.id));
        ordered.extend(ready);
        waiting = rest;
        if waiting.is_empty() || waiting.len() == before {
            ordered.extend(waiting);
            return ordered;
        }
    }
}

fn meta_rows(meta: &Meta) -> Vec<MetaRow> {
    let row =
        |key: &str, value: &svc_store::StoredText| MetaRow { key: key.to_owned(), value: value.as_stored().to_owned() };
    meta.iter()
        .filter(|(key, _)| is_transferred(key))
        .flat_map(|(key, values)| values.iter().map(move |value| row(key, value)))
        .collect()
}

/// The items of these posts, loaded together.
fn items(
    db: &mut Db,
    site: &Site,
    settings: &Settings,
    ids: &[PostId],
    logins: &HashMap<UserId, String>,
) -> SiteResult<Vec<Item>> {
    let numbers: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let rows: Vec<Post> = posts::get_many(db, ids)?.into_iter().filter(is_kept).collect();
    let links = permalinks::of_posts(db, site, settings, &rows)?;
    let mut terms = terms::of_objects(db, ids)?;
    let meta = meta::load(db, MetaKind::Post, &numbers)?;
    let mut comments = comments_of(db, ids)?;
    let item = |post: Post| {
        let of_post = meta.get(&post.id.0);
        let is_attachment = post.post_type == "attachment";
        let attachment_url = match of_post {
            Some(meta) if is_attachment => AttachmentFiles::new(meta).url(settings, &post.guid),
            _ if is_attachment => post.guid.clone(),
            _ => String::new(),
        };
        let own = |term: Term| ItemTerm { taxonomy: term.taxonomy, slug: term.slug, name: term.name };
        Item {
            link: links.get(&post.id).cloned().unwrap_or_default(),
            pub_date: rss_date(post.date_gmt),
            creator: logins.get(&post.author).cloned().unwrap_or_default(),
            id: post.id.0,
            date: stamp::format(post.date),
            date_gmt: stamp::format(post.date_gmt),
            modified: stamp::format(post.modified),
            modified_gmt: stamp::format(post.modified_gmt),
            parent: post.parent.0,
            is_sticky: settings.sticky.contains(&post.id),
            attachment_url,
            terms: terms.remove(&post.id).unwrap_or_default().into_iter().map(own).collect(),
            meta: of_post.map(meta_rows).unwrap_or_default(),
            comments: comments.remove(&post.id).unwrap_or_default(),
            title: post.title,
            guid: post.guid.replace(AMPERSAND, "&"),
            content: post.content,
            excerpt: post.excerpt,
            comment_status: post.comment_status,
            ping_status: post.ping_status,
            slug: post.slug,
            status: post.status,
            menu_order: post.menu_order,
            post_type: post.post_type,
            password: post.password,
        }
    };
    Ok(rows.into_iter().map(item).collect())
}

/// The comments of these posts except spam, in ascending order of ID.
fn comments_of(db: &mut Db, ids: &[PostId]) -> SiteResult<HashMap<PostId, Vec<svc_wxr::Comment>>> {
    let query = CommentQuery::default().posts(ids.to_vec()).order_by(CommentOrderBy::Id).order(Order::Asc);
    let found = comments::query(db, &query)?.ids;
    let mut all: HashMap<PostId, Vec<svc_wxr::Comment>> = HashMap::new();
    for chunk in found.chunks(IDS) {
        let numbers: Vec<i64> = chunk.iter().map(|id| id.0).collect();
        let meta = meta::load(db, MetaKind::Comment, &numbers)?;
        for comment in comments::get_many(db, chunk)?.into_iter().filter(|comment| comment.approved != SPAM) {
            let rows = meta.get(&comment.id.0).map(meta_rows).unwrap_or_default();
            all.entry(comment.post).or_default().push(exported(comment, rows));
        }
    }
    Ok(all)
}

fn exported(comment: Comment, meta: Vec<MetaRow>) -> svc_wxr::Comment {
    svc_wxr::Comment {
        id: comment.id.0,
        author: comment.author,
        author_email: comment.author_email,
        author_url: comment.author_url,
        author_ip: comment.author_ip,
        date: stamp::format(comment.date),
        date_gmt: stamp::format(comment.date_gmt),
        content: comment.content,
        approved: comment.approved,
        comment_type: comment.comment_type,
        parent: comment.parent.0,
        user: comment.user.0,
        meta,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_follow_their_parents() {
        let term = |id: i64, parent: i64| Term { id: TermId(id), parent: TermId(parent), ..Term::default() };
        let ordered = |terms: &[(i64, i64)]| -> Vec<i64> {
            parents_first(terms.iter().map(|(id, parent)| term(*id, *parent)).collect())
                .iter()
                .map(|t| t.id.0)
                .collect()
        };
        assert_eq!(ordered(&[(1, 3), (2, 1), (3, 0), (4, 99)]), [3, 4, 1, 2]);
        // A circle has no beginning.
        assert_eq!(ordered(&[(1, 2), (2, 1), (3, 0)]), [3, 1, 2]);
    }
}
