//! The terms that give posts and terms a language, in the taxonomies of the plugin Polylang.
//!
//! Objects of two of these taxonomies are terms, so that a row of `term_relationships` with their terms has the id of a term, which may also
//! be the id of a post. What a term belongs to is a part of the term: its changes are recorded as those of the term.

use std::collections::HashMap;

use sea_query::{Expr, ExprTrait as _, Query, SelectStatement};
use svc_db::{Db, Result, StoreError, Tx};
use svc_model::{Term, TermId, TermTaxonomyId};

use crate::{rows, term_counts, terms};

/// The taxonomy of the languages, which are the terms of posts.
pub const LANGUAGE: &str = "language";
/// The taxonomy of the groups of posts that are translations of each other.
pub const POST_TRANSLATIONS: &str = "post_translations";
/// The taxonomy of the languages as the terms of terms.
pub const TERM_LANGUAGE: &str = "term_language";
/// The taxonomy of the groups of terms that are translations of each other.
pub const TERM_TRANSLATIONS: &str = "term_translations";

/// The taxonomies whose objects are terms.
pub(crate) const OF_TERMS: [&str; 2] = [TERM_LANGUAGE, TERM_TRANSLATIONS];
/// The taxonomies whose terms count all of their objects. The others count published posts.
pub(crate) const COUNT_ALL: [&str; 3] = [POST_TRANSLATIONS, TERM_LANGUAGE, TERM_TRANSLATIONS];

/// At most this many terms of the two taxonomies of languages, by taxonomy, then in the order of the languages.
///
/// The result depends on the terms that are returned, not on others that are added.
///
/// # Errors
/// If the database cannot be read.
pub fn languages(db: &mut Db, limit: u64) -> Result<Vec<Term>> {
    let found = db.recorded_by_caller(|db| {
        let mut s = terms::select(db);
        s.and_where(Expr::col(("tt", "taxonomy")).is_in([LANGUAGE, TERM_LANGUAGE]));
        for column in [("tt", "taxonomy"), ("t", "term_group"), ("t", "term_id")] {
            s.order_by(column, sea_query::Order::Asc);
        }
        db.all(s.limit(limit), terms::read)
    })?;
    rows::TERMS.depend_on(db.cx(), found.iter().map(|term| term.id.0));
    Ok(found)
}

/// The language and the group of each of these terms, in one query. Terms without them are omitted.
///
/// # Errors
/// If the database cannot be read.
pub fn of_terms(db: &mut Db, ids: &[TermId]) -> Result<HashMap<TermId, Vec<Term>>> {
    let numbers: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let mut found: HashMap<TermId, Vec<Term>> = HashMap::new();
    let build = |db: &Db, ids: Vec<i64>| {
        let mut s = terms::select(db);
        s.column(("tr", "object_id"));
        let on = Expr::col(("tr", "term_taxonomy_id")).equals(("tt", "term_taxonomy_id"));
        s.join_as(sea_query::JoinType::InnerJoin, db.table("term_relationships"), "tr", on);
        s.and_where(Expr::col(("tr", "object_id")).is_in(ids));
        // Without bound values, because the statement is cached.
        s.and_where(Expr::cust("tt.taxonomy IN ('term_language', 'term_translations')"));
        s.order_by(("t", "name"), sea_query::Order::Asc).order_by(("t", "term_id"), sea_query::Order::Asc).take()
    };
    // Other programs' changes are known by the table.
    db.cached_list("languages.of_terms", &[rows::POST_TERMS, rows::TERMS], &numbers, build, |row| {
        found.entry(TermId(row.int(terms::N_COLUMNS)?)).or_default().push(terms::read(row)?);
        Ok(())
    })?;
    rows::TERMS.depend_on(db.cx(), found.values().flatten().map(|term| term.id.0));
    Ok(found)
}

/// Replaces the terms that a term has in one of these taxonomies, and counts them. `before` are those that it has.
///
/// # Errors
/// If the database cannot be written.
pub fn set_of_term(tx: &mut Tx, term: TermId, before: &[TermTaxonomyId], after: &[TermTaxonomyId]) -> Result<()> {
    let gained: Vec<TermTaxonomyId> = after.iter().copied().filter(|t| !before.contains(t)).collect();
    let lost: Vec<TermTaxonomyId> = before.iter().copied().filter(|t| !after.contains(t)).collect();
    if !lost.is_empty() {
        let mut relationships = Query::delete();
        relationships.from_table(tx.table("term_relationships")).and_where(Expr::col("object_id").eq(term.0));
        relationships.and_where(Expr::col("term_taxonomy_id").is_in(lost.iter().map(|t| t.0)));
        tx.change_rows(&relationships, rows::TERMS, &[term.0])?;
    }
    if !gained.is_empty() {
        let mut insert = Query::insert();
        insert.into_table(tx.table("term_relationships")).columns(["object_id", "term_taxonomy_id", "term_order"]);
        for id in &gained {
            let row = [term.0.into(), id.0.into(), 0.into()];
            insert.values(row).map_err(|error| StoreError::Other(error.to_string()))?;
        }
        tx.change_rows(&insert, rows::TERMS, &[term.0])?;
    }
    term_counts::add_objects(tx, &gained, 1)?;
    term_counts::add_objects(tx, &lost, -1)
}

/// The ids of the terms that have one of these terms.
pub(crate) fn objects_of(db: &Db, terms: &[TermTaxonomyId]) -> SelectStatement {
    let mut rows = Query::select();
    rows.column("object_id").from(db.table("term_relationships"));
    rows.and_where(Expr::col("term_taxonomy_id").is_in(terms.iter().map(|term| term.0))).take()
}
