//! Lists of posts: filters, search and sorting.
//!
//! The rules are those of `WP_Query`, derived from WordPress's SQL statements: `author_not_in` takes precedence over
//! `author_in`, `include` over `exclude`, `parent_in` over `parent_not_in`. Excluding password-protected posts from a
//! search is up to the caller.

use sea_query::{Cond, Expr, ExprTrait as _, Query, SelectStatement};
use svc_model::{PostId, UserId};
use svc_versions::unrecorded;

use super::dependencies::depend_on_list;
use super::plan;
use super::post_query::{Clauses, MetaClause, MetaCompare, MetaType, PostOrderBy, PostQuery, Relation};
use super::search::{SearchColumn, SearchTerms};
use crate::db::{Db, SqlDialect};
use crate::error::Result;
use crate::query::{any_of, distinct};
use crate::{Order, Page, TableGroup, stamp};

/// Offset from which a page is read from the nearer end of the list. Tests use it nearly always.
const DEEP_OFFSET: u64 = if cfg!(test) { 3 } else { 1_000 };

/// Returns the ids of a page of posts, and the total if requested.
///
/// # Errors
/// [`crate::StoreError::TooMany`] if the query contains more values than a statement can bind.
pub fn query(db: &mut Db, q: &PostQuery) -> Result<Page<PostId>> {
    depend_on_list(q);
    unrecorded(|| list(db, q))
}

fn list(db: &mut Db, q: &PostQuery) -> Result<Page<PostId>> {
    let filtered = filtered(db, q)?;
    let count_table = db.sql().post_count_table();
    let count_table = count_table.filter(|_| is_plain(q) && db.version(TableGroup::Posts).is_some());
    let is_deep =
        q.offset >= DEEP_OFFSET && !db.may_be_stale && !q.order_by.iter().any(|(by, _)| *by == PostOrderBy::Rand);
    if !q.total || !(count_table.is_some() || is_deep) {
        let page = ordered(db, q, &filtered, false);
        return crate::query::page(db, &groups(q), &filtered, page, (q.limit, q.offset, q.total), PostId);
    }
    let total = match count_table {
        Some(table) => maintained_count(db, table, q)?,
        None => crate::query::total(db, &groups(q), &filtered)?,
    };
    let left = total.saturating_sub(q.offset);
    let backwards = is_deep && left < q.offset;
    let limit = if backwards { Some(q.limit.map_or(left, |limit| Ord::min(limit, left))) } else { q.limit };
    let offset = if backwards { left - limit.unwrap_or(0) } else { q.offset };
    let page = ordered(db, q, &filtered, backwards);
    let mut page = crate::query::page(db, &[], &filtered, page, (limit, offset, false), PostId)?;
    if backwards {
        page.ids.reverse();
    }
    Ok(Page { total: Some(total), ..page })
}

/// Returns whether only types and statuses restrict the list.
fn is_plain(q: &PostQuery) -> bool {
    let by_meta = q.order_by.iter().any(|(by, _)| matches!(by, PostOrderBy::Meta(_) | PostOrderBy::MetaNumber(_)));
    let plain = PostQuery {
        post_types: q.post_types.clone(),
        statuses: q.statuses.clone(),
        order_by: q.order_by.clone(),
        limit: q.limit,
        offset: q.offset,
        total: q.total,
        ..PostQuery::default()
    };
    !by_meta && !q.post_types.is_empty() && !q.statuses.is_empty() && plain == *q
}

/// The total of a plain list, from SQLite's maintained counts.
fn maintained_count(db: &mut Db, table: &str, q: &PostQuery) -> Result<u64> {
    let mut s = Query::select();
    s.expr(Expr::cust("SUM(n)")).from(db.table(table));
    s.and_where(Expr::col("post_type").is_in(q.post_types.iter().map(String::as_str)));
    s.and_where(Expr::col("post_status").is_in(q.statuses.iter().map(String::as_str)));
    let n = db.first(&s, |row| row.int(0))?;
    Ok(n.and_then(|n| u64::try_from(n).ok()).unwrap_or(0))
}

