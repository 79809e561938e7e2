//! Term conditions, and the choice of the plan of a list.

use std::collections::HashMap;

use sea_query::{Cond, Expr, ExprTrait as _, Query, SelectStatement};
use svc_db::{Db, Result, SqlDialect};
use svc_model::TermId;

use super::post_query::{Clauses, PostOrderBy, PostQuery, Relation, TaxClause, TaxOperator};
use super::stats::{self, DateColumn, Group, Stats};

/// A term condition whose terms have been looked up.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    pub(super) operator: TaxOperator,
    /// `term_taxonomy_id`s.
    pub(super) ids: Vec<i64>,
    /// Number of posts with any of the terms, according to the stored term counts.
    pub(super) n_posts: i64,
    /// Whether some of the requested terms do not exist.
    pub(super) missing: bool,
}

/// Looks up the terms of all conditions, including child terms where requested.
pub(super) fn resolve(db: &mut Db, tax: &Clauses<TaxClause>) -> Result<Vec<Resolved>> {
    if tax.clauses.is_empty() {
        return Ok(Vec::new());
    }
    let mut requested = Cond::any();
    for clause in &tax.clauses {
        let mut rows = Cond::any().add(Expr::col("term_id").is_in(clause.terms.iter().map(|t| t.0)));
        if clause.include_children {
            // Read the whole hierarchy: it is small compared to the posts, and one query suffices for any depth.
            rows = rows.add(Expr::col("parent").gt(0));
        }
        requested = requested.add(Cond::all().add(Expr::col("taxonomy").eq(clause.taxonomy.as_str())).add(rows));
    }
    let mut s = Query::select();
    s.columns(["taxonomy", "term_id", "term_taxonomy_id", "parent", "count"]).from(db.table("term_taxonomy"));
    s.cond_where(requested);
    let mut rows: HashMap<String, Vec<TermRow>> = HashMap::new();
    db.select(&s, |row| {
        let term = TermRow { id: row.int(1)?, taxonomy_id: row.int(2)?, parent: row.int(3)?, count: row.int(4)? };
        rows.entry(row.text(0)?.to_ascii_lowercase()).or_default().push(term);
        Ok(())
    })?;
    Ok(tax
        .clauses
        .iter()
        .map(|clause| {
            let empty = Vec::new();
            resolve_one(clause, rows.get(&clause.taxonomy.to_ascii_lowercase()).unwrap_or(&empty))
        })
        .collect())
}

struct TermRow {
    id: i64,
    taxonomy_id: i64,
    parent: i64,
    count: i64,
}

fn resolve_one(clause: &TaxClause, rows: &[TermRow]) -> Resolved {
    let mut requested: Vec<i64> = clause.terms.iter().map(|t: &TermId| t.0).collect();
    if clause.include_children {
        let mut children: HashMap<i64, Vec<i64>> = HashMap::new();
        for row in rows.iter().filter(|r| r.parent != 0) {
            children.entry(row.parent).or_default().push(row.id);
        }
        let mut next = 0;
        while let Some(id) = requested.get(next) {
            // Removing visited children makes cycles in the hierarchy harmless.
            if let Some(below) = children.remove(id) {
                requested.extend(below);
            }
            next += 1;
        }
    }
    requested.sort_unstable();
    requested.dedup();
    let matches: Vec<&TermRow> = rows.iter().filter(|r| requested.binary_search(&r.id).is_ok()).collect();
    let mut ids: Vec<i64> = matches.iter().map(|r| r.taxonomy_id).collect();
    ids.sort_unstable();
    ids.dedup();
    Resolved {
        operator: clause.operator,
        missing: ids.len() < requested.len(),
        n_posts: matches.iter().map(|r| Ord::max(r.count, 0)).sum(),
        ids,
    }
}

/// How the engine finds the posts of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TermPlan {
    /// Check each post of the list for the term.
    Check,
    /// Start with the posts of the term and sort them.
    Start,
}

/// The rows from which a list is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// All posts of the types and statuses, in the order of the list. The engine stops when the page is full.
    Order,
    /// The posts of the authors by date, in the order of the list.
    AuthorsByDate,
    /// The posts with these values, which are then sorted.
    Column(&'static str),
    /// The posts of the terms of this condition, which are then sorted.
    Clause(usize),
    /// The posts whose meta matches this condition, by its index, which are then sorted.
    Meta(usize),
    /// The posts by the index of the meta that the list is sorted by.
    MetaOrder,
    /// The engine decides.
    Any,
}

