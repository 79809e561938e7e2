//! Loads the data of a page of comments in a fixed number of queries.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use svc_model::{Comment, CommentId, UserId};
use svc_resource::{Plan, View};
use svc_routing::Links;
use svc_site::{Settings, Site, SiteResult, comments::draft::CommentDraft, permalinks};
use svc_store::{
    Db, comment_threads, comments,
    meta::{self, MetaKind},
    users,
};

use super::{fields::CommentItem, links, rights::CommentViewer};

/// Loads comments for a request.
pub(super) struct CommentLoader<'a> {
    pub(super) site: &'a Arc<Site>,
    pub(super) settings: &'a Arc<Settings>,
    pub(super) view: &'a View,
}

/// A comment ready to be rendered, with its links if they are requested.
pub(super) struct LoadedComment {
    pub(super) item: CommentItem,
    pub(super) links: Option<Links>,
}

impl CommentLoader<'_> {
    /// Loads the data that the plan reads: one query per kind of related data, regardless of the number of comments.
    /// `viewer` contains their posts.
    pub(super) fn load(
        &self,
        db: &mut Db,
        viewer: &CommentViewer<'_>,
        rows: Vec<Comment>,
        plan: &Plan<'_, CommentItem, CommentDraft>,
    ) -> SiteResult<Vec<LoadedComment>> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let mut rows = rows;
        if self.site.policies.users.hides_from(viewer.caller) {
            rows.iter_mut().for_each(svc_site::comments::hide_user);
        }
        let ids: Vec<i64> = rows.iter().map(|c| c.id.0).collect();
        let mut meta = if plan.wants("meta") { meta::load(db, MetaKind::Comment, &ids)? } else { HashMap::new() };
        let permalinks = if plan.wants("link") {
            permalinks::of_posts(db, self.site, self.settings, &viewer.posts())?
        } else {
            HashMap::new()
        };
        let pages = if plan.wants("link") { pages(db, self.settings, &rows)? } else { HashMap::new() };
        let emails = if plan.wants("author_avatar_urls") { emails(db, &rows)? } else { HashMap::new() };
        let wants_links = self.view.wants_links();
        let with_replies = if wants_links {
            comment_threads::with_replies(db, &rows.iter().map(|c| c.id).collect::<Vec<_>>())?
        } else {
            HashSet::new()
        };
        Ok(rows
            .into_iter()
            .map(|comment| {
                let links = wants_links.then(|| {
                    links::links(self.site, self.settings, &comment, viewer, with_replies.contains(&comment.id))
                });
                let email = emails.get(&comment.user).unwrap_or(&comment.author_email).clone();
                let item = CommentItem {
                    meta: meta.remove(&comment.id.0).unwrap_or_default(),
                    permalink: permalinks.get(&comment.post).cloned().unwrap_or_default(),
                    page: pages.get(&comment.id).copied(),
                    email,
                    settings: Arc::clone(self.settings),
                    comment,
                };
                LoadedComment { item, links }
            })
            .collect())
    }
}

/// The e-mail addresses of these comments' users. The avatar is that of the account's current address, not of the
/// address stored with the comment.
fn emails(db: &mut Db, rows: &[Comment]) -> SiteResult<HashMap<UserId, String>> {
    let mut ids: Vec<UserId> = rows.iter().map(|c| c.user).filter(|id| !id.is_none()).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    Ok(users::get_many(db, &ids)?.into_iter().map(|u| (u.id, u.email)).collect())
}

/// Maximum thread depth (option `thread_comments_depth`).
const MAX_DEPTH: i64 = 10;

/// The comment pages in the URLs of comments; empty unless the site paginates comments.
///
/// A thread is on the page of its top-level comment, after the older approved top-level comments. The URL contains page
/// 1 only if the newest page is the default. Source: recorded responses of WordPress.
fn pages(db: &mut Db, settings: &Settings, rows: &[Comment]) -> SiteResult<HashMap<CommentId, u64>> {
    let per_page = u64::try_from(settings.number("comments_per_page")).unwrap_or(0);
    if settings.number("page_comments") == 0 || per_page == 0 {
        return Ok(HashMap::new());
    }
    let is_threaded = settings.number("thread_comments") != 0;
    let depth = if is_threaded { settings.number("thread_comments_depth").clamp(1, MAX_DEPTH) } else { 1 };
    // The topmost known ancestor of each comment, and its parent. Each pass loads one level of all threads.
    let mut tops: HashMap<CommentId, (CommentId, CommentId)> = rows.iter().map(|c| (c.id, (c.id, c.parent))).collect();
    for _ in 1..depth {
        let mut parents: Vec<CommentId> =
            tops.values().map(|(_, parent)| *parent).filter(|parent| !parent.is_none()).collect();
        parents.sort_unstable();
        parents.dedup();
        if parents.is_empty() {
            break;
        }
        let found: HashMap<CommentId, CommentId> =
            comments::get_many(db, &parents)?.into_iter().map(|c| (c.id, c.parent)).collect();
        for (top, parent) in tops.values_mut() {
            // A deleted parent ends the thread.
            match found.get(parent) {
                Some(next) => (*top, *parent) = (*parent, *next),
                None => *parent = CommentId(0),
            }
        }
    }
    let mut ids: Vec<CommentId> = tops.values().map(|(top, _)| *top).collect();
    ids.sort_unstable();
    ids.dedup();
    let older = comment_threads::older_threads(db, &ids)?;
    let includes_first = settings.option("default_comments_page") == "newest";
    let page_of = |top: &CommentId| older.get(top).copied().unwrap_or(0) / per_page + 1;
    let pages = tops.into_iter().map(|(id, (top, _))| (id, page_of(&top)));
    Ok(pages.filter(|(_, page)| includes_first || *page > 1).collect())
}
