//! The statement of a list of posts: its conditions and its order.

use chrono::NaiveDateTime;
use sea_query::{Cond, Expr, ExprTrait as _, Query, SelectStatement};
use svc_db::{Db, Result, SqlDialect};
use svc_model::{PostId, UserId};

use super::plan::{self, ListPlan, Resolved, Start, TermPlan};
use super::post_query::{Clauses, MetaClause, MetaCompare, MetaType, PostOrderBy, PostQuery, Relation, TaxOperator};
use super::search::{SearchColumn, SearchTerms};
use super::stats::{DateColumn, Group};
use crate::position::{self, SortKey};
use crate::query::{any_of, distinct};
use crate::{Beyond, Order, stamp};

/// The term conditions of a list after their terms have been looked up.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    pub(super) tax: Vec<Resolved>,
    extra: Vec<(Relation, Vec<Resolved>)>,
}

impl Terms {
    pub(super) fn resolve(db: &mut Db, q: &PostQuery) -> Result<Self> {
        let mut extra = Vec::with_capacity(q.extra_tax.len());
        for clauses in &q.extra_tax {
            extra.push((clauses.relation, plan::resolve(db, clauses)?));
        }
        Ok(Terms { tax: plan::resolve(db, &q.tax)?, extra })
    }

    /// All conditions.
    pub(super) fn clauses(&self) -> Vec<&Resolved> {
        self.tax.iter().chain(self.extra.iter().flat_map(|(_, clauses)| clauses)).collect()
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

/// One type and status, and an author, of a statement that is merged with others. `None` for all of the list.
type Branch = Option<(Group, Option<UserId>)>;

/// A list with its terms and the plan for reading it, from which statements are made.
pub(super) struct ListStatement<'q> {
    pub(super) q: &'q PostQuery,
    pub(super) terms: &'q Terms,
    pub(super) plan: &'q ListPlan,
}

impl ListStatement<'_> {
    /// The filtered rows, without columns, order and limit.
    pub(super) fn filtered(&self, db: &Db, branch: Option<&(Group, Option<UserId>)>) -> Result<SelectStatement> {
        let mut filtered = from_posts(db, self.q, self.plan);
        self.conditions(db, branch, &mut filtered)?;
        Ok(filtered)
    }

    /// The filtered rows of each statement that is merged.
    pub(super) fn filtered_branches(&self, db: &Db) -> Result<Vec<SelectStatement>> {
        self.branches().iter().map(|branch| self.filtered(db, branch.as_ref())).collect()
    }

    /// The list without its limit, optionally in the reverse of its order. Several branches are merged.
    pub(super) fn ordered(&self, db: &Db, branches: Vec<SelectStatement>, backwards: bool) -> SelectStatement {
        let direction = |direction: Order| if backwards { direction.reversed() } else { direction }.into();
        let order = order(db, self.q, self.plan).into_iter().map(|key| (key.by, direction(key.order))).collect();
        // Only SQLite stops reading a statement when the page is full.
        let reads_on_demand = db.sql().stops_when_full();
        let limit = self.q.limit.map(|limit| limit.saturating_add(self.q.offset)).filter(|_| !reads_on_demand);
        crate::query::merged(branches, ("p", "ID"), order, limit)
    }

    /// The statements that are merged.
    fn branches(&self) -> Vec<Branch> {
        let groups = self.plan.groups.iter();
        match self.plan.start {
            _ if self.plan.groups.is_empty() => vec![None],
            Start::AuthorsByDate => {
                let authors = || crate::query::distinct(&self.q.author_in);
                groups.flat_map(|group| authors().map(|author| Some((group.clone(), Some(*author))))).collect()
            }
            _ => groups.map(|group| Some((group.clone(), None))).collect(),
        }
    }