/// The filtered rows, without columns, order and limit.
fn filtered(db: &mut Db, q: &PostQuery) -> Result<SelectStatement> {
    let tax = plan::resolve(db, &q.tax)?;
    let also = plan::resolve(db, &q.extra_tax)?;
    let query_plan = plan::choose(db, q, &tax)?;
    let mut filtered = Query::select();
    filtered.from_as(db.table("posts"), "p");
    conditions(db, q, &tax, query_plan, &mut filtered)?;
    plan::tax_condition(db, q.extra_tax.relation, &also, plan::QueryPlan::List, &mut filtered);
    Ok(filtered)
}

/// The list without its limit, optionally in reverse order.
fn ordered(db: &Db, q: &PostQuery, filtered: &SelectStatement, backwards: bool) -> SelectStatement {
    let mut page = filtered.clone();
    page.column(("p", "ID"));
    for (by, direction) in order(db, q) {
        page.order_by_expr(by, if backwards { direction.reversed() } else { direction }.into());
    }
    page
}

/// The list's statement, for tests of its query plan.
#[cfg(test)]
pub(super) fn page_statement(db: &mut Db, q: &PostQuery) -> Result<SelectStatement> {
    let filtered = filtered(db, q)?;
    Ok(ordered(db, q, &filtered, false).limit(10).take())
}

/// The table groups that a list's total depends on.
fn groups(q: &PostQuery) -> Vec<TableGroup> {
    let mut groups = vec![TableGroup::Posts];
    if !q.tax.clauses.is_empty() || !q.extra_tax.clauses.is_empty() {
        groups.push(TableGroup::Terms);
    }
    let by_meta = q.order_by.iter().any(|(by, _)| matches!(by, PostOrderBy::Meta(_) | PostOrderBy::MetaNumber(_)));
    if !q.meta.clauses.is_empty() || q.search_file_names || by_meta {
        groups.push(TableGroup::PostMeta);
    }
    groups
}

fn ids(list: &[PostId]) -> Vec<i64> {
    crate::db::pad(&list.iter().map(|id| id.0).collect::<Vec<_>>())
}

fn user_ids(list: &[UserId]) -> Vec<i64> {
    list.iter().map(|id| id.0).collect()
}

fn col(name: &'static str) -> Expr {
    Expr::col(("p", name))
}

fn one_of(column: Expr, values: &[String]) -> Expr {
    match values {
        [only] => column.eq(only.as_str()),
        _ => column.is_in(values.iter().map(String::as_str)),
    }
}

/// Adds all conditions of the list.
fn conditions(
    db: &Db,
    q: &PostQuery,
    tax: &[plan::Resolved],
    query_plan: plan::QueryPlan,
    s: &mut SelectStatement,
) -> Result<()> {
    if !q.post_types.is_empty() {
        s.and_where(one_of(col("post_type"), &q.post_types));
    }
    statuses(q, s);
    if !q.author_not_in.is_empty() {
        s.and_where(col("post_author").is_not_in(user_ids(&q.author_not_in)));
    } else if !q.author_in.is_empty() {
        s.and_where(col("post_author").is_in(user_ids(&q.author_in)));
    }
    if !q.include.is_empty() {
        s.and_where(col("ID").is_in(ids(&q.include)));
    } else if !q.exclude.is_empty() {
        s.and_where(col("ID").is_not_in(ids(&q.exclude)));
    }
    if let Some(sticky) = &q.sticky {
        s.and_where(col("ID").is_in(ids(sticky)));
    }
    if !q.not_sticky.is_empty() {
        s.and_where(col("ID").is_not_in(ids(&q.not_sticky)));
    }
    if !q.slugs.is_empty() {
        s.and_where(one_of(col("post_name"), &q.slugs));
    }
    if let Some(title) = &q.title {
        s.and_where(col("post_title").eq(title.as_str()));
    }
    if !q.parent_in.is_empty() {
        s.and_where(col("post_parent").is_in(ids(&q.parent_in)));
    } else if !q.parent_not_in.is_empty() {
        s.and_where(col("post_parent").is_not_in(ids(&q.parent_not_in)));
    }
    if let Some(menu_order) = q.menu_order {
        s.and_where(col("menu_order").eq(menu_order));
    }
    mime_types(&q.mime_types, s)?;
    if q.without_password {
        s.and_where(col("post_password").eq(""));
    }
    if let Some(text) = &q.search {
        let columns = if q.search_columns.is_empty() { &SearchColumn::ALL[..] } else { &q.search_columns };
        let columns: Vec<SearchColumn> = distinct(columns).copied().collect();
        let file_name = q.search_file_names.then(|| meta_value(db, "_wp_attached_file"));
        s.cond_where(SearchTerms::parse(text).condition(&columns, file_name.as_ref(), q.search_exact));
    }
    dates(q, s);
    plan::tax_condition(db, q.tax.relation, tax, query_plan, s);
    meta_condition(db, &q.meta, s);
    for (by, _) in &q.order_by {
        if let PostOrderBy::Meta(key) | PostOrderBy::MetaNumber(key) = by {
            s.and_where(Expr::exists(meta_rows(db, key)));
        }
    }
    Ok(())
}