/// How a list is read. All plans return the same posts.
#[derive(Clone, Debug)]
pub(super) struct ListPlan {
    pub(super) start: Start,
    /// The types and statuses that are read separately and merged. If empty, all are conditions of one statement.
    pub(super) groups: Vec<Group>,
}

impl ListPlan {
    /// The plan of engines whose optimizer decides.
    pub(super) fn of_engine(start: Start) -> Self {
        ListPlan { start, groups: Vec::new() }
    }

    /// How the posts of a condition's terms are found.
    pub(super) fn of_clause(&self, n: usize) -> TermPlan {
        if self.start == Start::Clause(n) { TermPlan::Start } else { TermPlan::Check }
    }

    /// A column in a condition. Only columns that the plan starts from are looked up in an index.
    pub(super) fn column(&self, sql: &dyn SqlDialect, order_column: Option<&'static str>, name: &'static str) -> Expr {
        let of_group = matches!(name, "post_type" | "post_status");
        let is_used = match self.start {
            Start::Any => true,
            Start::Order => of_group || order_column == Some(name),
            Start::AuthorsByDate => of_group || matches!(name, "post_author" | "post_date"),
            Start::Column(start @ ("ID" | "post_name")) => start == name,
            Start::Column(start) => of_group || start == name,
            Start::Clause(_) | Start::Meta(_) | Start::MetaOrder => name == "ID",
        };
        if is_used { Expr::col(("p", name)) } else { sql.without_index("p", name) }
    }

    /// A column by which the list is sorted.
    pub(super) fn order_column(&self, sql: &dyn SqlDialect, name: &'static str) -> Expr {
        let is_used = matches!(self.start, Start::Any | Start::Order | Start::AuthorsByDate);
        if is_used { Expr::col(("p", name)) } else { sql.without_index("p", name) }
    }
}

/// The column of an index in whose order a list can be read: that of its first sort key.
pub(super) fn order_column(q: &PostQuery) -> Option<&'static str> {
    Some(match q.order_by.first().map(|(by, _)| by) {
        None | Some(PostOrderBy::Date) => "post_date",
        Some(PostOrderBy::Author) => "post_author",
        Some(PostOrderBy::Id) => "ID",
        Some(PostOrderBy::Modified) => "post_modified",
        Some(PostOrderBy::Parent) => "post_parent",
        Some(PostOrderBy::Slug) => "post_name",
        Some(PostOrderBy::Title) => "post_title",
        Some(PostOrderBy::MenuOrder) => "menu_order",
        _ => return None,
    })
}

/// Maximum number of groups that are merged.
const MAX_MERGED: usize = 32;

/// Time to find and sort a post relative to that for the next one in the order of an index.
const SORT_COST: u64 = 4;

/// Number of posts that are always read and sorted, because conditions may not be independent.
const SMALL_SET: u64 = 2_500;

/// Assumed number of children of a post, and of posts with a slug or title.
const FEW: u64 = 50;

