//! The trash: a post goes there with its comments, and comes back with them.

use chrono::NaiveDateTime;
use sea_query::{Expr, ExprTrait as _, Query};
use svc_model::{Post, PostId};

use crate::StoredText;
use crate::db::Tx;
use crate::error::Result;
use crate::meta::{self, MetaKind};

/// What a slug in the trash ends with, so that it is free for others.
const SUFFIX: &str = "__trashed";
/// Longest slug that the column holds, in bytes.
const MAX_SLUG: usize = 200;

/// Meta names under which a post in the trash keeps what it was.
const KEPT: [&str; 4] =
    ["_wp_trash_meta_status", "_wp_trash_meta_time", "_wp_desired_post_slug", "_wp_trash_meta_comments_status"];

/// Moves a post to the trash. `now` is the present moment in the site's zone and in UTC. Gives the post as it is then; `None` when there is none.
///
/// Status, time, slug and the states of the comments are kept in meta. Source: `wp_trash_post`.
///
/// # Errors
/// Those of the database.
pub fn trash(tx: &mut Tx, id: PostId, now: (NaiveDateTime, NaiveDateTime)) -> Result<Option<Post>> {
    let Some(mut post) = super::get(tx, id)? else { return Ok(None) };
    if post.status == "trash" {
        return Ok(Some(post));
    }
    let (local, utc) = now;
    let now = StoredText::of(utc.and_utc().timestamp());
    (post.modified, post.modified_gmt) = (Some(local), Some(utc));
    let was = StoredText::of(&post.status);
    if matches!(post.status.as_str(), "draft" | "pending" | "auto-draft") && post.date_gmt.is_none() {
        // What was never dated has no date to keep.
        (post.date, post.date_gmt) = (Some(local), Some(utc));
    }
    let mut kept = vec![("_wp_trash_meta_status", &was), ("_wp_trash_meta_time", &now)];
    let slug = post.slug.clone();
    let wanted = StoredText::of(&slug);
    if !slug.ends_with(SUFFIX) {
        kept.push(("_wp_desired_post_slug", &wanted));
    }
    let comments = hold_comments(tx, id)?;
    if let Some(states) = &comments {
        kept.push(("_wp_trash_meta_comments_status", states));
    }
    meta::add_many(tx, MetaKind::Post, id.0, &kept)?;
    if !slug.ends_with(SUFFIX) {
        let mut end = slug.len().min(MAX_SLUG - SUFFIX.len());
        while !slug.is_char_boundary(end) {
            end -= 1;
        }
        post.slug = format!("{}{SUFFIX}", &slug[..end]);
    }
    "trash".clone_into(&mut post.status);
    super::update(tx, &post)?;
    crate::terms::recount_of_post(tx, id)?;
    Ok(Some(post))
}

/// Takes what the trash kept of a post out of its meta: the slug that it had. Comments stay hidden, as on the peer, where
/// a change of the status does not bring them back. The row itself is the caller's to write.
///
/// # Errors
/// Those of the database.
pub fn leave_trash(tx: &mut Tx, id: PostId) -> Result<Option<String>> {
    let kept = meta::load_one(tx, MetaKind::Post, id.0)?;
    for name in KEPT {
        if kept.has(name) {
            meta::delete(tx, MetaKind::Post, id.0, name, None)?;
        }
    }
    let slug = kept.text("_wp_desired_post_slug");
    Ok((!slug.is_empty()).then(|| slug.to_owned()))
}

/// Hides the comments of a post; returns their ids and states, or `None` without comments.
fn hold_comments(tx: &mut Tx, id: PostId) -> Result<Option<StoredText>> {
    let mut s = Query::select();
    s.columns(["comment_ID", "comment_approved"]).from(tx.table("comments"));
    s.and_where(Expr::col("comment_post_ID").eq(id.0)).order_by("comment_ID", sea_query::Order::Asc);
    let states = tx.all(&s, |row| Ok((row.int(0)?, row.text(1)?)))?;
    if states.is_empty() {
        return Ok(None);
    }
    let mut hide = Query::update();
    hide.table(tx.table("comments")).value("comment_approved", "post-trashed");
    hide.and_where(Expr::col("comment_post_ID").eq(id.0));
    tx.execute(&hide)?;
    let map = states.into_iter().map(|(id, state)| (svc_php::Key::Int(id), svc_php::Php::from(state.as_str())));
    Ok(Some(StoredText::of(svc_php::Php::Array(map.collect()))))
}
