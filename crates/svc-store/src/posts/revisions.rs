//! Revisions and autosaves of a post: the latest, those of an editor, and trimming.

use sea_query::{Expr, ExprTrait as _, Order, Query, SelectStatement};
use svc_db::{Db, Result, Tx};
use svc_model::{Post, PostId, UserId};

use super::{read, select};
use crate::meta::{self, MetaKind};
use crate::post_changes::{PostChanges, PostClass};
use crate::rows::{self, post_lists};

/// Part of the slug of autosaves.
const AUTOSAVE: &str = "-autosave";

fn of_post(db: &Db, id: PostId) -> SelectStatement {
    let mut s = select(db);
    s.and_where(Expr::col("post_parent").eq(id.0)).and_where(Expr::col("post_type").eq("revision"));
    s.and_where(Expr::col("post_status").eq("inherit"));
    s
}

fn newest_first(s: &mut SelectStatement) -> &mut SelectStatement {
    s.order_by("post_date", Order::Desc).order_by("ID", Order::Desc)
}

/// The latest revision of a post, excluding autosaves.
pub fn latest_revision(db: &mut Db, id: PostId) -> Result<Option<Post>> {
    let mut s = of_post(db, id);
    s.and_where(Expr::col("post_name").not_like(format!("%{AUTOSAVE}%")));
    newest_first(&mut s).limit(1);
    db.first(&s, read)
}

/// The latest autosave of a post, by this editor or by anyone. Among several with the same second, the one that was
/// created first is returned, since it was the one updated.
pub fn latest_autosave(db: &mut Db, id: PostId, editor: Option<UserId>) -> Result<Option<Post>> {
    let mut s = of_post(db, id);
    s.and_where(Expr::col("post_name").like(format!("{id}{AUTOSAVE}%")));
    if let Some(editor) = editor {
        s.and_where(Expr::col("post_author").eq(editor.0));
    }
    s.order_by("post_date", Order::Desc).order_by("ID", Order::Asc).limit(1);
    db.first(&s, read)
}

/// The autosaves of a post, newest first: one per editor.
pub fn autosaves(db: &mut Db, id: PostId) -> Result<Vec<Post>> {
    let mut s = of_post(db, id);
    s.and_where(Expr::col("post_name").like(format!("{id}{AUTOSAVE}%")));
    newest_first(&mut s);
    db.all(&s, read)
}

/// Deletes the oldest revisions of a post in excess of `limit`. Autosaves are counted, but not deleted.
///
/// Source: `wp_save_post_revision`.
pub fn trim_revisions(tx: &mut Tx, id: PostId, limit: u64) -> Result<()> {
    let mut s = Query::select();
    s.columns(["ID", "post_name"]).from(tx.table("posts"));
    s.and_where(Expr::col("post_parent").eq(id.0)).and_where(Expr::col("post_type").eq("revision"));
    s.and_where(Expr::col("post_status").eq("inherit"));
    newest_first(&mut s);
    let all = tx.all(&s, |row| Ok((row.int(0)?, row.text(1)?)))?;
    let beyond = all.into_iter().skip(usize::try_from(limit).unwrap_or(usize::MAX));
    let deleted: Vec<i64> = beyond.filter(|(_, slug)| !slug.contains(AUTOSAVE)).map(|(id, _)| id).collect();
    for piece in deleted.chunks(1_000) {
        meta::delete_all(tx, MetaKind::Post, piece)?;
        let mut rows = Query::delete();
        rows.from_table(tx.table("posts")).and_where(Expr::col("ID").is_in(piece.iter().copied()));
        tx.change_rows(&rows, rows::REVISIONS, &[id.0])?;
        tx.invalidate(rows::POSTS, piece);
        let (post_type, status) = ("revision".to_owned(), "inherit".to_owned());
        let class = PostClass { post_type, status, author: None, parent: Some(id) };
        piece.iter().for_each(|id| PostChanges::record(tx, PostId(*id), Some(class.clone()), None));
        tx.mark_changed([post_lists("revision")]);
    }
    Ok(())
}