/// Chooses the cheapest plan with maintained counts.
///
/// If `m` of a list's `n` posts match, reading it in its order finds one every `n / m` posts. Starting from the rows of
/// the most selective condition reads and sorts all of these. Conditions are assumed to be independent.
pub(super) fn choose(db: &mut Db, q: &PostQuery, tax: &[Resolved], stats: &Stats) -> Result<ListPlan> {
    let n = Ord::max(stats.n(), 1);
    let mut sets: Vec<(u64, Start)> = Vec::new();
    let len = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    if let Some(n_authors) = stats.authors {
        sets.push((n_authors, Start::Column("post_author")));
    }
    if !q.include.is_empty() {
        sets.push((len(q.include.len()), Start::Column("ID")));
    }
    if let Some(only) = &q.ids {
        sets.push((len(only.len()), Start::Column("ID")));
    }
    if !q.slugs.is_empty() {
        sets.push((len(q.slugs.len()).saturating_mul(FEW), Start::Column("post_name")));
    }
    if q.title.is_some() {
        sets.push((FEW, Start::Column("post_title")));
    }
    if !q.parent_in.is_empty() && q.parent_in.iter().all(|id| !id.is_none()) {
        sets.push((len(q.parent_in.len()).saturating_mul(FEW), Start::Column("post_parent")));
    }
    if stats::restricts(q.tax.relation, tax.len()) {
        let required = tax.iter().enumerate().filter(|(_, clause)| clause.operator != TaxOperator::NotIn);
        sets.extend(required.map(|(at, clause)| (stats.of_clause(clause), Start::Clause(at))));
    }
    if stats::restricts(q.meta.relation, q.meta.clauses.len()) {
        for (at, clause) in q.meta.clauses.iter().enumerate() {
            if let Some(n) = stats::of_meta(db, clause)? {
                sets.push((n, Start::Meta(at)));
            }
        }
    }
    let order_column = order_column(q);
    for column in [DateColumn::Date, DateColumn::Modified] {
        // In its own order, the range is read directly.
        if Some(column.name()) != order_column
            && let Some(n) = column.at_most(db, q)?
        {
            sets.push((n, Start::Column(column.name())));
        }
    }
    let smallest = sets.iter().min_by_key(|(size, _)| *size).copied();
    // Posts that match all conditions, in units of 2^-16 of a post.
    let mut matching = u128::from(n) << 16;
    for (size, _) in &sets {
        matching = matching * u128::from(Ord::min(*size, n)) / u128::from(n);
    }
    let page = q.limit.unwrap_or(u64::MAX).saturating_add(q.offset);
    let until_full = |rows: u64| -> u64 {
        let rows_per_match = (u128::from(rows) << 16) / Ord::max(matching, 1) + 1;
        Ord::min(u64::try_from(u128::from(page) * rows_per_match).unwrap_or(u64::MAX), rows)
    };
    let mut plans = vec![match (order_column, q.indexed_order()) {
        (Some(_), _) => (until_full(n), Start::Order),
        (None, Some(_)) => (until_full(n), Start::MetaOrder),
        (None, None) => (u64::MAX, Start::Any),
    }];
    let reads_authors_in_order = order_column == Some("post_date");
    if let Some((size, start)) = smallest {
        let is_small = size <= SMALL_SET && !(reads_authors_in_order && start == Start::Column("post_author"));
        plans.push((if is_small { 0 } else { size.saturating_mul(SORT_COST) }, start));
    }
    if let Some(n_authors) = stats.authors.filter(|_| reads_authors_in_order) {
        plans.push((until_full(n_authors), Start::AuthorsByDate));
    }
    let start = plans.into_iter().min_by_key(|(cost, _)| *cost).map_or(Start::Any, |(_, start)| start);
    let n_merged = stats.groups.len() * if start == Start::AuthorsByDate { q.author_in.len() } else { 1 };
    Ok(match start {
        Start::Order | Start::AuthorsByDate if n_merged <= MAX_MERGED => {
            ListPlan { start, groups: stats.groups.clone() }
        }
        Start::Order | Start::AuthorsByDate => ListPlan::of_engine(Start::Any),
        start => ListPlan::of_engine(start),
    })
}

/// The plan to count the matches: from the most selective condition.
pub(super) fn to_count(plan: &ListPlan) -> ListPlan {
    match plan.start {
        start @ (Start::Column(_) | Start::Clause(_) | Start::Meta(_) | Start::MetaOrder) => ListPlan::of_engine(start),
        _ => ListPlan::of_engine(Start::Any),
    }
}

/// The last post up to which groups are merged by engines that read all posts before from each group.
const MAX_MERGED_POSTS: u64 = 1_000;

/// The types and statuses of a list by date that is best read by merging them, on engines without maintained counts:
/// the engine reads each of them in the order of an index, but sorts all posts of a list of several.
pub(super) fn groups_by_date(q: &PostQuery, plan: &ListPlan) -> Option<Vec<Group>> {
    let by_date = matches!(q.order_by[..], [] | [(PostOrderBy::Date, _)]);
    let is_near = q.limit.is_some_and(|limit| limit.saturating_add(q.offset) <= MAX_MERGED_POSTS);
    let is_selective = !q.include.is_empty() || q.ids.is_some() || !q.author_in.is_empty() || q.search.is_some();
    if plan.start != Start::Any || !by_date || !is_near || is_selective {
        return None;
    }
    let mut groups: Vec<Group> = Vec::new();
    let own = q.own_statuses.iter().flat_map(|(user, list)| list.iter().map(|status| (status, Some(*user))));
    for (status, author) in q.statuses.iter().map(|status| (status, None)).chain(own) {
        for post_type in &q.post_types {
            let is_known = |group: &Group| {
                group.post_type.eq_ignore_ascii_case(post_type) && group.status.eq_ignore_ascii_case(status)
            };
            if !groups.iter().any(is_known) {
                groups.push(Group { post_type: post_type.clone(), status: status.clone(), author, n: 0 });
            }
        }
    }
    (2..=MAX_MERGED).contains(&groups.len()).then_some(groups)
}

