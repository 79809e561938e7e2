//! Loads, for a whole page of comments at once, what the members that are asked for read.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use svc_model::{Comment, CommentId, UserId};
use svc_resource::{Plan, View};
use svc_routing::Links;
use svc_site::{Settings, SiteResult, comments::draft::CommentDraft, permalinks};
use svc_store::{
    Db, comment_threads, comments,
    meta::{self, MetaKind},
    users,
};

use super::{fields::CommentItem, links, rights::CommentViewer};
use crate::RestSite;

/// What a request may see of the comments that it loads.
pub(super) struct CommentLoader<'a> {
    pub(super) site: &'a Arc<RestSite>,
    pub(super) settings: &'a Arc<Settings>,
    pub(super) view: &'a View,
}

/// A comment ready to be rendered, with its links when they are asked for.
pub(super) struct LoadedComment {
    pub(super) item: CommentItem,
    pub(super) links: Option<Links>,
}

impl CommentLoader<'_> {
    /// Loads what the plan reads: one query per kind of related data, whatever the number of comments. The reader knows
    /// their posts.
    pub(super) fn load(
        &self,
        db: &mut Db,
        reader: &CommentViewer<'_>,
        rows: Vec<Comment>,
        plan: &Plan<'_, CommentItem, CommentDraft>,
    ) -> SiteResult<Vec<LoadedComment>> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let numbers: Vec<i64> = rows.iter().map(|c| c.id.0).collect();
        let mut meta = if plan.wants("meta") { meta::load(db, MetaKind::Comment, &numbers)? } else { HashMap::new() };
        let urls = if plan.wants("link") {
            permalinks::of_posts(db, self.site, self.settings, &reader.posts())?
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
                    links::links(self.site, self.settings, &comment, reader, with_replies.contains(&comment.id))
                });
                let email = emails.get(&comment.user).unwrap_or(&comment.author_email).clone();
                let item = CommentItem {
                    meta: meta.remove(&comment.id.0).unwrap_or_default(),
                    address: urls.get(&comment.post).cloned().unwrap_or_default(),
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

/// The addresses of the users who wrote these: avatars follow the account, not what was written down at the time.
fn emails(db: &mut Db, rows: &[Comment]) -> SiteResult<HashMap<UserId, String>> {
    let mut ids: Vec<UserId> = rows.iter().map(|c| c.user).filter(|id| !id.is_none()).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    Ok(users::get_many(db, &ids)?.into_iter().map(|u| (u.id, u.email)).collect())
}

/// Deepest thread that a site can show (option `thread_comments_depth`).
const MAX_DEPTH: i64 = 10;

/// The pages that comments stand on, where the site divides them into pages and the address has to name the page.
///
/// A thread stands where its beginning does: after the approved comments of the first level that are older. The first
/// page is named only where pages are counted from the newest. Source: recorded answers of the peer.
fn pages(db: &mut Db, settings: &Settings, rows: &[Comment]) -> SiteResult<HashMap<CommentId, u64>> {
    let per_page = u64::try_from(settings.number("comments_per_page")).unwrap_or(0);
    if settings.number("page_comments") == 0 || per_page == 0 {
        return Ok(HashMap::new());
    }
    let is_threaded = settings.number("thread_comments") != 0;
    let depth = if is_threaded { settings.number("thread_comments_depth").clamp(1, MAX_DEPTH) } else { 1 };
    // What each comment stands under, as far as it is known; a level of all threads at a time.
    let mut tops: HashMap<CommentId, (CommentId, CommentId)> = rows.iter().map(|c| (c.id, (c.id, c.parent))).collect();
    for _ in 1..depth {
        let mut above: Vec<CommentId> = tops.values().map(|(_, up)| *up).filter(|up| !up.is_none()).collect();
        above.sort_unstable();
        above.dedup();
        if above.is_empty() {
            break;
        }
        let found: HashMap<CommentId, CommentId> =
            comments::get_many(db, &above)?.into_iter().map(|c| (c.id, c.parent)).collect();
        for (top, up) in tops.values_mut() {
            // A parent that is gone ends the thread.
            match found.get(up) {
                Some(next) => (*top, *up) = (*up, *next),
                None => *up = CommentId(0),
            }
        }
    }
    let mut ids: Vec<CommentId> = tops.values().map(|(top, _)| *top).collect();
    ids.sort_unstable();
    ids.dedup();
    let older = comment_threads::older_threads(db, &ids)?;
    let names_first = settings.option("default_comments_page") == "newest";
    let page_of = |top: &CommentId| older.get(top).copied().unwrap_or(0) / per_page + 1;
    let pages = tops.into_iter().map(|(id, (top, _))| (id, page_of(&top)));
    Ok(pages.filter(|(_, page)| names_first || *page > 1).collect())
}
