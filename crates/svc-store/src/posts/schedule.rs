//! Scheduled posts.

use chrono::NaiveDateTime;
use sea_query::{Expr, ExprTrait as _, Order, Query, SelectStatement};
use svc_db::{Db, Result, Tx};
use svc_model::PostId;

use crate::post_changes::{PostChanges, PostClass};
use crate::rows::{self, post_lists};
use crate::stamp;
use crate::term_counts::{self, CountedBy};

/// Status of scheduled posts.
const FUTURE: &str = "future";

fn scheduled(db: &Db, post_types: &[&str]) -> SelectStatement {
    let mut s = Query::select();
    s.from(db.table("posts")).and_where(Expr::col("post_type").is_in(post_types.iter().copied()));
    s.and_where(Expr::col("post_status").eq(FUTURE)).and_where(Expr::col("post_date_gmt").ne(stamp::ZERO));
    s
}

/// Scheduled posts of these types that are due, earliest first; at most `limit`. `now` is in UTC.
pub fn due(db: &mut Db, post_types: &[&str], now: NaiveDateTime, limit: u64) -> Result<Vec<PostId>> {
    let mut s = scheduled(db, post_types);
    s.column("ID").and_where(Expr::col("post_date_gmt").lte(stamp::format(Some(now))));
    s.order_by("post_date_gmt", Order::Asc).order_by("ID", Order::Asc).limit(limit);
    db.all(&s, |row| Ok(PostId(row.int(0)?)))
}

/// The time at which the next scheduled post of these types is due, in UTC. It may be in the past.
pub fn next_due(db: &mut Db, post_types: &[&str]) -> Result<Option<NaiveDateTime>> {
    let mut s = scheduled(db, post_types);
    s.column("post_date_gmt").order_by("post_date_gmt", Order::Asc).limit(1);
    Ok(db.first(&s, |row| row.stamp(0))?.flatten())
}

/// Publishes a post if it is due and still scheduled, with the counts of its terms, and returns whether it was.
pub fn publish_due(tx: &mut Tx, id: PostId, now: NaiveDateTime) -> Result<bool> {
    let mut update = Query::update();
    update.table(tx.table("posts")).value("post_status", "publish").and_where(Expr::col("ID").eq(id.0));
    update.and_where(Expr::col("post_status").eq(FUTURE));
    update.and_where(Expr::col("post_date_gmt").lte(stamp::format(Some(now))));
    let Some(before) = CountedBy::stored(tx, id)? else { return Ok(false) };
    let published = tx.change_rows(&update, rows::POSTS, &[id.0])?.rows > 0;
    if published && let Some(after) = CountedBy::stored(tx, id)? {
        tx.mark_changed([post_lists(&after.post_type)]);
        let class = |by: &CountedBy| {
            let (post_type, status) = (by.post_type.clone(), by.status.clone());
            PostClass { post_type, status, author: None, parent: None }
        };
        PostChanges::record(tx, id, Some(class(&before)), Some(class(&after)));
        term_counts::post_changed(tx, id, &before, &after)?;
    }
    Ok(published)
}