/// Chooses the plan for a term condition without maintained counts. If `m` of the list's `n` posts have the term,
/// scanning the list finds a match every `n / m` posts; starting with the term reads and sorts all `m`.
pub(super) fn choose_by_terms(db: &mut Db, q: &PostQuery, tax: &[Resolved]) -> Result<ListPlan> {
    let required = tax.iter().enumerate().filter(|(_, clause)| clause.operator != TaxOperator::NotIn);
    let smallest = required.min_by_key(|(_, clause)| clause.n_posts);
    let Some((at, only)) = smallest.filter(|_| stats::restricts(q.tax.relation, tax.len())) else {
        return Ok(ListPlan::of_engine(Start::Any));
    };
    let from_term = ListPlan::of_engine(Start::Clause(at));
    let by_date = q.order_by.is_empty() || matches!(q.order_by[..], [(PostOrderBy::Date, _)]);
    let simple = by_date && q.search.is_none() && q.include.is_empty() && tax.len() == 1;
    let Some(limit) = q.limit.filter(|_| simple && only.operator == TaxOperator::In) else { return Ok(from_term) };
    let m = u64::try_from(only.n_posts).unwrap_or(0);
    if m <= 1_000 {
        return Ok(from_term);
    }
    let mut all = Query::select();
    all.from_as(db.table("posts"), "p");
    if !q.post_types.is_empty() {
        all.and_where(Expr::col(("p", "post_type")).is_in(q.post_types.iter().map(String::as_str)));
    }
    let n = db.approximate_total(&all)?;
    let walk = limit.saturating_add(q.offset).saturating_mul(n / m + 1);
    Ok(if walk < m { ListPlan::of_engine(Start::Any) } else { from_term })
}

fn has_term(db: &Db, ids: &[i64], plan: TermPlan) -> Expr {
    let list = svc_db::pad(ids);
    let mut rows = Query::select();
    rows.from_as(db.table("term_relationships"), "tr");
    rows.and_where(Expr::col(("tr", "term_taxonomy_id")).is_in(list));
    match plan {
        TermPlan::Start => {
            rows.column(("tr", "object_id"));
            let id = Expr::col(("p", "ID"));
            id.in_subquery(rows)
        }
        TermPlan::Check => {
            rows.expr(Expr::val(1)).and_where(Expr::col(("tr", "object_id")).equals(("p", "ID")));
            Expr::exists(rows)
        }
    }
}

/// Adds the term conditions. `plan_of` returns the plan of the condition with this position.
pub(super) fn tax_condition(
    db: &Db,
    relation: Relation,
    tax: &[Resolved],
    plan_of: impl Fn(usize) -> TermPlan,
    s: &mut SelectStatement,
) {
    if tax.is_empty() {
        return;
    }
    let never = || Expr::cust("0 = 1");
    let mut condition = match relation {
        Relation::And => Cond::all(),
        Relation::Or => Cond::any(),
    };
    for (at, clause) in tax.iter().enumerate() {
        condition = match clause.operator {
            TaxOperator::In if clause.ids.is_empty() => condition.add(never()),
            TaxOperator::In => condition.add(has_term(db, &clause.ids, plan_of(at))),
            TaxOperator::NotIn if clause.ids.is_empty() => condition,
            TaxOperator::NotIn => condition.add(has_term(db, &clause.ids, TermPlan::Check).not()),
            TaxOperator::And if clause.missing || clause.ids.is_empty() => condition.add(never()),
            TaxOperator::And => {
                condition.add(clause.ids.iter().fold(Cond::all(), |c, id| c.add(has_term(db, &[*id], plan_of(at)))))
            }
        };
    }
    if !condition.is_empty() {
        s.cond_where(condition);
    }
}
