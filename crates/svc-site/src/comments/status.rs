//! Status changes of comments, and the meta that allows to undo them.
//!
//! Spam and trashed comments store their former status in meta. Trashing a note trashes its replies. Source: responses
//! and rows recorded from WordPress.

use svc_model::{Comment, CommentId};
use svc_store::{
    StoredText, Tx, comment_threads, comments,
    meta::{self, MetaKind},
};

use crate::SiteResult;

/// Meta keys of spam and trashed comments: former status, and time of the change.
const TRASH_META: [&str; 2] = ["_wp_trash_meta_status", "_wp_trash_meta_time"];

/// Moves a comment to the trash and returns it. `now` is in seconds since 1970.
pub fn trash(tx: &mut Tx, id: CommentId, now: i64) -> SiteResult<Option<Comment>> {
    let Some(comment) = comments::get(tx, id)? else { return Ok(None) };
    move_to(tx, &comment, "trash", now)?;
    if comment.comment_type == "note" && comment.parent.is_none() {
        let replies = comment_threads::replies(tx, &comment)?;
        for reply in comments::get_many(tx, &replies)?.iter().filter(|reply| reply.approved != "trash") {
            move_to(tx, reply, "trash", now)?;
        }
    }
    Ok(comments::get(tx, id)?)
}

/// Changes the status to the one that a request names. Unknown names are ignored.
pub fn change(tx: &mut Tx, id: CommentId, name: &str, now: i64) -> SiteResult<()> {
    let Some(comment) = comments::get(tx, id)? else { return Ok(()) };
    match name {
        "approved" | "approve" | "1" => set(tx, &comment, "1"),
        "hold" | "0" => set(tx, &comment, "0"),
        "spam" if comment.approved != "spam" => move_to(tx, &comment, "spam", now),
        "trash" if comment.approved != "trash" => trash(tx, id, now).map(drop),
        "unspam" | "untrash" => restore(tx, &comment),
        _ => Ok(()),
    }
}

fn set(tx: &mut Tx, comment: &Comment, approved: &str) -> SiteResult<()> {
    if comment.approved != approved {
        comments::update(tx, &Comment { approved: approved.to_owned(), ..comment.clone() })?;
    }
    Ok(())
}

fn delete_trash_meta(tx: &mut Tx, comment: &Comment) -> SiteResult<()> {
    for name in TRASH_META {
        meta::delete(tx, MetaKind::Comment, comment.id.0, name, None)?;
    }
    Ok(())
}

fn move_to(tx: &mut Tx, comment: &Comment, to: &str, now: i64) -> SiteResult<()> {
    set(tx, comment, to)?;
    delete_trash_meta(tx, comment)?;
    let (before, now) = (StoredText::of(&comment.approved), StoredText::of(now));
    let rows = [(TRASH_META[0], &before), (TRASH_META[1], &now)];
    Ok(meta::add_many(tx, MetaKind::Comment, comment.id.0, &rows)?)
}

/// Restores the former status, or `0` (held) if none is stored. If the comment already has that status, its meta is not
/// deleted.
fn restore(tx: &mut Tx, comment: &Comment) -> SiteResult<()> {
    let before = meta::get(tx, MetaKind::Comment, comment.id.0, TRASH_META[0])?.filter(|s| !s.is_empty());
    let before = before.as_ref().map_or("0", StoredText::text);
    if comment.approved == before {
        return Ok(());
    }
    set(tx, comment, before)?;
    delete_trash_meta(tx, comment)
}
