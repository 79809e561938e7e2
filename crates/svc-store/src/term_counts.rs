//! Numbers of posts per term (`term_taxonomy.count`): published posts, and attachments of published posts.
//!
//! Writes change the stored count by what they changed, so that their cost does not depend on the size of a term.
//! Counts that another program left wrong are found by [`wrong_counts`] and corrected by [`correct_counts`].
//!
//! Terms of `link_category` count links and are never changed. Source of the rule: `_update_post_term_count`.

use std::collections::{HashMap, HashSet};

use sea_query::{Cond, Expr, ExprTrait as _, Query, SelectStatement};
use svc_db::{Db, Result, Tx};
use svc_model::{Post, PostId, TermTaxonomyId};

use crate::language_terms::COUNT_ALL;
use crate::rows;

/// Terms that count links.
const LINKS: &str = "link_category";

/// Maximum number of terms per step of a check, and the number of posts at which a step ends early.
const MAX_STEP: (u64, i64) = (100, 10_000);

/// The columns that decide whether a post counts for its terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CountedBy {
    pub(crate) status: String,
    pub(crate) post_type: String,
    parent: PostId,
}

impl CountedBy {
    pub(crate) fn new(status: &str, post_type: &str, parent: PostId) -> Self {
        CountedBy { status: status.to_owned(), post_type: post_type.to_owned(), parent }
    }

    pub(crate) fn of(post: &Post) -> Self {
        CountedBy { status: post.status.clone(), post_type: post.post_type.clone(), parent: post.parent }
    }

    /// Reads the stored values of a post.
    pub(crate) fn stored(db: &mut Db, post: PostId) -> Result<Option<Self>> {
        let mut found = db.load_once(rows::POSTS, &[], &[post.0], |db, ids| {
            let build = |db: &Db, ids: Vec<i64>| {
                let mut s = Query::select();
                s.columns(["ID", "post_status", "post_type", "post_parent"]).from(db.table("posts"));
                s.and_where(Expr::col("ID").is_in(ids)).take()
            };
            let mut found = HashMap::new();
            db.cached_list("terms.counted_by", &[rows::POSTS], ids, build, |row| {
                let parent = PostId(row.int(3)?);
                found.insert(row.int(0)?, CountedBy { status: row.text(1)?, post_type: row.text(2)?, parent });
                Ok(())
            })?;
            Ok(found)
        })?;
        Ok(found.remove(&post.0))
    }

    /// The values of a new post, which need not be read in this transaction.
    pub(crate) fn keep(self, tx: &Tx, post: PostId) {
        tx.keep_loaded(rows::POSTS, &[], post.0, Some(self));
    }

    fn is_counted(&self, db: &mut Db) -> Result<bool> {
        if self.status == "publish" {
            return Ok(true);
        }
        if self.post_type != "attachment" || self.status != "inherit" || self.parent.is_none() {
            return Ok(false);
        }
        Ok(CountedBy::stored(db, self.parent)?.is_some_and(|parent| parent.status == "publish"))
    }
}

/// Returns which of these posts count for their terms.
pub(crate) fn counted(db: &mut Db, posts: &[PostId]) -> Result<HashSet<PostId>> {
    if let [post] = posts {
        let is_counted = match CountedBy::stored(db, *post)? {
            Some(by) => by.is_counted(db)?,
            None => false,
        };
        return Ok(if is_counted { HashSet::from([*post]) } else { HashSet::new() });
    }
    let numbers: Vec<i64> = posts.iter().map(|id| id.0).collect();
    let mut found = HashSet::new();
    let build = |db: &Db, ids: Vec<i64>| {
        let mut s = Query::select();
        s.column(("p", "ID")).from_as(db.table("posts"), "p");
        join_parent(db, &mut s);
        s.and_where(Expr::col(("p", "ID")).is_in(ids)).and_where(is_counted()).take()
    };
    db.cached_list("terms.counted", &[rows::POSTS], &numbers, build, |row| {
        found.insert(PostId(row.int(0)?));
        Ok(())
    })?;
    Ok(found)
}

fn join_parent(db: &Db, s: &mut SelectStatement) {
    let on = Expr::col(("above", "ID")).equals(("p", "post_parent"));
    s.join_as(sea_query::JoinType::LeftJoin, db.table("posts"), "above", on);
}

/// The condition on posts `p` with parents `above`. It has no bound values, because the statements are cached.
fn is_counted() -> Expr {
    Expr::cust(
        "(p.post_status = 'publish' OR p.post_type = 'attachment' AND p.post_status = 'inherit' \
         AND above.post_status = 'publish')",
    )
}

/// Changes the numbers of published posts of terms, which do not become negative.
pub(crate) fn add(tx: &mut Tx, terms: &[TermTaxonomyId], n: i64) -> Result<()> {
    if n == 0 {
        return Ok(());
    }
    // SQLite makes a temporary index of the list of a `NOT IN`, which takes as long as the rest of the statement.
    let is_other = |taxonomy: &str| Expr::col("taxonomy").ne(taxonomy);
    let others = COUNT_ALL.into_iter().map(is_other).fold(is_other(LINKS), |all, one| all.and(one));
    add_where(tx, terms, n, &others)
}