    /// Adds all conditions of the list.
    fn conditions(&self, db: &Db, branch: Option<&(Group, Option<UserId>)>, s: &mut SelectStatement) -> Result<()> {
        let ListStatement { q, terms, plan } = self;
        let order_column = plan::order_column(q);
        let col = |name: &'static str| plan.column(db.sql(), order_column, name);
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
        if let Some(only) = &q.ids {
            s.and_where(col("ID").is_in(ids(only)));
        }
        if !q.not_ids.is_empty() {
            s.and_where(col("ID").is_not_in(ids(&q.not_ids)));
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
        plan::tax_condition(db, q.tax.relation, &terms.tax, |at| plan.of_clause(at), s);
        meta_condition(db, &q.meta, plan, s);
        for (relation, clauses) in &terms.extra {
            plan::tax_condition(db, *relation, clauses, |_| TermPlan::Check, s);
        }
        if let Some(Beyond::Position(position)) = &q.beyond {
            s.and_where(position::behind(&order(db, q, plan), position, q.backwards)?);
        }
        Ok(())
    }
}

/// The posts of a list, with the rows of the meta key that it is sorted by (`o`), without columns and conditions.
pub(super) fn from_posts(db: &Db, q: &PostQuery, plan: &ListPlan) -> SelectStatement {
    let mut s = Query::select();
    let Some((key, _)) = q.indexed_order() else {
        s.from_as(db.table("posts"), "p");
        return s;
    };
    // SQLite reads the tables of a cross join in their order.
    let is_first = plan.start == Start::MetaOrder;
    let (first, second) =
        if is_first { (("postmeta", "o"), ("posts", "p")) } else { (("posts", "p"), ("postmeta", "o")) };
    let of_post = || Expr::col(("o", "post_id")).equals(("p", "ID"));
    s.from_as(db.table(first.0), first.1);
    s.join_as(sea_query::JoinType::CrossJoin, db.table(second.0), second.1, of_post());
    s.and_where(of_post());
    of_key(db.sql(), &mut s, "o", key, is_first);
    s.and_where(Expr::col(("o", "meta_value")).is_not_null());
    let mut first_row = Query::select();
    first_row.expr(Expr::col(("f", "meta_id")).min()).from_as(db.table("postmeta"), "f");
    first_row.and_where(Expr::col(("f", "post_id")).equals(("p", "ID")));
    of_key(db.sql(), &mut first_row, "f", key, false);
    s.and_where(Expr::col(("o", "meta_id")).eq(Expr::SubQuery(None, Box::new(first_row.into()))));
    s
}

/// Restricts a statement to the rows of a registered meta key in the table with this alias: from the key's index on SQLite, or
/// not. Keys that differ from it in case or accents are equal in the collation of the column, but they are not registered.
fn of_key(sql: &dyn SqlDialect, s: &mut SelectStatement, alias: &'static str, key: &str, from_index: bool) {
    let column = || Expr::col((alias, "meta_key"));
    s.and_where(if from_index { column().eq(sql.constant(key)) } else { sql.without_index(alias, "meta_key").eq(key) });
    s.and_where(sql.is_exactly(column(), key));
}

/// The sort expressions of a list in the direction of reading, most significant first. They define a total order.
pub(super) fn order(db: &Db, q: &PostQuery, plan: &ListPlan) -> Vec<SortKey> {
    let col = |name: &'static str| plan.order_column(db.sql(), name);
    let default = [(PostOrderBy::Date, Order::Desc)];
    let orders = if q.order_by.is_empty() { &default[..] } else { &q.order_by };
    let mut all = Vec::with_capacity(orders.len() + 1);
    let mut tie = Some(Order::Desc);
    for (by, direction) in orders {
        let direction = *direction;
        tie = tie.map(|_| direction);
        match by {
            PostOrderBy::Author => all.push(SortKey::int(col("post_author"), direction)),
            PostOrderBy::Date => all.push(SortKey::text(col("post_date"), direction)),
            PostOrderBy::Modified => all.push(SortKey::text(col("post_modified"), direction)),
            PostOrderBy::Parent => all.push(SortKey::int(col("post_parent"), direction)),
            PostOrderBy::Slug => all.push(SortKey::text(col("post_name"), direction)),
            PostOrderBy::Title => all.push(SortKey::text(col("post_title"), direction)),
            PostOrderBy::MenuOrder => all.push(SortKey::int(col("menu_order"), direction)),
            PostOrderBy::CommentCount => all.push(SortKey::int(col("comment_count"), direction)),
            PostOrderBy::Id => {
                tie = None;
                all.push(SortKey::int(col("ID"), direction));
            }
            PostOrderBy::Include => {
                let position = crate::query::list_position(&col("ID"), q.include.iter().map(|id| id.0));
                all.extend(position.map(|p| SortKey::int(p, Order::Asc)));
            }
            PostOrderBy::IncludeSlugs => {
                let position = crate::query::list_position(&col("post_name"), q.slugs.iter().map(String::as_str));
                all.extend(position.map(|p| SortKey::int(p, Order::Asc)));
            }
            PostOrderBy::Relevance => {
                let rank = q.search.as_deref().and_then(|t| SearchTerms::parse(t).rank());
                all.extend(rank.map(|rank| SortKey::int(rank, Order::Asc)));
                all.push(SortKey::text(col("post_date"), direction));
            }
            PostOrderBy::IndexedMeta(_, value_type) => {
                let by = typed(db.sql(), Expr::col(("o", "meta_value")), *value_type);
                all.push(match value_type {
                    MetaType::Text => SortKey::text(by, direction),
                    MetaType::Integer => SortKey::int(by, direction),
                    MetaType::Number => SortKey::number(by, direction),
                });
                if orders.len() == 1 {
                    // The index has this column.
                    tie = None;
                    all.push(SortKey::int(Expr::col(("o", "post_id")), direction));
                }
            }
        }
    }
    all.extend(tie.map(|direction| SortKey::int(col("ID"), direction)));
    position::directed(all, q.backwards)
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
    if let Some(time) = after {
        s.and_where(is_after(q, date(), time));
    }
    if let Some(time) = before {
        s.and_where(is_before(q, date(), time));
    }
}

/// Whether a date is above the lower bound of the list.
pub(super) fn is_after(q: &PostQuery, date: Expr, bound: NaiveDateTime) -> Expr {
    let bound = stamp::format(Some(bound));
    if q.dates_inclusive { date.gte(bound) } else { date.gt(bound) }
}

/// Whether a date is below the upper bound of the list.
pub(super) fn is_before(q: &PostQuery, date: Expr, bound: NaiveDateTime) -> Expr {
    let bound = stamp::format(Some(bound));
    if q.dates_inclusive { date.lte(bound) } else { date.lt(bound) }
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

fn meta_condition(db: &Db, meta: &Clauses<MetaClause>, plan: &ListPlan, s: &mut SelectStatement) {
    if meta.clauses.is_empty() {
        return;
    }
    let mut condition = match meta.relation {
        Relation::And => Cond::all(),
        Relation::Or => Cond::any(),
    };
    for (at, clause) in meta.clauses.iter().enumerate() {
        if plan.start == Start::Meta(at) {
            let mut rows = indexed_rows(db, clause);
            rows.column(("m", "post_id"));
            condition = condition.add(Expr::col(("p", "ID")).in_subquery(rows));
            continue;
        }
        let mut rows = meta_rows(db, &clause.key);
        if clause.indexed {
            // The few rows of the post, not those of the key.
            rows = Query::select();
            rows.expr(Expr::val(1)).from_as(db.table("postmeta"), "m");
            rows.and_where(Expr::col(("m", "post_id")).equals(("p", "ID")));
            of_key(db.sql(), &mut rows, "m", &clause.key, false);
        }
        condition = condition.add(match clause.compare {
            MetaCompare::Exists => Expr::exists(rows),
            MetaCompare::NotExists => Expr::not_exists(rows),
            _ => Expr::exists(meta_compare(db.sql(), clause, rows)),
        });
    }
    s.cond_where(condition);
}

/// The rows of the clause's key that match it, in its index, without columns.
pub(super) fn indexed_rows(db: &Db, clause: &MetaClause) -> SelectStatement {
    let mut rows = Query::select();
    rows.from_as(db.table("postmeta"), "m");
    of_key(db.sql(), &mut rows, "m", &clause.key, true);
    if clause.compare == MetaCompare::Exists { rows } else { meta_compare(db.sql(), clause, rows) }
}

/// A stored value as the type.
fn typed(sql: &dyn SqlDialect, e: Expr, value_type: MetaType) -> Expr {
    match value_type {
        MetaType::Text => e,
        MetaType::Integer => sql.as_integer(e),
        MetaType::Number => sql.as_number(e),
    }
}

fn meta_compare(sql: &dyn SqlDialect, clause: &MetaClause, mut rows: SelectStatement) -> SelectStatement {
    rows.and_where(compared(sql, clause.value_type, clause.compare, &clause.values));
    if let Some((compare, value)) = &clause.other_end {
        rows.and_where(compared(sql, clause.value_type, *compare, std::slice::from_ref(value)));
    }
    rows
}

fn compared(sql: &dyn SqlDialect, value_type: MetaType, compare: MetaCompare, values: &[String]) -> Expr {
    let cast = |e: Expr| typed(sql, e, value_type);
    let stored = cast(Expr::col(("m", "meta_value")));
    let value = || cast(Expr::val(values.first().map_or("", String::as_str)));
    let all = || values.iter().map(|v| cast(Expr::val(v.as_str()))).collect::<Vec<_>>();
    match compare {
        MetaCompare::Gt => stored.gt(value()),
        MetaCompare::Gte => stored.gte(value()),
        MetaCompare::Lt => stored.lt(value()),
        MetaCompare::Lte => stored.lte(value()),
        MetaCompare::In => stored.is_in(all()),
        MetaCompare::Eq | MetaCompare::Exists | MetaCompare::NotExists => stored.eq(value()),
    }
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
