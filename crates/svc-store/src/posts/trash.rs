//! Trashing posts together with their comments.

use chrono::NaiveDateTime;
use sea_query::{Expr, ExprTrait as _, Query};
use svc_db::{Result, Tx};
use svc_model::{Post, PostId};

use crate::StoredText;
use crate::meta::{self, MetaKind};
use crate::rows;

/// Suffix of slugs in the trash, which frees the slug for other posts.
const TRASHED_SUFFIX: &str = "__trashed";
/// Maximum length of a slug, in bytes.
const MAX_SLUG: usize = 200;

/// Meta key of the slug that a post had before it was trashed.
const DESIRED_SLUG: &str = "_wp_desired_post_slug";

/// Moves a post to the trash and returns the updated post; `None` if it does not exist. `now` is the current time in
/// the site's time zone and in UTC.
///
/// Status, time, slug and the states of comments are stored in meta. Source: `wp_trash_post`.
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
        // Undated posts get the current date.
        (post.date, post.date_gmt) = (Some(local), Some(utc));
    }
    let mut saved = vec![("_wp_trash_meta_status", &was), ("_wp_trash_meta_time", &now)];
    let desired_slug = StoredText::of(&post.slug);
    if let Some(slug) = trashed_slug(&post.slug) {
        saved.push((DESIRED_SLUG, &desired_slug));
        post.slug = slug;
    }
    let comments = hide_comments(tx, id)?;
    if let Some(states) = &comments {
        saved.push(("_wp_trash_meta_comments_status", states));
    }
    meta::add_many(tx, MetaKind::Post, id.0, &saved)?;
    "trash".clone_into(&mut post.status);
    super::update(tx, &post)?;
    Ok(Some(post))
}

/// The slug of a post in the trash; `None` if it has the suffix already.
fn trashed_slug(slug: &str) -> Option<String> {
    if slug.ends_with(TRASHED_SUFFIX) {
        return None;
    }
    let mut end = slug.len().min(MAX_SLUG - TRASHED_SUFFIX.len());
    while !slug.is_char_boundary(end) {
        end -= 1;
    }
    Some(format!("{}{TRASHED_SUFFIX}", &slug[..end]))
}

/// Frees a slug for the post `id`: posts of these types in the trash that have it get the suffix. A post in the trash has
/// a slug without the suffix if it was changed there. Source: `wp_add_trashed_suffix_to_post_name_for_trashed_posts`.
pub fn free_slug(tx: &mut Tx, slug: &str, id: PostId, types: &[&str]) -> Result<()> {
    let mut s = Query::select();
    s.column("ID").from(tx.table("posts"));
    s.and_where(Expr::col("post_name").eq(slug)).and_where(Expr::col("post_status").eq("trash"));
    s.and_where(Expr::col("post_type").is_in(types.iter().copied())).and_where(Expr::col("ID").ne(id.0));
    for id in tx.all(&s, |row| Ok(PostId(row.int(0)?)))? {
        let Some(mut post) = super::get(tx, id)? else { continue };
        let Some(slug) = trashed_slug(&post.slug) else { continue };
        meta::add(tx, MetaKind::Post, id.0, DESIRED_SLUG, &StoredText::of(&post.slug))?;
        post.slug = slug;
        super::update(tx, &post)?;
    }
    Ok(())
}

/// Returns and deletes the slug that a post had before it was trashed; `None` if it had none. The other meta of trashed
/// posts remains: WordPress deletes it when the post is next due to be deleted from the trash, or when a user restores the
/// post there. Source: `wp_insert_post`.
pub fn take_former_slug(tx: &mut Tx, id: PostId) -> Result<Option<String>> {
    let slug = meta::get(tx, MetaKind::Post, id.0, DESIRED_SLUG)?.unwrap_or_default();
    if matches!(slug.text(), "" | "0") {
        return Ok(None);
    }
    meta::delete(tx, MetaKind::Post, id.0, DESIRED_SLUG, None)?;
    Ok(Some(slug.text().to_owned()))
}

/// Hides the comments of a post. Returns their ids and states, or `None` if there are none.
fn hide_comments(tx: &mut Tx, id: PostId) -> Result<Option<StoredText>> {
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
    let ids: Vec<i64> = states.iter().map(|(id, _)| *id).collect();
    tx.change_rows(&hide, rows::COMMENTS, &ids)?;
    let map = states.into_iter().map(|(id, state)| (svc_php::ArrayKey::Int(id), svc_php::Php::from(state.as_str())));
    Ok(Some(StoredText::of(svc_php::Php::Array(map.collect()))))
}
