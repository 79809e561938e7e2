//! Lists of posts: filters, search and sorting.
//!
//! The rules are those of `WP_Query`, derived from WordPress's SQL statements: `author_not_in` takes precedence over
//! `author_in`, `include` over `exclude`, `parent_in` over `parent_not_in`. Excluding password-protected posts from a
//! search is up to the caller.

use sea_query::{Cond, Expr, ExprTrait as _, Query, SelectStatement};
use svc_db::{Db, Result, Rows, SqlDialect};
use svc_model::{PostId, UserId};

use super::dependencies::depend_on_list;
use super::indexed_search;
use super::plan::{self, ListPlan, Resolved, Start, TermPlan};
use super::post_query::{Clauses, MetaClause, MetaCompare, MetaType, PostOrderBy, PostQuery, Relation, TaxOperator};
use super::search::{SearchColumn, SearchTerms};
use super::stats::{DateColumn, Group, Stats};
use super::totals;
use crate::caches;
use crate::query::{any_of, distinct};
use crate::rows;
use crate::{Order, Page, stamp};

/// Returns the ids of a page of posts, and the total if requested.
///
/// # Errors
/// [`crate::StoreError::TooMany`] if the query contains more values than a statement can bind.
pub fn query(db: &mut Db, q: &PostQuery) -> Result<Page<PostId>> {
    depend_on_list(db.cx(), q);
    db.unrecorded(|db| match indexed_search::page(db, q)? {
        Some(page) => Ok(page),
        None => list(db, q),
    })
}

/// Like [`query`], without the search index, and without recording what the list depends on.
pub(super) fn list(db: &mut Db, q: &PostQuery) -> Result<Page<PostId>> {
    let terms = Terms::resolve(db, q)?;
    match Stats::read(db, q, &terms.clauses())? {
        Some(stats) => with_counts(db, q, &terms, &stats),
        None => without_counts(db, q, &terms),
    }
}

/// The term conditions of a list after their terms have been looked up.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    pub(super) tax: Vec<Resolved>,
    extra: Vec<Resolved>,
}

impl Terms {
    fn resolve(db: &mut Db, q: &PostQuery) -> Result<Self> {
        Ok(Terms { tax: plan::resolve(db, &q.tax)?, extra: plan::resolve(db, &q.extra_tax)? })
    }

    /// All conditions.
    pub(super) fn clauses(&self) -> Vec<&Resolved> {
        self.tax.iter().chain(&self.extra).collect()
    }

    /// The conditions of `excluded` or `all`, which differ from those of this list in an exclusion.
    pub(super) fn of(&self, other: &PostQuery) -> Self {
        let mut tax = self.tax.clone();
        if let Some(at) = tax.iter().position(|clause| clause.operator == TaxOperator::NotIn) {
            if other.tax.clauses.len() < tax.len() {
                tax.remove(at);
            } else {
                tax[at].operator = other.tax.clauses[at].operator;
            }
        }
        Terms { tax, extra: self.extra.clone() }
    }
}

/// Reads a page with SQLite's maintained counts.
fn with_counts(db: &mut Db, q: &PostQuery, terms: &Terms, stats: &Stats) -> Result<Page<PostId>> {
    if stats.groups.is_empty() {
        return Ok(Page { ids: Vec::new(), total: q.total.then_some(0) });
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
            return Ok(Page { ids: Vec::new(), total: wanted.then(|| stats.n()) });
        };
        q.offset -= skipped;
        total = Some(stats.n());
        from_day = Some((day, direction));
    }
    let mut backwards = false;
    let is_random = q.order_by.iter().any(|(by, _)| *by == PostOrderBy::Rand);
    if q.offset >= deep_offset && from_day.is_none() && wanted && !is_random {
        let n = totals::total(db, &q, terms, stats)?;
        total = Some(n);
        let left = n.saturating_sub(q.offset);
        if left < q.offset {
            backwards = true;
            let limit = q.limit.map_or(left, |limit| Ord::min(limit, left));
            (q.limit, q.offset) = (Some(limit), left - limit);
        }
    }
    let list_plan = plan::choose(db, &q, &terms.tax, stats)?;
    let mut branches = Vec::new();
    for group in branch_groups(&q, &list_plan) {
        let mut s = filtered(db, &q, terms, &list_plan, group.as_ref())?;
        if let Some((day, direction)) = &from_day {
            let date = Expr::col(("p", "post_date"));
            s.and_where(match direction {
                Order::Asc => date.gte(format!("{day} 00:00:00")),
                Order::Desc => date.lte(format!("{day} 23:59:59")),
            });
        }
        branches.push(s);
    }
    let page = ordered(db, &q, branches, &list_plan, backwards);
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

