//! Attachments by their files.

use sea_query::{Cond, Expr, ExprTrait as _, JoinType, Query};
use svc_db::{Db, Result};

use crate::query::{contains, starts_with};

/// Returns whether any attachment uses one of these files of a folder, given as paths relative to the uploads folder: as
/// its file, in its metadata, or as a sideloaded file that the metadata does not contain yet.
pub fn is_attached_file(db: &mut Db, paths: &[String]) -> Result<bool> {
    let Some(first) = paths.first() else { return Ok(false) };
    let folder = first.rfind('/').map_or("", |at| &first[..=at]);
    let paths = || paths.iter().map(String::as_str);
    let names = || paths().map(|path| path.rsplit('/').next().unwrap_or(path));
    let mut in_metadata = Cond::any();
    for name in names() {
        in_metadata = in_metadata.add(Expr::col(("m", "meta_value")).like(contains(&format!("\"{name}\""))));
    }
    let key = |key: &str| Expr::col(("m", "meta_key")).eq(key);
    let value = || Expr::col(("m", "meta_value"));
    let mut statement = Query::select();
    statement.column(("f", "post_id")).from_as(db.table("postmeta"), "f");
    let same_post = Expr::col(("m", "post_id")).equals(("f", "post_id"));
    statement.join_as(JoinType::InnerJoin, db.table("postmeta"), "m", same_post);
    statement.and_where(Expr::col(("f", "meta_key")).eq("_wp_attached_file"));
    statement.and_where(Expr::col(("f", "meta_value")).like(starts_with(folder)));
    statement.cond_where(
        Cond::any()
            .add(key("_wp_attached_file").and(value().is_in(paths())))
            .add(key("_wp_sideloaded_file").and(value().is_in(paths().chain(names()))))
            .add(Cond::all().add(key("_wp_attachment_metadata")).add(in_metadata)),
    );
    Ok(db.first(statement.limit(1), |row| row.int(0))?.is_some())
}
