//! Totals of lists of posts.
//!
//! With maintained counts, most totals are sums of a few of them, for any number of posts: of types and statuses,
//! authors, single terms, and days. Excluded posts are subtracted. Other totals are counted from the most selective
//! condition, and cached until the tables change. Without maintained counts, only exclusions are treated apart.

use sea_query::{Expr, ExprTrait as _, Query};
use svc_db::{Db, Result};

use super::plan::{self, Resolved};
use super::post_query::{Clauses, PostQuery, TaxOperator};
use super::query::{count_matches, counted_rows};
use super::statement::{Terms, is_after, is_before, types_and_statuses};
use super::stats::{self, DateColumn, Stats};
use crate::caches::plain_total;
use crate::rows;

/// The number of posts of a list.
pub(super) fn total(db: &mut Db, q: &PostQuery, terms: &Terms, stats: &Stats) -> Result<u64> {
    if let Some(total) = maintained(db, q, terms, stats)? {
        return Ok(total);
    }
    if let Some((all, excluded)) = without_exclusion(q) {
        // The excluded posts are few, or their number is maintained.
        let (all_terms, excluded_terms) = (terms.of(&all), terms.of(&excluded));
        let stats_of_excluded = Stats::read(db, &excluded, &excluded_terms.clauses())?;
        if let Some(stats_of_excluded) = stats_of_excluded {
            let n_excluded = total(db, &excluded, &excluded_terms, &stats_of_excluded)?;
            return Ok(total(db, &all, &all_terms, stats)?.saturating_sub(n_excluded));
        }
    }
    let list_plan =
        plan::to_count(&plan::choose(db, &PostQuery { limit: None, offset: 0, ..q.clone() }, &terms.tax, stats)?);
    count_matches(db, q, terms, &list_plan)
}

/// The number of posts of a list on an engine without maintained counts. It is put together from the totals of lists by type, status and author,
/// which follow the writes of this process, and from others that are smaller.
pub(super) fn counted(db: &mut Db, q: &PostQuery, terms: &Terms) -> Result<u64> {
    let count = |db: &mut Db| {
        let list_plan = plan::choose_by_terms(db, q, &terms.tax)?;
        count_matches(db, q, terms, &list_plan)
    };
    if is_plain(q) {
        return match q.own_statuses.as_ref().filter(|(_, statuses)| !statuses.is_empty()) {
            None => plain_total(db, &q.post_types, &q.statuses, &[], count),
            Some((user, statuses)) if !q.statuses.is_empty() => {
                let is_other = |status: &&String| !q.statuses.iter().any(|listed| listed.eq_ignore_ascii_case(status));
                let own: Vec<String> = statuses.iter().filter(is_other).cloned().collect();
                let all = PostQuery { own_statuses: None, ..q.clone() };
                let n = counted(db, &all, terms)?;
                if own.is_empty() {
                    return Ok(n);
                }
                let own = PostQuery { statuses: own, author_in: vec![*user], ..all };
                Ok(n + counted(db, &own, terms)?)
            }
            Some(_) => count(db),
        };
    }
    let has_own = q.own_statuses.as_ref().is_some_and(|(_, statuses)| !statuses.is_empty());
    if !has_own && is_plain(&PostQuery { author_in: Vec::new(), ..q.clone() }) {
        return plain_total(db, &q.post_types, &q.statuses, &q.author_in, count);
    }
    match without_exclusion(q) {
        Some((all, excluded)) => {
            let n_excluded = counted(db, &excluded, &terms.of(&excluded))?;
            Ok(counted(db, &all, &terms.of(&all))?.saturating_sub(n_excluded))
        }
        None => count(db),
    }
}

/// A list without its conditions, except types and statuses.
fn plain(q: &PostQuery) -> PostQuery {
    PostQuery {
        post_types: q.post_types.clone(),
        statuses: q.statuses.clone(),
        own_statuses: q.own_statuses.clone(),
        order_by: q.order_by.clone(),
        limit: q.limit,
        offset: q.offset,
        total: q.total,
        ..PostQuery::default()
    }
}

/// Returns whether only types and statuses restrict the list.
pub(super) fn is_plain(q: &PostQuery) -> bool {
    plain(q) == *q && !counted_rows(q).contains(&rows::POST_META)
}

