//! Lists of posts: everything that a list can be narrowed, searched and ordered by.
//!
//! The rules are those of `WP_Query`, as the peer's statements show: `author_not_in` beats `author_in`, `include` beats
//! `exclude`, `parent_in` beats `parent_not_in`; a search among titles of rows with a password is left to the caller.

use chrono::NaiveDateTime;
use sea_query::{Cond, Expr, ExprTrait as _, Query, SelectStatement};
use svc_model::{PostId, TermId, UserId};

use crate::db::Db;
use crate::dialect::Dialect;
use crate::error::Result;
use crate::posts::plan;
use crate::posts::search::{SearchColumn, SearchTerms};
use crate::query::{any_of, each_once};
use crate::{Family, Order, Page, stamp};

/// What a list of posts is ordered by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostOrderBy {
    /// Author's id.
    Author,
    /// Date in the site's zone.
    Date,
    /// Id.
    Id,
    /// The order of `include`; the direction does not count.
    Include,
    /// The order of `slugs`; the direction does not count.
    IncludeSlugs,
    /// Date of the last change.
    Modified,
    /// Parent's id.
    Parent,
    /// Best matches of the search first, then by date in the direction given.
    Relevance,
    /// Slug.
    Slug,
    /// Title.
    Title,
    /// Place in menus.
    MenuOrder,
    /// At random.
    Rand,
    /// Number of comments.
    CommentCount,
    /// The first text under this meta name; posts without it are left out.
    Meta(String),
    /// The same as a number.
    MetaNumber(String),
}

/// How several conditions are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Relation {
    /// All must hold.
    #[default]
    And,
    /// One must hold.
    Or,
}

/// How a post's terms must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaxOperator {
    /// One of them.
    #[default]
    In,
    /// None of them.
    NotIn,
    /// All of them.
    And,
}

/// A condition on a post's terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaxClause {
    /// The taxonomy's name.
    pub taxonomy: String,
    /// Ids of terms.
    pub terms: Vec<TermId>,
    /// How they must be.
    pub operator: TaxOperator,
    /// Terms below them count too.
    pub include_children: bool,
}

/// How a meta text must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the operators say what they are")]
pub enum MetaCompare {
    #[default]
    Eq,
    Ne,
    Gt,
    Gte,
    Lt,
    Lte,
    In,
    NotIn,
    Like,
    NotLike,
    Exists,
    NotExists,
}

/// As what a meta text is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetaType {
    /// As text.
    #[default]
    Text,
    /// As a whole number.
    Integer,
    /// As a number.
    Number,
}

/// A condition on a post's meta.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetaClause {
    /// The name.
    pub key: String,
    /// The texts to compare with; several only for `In` and `NotIn`.
    pub values: Vec<String>,
    /// How it must be.
    pub compare: MetaCompare,
    /// As what it is compared.
    pub value_type: MetaType,
}

/// Conditions and how they are joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clauses<T> {
    /// How they are joined.
    pub relation: Relation,
    /// The conditions; none is no restriction.
    pub clauses: Vec<T>,
}

/// What a list of posts holds. Empty lists and `None` are no restriction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PostQuery {
    /// Types.
    pub post_types: Vec<String>,
    /// Statuses that may be listed whoever wrote the post.
    pub statuses: Vec<String>,
    /// Further statuses, listed only for posts of this author (private posts of the caller).
    pub own_statuses: Option<(UserId, Vec<String>)>,
    /// Authors.
    pub author_in: Vec<UserId>,
    /// Authors left out; when given, `author_in` does not count.
    pub author_not_in: Vec<UserId>,
    /// Only these ids.
    pub include: Vec<PostId>,
    /// Ids left out; does not count beside `include`.
    pub exclude: Vec<PostId>,
    /// Only the sticky posts of this list (`Some(empty)` is an empty list), beside `include`.
    pub sticky: Option<Vec<PostId>>,
    /// Posts that are not sticky, beside `exclude` and `include`.
    pub not_sticky: Vec<PostId>,
    /// Slugs as stored.
    pub slugs: Vec<String>,
    /// The exact title.
    pub title: Option<String>,
    /// Parents.
    pub parent_in: Vec<PostId>,
    /// Parents left out; does not count beside `parent_in`.
    pub parent_not_in: Vec<PostId>,
    /// Place in menus.
    pub menu_order: Option<i64>,
    /// Kinds of media: `image` is all images, `image/png` one type.
    pub mime_types: Vec<String>,
    /// Text to search for.
    pub search: Option<String>,
    /// A column must be a word of the search, not only hold it.
    pub search_exact: bool,
    /// Columns that the search looks into; empty is all.
    pub search_columns: Vec<SearchColumn>,
    /// The search looks into the names of attached files too.
    pub search_file_names: bool,
    /// Posts with a password are left out (a search of somebody who is not logged in).
    pub without_password: bool,
    /// Later than this, in the site's zone.
    pub after: Option<NaiveDateTime>,
    /// Earlier than this.
    pub before: Option<NaiveDateTime>,
    /// Changed later than this.
    pub modified_after: Option<NaiveDateTime>,
    /// Changed earlier than this.
    pub modified_before: Option<NaiveDateTime>,
    /// The four dates themselves count too.
    pub dates_inclusive: bool,
    /// Conditions on terms.
    pub tax: Clauses<TaxClause>,
    /// Further conditions on terms, joined among themselves in their own way; they must hold beside `tax`.
    pub tax_also: Clauses<TaxClause>,
    /// Conditions on meta.
    pub meta: Clauses<MetaClause>,
    /// Orders, the first counting most; empty is by date, newest first. Ties are broken by id.
    pub order_by: Vec<(PostOrderBy, Order)>,
    /// How many at most; `None` is all.
    pub limit: Option<u64>,
    /// How many are skipped.
    pub offset: u64,
    /// Whether the number of all is wanted.
    pub total: bool,
}