/// One type and status, and an author, of a statement that is merged with others. `None` for all of the list.
type Branch = Option<(Group, Option<UserId>)>;

fn branch_groups(q: &PostQuery, list_plan: &ListPlan) -> Vec<Branch> {
    let groups = list_plan.groups.iter();
    match list_plan.start {
        _ if list_plan.groups.is_empty() => vec![None],
        Start::AuthorsByDate => {
            let authors = || crate::query::distinct(&q.author_in);
            groups.flat_map(|group| authors().map(|author| Some((group.clone(), Some(*author))))).collect()
        }
        _ => groups.map(|group| Some((group.clone(), None))).collect(),
    }
}

/// Reads a page of an engine whose optimizer decides.
fn without_counts(db: &mut Db, q: &PostQuery, terms: &Terms) -> Result<Page<PostId>> {
    let mut list_plan = plan::choose_by_terms(db, q, &terms.tax)?;
    let filtered = filtered(db, q, terms, &list_plan, None)?;
    let total = |db: &mut Db| totals::counted(db, q, terms);
    if let Some(groups) = plan::groups_by_date(q, &list_plan) {
        list_plan.groups = groups;
        let branches: Result<Vec<_>> = branch_groups(q, &list_plan)
            .iter()
            .map(|branch| self::filtered(db, q, terms, &list_plan, branch.as_ref()))
            .collect();
        let page = ordered(db, q, branches?, &list_plan, false);
        return crate::query::page_and_total(db, page, (q.limit, q.offset, q.total), PostId, total);
    }
    let ordered = |backwards| ordered(db, q, vec![filtered.clone()], &list_plan, backwards);
    let deep_offset = caches::tuning(db).deep_offset;
    let is_deep =
        q.offset >= deep_offset && !db.may_be_stale() && !q.order_by.iter().any(|(by, _)| *by == PostOrderBy::Rand);
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
pub(super) fn count_matches(db: &mut Db, q: &PostQuery, terms: &Terms, list_plan: &ListPlan) -> Result<u64> {
    let filtered = filtered(db, q, terms, list_plan, None)?;
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
    let is_allowed = |id: &PostId| q.sticky.as_ref().is_none_or(|sticky| sticky.contains(id));
    q.sticky = Some(ids.iter().map(|id| PostId(*id)).filter(is_allowed).collect());
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
    let mut s = filtered(db, &q, &terms, &ListPlan::of_engine(Start::Column("ID")), None)?;
    let rank = q.search.as_deref().filter(|_| is_ranked).and_then(|text| SearchTerms::parse(text).rank());
    s.column(("p", "ID")).column(("p", "post_date")).expr(rank.unwrap_or_else(|| Expr::val(0)));
    db.all(&s, |row| Ok(SortedPost { id: PostId(row.int(0)?), date: row.text(1)?, rank: row.int(2)? }))
}

/// The filtered rows, without columns, order and limit.
fn filtered(
    db: &Db,
    q: &PostQuery,
    terms: &Terms,
    list_plan: &ListPlan,
    branch: Option<&(Group, Option<UserId>)>,
) -> Result<SelectStatement> {
    let mut filtered = Query::select();
    filtered.from_as(db.table("posts"), "p");
    conditions(db, q, terms, list_plan, branch, &mut filtered)?;
    Ok(filtered)
}

/// The list without its limit, optionally in reverse order. Several branches are merged.
fn ordered(
    db: &Db,
    q: &PostQuery,
    branches: Vec<SelectStatement>,
    list_plan: &ListPlan,
    backwards: bool,
) -> SelectStatement {
    let direction = |direction: Order| if backwards { direction.reversed() } else { direction }.into();
    let order = order(db, q, list_plan).into_iter().map(|(by, way)| (by, direction(way))).collect();
    // Only SQLite stops reading a statement when the page is full.
    let reads_on_demand = db.sql().stops_when_full();
    let limit = q.limit.map(|limit| limit.saturating_add(q.offset)).filter(|_| !reads_on_demand);
    crate::query::merged(branches, ("p", "ID"), order, limit)
}

/// The list's statement, for tests of its query plan.
#[cfg(test)]
pub(super) fn page_statement(db: &mut Db, q: &PostQuery) -> Result<SelectStatement> {
    let terms = Terms::resolve(db, q)?;
    let list_plan = match Stats::read(db, q, &terms.clauses())? {
        Some(stats) => plan::choose(db, q, &terms.tax, &stats)?,
        None => plan::choose_by_terms(db, q, &terms.tax)?,
    };
    let branches: Result<Vec<_>> = branch_groups(q, &list_plan)
        .iter()
        .map(|branch| filtered(db, q, &terms, &list_plan, branch.as_ref()))
        .collect();
    Ok(ordered(db, q, branches?, &list_plan, false).limit(10).take())
}

/// The rows that a list's total depends on.
pub(super) fn counted_rows(q: &PostQuery) -> Vec<Rows> {
    let mut counted = vec![rows::POSTS];
    if q.post_types.is_empty() || q.post_types.iter().any(|name| name.eq_ignore_ascii_case("revision")) {
        counted.push(rows::REVISIONS);
    }
    if !q.tax.clauses.is_empty() || !q.extra_tax.clauses.is_empty() {
        counted.extend([rows::TERMS, rows::POST_TERMS]);
    }
    let by_meta = q.order_by.iter().any(|(by, _)| matches!(by, PostOrderBy::Meta(_) | PostOrderBy::MetaNumber(_)));
    if !q.meta.clauses.is_empty() || q.search_file_names || by_meta {
        counted.push(rows::POST_META);
    }
    counted
}

fn ids(list: &[PostId]) -> Vec<i64> {
    svc_db::pad(&list.iter().map(|id| id.0).collect::<Vec<_>>())
}

fn user_ids(list: &[UserId]) -> Vec<i64> {
    list.iter().map(|id| id.0).collect()
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
    terms: &Terms,
    list_plan: &ListPlan,
    branch: Option<&(Group, Option<UserId>)>,
    s: &mut SelectStatement,
) -> Result<()> {
    let order_column = plan::order_column(q);
    let col = |name: &'static str| list_plan.column(db.sql(), order_column, name);
    match branch {
        None => types_and_statuses(q, col, s),
        Some((group, author)) => {
            s.and_where(col("post_type").eq(group.post_type.as_str()));
            s.and_where(col("post_status").eq(group.status.as_str()));
            for author in [group.author, *author].into_iter().flatten() {
                s.and_where(col("post_author").eq(author.0));
            }
        }
    }
    if !q.author_not_in.is_empty() {
        s.and_where(col("post_author").is_not_in(user_ids(&q.author_not_in)));
    } else if !q.author_in.is_empty() && branch.is_none_or(|(_, author)| author.is_none()) {
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
    bounds(q, DateColumn::Date, col, s);
    bounds(q, DateColumn::Modified, col, s);
    plan::tax_condition(db, q.tax.relation, &terms.tax, |at| list_plan.of_clause(at), s);
    meta_condition(db, &q.meta, s);
    for (by, _) in &q.order_by {
        if let PostOrderBy::Meta(key) | PostOrderBy::MetaNumber(key) = by {
            s.and_where(Expr::exists(meta_rows(db, key)));
        }
    }
    plan::tax_condition(db, q.extra_tax.relation, &terms.extra, |_| TermPlan::Check, s);
    Ok(())
}

/// Restricts a statement to the types and statuses of the list.
pub(super) fn types_and_statuses(q: &PostQuery, col: impl Fn(&'static str) -> Expr, s: &mut SelectStatement) {
    if !q.post_types.is_empty() {
        s.and_where(one_of(col("post_type"), &q.post_types));
    }
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
        let column = Expr::col(("p", "post_mime_type"));
        if t.contains('/') { column.eq(t.as_str()) } else { column.like(crate::query::starts_with(&format!("{t}/"))) }
    };
    if !types.is_empty() {
        s.cond_where(any_of(distinct(types).map(is_of_type))?);
    }
    Ok(())
}

/// Restricts a statement to the bounds of one of the dates.
pub(super) fn bounds(q: &PostQuery, column: DateColumn, col: impl Fn(&'static str) -> Expr, s: &mut SelectStatement) {
    let (after, before) = column.bounds(q);
    let date = || col(column.name());
    if let Some(t) = after {
        let t = stamp::format(Some(t));
        s.and_where(if q.dates_inclusive { date().gte(t) } else { date().gt(t) });
    }
    if let Some(t) = before {
        let t = stamp::format(Some(t));
        s.and_where(if q.dates_inclusive { date().lte(t) } else { date().lt(t) });
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
fn order(db: &Db, q: &PostQuery, list_plan: &ListPlan) -> Vec<(Expr, Order)> {
    let col = |name: &'static str| list_plan.order_column(db.sql(), name);
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