fn statuses(q: &PostQuery, s: &mut SelectStatement) {
    let own = q.own_statuses.as_ref().filter(|(_, list)| !list.is_empty());
    match (q.statuses.is_empty(), own) {
        (true, None) => {}
        (false, None) => {
            s.and_where(one_of(col("post_status"), &q.statuses));
        }
        (empty, Some((user, list))) => {
            let mut any = Cond::any();
            if !empty {
                any = any.add(one_of(col("post_status"), &q.statuses));
            }
            any = any.add(Cond::all().add(col("post_author").eq(user.0)).add(one_of(col("post_status"), list)));
            s.cond_where(any);
        }
    }
}

fn mime_types(types: &[String], s: &mut SelectStatement) -> Result<()> {
    let is_of_type = |t: &String| {
        if t.contains('/') {
            col("post_mime_type").eq(t.as_str())
        } else {
            col("post_mime_type").like(crate::query::starts_with(&format!("{t}/")))
        }
    };
    if !types.is_empty() {
        s.cond_where(any_of(distinct(types).map(is_of_type))?);
    }
    Ok(())
}

fn dates(q: &PostQuery, s: &mut SelectStatement) {
    let bounds = [("post_date", q.after, q.before), ("post_modified", q.modified_after, q.modified_before)];
    for (column, after, before) in bounds {
        if let Some(t) = after {
            let t = stamp::format(Some(t));
            s.and_where(if q.dates_inclusive { col(column).gte(t) } else { col(column).gt(t) });
        }
        if let Some(t) = before {
            let t = stamp::format(Some(t));
            s.and_where(if q.dates_inclusive { col(column).lte(t) } else { col(column).lt(t) });
        }
    }
}

/// The rows of a post's meta with this key, for `EXISTS`.
fn meta_rows(db: &Db, key: &str) -> SelectStatement {
    let mut rows = Query::select();
    rows.expr(Expr::val(1)).from_as(db.table("postmeta"), "m");
    rows.and_where(Expr::col(("m", "post_id")).equals(("p", "ID"))).and_where(Expr::col(("m", "meta_key")).eq(key));
    rows
}

/// A post's first value of this key.
fn meta_value(db: &Db, key: &str) -> Expr {
    let mut value = Query::select();
    value.column(("m", "meta_value")).from_as(db.table("postmeta"), "m");
    value.and_where(Expr::col(("m", "post_id")).equals(("p", "ID"))).and_where(Expr::col(("m", "meta_key")).eq(key));
    value.order_by(("m", "meta_id"), sea_query::Order::Asc).limit(1);
    Expr::SubQuery(None, Box::new(value.into()))
}