/// Changes the counts of terms that count all of their objects.
pub(crate) fn add_objects(tx: &mut Tx, terms: &[TermTaxonomyId], n: i64) -> Result<()> {
    add_where(tx, terms, n, &Expr::col("taxonomy").is_in(COUNT_ALL))
}

fn add_where(tx: &mut Tx, terms: &[TermTaxonomyId], n: i64, condition: &Expr) -> Result<()> {
    let sum = || Expr::col("count").add(n);
    for piece in terms.chunks(1_000) {
        let mut update = Query::update();
        update.table(tx.table("term_taxonomy"));
        update.value("count", Expr::case(sum().gt(0), sum()).finally(0));
        let ids: Vec<i64> = piece.iter().map(|term| term.0).collect();
        update.and_where(Expr::col("term_taxonomy_id").is_in(ids.iter().copied()));
        update.and_where(condition.clone());
        tx.change_rows(&update, rows::TERM_COUNTS, &ids)?;
    }
    Ok(())
}

/// Updates the counts of a post's terms after the post has changed.
pub(crate) fn post_changed(tx: &mut Tx, post: PostId, before: &CountedBy, after: &CountedBy) -> Result<()> {
    if before == after {
        return Ok(());
    }
    let n = i64::from(after.is_counted(tx)?) - i64::from(before.is_counted(tx)?);
    if n == 0 {
        return Ok(());
    }
    let terms = of_post(tx, post)?;
    add(tx, &terms, n)
}

/// Updates the counts of a post's terms before its relationships are deleted.
pub(crate) fn before_delete(tx: &mut Tx, post: &Post) -> Result<()> {
    if !CountedBy::of(post).is_counted(tx)? {
        return Ok(());
    }
    let terms = of_post(tx, post.id)?;
    add(tx, &terms, -1)
}

/// The terms of a post.
fn of_post(db: &mut Db, post: PostId) -> Result<Vec<TermTaxonomyId>> {
    let mut s = Query::select();
    s.column("term_taxonomy_id").from(db.table("term_relationships"));
    s.and_where(Expr::col("object_id").eq(post.0)).order_by("term_taxonomy_id", sea_query::Order::Asc);
    db.all(&s, |row| Ok(TermTaxonomyId(row.int(0)?)))
}

/// A stored count that is not the number of posts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongCount {
    /// The term in its taxonomy.
    pub term: TermTaxonomyId,
    /// The stored count.
    pub stored: i64,
    /// The number of posts.
    pub actual: i64,
}

/// A step of a check of all counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountCheck {
    /// The wrong counts among the checked ones.
    pub wrong: Vec<WrongCount>,
    /// The last checked term, after which the next step begins. `None` after the last step.
    pub last: Option<TermTaxonomyId>,
}

/// Checks the counts of the terms that follow `after`, in ascending order of `term_taxonomy_id`: those of at most a
/// hundred terms, and fewer if they have many posts.
///
/// # Errors
/// If the database cannot be read.
pub fn wrong_counts(db: &mut Db, after: TermTaxonomyId) -> Result<CountCheck> {
    let mut s = Query::select();
    s.columns(["term_taxonomy_id", "count", "taxonomy"]).from(db.table("term_taxonomy"));
    s.and_where(Expr::col("term_taxonomy_id").gt(after.0));
    s.order_by("term_taxonomy_id", sea_query::Order::Asc).limit(MAX_STEP.0);
    let mut rows = db.all(&s, |row| Ok((row.int(0)?, row.int(1)?, row.text(2)?)))?;
    let mut n_posts = 0;
    let end = rows.iter().position(|(_, count, _)| {
        n_posts += count;
        n_posts > MAX_STEP.1
    });
    rows.truncate(end.map_or(rows.len(), |end| end + 1));
    let last = rows.last().map(|(term, ..)| TermTaxonomyId(*term));
    rows.retain(|(_, _, taxonomy)| taxonomy != LINKS && !COUNT_ALL.contains(&taxonomy.as_str()));
    let numbers: Vec<i64> = rows.iter().map(|(term, ..)| *term).collect();
    let mut actual = std::collections::HashMap::new();
    let build = |db: &Db, ids: Vec<i64>| {
        let mut s = Query::select();
        s.column(("tr", "term_taxonomy_id")).expr(Expr::cust("COUNT(*)"));
        s.from_as(db.table("term_relationships"), "tr");
        let on = Expr::col(("p", "ID")).equals(("tr", "object_id"));
        s.join_as(sea_query::JoinType::InnerJoin, db.table("posts"), "p", on);
        join_parent(db, &mut s);
        s.and_where(Expr::col(("tr", "term_taxonomy_id")).is_in(ids)).and_where(is_counted());
        s.group_by_col(("tr", "term_taxonomy_id")).take()
    };
    db.cached_list("terms.count", &[rows::POST_TERMS, rows::POSTS], &numbers, build, |row| {
        actual.insert(row.int(0)?, row.int(1)?);
        Ok(())
    })?;
    let checked = rows.into_iter().map(|(term, stored, _)| WrongCount {
        term: TermTaxonomyId(term),
        stored,
        actual: actual.get(&term).copied().unwrap_or(0),
    });
    Ok(CountCheck { wrong: checked.filter(|count| count.stored != count.actual).collect(), last })
}

