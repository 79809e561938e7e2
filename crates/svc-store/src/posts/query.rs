//! Lists of posts: filters, search and sorting.
//!
//! The rules are those of `WP_Query`, derived from WordPress's SQL statements: `author_not_in` takes precedence over
//! `author_in`, `include` over `exclude`, `parent_in` over `parent_not_in`. Excluding password-protected posts from a
//! search is up to the caller.

use sea_query::{Expr, ExprTrait as _, SelectStatement};
use svc_db::{Db, Result, Rows};
use svc_model::PostId;

use super::dependencies::depend_on_list;
use super::indexed_search;
use super::plan::{self, ListPlan, Start};
use super::post_query::{PostOrderBy, PostQuery};
use super::search::SearchTerms;
use super::statement::{self, ListStatement, Terms};
use super::stats::{DateColumn, Stats};
use super::totals;
use crate::caches;
use crate::position;
use crate::rows;
use crate::{Order, Page, Position};

/// Returns the ids of a page of posts, and the total if requested.
///
/// # Errors
/// [`crate::StoreError::TooMany`] if the query contains more values than a statement can bind.
pub fn query(db: &mut Db, q: &PostQuery) -> Result<Page<PostId>> {
    depend_on_list(db.cx(), q);
    let find = |db: &mut Db, q: &PostQuery| match indexed_search::page(db, q)? {
        Some(page) => Ok(page),
        None => list(db, q),
    };
    db.recorded_by_caller(|db| position::page(db, q, find, position_of))
}

/// The position of a post in a list. `None` if it does not exist.
pub(super) fn position_of(db: &mut Db, q: &PostQuery, id: i64) -> Result<Option<Position>> {
    let keys = statement::order(db, q, &ListPlan::of_engine(Start::Any));
    let mut s = statement::from_posts(db, q, &ListPlan::of_engine(Start::Any));
    s.and_where(Expr::col(("p", "ID")).eq(id));
    position::read(db, &keys, s)
}

/// Like [`query`], without the search index, and without recording what the list depends on.
pub(super) fn list(db: &mut Db, q: &PostQuery) -> Result<Page<PostId>> {
    let terms = Terms::resolve(db, q)?;
    match Stats::read(db, q, &terms.clauses())? {
        Some(stats) => with_counts(db, q, &terms, &stats),
        None => without_counts(db, q, &terms),
    }
}

/// Reads a page with SQLite's maintained counts.
fn with_counts(db: &mut Db, q: &PostQuery, terms: &Terms, stats: &Stats) -> Result<Page<PostId>> {
    if stats.groups.is_empty() {
        return Ok(Page { ids: Vec::new(), total: q.total.then_some(0), next: None });
    }
    let mut q = q.clone();
    let (wanted, requested_offset) = (std::mem::take(&mut q.total), q.offset);
    let deep_offset = caches::tuning(db).deep_offset;
    let mut from_day = None;
    let mut total = None;
    let by_date = matches!(q.order_by[..], [] | [(PostOrderBy::Date, _)]);
    if q.offset >= deep_offset && by_date && q.own_statuses.is_none() && totals::is_plain(&q) {
        let direction = q.order_by.first().map_or(Order::Desc, |(_, direction)| *direction);
        let Some((day, skipped)) = DateColumn::Date.day_at(db, &q, direction, q.offset)? else {
            return Ok(Page { ids: Vec::new(), total: wanted.then(|| stats.n()), next: None });
        };
        q.offset -= skipped;
        total = Some(stats.n());
        from_day = Some((day, direction));
    }
    let mut backwards = false;
    if q.offset >= deep_offset && from_day.is_none() && wanted {
        let n = totals::total(db, &q, terms, stats)?;
        total = Some(n);
        let left = n.saturating_sub(q.offset);
        if left < q.offset {
            backwards = true;
            let limit = q.limit.map_or(left, |limit| Ord::min(limit, left));
            (q.limit, q.offset) = (Some(limit), left - limit);
        }
    }
    let statement = ListStatement { q: &q, terms, plan: &plan::choose(db, &q, &terms.tax, stats)? };
    let mut branches = statement.filtered_branches(db)?;
    if let Some((day, direction)) = &from_day {
        for branch in &mut branches {
            let date = Expr::col(("p", "post_date"));
            branch.and_where(match direction {
                Order::Asc => date.gte(format!("{day} 00:00:00")),
                Order::Desc => date.lte(format!("{day} 23:59:59")),
            });
        }
    }
    let page = statement.ordered(db, branches, backwards);
    let bounds = (q.limit, q.offset, false);
    let mut page = crate::query::page(db, &[], &SelectStatement::new(), page, bounds, PostId)?;
    if backwards {
        page.ids.reverse();
    }
    let n_ids = page.ids.len() as u64;
    let is_last = q.limit.is_none_or(|limit| n_ids < limit) && (n_ids > 0 || q.offset == 0);
    page.total = match total {
        _ if !wanted => None,
        Some(total) => Some(total),
        // A page that is not full is the last one, unless it is empty.
        None if is_last => Some(requested_offset + n_ids),
        None => Some(totals::total(db, &q, terms, stats)?),
    };
    Ok(page)
}

