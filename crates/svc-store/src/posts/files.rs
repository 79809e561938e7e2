//! Attachments by their files.

use sea_query::{Expr, ExprTrait as _, Query};

use crate::db::Db;
use crate::error::Result;

/// Returns whether any attachment uses one of these files, given as paths relative to the uploads folder.
pub fn is_attached_file(db: &mut Db, paths: &[String]) -> Result<bool> {
    if paths.is_empty() {
        return Ok(false);
    }
    let mut statement = Query::select();
    statement.column("post_id").from(db.table("postmeta"));
    statement.and_where(Expr::col("meta_key").eq("_wp_attached_file"));
    statement.and_where(Expr::col("meta_value").is_in(paths.iter().map(String::as_str))).limit(1);
    Ok(db.first(&statement, |row| row.int(0))?.is_some())
}