/// From this offset on a page is walked to from the nearer end of the list. In tests, nearly always.
const FAR: u64 = if cfg!(test) { 3 } else { 1_000 };

/// The ids of a page of posts, and the number of all when asked for.
///
/// # Errors
/// [`crate::StoreError::TooMany`] when more values are named than a statement takes; those of the database.
pub fn query(db: &mut Db, q: &PostQuery) -> Result<Page<PostId>> {
    let filtered = filtered(db, q)?;
    let counted = is_plain(q) && db.dialect() == Dialect::Sqlite && db.version(Family::Posts).is_some();
    let far = q.offset >= FAR && !db.may_be_old && !q.order_by.iter().any(|(by, _)| *by == PostOrderBy::Rand);
    if !q.total || !(counted || far) {
        let page = listed(db, q, &filtered, false);
        return crate::query::page(db, &families(q), &filtered, page, (q.limit, q.offset, q.total), PostId);
    }
    let total = if counted { kept_count(db, q)? } else { crate::query::total(db, &families(q), &filtered)? };
    let left = total.saturating_sub(q.offset);
    let backwards = far && left < q.offset;
    let limit = if backwards { Some(q.limit.map_or(left, |limit| Ord::min(limit, left))) } else { q.limit };
    let offset = if backwards { left - limit.unwrap_or(0) } else { q.offset };
    let page = listed(db, q, &filtered, backwards);
    let mut page = crate::query::page(db, &[], &filtered, page, (limit, offset, false), PostId)?;
    if backwards {
        page.ids.reverse();
    }
    Ok(Page { total: Some(total), ..page })
}

/// Whether nothing but types and statuses narrows the list.
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

/// The total of a plain list from SQLite's kept counts.
fn kept_count(db: &mut Db, q: &PostQuery) -> Result<u64> {
    let mut s = Query::select();
    s.expr(Expr::cust("SUM(n)")).from(db.table(crate::schema::COUNT_TABLE));
    s.and_where(Expr::col("post_type").is_in(q.post_types.iter().map(String::as_str)));
    s.and_where(Expr::col("post_status").is_in(q.statuses.iter().map(String::as_str)));
    let n = db.first(&s, |row| row.int(0))?;
    Ok(n.and_then(|n| u64::try_from(n).ok()).unwrap_or(0))
}

/// What the list is cut from: without columns, order and limit.
fn filtered(db: &mut Db, q: &PostQuery) -> Result<SelectStatement> {
    let tax = plan::resolve(db, &q.tax)?;
    let also = plan::resolve(db, &q.tax_also)?;
    let drive = plan::choose(db, q, &tax)?;
    let mut filtered = Query::select();
    filtered.from_as(db.table("posts"), "p");
    conditions(db, q, &tax, drive, &mut filtered)?;
    plan::tax_condition(db, q.tax_also.relation, &also, plan::QueryPlan::List, &mut filtered);
    Ok(filtered)
}

/// The list without its limit, or the same from its end.
fn listed(db: &Db, q: &PostQuery, filtered: &SelectStatement, backwards: bool) -> SelectStatement {
    let mut page = filtered.clone();
    page.column(("p", "ID"));
    for (by, way) in order(db, q) {
        page.order_by_expr(by, if backwards { way.reversed() } else { way }.into());
    }
    page
}

/// The list's statement, for tests of its plan.
#[cfg(test)]
pub(super) fn page_statement(db: &mut Db, q: &PostQuery) -> Result<SelectStatement> {
    let filtered = filtered(db, q)?;
    Ok(listed(db, q, &filtered, false).limit(10).take())
}