/// Reads a page of an engine whose optimizer decides.
fn without_counts(db: &mut Db, q: &PostQuery, terms: &Terms) -> Result<Page<PostId>> {
    let mut list_plan = plan::choose_by_terms(db, q, &terms.tax)?;
    let total = |db: &mut Db| totals::counted(db, q, terms);
    if let Some(groups) = plan::groups_by_date(q, &list_plan) {
        list_plan.groups = groups;
        let statement = ListStatement { q, terms, plan: &list_plan };
        let page = statement.ordered(db, statement.filtered_branches(db)?, false);
        return crate::query::page_and_total(db, page, (q.limit, q.offset, q.total), PostId, total);
    }
    let statement = ListStatement { q, terms, plan: &list_plan };
    let filtered = statement.filtered(db, None)?;
    let ordered = |backwards| statement.ordered(db, vec![filtered.clone()], backwards);
    let deep_offset = caches::tuning(db).deep_offset;
    let is_deep = q.offset >= deep_offset && !db.may_be_stale();
    if !q.total || !is_deep {
        let page = ordered(false);
        return crate::query::page_and_total(db, page, (q.limit, q.offset, q.total), PostId, total);
    }
    let (forwards, reversed) = (ordered(false), ordered(true));
    let total = total(db)?;
    let left = total.saturating_sub(q.offset);
    let backwards = left < q.offset;
    let limit = if backwards { Some(q.limit.map_or(left, |limit| Ord::min(limit, left))) } else { q.limit };
    let offset = if backwards { left - limit.unwrap_or(0) } else { q.offset };
    let page = if backwards { reversed } else { forwards };
    let mut page = crate::query::page(db, &[], &filtered, page, (limit, offset, false), PostId)?;
    if backwards {
        page.ids.reverse();
    }
    Ok(Page { total: Some(total), ..page })
}

/// Counts the matches of a list, unless the number is cached.
pub(super) fn count_matches(db: &mut Db, q: &PostQuery, terms: &Terms, plan: &ListPlan) -> Result<u64> {
    let filtered = ListStatement { q, terms, plan }.filtered(db, None)?;
    db.total(&counted_rows(q), &filtered)
}

/// All ids of a list, without its limit.
pub(super) fn all(db: &mut Db, q: &PostQuery) -> Result<Vec<PostId>> {
    Ok(list(db, &PostQuery { limit: None, offset: 0, total: false, ..q.clone() })?.ids)
}

/// The posts with these ids that are in a list, in its order.
pub(super) fn among(db: &mut Db, q: &PostQuery, ids: &[i64]) -> Result<Vec<PostId>> {
    if ids.is_empty() { Ok(Vec::new()) } else { all(db, &restricted(q, ids)) }
}

/// A list restricted to some ids.
fn restricted(q: &PostQuery, ids: &[i64]) -> PostQuery {
    let mut q = q.clone();
    let is_allowed = |id: &PostId| q.ids.as_ref().is_none_or(|only| only.contains(id));
    q.ids = Some(ids.iter().map(|id| PostId(*id)).filter(is_allowed).collect());
    q
}

/// Sort keys of a post.
pub(super) struct SortedPost {
    pub(super) id: PostId,
    /// The date as stored.
    pub(super) date: String,
    /// The relevance, if it was requested; otherwise 0.
    pub(super) rank: i64,
}

/// The posts with these ids that are in a list, without order.
pub(super) fn sort_keys(db: &mut Db, q: &PostQuery, ids: &[i64], is_ranked: bool) -> Result<Vec<SortedPost>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let q = restricted(q, ids);
    let terms = Terms::resolve(db, &q)?;
    let plan = ListPlan::of_engine(Start::Column("ID"));
    let mut s = ListStatement { q: &q, terms: &terms, plan: &plan }.filtered(db, None)?;
    let rank = q.search.as_deref().filter(|_| is_ranked).and_then(|text| SearchTerms::parse(text).rank());
    s.column(("p", "ID")).column(("p", "post_date")).expr(rank.unwrap_or_else(|| Expr::val(0)));
    db.all(&s, |row| Ok(SortedPost { id: PostId(row.int(0)?), date: row.text(1)?, rank: row.int(2)? }))
}

/// The list's statement, for tests of its query plan.
#[cfg(test)]
pub(super) fn page_statement(db: &mut Db, q: &PostQuery) -> Result<SelectStatement> {
    let terms = Terms::resolve(db, q)?;
    let list_plan = match Stats::read(db, q, &terms.clauses())? {
        Some(stats) => plan::choose(db, q, &terms.tax, &stats)?,
        None => plan::choose_by_terms(db, q, &terms.tax)?,
    };
    let statement = ListStatement { q, terms: &terms, plan: &list_plan };
    Ok(statement.ordered(db, statement.filtered_branches(db)?, false).limit(10).take())
}

/// The rows that a list's total depends on.
pub(super) fn counted_rows(q: &PostQuery) -> Vec<Rows> {
    let mut counted = vec![rows::POSTS];
    if q.post_types.is_empty() || q.post_types.iter().any(|name| name.eq_ignore_ascii_case("revision")) {
        counted.push(rows::REVISIONS);
    }
    if !q.tax.clauses.is_empty() || q.extra_tax.iter().any(|tax| !tax.clauses.is_empty()) {
        counted.extend([rows::TERMS, rows::POST_TERMS]);
    }
    if !q.meta.clauses.is_empty() || q.search_file_names || q.is_by_meta() {
        counted.push(rows::POST_META);
    }
    counted
}
