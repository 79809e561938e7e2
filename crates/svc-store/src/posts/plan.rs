//! Conditions on terms, and the way that the engine is led to the rows.

use std::collections::HashMap;

use sea_query::{Cond, Expr, ExprTrait as _, Query, SelectStatement};
use svc_model::TermId;

use crate::db::Db;
use crate::error::Result;
use crate::posts::query::{Clauses, PostOrderBy, PostQuery, Relation, TaxClause, TaxOperator};

/// A condition on terms with its terms looked up.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    operator: TaxOperator,
    /// `term_taxonomy_id`s.
    ids: Vec<i64>,
    /// How many posts have one of them, as the terms' own counts tell.
    n_posts: i64,
    /// The terms asked for are not all there.
    missing: bool,
}

/// How the engine gets at the posts of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueryPlan {
    /// Along the order of the list, asking of each post whether it has the term: good for terms of many posts.
    List,
    /// From the term's posts, which are then sorted: good for terms of few posts.
    Term,
}

/// Looks up the terms of all conditions, with their children where those count.
pub(super) fn resolve(db: &mut Db, tax: &Clauses<TaxClause>) -> Result<Vec<Resolved>> {
    if tax.clauses.is_empty() {
        return Ok(Vec::new());
    }
    let mut wanted = Cond::any();
    for clause in &tax.clauses {
        let mut rows = Cond::any().add(Expr::col("term_id").is_in(clause.terms.iter().map(|t| t.0)));
        if clause.include_children {
            // The hierarchy is read whole: it is small beside the posts, and one query serves every depth.
            rows = rows.add(Expr::col("parent").ne(0));
        }
        wanted = wanted.add(Cond::all().add(Expr::col("taxonomy").eq(clause.taxonomy.as_str())).add(rows));
    }
    let mut s = Query::select();
    s.columns(["taxonomy", "term_id", "term_taxonomy_id", "parent", "count"]).from(db.table("term_taxonomy"));
    s.cond_where(wanted);
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
    let mut wanted: Vec<i64> = clause.terms.iter().map(|t: &TermId| t.0).collect();
    if clause.include_children {
        let mut children: HashMap<i64, Vec<i64>> = HashMap::new();
        for row in rows.iter().filter(|r| r.parent != 0) {
            children.entry(row.parent).or_default().push(row.id);
        }
        let mut next = 0;
        while let Some(id) = wanted.get(next) {
            // Taking the children out makes a loop in the hierarchy harmless.
            if let Some(below) = children.remove(id) {
                wanted.extend(below);
            }
            next += 1;
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    let found: Vec<&TermRow> = rows.iter().filter(|r| wanted.binary_search(&r.id).is_ok()).collect();
    let mut ids: Vec<i64> = found.iter().map(|r| r.taxonomy_id).collect();
    ids.sort_unstable();
    ids.dedup();
    Resolved {
        operator: clause.operator,
        missing: ids.len() < wanted.len(),
        n_posts: found.iter().map(|r| Ord::max(r.count, 0)).sum(),
        ids,
    }
}

/// Chooses the way by what each would cost: with `n` posts in the list's index of which `m` have the term, walking the
/// list meets a match every `n / m` posts; going from the term reads and sorts all `m`.
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
    let n = crate::query::rough_total(db, &all)?;
    let walk = limit.saturating_add(q.offset).saturating_mul(n / m + 1);
    Ok(if walk < m { QueryPlan::List } else { QueryPlan::Term })
}

fn has_term(db: &Db, ids: &[i64], drive: QueryPlan) -> Expr {
    let list = crate::db::pad(ids);
    let mut rows = Query::select();
    rows.from_as(db.table("term_relationships"), "tr");
    rows.and_where(Expr::col(("tr", "term_taxonomy_id")).is_in(list));
    match drive {
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

/// Adds the conditions on terms.
pub(super) fn tax_condition(db: &Db, relation: Relation, tax: &[Resolved], drive: QueryPlan, s: &mut SelectStatement) {
    if tax.is_empty() {
        return;
    }
    let never = || Expr::cust("0 = 1");
    let mut joined = match relation {
        Relation::And => Cond::all(),
        Relation::Or => Cond::any(),
    };
    for clause in tax {
        joined = match clause.operator {
            TaxOperator::In if clause.ids.is_empty() => joined.add(never()),
            TaxOperator::In => joined.add(has_term(db, &clause.ids, drive)),
            TaxOperator::NotIn if clause.ids.is_empty() => joined,
            TaxOperator::NotIn => joined.add(has_term(db, &clause.ids, QueryPlan::List).not()),
            TaxOperator::And if clause.missing || clause.ids.is_empty() => joined.add(never()),
            TaxOperator::And => {
                joined.add(clause.ids.iter().fold(Cond::all(), |c, id| c.add(has_term(db, &[*id], drive))))
            }
        };
    }
    if !joined.is_empty() {
        s.cond_where(joined);
    }
}