/// The tables that a list's total depends on.
fn families(q: &PostQuery) -> Vec<Family> {
    let mut families = vec![Family::Posts];
    if !q.tax.clauses.is_empty() || !q.tax_also.clauses.is_empty() {
        families.push(Family::Terms);
    }
    let by_meta = q.order_by.iter().any(|(by, _)| matches!(by, PostOrderBy::Meta(_) | PostOrderBy::MetaNumber(_)));
    if !q.meta.clauses.is_empty() || q.search_file_names || by_meta {
        families.push(Family::PostMeta);
    }
    families
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

/// Adds everything that narrows the list.
fn conditions(
    db: &Db,
    q: &PostQuery,
    tax: &[plan::Resolved],
    drive: plan::QueryPlan,
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
    if let Some(place) = q.menu_order {
        s.and_where(col("menu_order").eq(place));
    }
    mime_types(&q.mime_types, s)?;
    if q.without_password {
        s.and_where(col("post_password").eq(""));
    }
    if let Some(text) = &q.search {
        let columns = if q.search_columns.is_empty() { &SearchColumn::ALL[..] } else { &q.search_columns };
        let columns: Vec<SearchColumn> = each_once(columns).copied().collect();
        let file_name = q.search_file_names.then(|| meta_value(db, "_wp_attached_file"));
        s.cond_where(SearchTerms::parse(text).condition(&columns, file_name.as_ref(), q.search_exact));
    }
    dates(q, s);
    plan::tax_condition(db, q.tax.relation, tax, drive, s);
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
        s.cond_where(any_of(each_once(types).map(is_of_type))?);
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

/// The rows of a post's meta under a name, for `EXISTS`.
fn meta_rows(db: &Db, key: &str) -> SelectStatement {
    let mut rows = Query::select();
    rows.expr(Expr::val(1)).from_as(db.table("postmeta"), "m");
    rows.and_where(Expr::col(("m", "post_id")).equals(("p", "ID"))).and_where(Expr::col(("m", "meta_key")).eq(key));
    rows
}

/// A post's first text under a name.
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
    let mut joined = match meta.relation {
        Relation::And => Cond::all(),
        Relation::Or => Cond::any(),
    };
    for clause in &meta.clauses {
        let rows = meta_rows(db, &clause.key);
        joined = joined.add(match clause.compare {
            MetaCompare::Exists => Expr::exists(rows),
            MetaCompare::NotExists => Expr::not_exists(rows),
            _ => Expr::exists(meta_compare(db.dialect(), clause, rows)),
        });
    }
    s.cond_where(joined);
}

fn meta_compare(dialect: Dialect, clause: &MetaClause, mut rows: SelectStatement) -> SelectStatement {
    let stored = Expr::col(("m", "meta_value"));
    let cast = |e: Expr| match clause.value_type {
        MetaType::Text => e,
        MetaType::Integer => dialect.as_integer(e),
        MetaType::Number => dialect.as_number(e),
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

/// What the list is ordered by, the first counting most. No two posts are equal in all of it, unless it is by chance.
fn order(db: &Db, q: &PostQuery) -> Vec<(Expr, Order)> {
    let default = [(PostOrderBy::Date, Order::Desc)];
    let orders = if q.order_by.is_empty() { &default[..] } else { &q.order_by };
    let mut all = Vec::with_capacity(orders.len() + 1);
    let mut tie = Some(Order::Desc);
    for (by, direction) in orders {
        let way = *direction;
        tie = tie.map(|_| way);
        match by {
            PostOrderBy::Author => all.push((col("post_author"), way)),
            PostOrderBy::Date => all.push((col("post_date"), way)),
            PostOrderBy::Modified => all.push((col("post_modified"), way)),
            PostOrderBy::Parent => all.push((col("post_parent"), way)),
            PostOrderBy::Slug => all.push((col("post_name"), way)),
            PostOrderBy::Title => all.push((col("post_title"), way)),
            PostOrderBy::MenuOrder => all.push((col("menu_order"), way)),
            PostOrderBy::CommentCount => all.push((col("comment_count"), way)),
            PostOrderBy::Id => {
                tie = None;
                all.push((col("ID"), way));
            }
            PostOrderBy::Include => {
                all.extend(crate::query::place(&col("ID"), q.include.iter().map(|id| id.0)).map(|p| (p, Order::Asc)));
            }
            PostOrderBy::IncludeSlugs => {
                let place = crate::query::place(&col("post_name"), q.slugs.iter().map(String::as_str));
                all.extend(place.map(|p| (p, Order::Asc)));
            }
            PostOrderBy::Rand => {
                tie = None;
                all.push((db.dialect().random(), Order::Asc));
            }
            PostOrderBy::Relevance => {
                let rank = q.search.as_deref().and_then(|t| SearchTerms::parse(t).rank());
                all.extend(rank.map(|rank| (rank, Order::Asc)));
                all.push((col("post_date"), way));
            }
            PostOrderBy::Meta(key) => all.push((meta_value(db, key), way)),
            PostOrderBy::MetaNumber(key) => all.push((db.dialect().as_number(meta_value(db, key)), way)),
        }
    }
    all.extend(tie.map(|way| (col("ID"), way)));
    all
}

impl PostQuery {
    /// Published posts of one type, newest first, this many, with their total.
    pub fn published(post_type: &str, limit: u64) -> Self {
        PostQuery {
            post_types: vec![post_type.to_owned()],
            statuses: vec!["publish".to_owned()],
            limit: Some(limit),
            total: true,
            ..PostQuery::default()
        }
    }
}
