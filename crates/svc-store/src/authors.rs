//! Users as authors of posts and links.

use sea_query::{Cond, Expr, ExprTrait as _, Query};
use svc_db::{Db, Result, Tx};
use svc_model::{PostId, UserId};

use crate::query::change_matching;
use crate::rows::{self, post_lists};

/// A post of this author that is published and of one of the types `published`, or private and of one of the types `private`.
///
/// Cached values that depend on the result are not invalidated by other posts, as long as this post stays as it is.
pub fn post_of(db: &mut Db, author: UserId, published: &[&str], private: &[&str]) -> Result<Option<PostId>> {
    let mut any = Cond::any();
    for (status, types) in [("publish", published), ("private", private)] {
        if !types.is_empty() {
            let of_status = Cond::all().add(Expr::col("post_status").eq(status));
            any = any.add(of_status.add(Expr::col("post_type").is_in(types.iter().copied())));
        }
    }
    if any.is_empty() {
        return Ok(None);
    }
    let found = db.recorded_by_caller(|db| {
        let mut s = Query::select();
        s.column("ID")
            .from(db.table("posts"))
            .and_where(Expr::col("post_author").eq(author.0))
            .cond_where(any)
            .limit(1);
        db.first(&s, |row| row.int(0))
    })?;
    // Also on changes of unknown rows.
    rows::POSTS.depend_on(db.cx(), found);
    if found.is_none() {
        published.iter().chain(private).for_each(|name| db.cx().depends_on(post_lists(name)));
    }
    Ok(found.map(PostId))
}

/// Deletes a user's rows in the `links` table and returns their number.
pub fn delete_links(tx: &mut Tx, owner: UserId) -> Result<u64> {
    let links = || Expr::col("link_owner").eq(owner.0);
    let mut delete = Query::delete();
    delete.from_table(tx.table("links")).and_where(links());
    change_matching(tx, &delete, ("links", "link_id"), rows::LINKS, links())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn finds_authors_of_published_or_private_posts() {
        fixture::on_each(|store| {
            let of = |published: &[&str], private: &[&str]| -> Vec<i64> {
                let has = |id: &i64| {
                    store.read_blocking(|db| post_of(db, UserId(*id), published, private)).unwrap().is_some()
                };
                (1..=8).filter(has).collect()
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
                assert_eq!(of(published, private), expected, "{published:?} {private:?}");
            }
        });
    }

    #[test]
    fn deletes_links_of_a_user() {
        fixture::on_each(|store| {
            assert_eq!(store.write_blocking(|tx| delete_links(tx, UserId(1))).unwrap(), 0);
        });
    }
}
