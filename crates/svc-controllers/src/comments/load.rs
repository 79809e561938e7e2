//! Loads, for a whole page of comments at once, what the members that are asked for read.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use svc_model::{Comment, UserId};
use svc_resource::{Plan, View};
use svc_routing::Links;
use svc_store::{
    Db, comment_threads,
    meta::{self, MetaKind},
    users,
};

use super::{
    fields::{CommentDraft, CommentItem},
    links,
    rights::Reader,
};
use crate::{Settings, Site, Stored, addresses};

/// What a request may see of the comments that it loads.
pub(super) struct Loading<'a> {
    pub(super) site: &'a Arc<Site>,
    pub(super) settings: &'a Arc<Settings>,
    pub(super) view: &'a View,
}

/// A comment ready to be rendered, with its links when they are asked for.
pub(super) struct Loaded {
    pub(super) item: CommentItem,
    pub(super) links: Option<Links>,
}

impl Loading<'_> {
    /// Loads what the plan reads: one query per kind of related data, whatever the number of comments. The reader knows
    /// their posts.
    pub(super) fn load(
        &self,
        db: &mut Db,
        reader: &Reader<'_>,
        rows: Vec<Comment>,
        plan: &Plan<'_, CommentItem, CommentDraft>,
    ) -> Stored<Vec<Loaded>> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let numbers: Vec<i64> = rows.iter().map(|c| c.id.0).collect();
        let mut meta = if plan.wants("meta") { meta::load(db, MetaKind::Comment, &numbers)? } else { HashMap::new() };
        let addresses = if plan.wants("link") {
            addresses::of_posts(db, self.site, self.settings, &reader.posts())?
        } else {
            HashMap::new()
        };
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
                    address: addresses.get(&comment.post).cloned().unwrap_or_default(),
                    email,
                    settings: Arc::clone(self.settings),
                    comment,
                };
                Loaded { item, links }
            })
            .collect())
    }
}

/// The addresses of the users who wrote these: avatars follow the account, not what was written down at the time.
fn emails(db: &mut Db, rows: &[Comment]) -> Stored<HashMap<UserId, String>> {
    let mut ids: Vec<UserId> = rows.iter().map(|c| c.user).filter(|id| !id.is_none()).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    Ok(users::get_many(db, &ids)?.into_iter().map(|u| (u.id, u.email)).collect())
}
