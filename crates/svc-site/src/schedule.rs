//! Posts that are to be published at a later time, when that time comes.
//!
//! Here is what happens to them; who looks, and when, is the server's business.

use std::sync::Arc;

use chrono::NaiveDateTime;
use svc_model::{PostId, UserId};
use svc_schema::Error;
use svc_store::{posts, terms};

use crate::{Site, revisions::revise};

/// Most posts that one round publishes: the others wait for the next, which follows at once.
const ROUND: u64 = 50;

/// What a round did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishRun {
    /// How many posts it published.
    pub published: usize,
    /// When the next post is to be published, in UTC; past when more are waiting.
    pub next: Option<NaiveDateTime>,
}

/// Publishes the posts whose time has come by `now` (UTC), earliest first, and says when to look again. Another process
/// may do the same at the same time: each post is published once.
///
/// Nothing but the status changes; its terms are counted anew, and what the post is becomes a revision unless it is one
/// already. Source: recorded results of `check_and_publish_future_post`.
///
/// # Errors
/// Those of the store; posts published before the failure stay so.
pub async fn publish_due(site: &Arc<Site>, now: NaiveDateTime) -> Result<PublishRun, Error> {
    let types: Vec<&str> = site.types.iter().map(|t| t.name.as_str()).collect();
    let mut published = 0;
    for id in site.read(|db| Ok(posts::due(db, &types, now, ROUND)?))? {
        if publish(site, id, now).await? {
            published += 1;
        }
    }
    let next = site.read(|db| Ok(posts::next_due(db, &types)?))?;
    Ok(PublishRun { published, next })
}

/// Each post is a transaction of its own, so that writers in between need not wait for all.
async fn publish(site: &Arc<Site>, id: PostId, now: NaiveDateTime) -> Result<bool, Error> {
    let shared = Arc::clone(site);
    let write = move |tx: &mut svc_store::Tx| {
        if !posts::publish_due(tx, id, now)? {
            return Ok(false);
        }
        terms::recount_for_post(tx, id)?;
        if let Some(post) = posts::get(tx, id)?
            && let Some(post_type) = shared.types.get(&post.post_type)
        {
            revise(tx, &shared, post_type, &post, UserId(0))?;
        }
        Ok(true)
    };
    site.write(write).await
}
