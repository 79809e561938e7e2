//! Numbers of posts that the choice of a plan and totals need, from the counts that SQLite maintains.

use std::collections::HashMap;

use chrono::NaiveDateTime;
use sea_query::{Expr, ExprTrait as _, Query, SelectStatement};
use svc_db::{Db, Result};
use svc_model::UserId;

use super::plan::Resolved;
use super::post_query::{MetaClause, MetaCompare, PostQuery, Relation, TaxOperator};
use crate::stamp;

/// Maximum number of terms of a condition whose counts are added up. The posts of more terms are estimated.
const MAX_TERMS: usize = 1_000;

/// The posts of one type and status in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) post_type: String,
    pub(super) status: String,
    /// Only posts of this author ([`PostQuery::own_statuses`]).
    pub(super) author: Option<UserId>,
    /// Number of posts of the whole site.
    pub(super) n: u64,
}

/// Numbers of posts of a list.
#[derive(Clone, Debug)]
pub(super) struct Stats {
    /// The types and statuses that have posts.
    pub(super) groups: Vec<Group>,
    /// Posts of `author_in`, if that is a condition.
    pub(super) authors: Option<u64>,
    /// Posts of each term in conditions that require one, by `term_taxonomy_id`.
    terms: HashMap<i64, u64>,
}

impl Stats {
    /// Reads the counts for a list. `None` if there are none, or if the list includes all types or statuses.
    pub(super) fn read(db: &mut Db, q: &PostQuery, clauses: &[&Resolved]) -> Result<Option<Self>> {
        let own = q.own_statuses.as_ref().filter(|(_, list)| !list.is_empty());
        if !db.has_counts() || q.post_types.is_empty() || (q.statuses.is_empty() && own.is_none()) {
            return Ok(None);
        }
        let mut groups = Vec::new();
        if !q.statuses.is_empty() {
            let mut s = Query::select();
            s.columns(["post_type", "post_status", "n"]).from(db.table("svc_post_count"));
            of_list(q, &mut s);
            groups = db.all(&s, |row| Ok(Group { author: None, ..group(row)? }))?;
        }
        if let Some((user, statuses)) = own {
            // A post that is listed anyway must not be listed twice.
            let more: Vec<&str> = statuses.iter().filter(|s| !contains(&q.statuses, s)).map(String::as_str).collect();
            let mut s = Query::select();
            s.columns(["post_type", "post_status", "n"]).from(db.table("svc_author_count"));
            s.and_where(Expr::col("post_author").eq(user.0)).and_where(Expr::col("n").gt(0));
            s.and_where(Expr::col("post_type").is_in(q.post_types.iter().map(String::as_str)));
            s.and_where(Expr::col("post_status").is_in(more));
            groups.extend(db.all(&s, |row| Ok(Group { author: Some(*user), ..group(row)? }))?);
        }
        let authors = match &q.author_in[..] {
            [] => None,
            _ if !q.author_not_in.is_empty() => None,
            ids => Some(authors(db, q, ids)?),
        };
        let ids: Vec<i64> = clauses.iter().flat_map(|clause| clause.ids.iter().copied()).collect();
        let terms = if ids.is_empty() || ids.len() > MAX_TERMS { HashMap::new() } else { terms(db, q, &ids)? };
        Ok(Some(Stats { groups, authors, terms }))
    }

    /// Number of posts of the listed types and statuses.
    pub(super) fn n(&self) -> u64 {
        self.groups.iter().map(|group| group.n).sum()
    }

    /// Number of posts with the condition's terms, or an upper limit of it.
    pub(super) fn of_clause(&self, clause: &Resolved) -> u64 {
        let of = |id: &i64| self.terms.get(id).copied().unwrap_or(0);
        if clause.ids.len() > MAX_TERMS || self.terms.is_empty() && !clause.ids.is_empty() && clause.n_posts > 0 {
            return u64::try_from(clause.n_posts).unwrap_or(0);
        }
        match clause.operator {
            TaxOperator::And => clause.ids.iter().map(of).min().unwrap_or(0),
            TaxOperator::In | TaxOperator::NotIn => clause.ids.iter().map(of).sum(),
        }
    }

    /// Number of posts with the only term of a condition. `None` if the condition has several terms or none.
    pub(super) fn of_single_term(&self, clause: &Resolved) -> Option<u64> {
        match clause.ids[..] {
            [id] => Some(self.terms.get(&id).copied().unwrap_or(0)),
            _ => None,
        }
    }
}

/// Returns whether a list of names contains a name, ignoring case as the database does.
fn contains(names: &[String], name: &str) -> bool {
    names.iter().any(|n| n.eq_ignore_ascii_case(name))
}

fn group(row: &crate::Row<'_>) -> Result<Group> {
    Ok(Group { post_type: row.text(0)?, status: row.text(1)?, author: None, n: number(row.int(2)?) })
}