fn meta_condition(db: &Db, meta: &Clauses<MetaClause>, s: &mut SelectStatement) {
    if meta.clauses.is_empty() {
        return;
    }
    let mut condition = match meta.relation {
        Relation::And => Cond::all(),
        Relation::Or => Cond::any(),
    };
    for clause in &meta.clauses {
        let rows = meta_rows(db, &clause.key);
        condition = condition.add(match clause.compare {
            MetaCompare::Exists => Expr::exists(rows),
            MetaCompare::NotExists => Expr::not_exists(rows),
            _ => Expr::exists(meta_compare(db.sql(), clause, rows)),
        });
    }
    s.cond_where(condition);
}

fn meta_compare(sql: &dyn SqlDialect, clause: &MetaClause, mut rows: SelectStatement) -> SelectStatement {
    let stored = Expr::col(("m", "meta_value"));
    let cast = |e: Expr| match clause.value_type {
        MetaType::Text => e,
        MetaType::Integer => sql.as_integer(e),
        MetaType::Number => sql.as_number(e),
    };
    let stored = cast(stored);
    let value = || cast(Expr::val(clause.values.first().map_or("", String::as_str)));
    let values = || clause.values.iter().map(|v| cast(Expr::val(v.as_str()))).collect::<Vec<_>>();
    let pattern = || crate::query::contains(clause.values.first().map_or("", String::as_str));
    rows.and_where(match clause.compare {
        MetaCompare::Ne => stored.ne(value()),
        MetaCompare::Gt => stored.gt(value()),
        MetaCompare::Gte => stored.gte(value()),
        MetaCompare::Lt => stored.lt(value()),
        MetaCompare::Lte => stored.lte(value()),
        MetaCompare::In => stored.is_in(values()),
        MetaCompare::NotIn => stored.is_not_in(values()),
        MetaCompare::Like => stored.like(pattern()),
        MetaCompare::NotLike => stored.not_like(pattern()),
        MetaCompare::Eq | MetaCompare::Exists | MetaCompare::NotExists => stored.eq(value()),
    });
    rows
}

/// The sort expressions, most significant first. They define a total order, unless it is random.
fn order(db: &Db, q: &PostQuery) -> Vec<(Expr, Order)> {
    let default = [(PostOrderBy::Date, Order::Desc)];
    let orders = if q.order_by.is_empty() { &default[..] } else { &q.order_by };
    let mut all = Vec::with_capacity(orders.len() + 1);
    let mut tie = Some(Order::Desc);
    for (by, direction) in orders {
        let direction = *direction;
        tie = tie.map(|_| direction);
        match by {
            PostOrderBy::Author => all.push((col("post_author"), direction)),
            PostOrderBy::Date => all.push((col("post_date"), direction)),
            PostOrderBy::Modified => all.push((col("post_modified"), direction)),
            PostOrderBy::Parent => all.push((col("post_parent"), direction)),
            PostOrderBy::Slug => all.push((col("post_name"), direction)),
            PostOrderBy::Title => all.push((col("post_title"), direction)),
            PostOrderBy::MenuOrder => all.push((col("menu_order"), direction)),
            PostOrderBy::CommentCount => all.push((col("comment_count"), direction)),
            PostOrderBy::Id => {
                tie = None;
                all.push((col("ID"), direction));
            }
            PostOrderBy::Include => {
                all.extend(
                    crate::query::list_position(&col("ID"), q.include.iter().map(|id| id.0)).map(|p| (p, Order::Asc)),
                );
            }
            PostOrderBy::IncludeSlugs => {
                let position = crate::query::list_position(&col("post_name"), q.slugs.iter().map(String::as_str));
                all.extend(position.map(|p| (p, Order::Asc)));
            }
            PostOrderBy::Rand => {
                tie = None;
                all.push((db.sql().random(), Order::Asc));
            }
            PostOrderBy::Relevance => {
                let rank = q.search.as_deref().and_then(|t| SearchTerms::parse(t).rank());
                all.extend(rank.map(|rank| (rank, Order::Asc)));
                all.push((col("post_date"), direction));
            }
            PostOrderBy::Meta(key) => all.push((meta_value(db, key), direction)),
            PostOrderBy::MetaNumber(key) => all.push((db.sql().as_number(meta_value(db, key)), direction)),
        }
    }
    all.extend(tie.map(|direction| (col("ID"), direction)));
    all
}
