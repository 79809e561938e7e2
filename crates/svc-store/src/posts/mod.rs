//! Posts of all types: rows by id, slug and path; lists; writes.

use svc_db::{Db, Result};

mod batch;

mod days;
mod dependencies;
mod files;
mod identities;
mod indexed_search;
mod plan;
mod post_query;
mod query;
mod ranked_search;
mod revisions;
mod schedule;
mod search;
mod statement;
mod stats;
mod totals;
mod trash;
mod write;

use sea_query::{Expr, ExprTrait as _, Func, Query, SelectStatement};
use svc_model::{Post, PostId};

use crate::columns::{self, columns};
use crate::query::load_rows;
use crate::rows::{self, post_lists};

pub use batch::{ancestor_slugs, revision_counts};
pub use days::published_days;
pub use files::is_attached_file;
pub use identities::{PostIdentity, identities};
pub use post_query::{
    Clauses, MetaClause, MetaCompare, MetaType, PostOrderBy, PostQuery, Relation, TaxClause, TaxOperator,
};
pub use query::query;
pub(crate) use ranked_search::language;
pub use ranked_search::{Ranked, RankedSearch, Unranked, ranked_search, terms_among};
pub use revisions::{autosaves, latest_autosave, latest_revision, trim_revisions};
pub use schedule::{due, next_due, publish_due};
pub use search::{SearchColumn, search_text};
pub use trash::{free_slug, take_former_slug, trash};
pub(crate) use write::replace_author;
pub use write::{SlugScope, UniqueSlug, delete, insert, insert_with_id, set_guid, unique_slug, unique_slugs, update};

#[rustfmt::skip]
columns! { Post, &'static str;
    ("ID", id, Id, Never),
    ("post_author", author, UnsignedId),
    ("post_date", date, Date),
    ("post_date_gmt", date_gmt, Date),
    ("post_content", content, EmojiText),
    ("post_title", title, EmojiText),
    ("post_excerpt", excerpt, EmojiText),
    ("post_status", status, Text),
    ("comment_status", comment_status, Text),
    ("ping_status", ping_status, Text),
    ("post_password", password, Text),
    ("post_name", slug, Text),
    ("post_modified", modified, Date),
    ("post_modified_gmt", modified_gmt, Date),
    ("post_parent", parent, UnsignedId),
    ("guid", guid, Text),
    ("menu_order", menu_order, Int32),
    ("post_type", post_type, Text),
    ("post_mime_type", mime_type, Text),
    ("comment_count", comment_count, Int),
}

fn select(db: &Db) -> SelectStatement {
    let mut s = Query::select();
    s.columns(columns::names(&COLUMNS)).from(db.table("posts"));
    s
}

/// Reads a post by id, regardless of type and status.
pub fn get(db: &mut Db, id: PostId) -> Result<Option<Post>> {
    Ok(get_many(db, &[id])?.pop())
}

/// Reads posts in the order of `ids`. Missing posts are omitted, duplicate ids return one post.
pub fn get_many(db: &mut Db, ids: &[PostId]) -> Result<Vec<Post>> {
    let numbers: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let build = |db: &Db, ids| select(db).and_where(Expr::col("ID").is_in(ids)).take();
    load_rows(db, "posts.get", rows::POSTS, &numbers, build, read, |post: &Post| post.id.0)
}

/// Reads what rights depend on of posts: id, type, status, author, parent and password. Missing posts are omitted.
pub fn outlines(db: &mut Db, ids: &[PostId]) -> Result<Vec<Post>> {
    let mut found = Vec::with_capacity(ids.len());
    let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let build = |db: &Db, ids| {
        let columns = ["ID", "post_type", "post_status", "post_author", "post_parent", "post_password"];
        Query::select().columns(columns).from(db.table("posts")).and_where(Expr::col("ID").is_in(ids)).take()
    };
    db.cached_list("posts.outlines", &[rows::POSTS], &ids, build, |row| {
        found.push(Post {
            id: PostId(row.int(0)?),
            post_type: row.text(1)?,
            status: row.text(2)?,
            author: svc_model::UserId(row.int(3)?),
            parent: PostId(row.int(4)?),
            password: row.text(5)?,
            ..Post::default()
        });
        Ok(())
    })?;
    Ok(found)
}

/// Posts with this slug and one of these types, in ascending order of id. Slugs are compared as stored
/// (percent-encoded).
pub fn by_slug(db: &mut Db, slug: &str, post_types: &[&str]) -> Result<Vec<Post>> {
    post_types.iter().for_each(|name| db.cx().depends_on(post_lists(name)));
    let mut found = Vec::new();
    let build =
        |db: &Db| select(db).and_where(Expr::col("post_name").eq("")).order_by("ID", sea_query::Order::Asc).take();
    db.cached(("posts.by_slug", 0), &[slug.into()], build, |row| {
        found.push(read(row)?);
        Ok(())
    })?;
    found.retain(|p: &Post| post_types.contains(&p.post_type.as_str()));
    rows::POSTS.depend_on(db.cx(), found.iter().map(|p| p.id.0));
    Ok(found)
}

