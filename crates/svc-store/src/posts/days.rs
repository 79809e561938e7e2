//! Days on which posts were published.

use chrono::NaiveDate;
use sea_query::{Expr, ExprTrait as _, Order, Query};
use svc_db::{Db, Result};

/// Maximum number of days, newest first.
const MAX_DAYS: u64 = 20_000;

/// Days in the site's time zone on which posts of a type were published, with their numbers of posts, newest first.
pub fn published_days(db: &mut Db, post_type: &str) -> Result<Vec<(NaiveDate, u64)>> {
    // On both engines, the first ten characters of a stored date are the day.
    let day = || Expr::cust("SUBSTR(post_date, 1, 10)");
    let mut s = Query::select();
    s.expr(day()).expr(Expr::cust("COUNT(*)")).from(db.table("posts"));
    s.and_where(Expr::col("post_type").eq(post_type)).and_where(Expr::col("post_status").eq("publish"));
    s.add_group_by([day()]).order_by_expr(day(), Order::Desc).limit(MAX_DAYS);
    let rows = db.all_once(&s, |row| Ok((row.text(0)?, row.int(1)?)))?;
    let read = |(day, count): (String, i64)| Some((day.parse().ok()?, u64::try_from(count).ok()?));
    Ok(rows.into_iter().filter_map(read).collect())
}
