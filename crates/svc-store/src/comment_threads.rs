//! Queries about related comments: replies, duplicates, flood control and previously approved authors.

use std::collections::{HashMap, HashSet};

use chrono::NaiveDateTime;
use sea_query::{Cond, Expr, ExprTrait as _, Query, SelectStatement};
use svc_db::{Db, Result};
use svc_model::{Comment, CommentId, UserId};

use crate::stamp;

/// Returns which of these comments have approved or pending replies.
pub fn with_replies(db: &mut Db, ids: &[CommentId]) -> Result<HashSet<CommentId>> {
    let mut s = Query::select();
    s.distinct().column("comment_parent").from(db.table("comments"));
    s.and_where(Expr::col("comment_parent").is_in(ids.iter().map(|id| id.0)));
    s.and_where(Expr::col("comment_approved").is_in(["0", "1"]));
    Ok(db.all(&s, |row| Ok(CommentId(row.int(0)?)))?.into_iter().collect())
}

/// The replies to a comment that have the same type, in any state. They are deleted together with a note.
pub fn replies(db: &mut Db, comment: &Comment) -> Result<Vec<CommentId>> {
    let mut s = Query::select();
    s.column("comment_ID").from(db.table("comments"));
    s.and_where(Expr::col("comment_parent").eq(comment.id.0));
    s.and_where(Expr::col("comment_type").eq(comment.comment_type.as_str()));
    s.order_by("comment_ID", sea_query::Order::Asc);
    db.all(&s, |row| Ok(CommentId(row.int(0)?)))
}

/// The number of older approved top-level comments on the same post, for each of these comments. Comments without any
/// are omitted.
pub fn older_threads(db: &mut Db, ids: &[CommentId]) -> Result<HashMap<CommentId, u64>> {
    let of = |table: &'static str, column: &'static str| Expr::col((table, column));
    let older = Cond::all()
        .add(of("o", "comment_post_ID").equals(("c", "comment_post_ID")))
        .add(of("o", "comment_parent").eq(0))
        .add(of("o", "comment_approved").eq("1"))
        .add(of("o", "comment_date_gmt").lt(of("c", "comment_date_gmt")));
    let mut s = Query::select();
    s.column(("c", "comment_ID")).expr(Expr::cust("COUNT(*)"));
    s.from_as(db.table("comments"), "c").join_as(sea_query::JoinType::InnerJoin, db.table("comments"), "o", older);
    s.and_where(of("c", "comment_ID").is_in(ids.iter().map(|id| id.0)));
    s.group_by_col(("c", "comment_ID"));
    let rows = db.all(&s, |row| Ok((CommentId(row.int(0)?), u64::try_from(row.int(1)?).unwrap_or(0))))?;
    Ok(rows.into_iter().collect())
}

fn first_id(db: &Db) -> SelectStatement {
    let mut s = Query::select();
    s.column("comment_ID").from(db.table("comments")).limit(1);
    s
}

/// Returns whether the same author has already posted the same text on the post, ignoring trashed comments.
pub fn is_duplicate(db: &mut Db, comment: &Comment) -> Result<bool> {
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

/// The author whose comment frequency is limited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommentAuthor {
    /// A user.
    User(UserId),
    /// A guest, by IP address.
    Guest(String),
}

/// The time of the last comment by this author or with this e-mail address, in UTC. Comments before `since` are
/// ignored.
pub fn last_comment_time(
    db: &mut Db,
    author: &CommentAuthor,
    email: &str,
    since: NaiveDateTime,
) -> Result<Option<NaiveDateTime>> {
    let is_author = match author {
        CommentAuthor::User(id) => Expr::col("user_id").eq(id.0),
        CommentAuthor::Guest(ip) => Expr::col("comment_author_IP").eq(ip.as_str()),
    };
    let mut s = Query::select();
    s.column("comment_date_gmt").from(db.table("comments"));
    s.and_where(Expr::col("comment_date_gmt").gte(stamp::format(Some(since))));
    s.cond_where(Cond::any().add(is_author).add(Expr::col("comment_author_email").eq(email)));
    s.order_by("comment_date_gmt", sea_query::Order::Desc).limit(1);
    Ok(db.all(&s, |row| row.stamp(0))?.into_iter().next().flatten())
}