/// The post at a path of slugs (`parent/child`), of this type or an attachment.
///
/// Each segment must be the slug of the next one's parent, up to a post without a parent. A post of the type takes
/// precedence over an attachment. Source: `get_page_by_path`.
pub fn by_path(db: &mut Db, path: &str, post_type: &str) -> Result<Option<Post>> {
    let slugs: Vec<&str> = path.trim_matches('/').split('/').filter(|s| !s.is_empty()).collect();
    // Longer paths cannot exist.
    if slugs.is_empty() || slugs.len() > 100 {
        return Ok(None);
    }
    let mut s = select(db);
    s.and_where(Expr::col("post_name").is_in(slugs.iter().copied()));
    s.and_where(Expr::col("post_type").is_in([post_type, "attachment"])).order_by("ID", sea_query::Order::Asc);
    let rows = db.all(&s, read)?;
    let by_id: std::collections::HashMap<PostId, &Post> = rows.iter().map(|p| (p.id, p)).collect();
    let mut fallback = None;
    for post in &rows {
        let mut at = Some(post);
        let matches = slugs.iter().rev().all(|slug| match at {
            Some(p) if p.slug.eq_ignore_ascii_case(slug) => {
                // A parent that is not among the rows does not exist or has a different slug.
                at = if p.parent.is_none() { None } else { by_id.get(&p.parent).copied() };
                at.is_some() != p.parent.is_none()
            }
            _ => false,
        });
        if matches && at.is_none() {
            if post.post_type == post_type {
                return Ok(Some(post.clone()));
            }
            fallback = fallback.or(Some(post));
        }
    }
    Ok(fallback.cloned())
}

/// The ancestors of a post, nearest first, at most a hundred and without duplicates.
pub fn ancestors(db: &mut Db, post: &Post) -> Result<Vec<Post>> {
    let mut found: Vec<Post> = Vec::new();
    let mut next = post.parent;
    // One query per level; pages are rarely nested deeply.
    while !next.is_none() && next != post.id && found.len() < 100 && found.iter().all(|p| p.id != next) {
        let Some(parent) = get(db, next)? else { break };
        next = parent.parent;
        found.push(parent);
    }
    Ok(found)
}

/// The direct children of these posts that have this type, as pairs in ascending order of id.
pub fn children(db: &mut Db, parents: &[PostId], post_type: &str) -> Result<Vec<(PostId, PostId)>> {
    let mut s = Query::select();
    s.columns(["post_parent", "ID"]).from(db.table("posts"));
    s.and_where(Expr::col("post_parent").is_in(parents.iter().map(|p| p.0)));
    s.and_where(Expr::col("post_type").eq(post_type)).order_by("ID", sea_query::Order::Asc);
    db.all(&s, |row| Ok((PostId(row.int(0)?), PostId(row.int(1)?))))
}

/// The months with published posts of the type, newest first: `(year, month, count)`.
pub fn months(db: &mut Db, post_type: &str, limit: u64) -> Result<Vec<(u32, u32, u64)>> {
    let part = |from: i64, n: i64| Func::cust("SUBSTR").arg(Expr::col("post_date")).arg(from).arg(n);
    let mut s = Query::select();
    s.expr_as(part(1, 7), "month").expr(Expr::cust("COUNT(*)")).from(db.table("posts"));
    s.and_where(Expr::col("post_type").eq(post_type)).and_where(Expr::col("post_status").eq("publish"));
    s.group_by_col("month").order_by("month", sea_query::Order::Desc).limit(limit);
    let rows = db.all_once(&s, |row| Ok((row.text(0)?, u64::try_from(row.int(1)?).unwrap_or(0))))?;
    let parsed = |(month, n): (String, u64)| {
        let (year, month) = month.split_once('-')?;
        Some((year.parse().ok()?, month.parse().ok()?, n))
    };
    Ok(rows.into_iter().filter_map(parsed).collect())
}

/// Whether there is a published post of the type.
pub fn has_published(db: &mut Db, post_type: &str) -> Result<bool> {
    let mut s = Query::select();
    s.column("ID").from(db.table("posts")).limit(1);
    s.and_where(Expr::col("post_type").eq(post_type)).and_where(Expr::col("post_status").eq("publish"));
    Ok(!db.all_once(&s, |row| row.int(0))?.is_empty())
}

/// The number of posts of the type per status.
pub fn counts(db: &mut Db, post_type: &str) -> Result<indexmap::IndexMap<String, u64>> {
    let mut s = Query::select();
    s.column("post_status").expr(Expr::cust("COUNT(*)")).from(db.table("posts"));
    s.and_where(Expr::col("post_type").eq(post_type)).group_by_col("post_status");
    let rows = db.all_once(&s, |row| Ok((row.text(0)?, u64::try_from(row.int(1)?).unwrap_or(0))))?;
    Ok(rows.into_iter().collect())
}

/// The number of posts per type.
pub fn counts_by_type(db: &mut Db) -> Result<indexmap::IndexMap<String, u64>> {
    let mut s = Query::select();
    s.column("post_type").expr(Expr::cust("COUNT(*)")).from(db.table("posts")).group_by_col("post_type");
    s.order_by("post_type", sea_query::Order::Asc);
    let rows = db.all_once(&s, |row| Ok((row.text(0)?, u64::try_from(row.int(1)?).unwrap_or(0))))?;
    Ok(rows.into_iter().collect())
}

#[cfg(test)]
mod indexed_search_tests;
#[cfg(test)]
mod ranked_search_tests;
#[cfg(test)]
mod tests;
