//! Users as authors of posts and links.

use std::collections::HashSet;

use sea_query::{Cond, Expr, ExprTrait as _, Query};
use svc_model::UserId;

use crate::db::{Db, Tx};
use crate::error::Result;

/// Returns which of these users have published a post of one of the types `published`, or have a private post of one of
/// the types `private`. Runs one query, or none if there are no users or types.
pub fn with_posts(db: &mut Db, ids: &[UserId], published: &[&str], private: &[&str]) -> Result<HashSet<UserId>> {
    let mut any = Cond::any();
    for (status, types) in [("publish", published), ("private", private)] {
        if !types.is_empty() {
            let of_status = Cond::all().add(Expr::col("post_status").eq(status));
            any = any.add(of_status.add(Expr::col("post_type").is_in(types.iter().copied())));
        }
    }
    if ids.is_empty() || any.is_empty() {
        return Ok(HashSet::new());
    }
    let mut s = Query::select();
    s.distinct().column("post_author").from(db.table("posts"));
    s.and_where(Expr::col("post_author").is_in(ids.iter().map(|id| id.0))).cond_where(any);
    Ok(db.all(&s, |row| Ok(UserId(row.int(0)?)))?.into_iter().collect())
}

/// Deletes a user's rows in the `links` table and returns their number.
pub fn delete_links(tx: &mut Tx, owner: UserId) -> Result<u64> {
    let mut delete = Query::delete();
    delete.from_table(tx.table("links")).and_where(Expr::col("link_owner").eq(owner.0));
    Ok(tx.execute(&delete)?.rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn finds_authors_of_published_or_private_posts() {
        fixture::on_each(|store| {
            let all: Vec<UserId> = (1..=8).map(UserId).collect();
            let of = |ids: &[UserId], published: &[&str], private: &[&str]| {
                let found = store.read(|db| with_posts(db, ids, published, private)).unwrap();
                let mut ids: Vec<i64> = found.into_iter().map(|id| id.0).collect();
                ids.sort_unstable();
                ids
            };
            // Types whose published posts count, types whose private posts count, expected authors.
            for (published, private, expected) in [
                (&["post", "page"][..], &[][..], &[1, 2, 3, 4][..]),
                (&["page"], &[], &[1, 2]),
                (&[], &["post"], &[1, 3]),
                (&["page"], &["post"], &[1, 2, 3]),
                (&["nosuch"], &[], &[]),
                (&[], &[], &[]),
            ] {
                assert_eq!(of(&all, published, private), expected, "{published:?} {private:?}");
            }
            assert_eq!(of(&[UserId(2), UserId(6)], &["post", "page"], &[]), [2]);
            assert_eq!(of(&[], &["post"], &[]), Vec::<i64>::new());
        });
    }

    #[test]
    fn deletes_links_of_a_user() {
        fixture::on_each(|store| {
            assert_eq!(store.write_blocking(|tx| delete_links(tx, UserId(1))).unwrap(), 0);
        });
    }
}
