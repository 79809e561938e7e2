//! What posts are recognized by when content is imported.

use sea_query::{Expr, ExprTrait as _, Query};
use svc_db::{Db, Result};
use svc_model::{PostId, Timestamp};

use crate::rows;

/// What a post is recognized by.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the table's columns")]
pub struct PostIdentity {
    pub id: PostId,
    pub post_type: String,
    pub date: Timestamp,
    pub title: String,
    pub guid: String,
}

/// The identities of the posts after this ID, in ascending order of ID, at most `limit`. Revisions and posts that were begun and
/// never saved are left out.
pub fn identities(db: &mut Db, after: PostId, limit: u64) -> Result<Vec<PostIdentity>> {
    rows::POSTS.depend_on_all(db.cx());
    let mut s = Query::select();
    s.columns(["ID", "post_type", "post_date", "post_title", "guid"]).from(db.table("posts"));
    s.and_where(Expr::col("ID").gt(after.0)).and_where(Expr::col("post_type").ne("revision"));
    s.and_where(Expr::col("post_status").ne("auto-draft"));
    s.order_by("ID", sea_query::Order::Asc).limit(limit);
    db.all(&s, |row| {
        Ok(PostIdentity {
            id: PostId(row.int(0)?),
            post_type: row.text(1)?,
            date: svc_db::stamp::parse(&row.text(2)?),
            title: row.text(3)?,
            guid: row.text(4)?,
        })
    })
}
