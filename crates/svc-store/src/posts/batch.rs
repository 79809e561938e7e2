//! Batched queries about many posts, for lists.

use std::collections::{HashMap, HashSet};

use sea_query::{Expr, ExprTrait as _, Query};
use svc_db::{Db, Result, Tx};
use svc_model::{Post, PostId};

use crate::rows;

/// Maximum depth of ancestors.
const MAX_DEPTH: usize = 100;

/// Number and latest id of the revisions of each post, including autosaves. Posts without revisions are omitted.
pub fn revision_counts(db: &mut Db, ids: &[PostId]) -> Result<HashMap<PostId, (u64, PostId)>> {
    let numbers: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let found = db.load_once(rows::REVISIONS, &[], &numbers, load_revision_counts)?;
    Ok(found.into_iter().map(|(id, RevisionCount(n, latest))| (PostId(id), (n, latest))).collect())
}

/// Number and latest id of the revisions of a post.
#[derive(Clone)]
struct RevisionCount(u64, PostId);

/// A new post has no revisions: they need not be counted in this transaction.
pub(super) fn keep_no_revisions(tx: &Tx, post: PostId) {
    tx.keep_loaded::<RevisionCount>(rows::REVISIONS, &[], post.0, None);
}

fn load_revision_counts(db: &mut Db, ids: &[i64]) -> Result<HashMap<i64, RevisionCount>> {
    let mut found = HashMap::new();
    let build = |db: &Db, ids: Vec<i64>| {
        let mut s = Query::select();
        s.column("post_parent").expr(Expr::cust("COUNT(*)")).expr(Expr::cust("MAX(ID)")).from(db.table("posts"));
        s.and_where(Expr::col("post_parent").is_in(ids));
        s.and_where(Expr::col("post_type").eq("revision")).and_where(Expr::col("post_status").eq("inherit"));
        s.group_by_col("post_parent");
        s
    };
    // Built without bound values other than ids, because the text is cached.
    for piece in ids.chunks(1_000) {
        let statement = db.recorded_by_caller(|db| build(db, piece.to_vec()));
        db.select(&statement, |row| {
            let count = RevisionCount(u64::try_from(row.int(1)?).unwrap_or(0), PostId(row.int(2)?));
            found.insert(row.int(0)?, count);
            Ok(())
        })?;
    }
    Ok(found)
}

/// The slugs of the ancestors of each post, topmost first. Posts without a parent are omitted. Runs one query per level
/// of depth.
pub fn ancestor_slugs(db: &mut Db, posts: &[Post]) -> Result<HashMap<PostId, Vec<String>>> {
    let mut parents: HashMap<PostId, (String, PostId)> = HashMap::new();
    let mut missing: HashSet<PostId> = posts.iter().map(|p| p.parent).filter(|p| !p.is_none()).collect();
    for _ in 0..MAX_DEPTH {
        missing.retain(|id| !parents.contains_key(id));
        if missing.is_empty() {
            break;
        }
        let mut s = Query::select();
        s.columns(["ID", "post_name", "post_parent"]).from(db.table("posts"));
        s.and_where(Expr::col("ID").is_in(missing.iter().map(|id| id.0)));
        let rows = db.all(&s, |row| Ok((PostId(row.int(0)?), row.text(1)?, PostId(row.int(2)?))))?;
        missing = rows.iter().map(|(_, _, parent)| *parent).filter(|p| !p.is_none()).collect();
        parents.extend(rows.into_iter().map(|(id, slug, parent)| (id, (slug, parent))));
    }
    let path = |post: &Post| {
        let (mut path, mut at, mut seen) = (Vec::new(), post.parent, HashSet::from([post.id]));
        // A cycle, which only exists in corrupt data, ends where it began.
        while let Some((slug, parent)) = parents.get(&at)
            && seen.insert(at)
        {
            path.push(slug.clone());
            at = *parent;
        }
        path.reverse();
        path
    };
    Ok(posts.iter().filter(|p| !p.parent.is_none()).map(|p| (p.id, path(p))).collect())
}
