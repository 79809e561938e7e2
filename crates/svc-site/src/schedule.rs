//! Publishes scheduled posts when they are due.
//!
//! The server decides when to check for due posts.

use std::sync::Arc;

use chrono::NaiveDateTime;
use svc_model::{PostId, UserId};
use svc_schema::Error;
use svc_store::posts;
use svc_versions::Context;

use crate::{
    Site,
    posts::{calendar_option, publish::published},
    revisions::{RevisionAuthor, store_revision},
};

/// Maximum number of posts published per run; the next run follows immediately.
const MAX_PER_RUN: u64 = 50;

/// Result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishRun {
    /// Number of published posts.
    pub published: usize,
    /// When the next post is due, in UTC; in the past if more posts are due.
    pub next: Option<NaiveDateTime>,
}

/// Publishes posts that are due at `now` (UTC), earliest first, and returns when to run again. Other processes may do
/// the same concurrently: each post is published once.
///
/// Only the status of the row changes. The counts of its terms change, a revision is stored unless the latest one is
/// equal, and pages are added to menus. Source: recorded results of `check_and_publish_future_post`.
///
/// # Errors
/// Errors of the store; posts published before the failure remain published.
pub async fn publish_due(cx: &Context, site: &Arc<Site>, now: NaiveDateTime) -> Result<PublishRun, Error> {
    let types: Vec<&str> = site.registries.types.iter().map(|t| t.name.as_str()).collect();
    let mut published = 0;
    for id in site.read(cx, |db| Ok(posts::due(db, &types, now, MAX_PER_RUN)?))? {
        if publish(cx, site, id, now).await? {
            published += 1;
        }
    }
    let next = site.read(cx, |db| Ok(posts::next_due(db, &types)?))?;
    Ok(PublishRun { published, next })
}

/// Each post has its own transaction, so that other writers do not wait for all of them.
async fn publish(cx: &Context, site: &Arc<Site>, id: PostId, now: NaiveDateTime) -> Result<bool, Error> {
    let shared = Arc::clone(site);
    let write = move |tx: &mut svc_store::Tx| {
        if !posts::publish_due(tx, id, now)? {
            return Ok(false);
        }
        if let Some(post) = posts::get(tx, id)?
            && let Some(post_type) = shared.registries.types.get(&post.post_type)
        {
            let nobody = RevisionAuthor { id: UserId(0), unfiltered_html: false };
            let settings = shared.settings_in(tx)?;
            store_revision(tx, &shared, &settings, post_type, &post, nobody)?;
            published(tx, &shared, &settings, post_type, &post, (UserId(0), now))?;
            calendar_option::status_changed(tx, &post.post_type, "future", &post.status)?;
        }
        Ok(true)
    };
    site.write(cx, write).await
}