/// Corrects wrong counts, except those that have changed since they were checked. Returns the number of corrected
/// counts.
///
/// # Errors
/// If the database cannot be written.
pub fn correct_counts(tx: &mut Tx, wrong: &[WrongCount]) -> Result<u64> {
    let mut n = 0;
    for piece in wrong.chunks(100) {
        let id = || Expr::col("term_taxonomy_id");
        let mut value = sea_query::CaseStatement::new();
        let mut unchanged = Cond::any();
        for count in piece {
            value = value.case(id().eq(count.term.0), count.actual);
            unchanged = unchanged.add(Cond::all().add(id().eq(count.term.0)).add(Expr::col("count").eq(count.stored)));
        }
        let mut update = Query::update();
        update.table(tx.table("term_taxonomy")).value("count", value.finally(Expr::col("count")));
        update.cond_where(unchanged);
        let ids: Vec<i64> = piece.iter().map(|count| count.term.0).collect();
        n += tx.change_rows(&update, rows::TERM_COUNTS, &ids)?.rows;
    }
    Ok(n)
}

#[cfg(test)]
mod tests {
    use svc_model::{Term, TermId};

    use super::*;
    use crate::{Store, fixture, posts, terms};

    /// All wrong counts.
    fn check(store: &Store) -> Vec<WrongCount> {
        let (mut wrong, mut after) = (Vec::new(), Some(TermTaxonomyId(0)));
        while let Some(term) = after {
            let step = store.read_blocking(|db| wrong_counts(db, term)).unwrap();
            wrong.extend(step.wrong);
            after = step.last;
        }
        wrong
    }

    #[test]
    fn writes_maintain_counts() {
        fixture::on_each(|store| {
            assert_eq!(check(&store), [], "the fixture site");
            let with_status = |id: i64, status: &'static str| {
                store
                    .write_blocking(move |tx| {
                        let post = posts::get(tx, PostId(id))?.unwrap();
                        posts::update(tx, &Post { status: status.to_owned(), ..post })
                    })
                    .unwrap();
                assert_eq!(check(&store), [], "post {id} is now {status}");
            };
            with_status(1000, "draft");
            with_status(1000, "private");
            with_status(1000, "publish");
            store
                .write_blocking(|tx| terms::set_object_terms(tx, PostId(1000), "category", &[TermId(2), TermId(3)]))
                .unwrap();
            assert_eq!(check(&store), [], "other terms");
            // An attachment counts if its parent is published.
            let attach = |parent: i64| {
                store
                    .write_blocking(move |tx| {
                        terms::set_object_terms(tx, PostId(1200), "post_tag", &[TermId(10)])?;
                        let post = posts::get(tx, PostId(1200))?.unwrap();
                        posts::update(tx, &Post { parent: PostId(parent), ..post })
                    })
                    .unwrap();
                assert_eq!(check(&store), [], "attached to {parent}");
            };
            attach(1001);
            attach(0);
            store
                .write_blocking(|tx| {
                    posts::delete(tx, PostId(1000))?;
                    posts::delete(tx, PostId(1200))
                })
                .unwrap();
            assert_eq!(check(&store), [], "deleted posts");
            let (term, default) = store
                .read_blocking(|db| {
                    Ok((terms::get(db, TermId(2), None)?.unwrap(), terms::get(db, TermId(1), None)?.unwrap()))
                })
                .unwrap();
            store.write_blocking(move |tx| terms::delete(tx, &term, Some(&default))).unwrap();
            assert_eq!(check(&store), [], "a deleted term");
        });
    }

    #[test]
    fn wrong_counts_are_found_and_corrected_unless_they_change() {
        fixture::on_each(|store| {
            let of = |id: i64| store.read_blocking(|db| Ok(terms::get(db, TermId(id), None)?.unwrap())).unwrap();
            let (one, two): (Term, Term) = (of(2), of(10));
            let ids = [one.taxonomy_id, two.taxonomy_id];
            store.write_blocking(move |tx| add(tx, &ids, 5)).unwrap();
            let wrong = check(&store);
            let expected =
                [&one, &two].map(|t| WrongCount { term: t.taxonomy_id, stored: t.count + 5, actual: t.count });
            assert_eq!(wrong, expected);
            store.write_blocking(move |tx| add(tx, &ids[..1], 1)).unwrap();
            let corrected = store.write_blocking(move |tx| correct_counts(tx, &wrong)).unwrap();
            assert_eq!((corrected, of(2).count, of(10).count), (1, one.count + 6, two.count));
            store.write_blocking(move |tx| add(tx, &ids, -100)).unwrap();
            assert_eq!((of(2).count, of(10).count), (0, 0), "counts are never negative");
        });
    }
}