/// Returns whether the user, or the guest with this name and e-mail address, has an approved comment.
pub fn has_approved_comment(db: &mut Db, user: Option<UserId>, name: &str, email: &str) -> Result<bool> {
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

#[cfg(test)]
mod tests {
    use svc_model::PostId;

    use super::*;
    use crate::{comments, fixture};

    #[test]
    fn finds_replies() {
        fixture::on_each(|store| {
            let ids: Vec<CommentId> = [500, 501, 502, 503, 515].map(CommentId).to_vec();
            let found = store.read_blocking(|db| with_replies(db, &ids)).unwrap();
            assert_eq!(found, [500, 501, 515].map(CommentId).into_iter().collect());
            let of_note = store.read_blocking(|db| {
                let note = comments::get(db, CommentId(515))?.unwrap();
                replies(db, &note)
            });
            assert_eq!(of_note.unwrap(), [CommentId(516)]);
        });
    }

    #[test]
    fn counts_older_threads() {
        fixture::on_each(|store| {
            let ids: Vec<CommentId> = [520, 521, 524, 525, 531].map(CommentId).to_vec();
            let found = store.read_blocking(|db| older_threads(db, &ids)).unwrap();
            let expected = [(521, 1), (524, 1), (525, 2), (531, 3)];
            assert_eq!(found, expected.map(|(id, n)| (CommentId(id), n)).into_iter().collect());
        });
    }

    #[test]
    fn duplicates_have_the_same_author_post_and_text() {
        fixture::on_each(|store| {
            let first = store.read_blocking(|db| comments::get(db, CommentId(506))).unwrap().unwrap();
            let trashed = store.read_blocking(|db| comments::get(db, CommentId(505))).unwrap().unwrap();
            let rows = [
                (first.clone(), true),
                (Comment { author: "Other".to_owned(), ..first.clone() }, true),
                (Comment { author: "Other".to_owned(), author_email: String::new(), ..first.clone() }, false),
                (Comment { content: "else".to_owned(), ..first.clone() }, false),
                (Comment { post: PostId(1000), ..first.clone() }, false),
                (Comment { parent: CommentId(1), ..first }, false),
                (trashed, false),
            ];
            for (comment, expected) in rows {
                assert_eq!(store.read_blocking(|db| is_duplicate(db, &comment)).unwrap(), expected, "{comment:?}");
            }
        });
    }

    #[test]
    fn last_comment_is_by_author_or_email() {
        fixture::on_each(|store| {
            let at = |text: &str| stamp::parse(text);
            let since = at("2024-02-06 00:00:00").unwrap();
            let rows = [
                (CommentAuthor::User(UserId(4)), "", at("2024-02-06 14:30:00")),
                (CommentAuthor::User(UserId(6)), "", None),
                (CommentAuthor::Guest("203.0.113.1".to_owned()), "g11@example.org", at("2024-02-06 16:30:00")),
                (CommentAuthor::Guest("203.0.113.1".to_owned()), "nobody@example.org", None),
            ];
            for (author, email, expected) in rows {
                let last = store.read_blocking(|db| last_comment_time(db, &author, email, since)).unwrap();
                assert_eq!(last, expected, "{author:?} {email}");
            }
        });
    }

    #[test]
    fn approval_is_by_user_or_name_and_email() {
        fixture::on_each(|store| {
            let rows = [
                (Some(UserId(6)), "", "", true),
                (Some(UserId(5)), "", "", false),
                (None, "Guest 1", "g1@example.org", true),
                (None, "Guest 1", "g2@example.org", false),
                (None, "Waiter", "wait@example.org", false),
            ];
            for (user, name, email, expected) in rows {
                let approved = store.read_blocking(|db| has_approved_comment(db, user, name, email)).unwrap();
                assert_eq!(approved, expected, "{user:?} {name} {email}");
            }
        });
    }
}