fn number(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

/// Restricts a query of a count table to the types and statuses of a list.
fn of_list(q: &PostQuery, s: &mut SelectStatement) {
    s.and_where(Expr::col("post_type").is_in(q.post_types.iter().map(String::as_str)));
    s.and_where(Expr::col("post_status").is_in(q.statuses.iter().map(String::as_str)));
    s.and_where(Expr::col("n").gt(0));
}

/// Number of posts of these authors.
pub(super) fn authors(db: &mut Db, q: &PostQuery, ids: &[UserId]) -> Result<u64> {
    let mut s = Query::select();
    s.expr(Expr::cust("SUM(n)")).from(db.table("svc_author_count"));
    s.and_where(Expr::col("post_author").is_in(ids.iter().map(|id| id.0)));
    of_list(q, &mut s);
    Ok(number(db.first(&s, |row| row.int(0))?.unwrap_or(0)))
}

fn terms(db: &mut Db, q: &PostQuery, ids: &[i64]) -> Result<HashMap<i64, u64>> {
    let mut s = Query::select();
    s.column("term_taxonomy_id").expr(Expr::cust("SUM(n)")).from(db.table("svc_term_count"));
    s.and_where(Expr::col("term_taxonomy_id").is_in(svc_db::pad(ids)));
    of_list(q, &mut s);
    s.group_by_col("term_taxonomy_id");
    Ok(db.all(&s, |row| Ok((row.int(0)?, number(row.int(1)?))))?.into_iter().collect())
}

/// Most rows of a meta key that are counted to choose a plan.
const MAX_META: u64 = 20_000;

/// Number of rows that match a condition whose key has an index. `None` if it has none, or if there are many.
pub(super) fn of_meta(db: &mut Db, clause: &MetaClause) -> Result<Option<u64>> {
    use MetaCompare::{Eq, Exists, Gt, Gte, In, Lt, Lte};
    if !clause.indexed || !matches!(clause.compare, Eq | Exists | Gt | Gte | In | Lt | Lte) {
        return Ok(None);
    }
    let mut rows = super::statement::indexed_rows(db, clause);
    rows.expr(Expr::val(1)).limit(MAX_META);
    let mut s = Query::select();
    s.expr(Expr::cust("COUNT(*)")).from_subquery(rows, "b");
    let n = number(db.first(&s, |row| row.int(0))?.unwrap_or(0));
    Ok((n < MAX_META).then_some(n))
}

/// One of the two dates of a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateColumn {
    Date,
    Modified,
}

impl DateColumn {
    pub(super) fn name(self) -> &'static str {
        match self {
            DateColumn::Date => "post_date",
            DateColumn::Modified => "post_modified",
        }
    }

    /// The bounds of a list.
    pub(super) fn bounds(self, q: &PostQuery) -> (Option<NaiveDateTime>, Option<NaiveDateTime>) {
        match self {
            DateColumn::Date => (q.after, q.before),
            DateColumn::Modified => (q.modified_after, q.modified_before),
        }
    }

    fn days(self, db: &Db, q: &PostQuery) -> SelectStatement {
        let mut s = Query::select();
        s.from(db.table("svc_day_count"));
        let kind = if self == DateColumn::Date { "d" } else { "m" };
        s.and_where(Expr::col("kind").eq(kind));
        of_list(q, &mut s);
        s
    }

    /// Number of posts of whole days, between two days that do not count.
    pub(super) fn between(self, db: &mut Db, q: &PostQuery, after: Option<&str>, before: Option<&str>) -> Result<u64> {
        let mut s = self.days(db, q);
        s.expr(Expr::cust("SUM(n)"));
        if let Some(after) = after {
            s.and_where(Expr::col("day").gt(after));
        }
        if let Some(before) = before {
            s.and_where(Expr::col("day").lt(before));
        }
        Ok(number(db.first(&s, |row| row.int(0))?.unwrap_or(0)))
    }

    /// Number of posts within the bounds of a list, rounded up to whole days.
    pub(super) fn at_most(self, db: &mut Db, q: &PostQuery) -> Result<Option<u64>> {
        let (after, before) = self.bounds(q);
        if after.is_none() && before.is_none() {
            return Ok(None);
        }
        let mut s = self.days(db, q);
        s.expr(Expr::cust("SUM(n)"));
        if let Some(after) = after {
            s.and_where(Expr::col("day").gte(day(after)));
        }
        if let Some(before) = before {
            s.and_where(Expr::col("day").lte(day(before)));
        }
        Ok(Some(number(db.first(&s, |row| row.int(0))?.unwrap_or(0))))
    }

    /// The day that contains the post at this offset in the order of this date, and the number of posts of the days
    /// before it in this order. `None` behind the end.
    pub(super) fn day_at(
        self,
        db: &mut Db,
        q: &PostQuery,
        order: crate::Order,
        offset: u64,
    ) -> Result<Option<(String, u64)>> {
        let mut s = self.days(db, q);
        s.column("day").expr(Expr::cust("SUM(n)")).group_by_col("day").order_by("day", order.into());
        crate::query::day_at(db, &s, offset)
    }
}

/// The day of a date as stored.
pub(super) fn day(date: NaiveDateTime) -> String {
    let mut text = stamp::format(Some(date));
    text.truncate(10);
    text
}

/// Returns whether all conditions must match, so that each of them restricts the list.
pub(super) fn restricts(relation: Relation, n_clauses: usize) -> bool {
    relation == Relation::And || n_clauses == 1
}
