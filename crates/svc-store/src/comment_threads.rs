//! Comments among others: which have replies, what the same author said before, whether one was approved.

use std::collections::HashSet;

use chrono::NaiveDateTime;
use sea_query::{Cond, Expr, ExprTrait as _, Query, SelectStatement};
use svc_model::{Comment, CommentId, UserId};

use crate::{db::Db, error::Result, stamp};

/// Those of these comments that have replies, approved or held.
///
/// # Errors
/// Those of the database.
pub fn with_replies(db: &mut Db, ids: &[CommentId]) -> Result<HashSet<CommentId>> {
    let mut s = Query::select();
    s.distinct().column("comment_parent").from(db.table("comments"));
    s.and_where(Expr::col("comment_parent").is_in(ids.iter().map(|id| id.0)));
    s.and_where(Expr::col("comment_approved").is_in(["0", "1"]));
    Ok(db.all(&s, |row| Ok(CommentId(row.int(0)?)))?.into_iter().collect())
}

/// The replies to a comment of the same type, in any state: what goes with a note that goes.
///
/// # Errors
/// Those of the database.
pub fn replies(db: &mut Db, comment: &Comment) -> Result<Vec<CommentId>> {
    let mut s = Query::select();
    s.column("comment_ID").from(db.table("comments"));
    s.and_where(Expr::col("comment_parent").eq(comment.id.0));
    s.and_where(Expr::col("comment_type").eq(comment.comment_type.as_str()));
    s.order_by("comment_ID", sea_query::Order::Asc);
    db.all(&s, |row| Ok(CommentId(row.int(0)?)))
}

fn first_id(db: &Db) -> SelectStatement {
    let mut s = Query::select();
    s.column("comment_ID").from(db.table("comments")).limit(1);
    s
}

/// Whether the same author has said the same in the same place; what is in the trash does not count.
///
/// # Errors
/// Those of the database.
pub fn is_said_already(db: &mut Db, comment: &Comment) -> Result<bool> {
    let mut s = first_id(db);
    s.and_where(Expr::col("comment_post_ID").eq(comment.post.0));
    s.and_where(Expr::col("comment_parent").eq(comment.parent.0));
    s.and_where(Expr::col("comment_approved").ne("trash"));
    let mut author = Cond::any().add(Expr::col("comment_author").eq(comment.author.as_str()));
    if !comment.author_email.is_empty() {
        author = author.add(Expr::col("comment_author_email").eq(comment.author_email.as_str()));
    }
    s.cond_where(author);
    s.and_where(Expr::col("comment_content").eq(comment.content.as_str()));
    Ok(!db.all(&s, |row| row.int(0))?.is_empty())
}

/// Whom the pause between comments is counted for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Writer {
    /// A user.
    User(UserId),
    /// A guest, by network address.
    Guest(String),
}

/// When this writer, or anybody with this e-mail address, last commented, in UTC; comments before `since` do not count.
///
/// # Errors
/// Those of the database.
pub fn last_by(db: &mut Db, writer: &Writer, email: &str, since: NaiveDateTime) -> Result<Option<NaiveDateTime>> {
    let by = match writer {
        Writer::User(id) => Expr::col("user_id").eq(id.0),
        Writer::Guest(ip) => Expr::col("comment_author_IP").eq(ip.as_str()),
    };
    let mut s = Query::select();
    s.column("comment_date_gmt").from(db.table("comments"));
    s.and_where(Expr::col("comment_date_gmt").gte(stamp::format(Some(since))));
    s.cond_where(Cond::any().add(by).add(Expr::col("comment_author_email").eq(email)));
    s.order_by("comment_date_gmt", sea_query::Order::Desc).limit(1);
    Ok(db.all(&s, |row| row.stamp(0))?.into_iter().next().flatten())
}

/// Whether a comment of this author was approved before: of the user, or of the guest with this name and address.
///
/// # Errors
/// Those of the database.
pub fn was_approved(db: &mut Db, user: Option<UserId>, name: &str, email: &str) -> Result<bool> {
    let mut s = first_id(db);
    s.and_where(Expr::col("comment_approved").eq("1"));
    match user {
        Some(user) => s.and_where(Expr::col("user_id").eq(user.0)),
        None => {
            s.and_where(Expr::col("comment_author").eq(name)).and_where(Expr::col("comment_author_email").eq(email))
        }
    };
    Ok(!db.all(&s, |row| row.int(0))?.is_empty())
}
