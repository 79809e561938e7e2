//! Term conditions, and the choice of the query plan for them.

use std::collections::HashMap;

use sea_query::{Cond, Expr, ExprTrait as _, Query, SelectStatement};
use svc_model::TermId;

use super::post_query::{Clauses, PostOrderBy, PostQuery, Relation, TaxClause, TaxOperator};
use crate::db::Db;
use crate::error::Result;

/// A term condition whose terms have been looked up.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    operator: TaxOperator,
    /// `term_taxonomy_id`s.
    ids: Vec<i64>,
    /// Number of posts with any of the terms, according to the stored term counts.
    n_posts: i64,
    /// Whether some of the requested terms do not exist.
    missing: bool,
}

/// How the engine finds the posts of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueryPlan {
    /// Scan the list in its order and check each post for the term: fast for terms with many posts.
    List,
    /// Start with the term's posts and sort them: fast for terms with few posts.
    Term,
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
            rows = rows.add(Expr::col("parent").ne(0));
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

/// Chooses the cheaper plan. If `m` of the list's `n` posts have the term, scanning the list finds a match every `n /
/// m` posts; starting with the term reads and sorts all `m`.
pub(super) fn choose(db: &mut Db, q: &PostQuery, tax: &[Resolved]) -> Result<QueryPlan> {
    let [only] = tax else { return Ok(QueryPlan::List) };
    let by_date = q.order_by.is_empty() || matches!(q.order_by[..], [(PostOrderBy::Date, _)]);
    let simple = by_date && q.search.is_none() && q.include.is_empty() && only.operator == TaxOperator::In;
    let (Some(limit), true) = (q.limit, simple) else { return Ok(QueryPlan::Term) };
    let m = u64::try_from(only.n_posts).unwrap_or(0);
    if m <= 1_000 {
        return Ok(QueryPlan::Term);
    }
    let mut all = Query::select();
    all.from_as(db.table("posts"), "p");
    if !q.post_types.is_empty() {
        all.and_where(Expr::col(("p", "post_type")).is_in(q.post_types.iter().map(String::as_str)));
    }
    let n = crate::query::approximate_total(db, &all)?;
    let walk = limit.saturating_add(q.offset).saturating_mul(n / m + 1);
    Ok(if walk < m { QueryPlan::List } else { QueryPlan::Term })
}

fn has_term(db: &Db, ids: &[i64], query_plan: QueryPlan) -> Expr {
    let list = crate::db::pad(ids);
    let mut rows = Query::select();
    rows.from_as(db.table("term_relationships"), "tr");
    rows.and_where(Expr::col(("tr", "term_taxonomy_id")).is_in(list));
    match query_plan {
        QueryPlan::Term => {
            rows.column(("tr", "object_id"));
            let id = Expr::col(("p", "ID"));
            id.in_subquery(rows)
        }
        QueryPlan::List => {
            rows.expr(Expr::val(1)).and_where(Expr::col(("tr", "object_id")).equals(("p", "ID")));
            Expr::exists(rows)
        }
    }
}

/// Adds the term conditions.
pub(super) fn tax_condition(
    db: &Db,
    relation: Relation,
    tax: &[Resolved],
    query_plan: QueryPlan,
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
    for clause in tax {
        condition = match clause.operator {
            TaxOperator::In if clause.ids.is_empty() => condition.add(never()),
            TaxOperator::In => condition.add(has_term(db, &clause.ids, query_plan)),
            TaxOperator::NotIn if clause.ids.is_empty() => condition,
            TaxOperator::NotIn => condition.add(has_term(db, &clause.ids, QueryPlan::List).not()),
            TaxOperator::And if clause.missing || clause.ids.is_empty() => condition.add(never()),
            TaxOperator::And => {
                condition.add(clause.ids.iter().fold(Cond::all(), |c, id| c.add(has_term(db, &[*id], query_plan))))
            }
        };
    }
    if !condition.is_empty() {
        s.cond_where(condition);
    }
}
