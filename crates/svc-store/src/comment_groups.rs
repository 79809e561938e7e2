//! The states and types of the comments in a list, with their numbers, from the counts that SQLite maintains.
//!
//! A list of comments on the whole site reads the comments of each state and type in the order of an index and merges
//! them. Other lists start from a post, an author or a list of ids.

use sea_query::{Expr, ExprTrait as _, Query, SelectStatement};
use svc_db::{Db, Result};

use crate::Order;
use crate::caches;
use crate::comments::{CommentOrderBy, CommentQuery};

/// Maximum number of groups that are merged.
const MAX_MERGED: usize = 32;

/// The comments of one state and type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommentGroup {
    pub(crate) approved: String,
    pub(crate) comment_type: String,
    n: u64,
}

/// The groups of a list that is best read by merging them. `None` if it is not, or if there are no counts.
pub(crate) fn read(db: &mut Db, q: &CommentQuery) -> Result<Option<Vec<CommentGroup>>> {
    let is_selective = !q.posts.is_empty()
        || !q.parent_in.is_empty()
        || !q.author_in.is_empty()
        || !q.include.is_empty()
        || q.author_email.is_some()
        || q.own_pending.is_some();
    let has_index = !matches!(q.order_by, CommentOrderBy::Include | CommentOrderBy::Parent | CommentOrderBy::Type);
    if is_selective || !has_index || !db.has_counts() {
        return Ok(None);
    }
    let mut s = counts(db, q);
    s.columns(["comment_approved", "comment_type"]).expr(Expr::cust("SUM(n)"));
    s.group_by_columns(["comment_approved", "comment_type"]);
    let mut groups = db.all(&s, |row| {
        Ok(CommentGroup { approved: row.text(0)?, comment_type: row.text(1)?, n: number(row.int(2)?) })
    })?;
    groups.retain(|group| group.n > 0);
    Ok((groups.len() <= MAX_MERGED).then_some(groups))
}

/// The counts of the states and types of a list.
fn counts(db: &Db, q: &CommentQuery) -> SelectStatement {
    let mut s = Query::select();
    s.from(db.table("svc_comment_count"));
    if !q.approved.is_empty() {
        s.and_where(Expr::col("comment_approved").is_in(q.approved.iter().map(String::as_str)));
    }
    if !q.types.is_empty() {
        let empty = q.types.iter().any(|t| t == "comment").then_some("");
        s.and_where(Expr::col("comment_type").is_in(q.types.iter().map(String::as_str).chain(empty)));
    }
    if !q.types_exclude.is_empty() {
        s.and_where(Expr::col("comment_type").is_not_in(q.types_exclude.iter().map(String::as_str)));
    }
    s
}

fn number(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

/// The total, if only states and types restrict the list.
pub(crate) fn total(q: &CommentQuery, groups: &[CommentGroup]) -> Option<u64> {
    let plain = CommentQuery {
        approved: q.approved.clone(),
        types: q.types.clone(),
        types_exclude: q.types_exclude.clone(),
        order_by: q.order_by,
        order: q.order,
        limit: q.limit,
        offset: q.offset,
        total: q.total,
        ..CommentQuery::default()
    };
    (plain == *q).then(|| groups.iter().map(|group| group.n).sum())
}

/// The day of the comment at the offset of a list by date in UTC, and the number of comments of the days before it in
/// the order of the list.
pub(crate) fn day_at_offset(db: &mut Db, q: &CommentQuery, groups: &[CommentGroup]) -> Result<Option<(String, u64)>> {
    let deep_offset = caches::tuning(db).deep_offset;
    let n = total(q, groups).filter(|n| q.offset < *n && q.offset >= deep_offset);
    if n.is_none() || q.order_by != CommentOrderBy::DateGmt {
        return Ok(None);
    }
    let mut s = counts(db, q);
    s.column("day").expr(Expr::cust("SUM(n)")).group_by_col("day").order_by("day", q.order.into());
    crate::query::day_at(db, &s, q.offset)
}

/// Matches the comments of a day and of all that follow in a list by date in UTC.
pub(crate) fn from_day(day: &str, order: Order) -> Expr {
    let date = Expr::col(("c", "comment_date_gmt"));
    match order {
        Order::Asc => date.gte(format!("{day} 00:00:00")),
        Order::Desc => date.lte(format!("{day} 23:59:59")),
    }
}
