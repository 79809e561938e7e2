//! On which days posts were published.

use chrono::NaiveDate;
use sea_query::{Expr, ExprTrait as _, Order, Query};

use crate::{db::Db, error::Result};

/// Days told at most, the newest first.
const MAX_DAYS: u64 = 20_000;

/// The days, of the site's zone, on which published posts of a type are dated, with how many there are; the newest first.
///
/// # Errors
/// Those of the database.
pub fn published_days(db: &mut Db, post_type: &str) -> Result<Vec<(NaiveDate, u64)>> {
    // Dates are stored so that their first ten characters are the day, on either engine.
    let day = || Expr::cust("SUBSTR(post_date, 1, 10)");
    let mut s = Query::select();
    s.expr(day()).expr(Expr::cust("COUNT(*)")).from(db.table("posts"));
    s.and_where(Expr::col("post_type").eq(post_type)).and_where(Expr::col("post_status").eq("publish"));
    s.add_group_by([day()]).order_by_expr(day(), Order::Desc).limit(MAX_DAYS);
    let rows = db.tally(&s, |row| Ok((row.text(0)?, row.int(1)?)))?;
    let read = |(day, count): (String, i64)| Some((day.parse().ok()?, u64::try_from(count).ok()?));
    Ok(rows.into_iter().filter_map(read).collect())
}
