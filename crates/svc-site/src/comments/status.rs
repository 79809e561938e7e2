//! Changes of a comment's status, and what is kept so that they can be taken back.
//!
//! What goes to spam or to the trash keeps the status that it had in meta. Notes go to the trash with their replies.
//! Source: recorded answers of the peer and the rows that they left.

use svc_model::{Comment, CommentId};
use svc_store::{
    StoredText, Tx, comment_threads, comments,
    meta::{self, MetaKind},
};

use crate::SiteResult;

/// Meta under which spam and trash keep the status before, and since when.
const KEPT: [&str; 2] = ["_wp_trash_meta_status", "_wp_trash_meta_time"];

/// Moves a comment to the trash. `now` is seconds since 1970. Gives the comment as it is then.
pub fn trash(tx: &mut Tx, id: CommentId, now: i64) -> SiteResult<Option<Comment>> {
    let Some(comment) = comments::get(tx, id)? else { return Ok(None) };
    put_away(tx, &comment, "trash", now)?;
    if comment.comment_type == "note" && comment.parent.is_none() {
        let replies = comment_threads::replies(tx, &comment)?;
        for reply in comments::get_many(tx, &replies)?.iter().filter(|reply| reply.approved != "trash") {
            put_away(tx, reply, "trash", now)?;
        }
    }
    Ok(comments::get(tx, id)?)
}

/// Gives a comment the status that a request names, where it has another one. Names that are not known change nothing.
pub fn change(tx: &mut Tx, id: CommentId, wanted: &str, now: i64) -> SiteResult<()> {
    let Some(comment) = comments::get(tx, id)? else { return Ok(()) };
    match wanted {
        "approved" | "approve" | "1" => set(tx, &comment, "1"),
        "hold" | "0" => set(tx, &comment, "0"),
        "spam" if comment.approved != "spam" => put_away(tx, &comment, "spam", now),
        "trash" if comment.approved != "trash" => trash(tx, id, now).map(drop),
        "unspam" | "untrash" => bring_back(tx, &comment),
        _ => Ok(()),
    }
}

fn set(tx: &mut Tx, comment: &Comment, approved: &str) -> SiteResult<()> {
    if comment.approved != approved {
        comments::update(tx, &Comment { approved: approved.to_owned(), ..comment.clone() })?;
    }
    Ok(())
}

fn forget(tx: &mut Tx, comment: &Comment) -> SiteResult<()> {
    for name in KEPT {
        meta::delete(tx, MetaKind::Comment, comment.id.0, name, None)?;
    }
    Ok(())
}

fn put_away(tx: &mut Tx, comment: &Comment, to: &str, now: i64) -> SiteResult<()> {
    set(tx, comment, to)?;
    forget(tx, comment)?;
    let (before, now) = (StoredText::of(&comment.approved), StoredText::of(now));
    let rows = [(KEPT[0], &before), (KEPT[1], &now)];
    Ok(meta::add_many(tx, MetaKind::Comment, comment.id.0, &rows)?)
}

/// The status that the comment had before; held when nothing tells. What is kept of one that has that status already
/// stays kept.
fn bring_back(tx: &mut Tx, comment: &Comment) -> SiteResult<()> {
    let before = meta::get(tx, MetaKind::Comment, comment.id.0, KEPT[0])?.filter(|s| !s.is_empty());
    let before = before.as_ref().map_or("0", StoredText::text);
    if comment.approved == before {
        return Ok(());
    }
    set(tx, comment, before)?;
    forget(tx, comment)
}