/// A total that is a sum of maintained counts.
fn maintained(db: &mut Db, q: &PostQuery, terms: &Terms, stats: &Stats) -> Result<Option<u64>> {
    if is_plain(q) {
        return Ok(Some(stats.n()));
    }
    if q.own_statuses.as_ref().is_some_and(|(_, list)| !list.is_empty()) {
        return Ok(None);
    }
    if let Some(n) = stats.authors
        && is_plain(&PostQuery { author_in: Vec::new(), ..q.clone() })
    {
        return Ok(Some(n));
    }
    if let [clause] = &terms.tax[..]
        && clause.operator != TaxOperator::NotIn
        && is_plain(&PostQuery { tax: Clauses::default(), ..q.clone() })
    {
        return Ok(if clause.is_never() { Some(0) } else { stats.of_single_term(clause) });
    }
    if is_plain(&PostQuery { after: None, before: None, dates_inclusive: false, ..q.clone() }) {
        return of_dates(db, q, DateColumn::Date).map(Some);
    }
    if is_plain(&PostQuery { modified_after: None, modified_before: None, dates_inclusive: false, ..q.clone() }) {
        return of_dates(db, q, DateColumn::Modified).map(Some);
    }
    Ok(None)
}

/// Number of posts of whole days within the bounds, and of the parts of the first and last day.
fn of_dates(db: &mut Db, q: &PostQuery, column: DateColumn) -> Result<u64> {
    let (after, before) = column.bounds(q);
    let (first, last) = (after.map(stats::day), before.map(stats::day));
    let parts: Vec<String> = match (&first, &last) {
        (Some(first), Some(last)) if first > last => return Ok(0),
        (Some(first), Some(last)) if first == last => vec![first.clone()],
        _ => first.iter().chain(&last).cloned().collect(),
    };
    let is_one_day = first.is_some() && first == last;
    let mut n = if is_one_day { 0 } else { column.between(db, q, first.as_deref(), last.as_deref())? };
    for day in parts {
        let mut s = Query::select();
        s.expr(Expr::cust("COUNT(*)")).from_as(db.table("posts"), "p");
        types_and_statuses(q, |name| Expr::col(("p", name)), &mut s);
        // One condition for each end: SQLite reads an index from the first one that it finds.
        let date = || Expr::col(("p", column.name()));
        s.and_where(match after.filter(|_| first.as_ref() == Some(&day)) {
            Some(time) => is_after(q, date(), time),
            None => date().gte(format!("{day} 00:00:00")),
        });
        s.and_where(match before.filter(|_| last.as_ref() == Some(&day)) {
            Some(time) => is_before(q, date(), time),
            None => date().lte(format!("{day} 23:59:59")),
        });
        n += db.first(&s, |row| row.int(0))?.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    }
    Ok(n)
}

/// Splits a list into the same list without one of its exclusions, and the posts that this one excludes.
fn without_exclusion(q: &PostQuery) -> Option<(PostQuery, PostQuery)> {
    let all = PostQuery { limit: None, offset: 0, ..q.clone() };
    if !q.exclude.is_empty() && q.include.is_empty() {
        let all = PostQuery { exclude: Vec::new(), ..all };
        return Some((all.clone(), PostQuery { include: q.exclude.clone(), ..all }));
    }
    if !q.not_ids.is_empty() && q.ids.is_none() {
        let all = PostQuery { not_ids: Vec::new(), ..all };
        return Some((all.clone(), PostQuery { ids: Some(q.not_ids.clone()), ..all }));
    }
    if !q.author_not_in.is_empty() {
        let all = PostQuery { author_in: Vec::new(), author_not_in: Vec::new(), ..all };
        return Some((all.clone(), PostQuery { author_in: q.author_not_in.clone(), ..all }));
    }
    let negative = |clauses: &Clauses<super::TaxClause>| {
        clauses.clauses.iter().position(|clause| clause.operator == TaxOperator::NotIn)
    };
    if let Some(at) = negative(&q.tax)
        && stats::restricts(q.tax.relation, q.tax.clauses.len())
    {
        let (mut all, mut excluded) = (all.clone(), all);
        all.tax.clauses.remove(at);
        excluded.tax.clauses[at].operator = TaxOperator::In;
        return Some((all, excluded));
    }
    None
}

impl Resolved {
    /// Returns whether no post can match.
    pub(super) fn is_never(&self) -> bool {
        self.operator != TaxOperator::NotIn
            && (self.ids.is_empty() || self.operator == TaxOperator::And && self.missing)
    }
}
