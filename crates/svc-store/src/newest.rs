//! The highest ids of tables.

use sea_query::{Order, Query};
use svc_db::{Db, Result};

/// Tables whose rows are numbered in order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbered {
    /// Posts of all types.
    Posts,
    /// Terms of all taxonomies.
    Terms,
    /// Comments.
    Comments,
}

/// The highest id; 0 for an empty table.
///
/// # Errors
/// If the database cannot be read.
pub fn newest_id(db: &mut Db, of: Numbered) -> Result<i64> {
    let (table, id) = match of {
        Numbered::Posts => ("posts", "ID"),
        Numbered::Terms => ("terms", "term_id"),
        Numbered::Comments => ("comments", "comment_ID"),
    };
    let mut s = Query::select();
    s.column(id).from(db.table(table)).order_by(id, Order::Desc).limit(1);
    Ok(db.first(&s, |row| row.int(0))?.unwrap_or(0))
}
