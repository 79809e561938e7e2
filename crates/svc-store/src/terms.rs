//! Terms of taxonomies: rows, terms of posts, lists and writes.

use std::collections::{HashMap, HashSet};

use sea_query::{Cond, Expr, ExprTrait as _, Query, SelectStatement};
use svc_db::{Db, Result, StoreError, Tx};
use svc_model::{PostId, Term, TermId, TermTaxonomyId};

use crate::caches;
use crate::columns::{self, Column, columns};
use crate::descriptions::Descriptions;
use crate::meta::{self, MetaKind};
use crate::options;
use crate::position::{self, SortKey};
use crate::query::{change_matching, in_order, list_query};
use crate::rows;
use crate::{Beyond, Order, Page, Position, language_terms, term_counts};

#[rustfmt::skip]
columns! { Term, (&'static str, &'static str);
    (("t", "term_id"), id, Id, Never),
    (("tt", "term_taxonomy_id"), taxonomy_id, Id, Never),
    (("tt", "taxonomy"), taxonomy, Text, OnInsert),
    (("t", "name"), name, Text),
    (("t", "slug"), slug, Text),
    (("t", "term_group"), group, Int),
    (("tt", "description"), description, Text),
    (("tt", "parent"), parent, Id),
    (("tt", "count"), count, Int, OnInsert),
}

/// Number of columns of [`select`].
pub(crate) const N_COLUMNS: usize = COLUMNS.len();

/// The columns of the table with this alias.
fn columns_of(alias: &str) -> impl Iterator<Item = &'static Column<Term, (&'static str, &'static str)>> {
    static ALL: [Column<Term, (&str, &str)>; COLUMNS.len()] = COLUMNS;
    ALL.iter().filter(move |column| column.name.0 == alias)
}

/// Terms joined with their taxonomies, without columns.
fn with_taxonomy(db: &Db) -> SelectStatement {
    let mut s = Query::select();
    s.from_as(db.table("terms"), "t");
    s.join_as(
        sea_query::JoinType::InnerJoin,
        db.table("term_taxonomy"),
        "tt",
        Expr::col(("tt", "term_id")).equals(("t", "term_id")),
    );
    s
}

pub(crate) fn select(db: &Db) -> SelectStatement {
    let mut s = with_taxonomy(db);
    s.columns(columns::names(&COLUMNS));
    s
}

fn by_id(db: &Db, ids: Vec<i64>) -> SelectStatement {
    select(db)
        .and_where(Expr::col(("tt", "term_id")).is_in(ids))
        .order_by(("tt", "term_taxonomy_id"), sea_query::Order::Asc)
        .take()
}

/// Reads a term by id in this taxonomy, or in the first one that contains it.
pub fn get(db: &mut Db, id: TermId, taxonomy: Option<&str>) -> Result<Option<Term>> {
    Ok(get_many(db, &[id])?.into_iter().find(|term| taxonomy.is_none_or(|name| name == term.taxonomy)))
}

/// Reads terms in the order of `ids`. Missing terms are omitted. A term in several taxonomies is returned once for
/// each.
pub fn get_many(db: &mut Db, ids: &[TermId]) -> Result<Vec<Term>> {
    let found = without_counts(db, ids)?;
    rows::TERM_COUNTS.depend_on(db.cx(), found.iter().map(|term| term.taxonomy_id.0));
    Ok(found)
}

/// Reads the same terms as [`get_many`].
///
/// Cached values that depend on the result are not invalidated when only the number of posts of a term changes.
pub fn without_counts(db: &mut Db, ids: &[TermId]) -> Result<Vec<Term>> {
    let numbers: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let found = db.load_once(rows::TERMS, &[rows::TERM_COUNTS], &numbers, |db, ids| {
        let mut found: HashMap<i64, Vec<Term>> = HashMap::with_capacity(ids.len());
        db.cached_list("terms.get", &[rows::TERMS], ids, by_id, |row| {
            let term: Term = read(row)?;
            found.entry(term.id.0).or_default().push(term);
            Ok(())
        })?;
        Ok(found)
    })?;
    let mut found: Vec<Term> = found.into_values().flatten().collect();
    in_order(&mut found, ids, |t| t.id);
    Ok(found)
}

/// Reads a term of a taxonomy by slug.
pub fn by_slug(db: &mut Db, slug: &str, taxonomy: &str) -> Result<Option<Term>> {
    rows::TERMS.depend_on_all(db.cx());
    rows::TERM_COUNTS.depend_on_all(db.cx());
    let mut found: Option<Term> = None;
    let build = |db: &Db| {
        select(db)
            .and_where(Expr::col(("t", "slug")).eq(""))
            .and_where(Expr::col(("tt", "taxonomy")).eq(""))
            .order_by(("t", "term_id"), sea_query::Order::Asc)
            .take()
    };
    db.cached(("terms.by_slug", 0), &[slug.into(), taxonomy.into()], build, |row| {
        if found.is_none() {
            found = Some(read(row)?);
        }
        Ok(())
    })?;
    Ok(found)
}

/// The terms of a taxonomy with this name, ignoring case, in ascending order of id.
pub fn by_name(db: &mut Db, name: &str, taxonomy: &str) -> Result<Vec<Term>> {
    let mut s = select(db);
    s.and_where(Expr::col(("t", "name")).eq(name)).and_where(Expr::col(("tt", "taxonomy")).eq(taxonomy));
    s.order_by(("t", "term_id"), sea_query::Order::Asc);
    db.all(&s, read)
}

/// All terms of several posts in all taxonomies, in one query, sorted by name. Posts without terms are omitted.
///
/// Cached values that depend on the result are not invalidated when only the number of posts of a term changes.
pub fn of_objects(db: &mut Db, posts: &[PostId]) -> Result<HashMap<PostId, Vec<Term>>> {
    let numbers: Vec<i64> = posts.iter().map(|id| id.0).collect();
    let found = db.load_once(rows::POST_TERMS, TERM_ROWS, &numbers, load_of_objects)?;
    let found: HashMap<PostId, Vec<Term>> = found.into_iter().map(|(id, terms)| (PostId(id), terms)).collect();
    rows::TERMS.depend_on(db.cx(), found.values().flatten().map(|term| term.id.0));
    Ok(found)
}

/// What a term consists of.
const TERM_ROWS: &[svc_db::Rows] = &[rows::TERMS, rows::TERM_COUNTS];

/// A new post has no terms: they need not be loaded in this transaction.
pub(crate) fn keep_none(tx: &Tx, post: PostId) {
    tx.keep_loaded::<Vec<Term>>(rows::POST_TERMS, TERM_ROWS, post.0, None);
}

fn load_of_objects(db: &mut Db, ids: &[i64]) -> Result<HashMap<i64, Vec<Term>>> {
    let mut found: HashMap<i64, Vec<Term>> = HashMap::new();
    let build = |db: &Db, ids: Vec<i64>| {
        let mut s = select(db);
        s.column(("tr", "object_id"));
        s.join_as(
            sea_query::JoinType::InnerJoin,
            db.table("term_relationships"),
            "tr",
            Expr::col(("tr", "term_taxonomy_id")).equals(("tt", "term_taxonomy_id")),
        );
        s.and_where(Expr::col(("tr", "object_id")).is_in(ids));
        s.order_by(("t", "name"), sea_query::Order::Asc).order_by(("t", "term_id"), sea_query::Order::Asc);
        s
    };
    db.cached_list("terms.of_objects", &[rows::POST_TERMS], ids, build, |row| {
        found.entry(row.int(COLUMNS.len())?).or_default().push(read(row)?);
        Ok(())
    })?;
    Ok(found)
}

/// The terms of a taxonomy that have a parent, as pairs of term and parent.
pub fn hierarchy(db: &mut Db, taxonomy: &str) -> Result<Vec<(TermId, TermId)>> {
    let mut s = Query::select();
    s.columns(["term_id", "parent"]).from(db.table("term_taxonomy"));
    s.and_where(Expr::col("taxonomy").eq(taxonomy)).and_where(Expr::col("parent").gt(0));
    s.order_by("term_id", sea_query::Order::Asc);
    db.all(&s, |row| Ok((TermId(row.int(0)?), TermId(row.int(1)?))))
}

/// Sort order of terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TermOrderBy {
    /// Id.
    Id,
    /// The order of `include`.
    Include,
    /// Name.
    #[default]
    Name,
    /// Slug.
    Slug,
    /// The order of `slugs`.
    IncludeSlugs,
    /// Term group.
    Group,
    /// Description.
    Description,
    /// Number of posts.
    Count,
    /// Id of the parent.
    Parent,
}

list_query! {
    /// Conditions for a list of terms. Empty lists and `None` are no restriction.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TermQuery {
        /// Only these taxonomies.
        pub taxonomies: Vec<String>,
        /// Only these ids.
        pub include: Vec<TermId>,
        /// Excluded ids.
        pub exclude: Vec<TermId>,
        /// Only terms with posts.
        pub hide_empty: bool,
        /// Terms that are listed despite `hide_empty` ([`crate::term_tree::empty_with_nonempty_descendants`]).
        pub include_empty: Vec<TermId>,
        /// Only direct children of this term; 0 is top-level terms.
        pub parent: Option<TermId>,
        /// Only terms of these posts.
        pub posts: Vec<PostId>,
        /// Only terms that have one of these terms of [`crate::language_terms`], or none if the list is empty; `None` for no restriction.
        pub languages: Option<Vec<TermTaxonomyId>>,
        /// Only these slugs.
        pub slugs: Vec<String>,
        /// Only these exact names, ignoring case.
        pub names: Vec<String>,
        /// Text to search for in name and slug.
        pub search: Option<String>,
        /// Sort order.
        pub order_by: TermOrderBy,
        /// Sort direction.
        pub order: Order,
    }
}

/// Returns the ids of a page of terms, and the total if requested. Ties are broken by id, ascending.
///
/// # Errors
/// [`StoreError::TooMany`] if the query contains too many values.
pub fn query(db: &mut Db, q: &TermQuery) -> Result<Page<TermId>> {
    rows::TERMS.depend_on_all(db.cx());
    if q.hide_empty || q.order_by == TermOrderBy::Count {
        rows::TERM_COUNTS.depend_on_all(db.cx());
    }
    rows::POST_TERMS.depend_on(db.cx(), q.posts.iter().map(|id| id.0));
    if q.languages.is_some() {
        rows::POST_TERMS.depend_on_all(db.cx());
    }
    db.recorded_by_caller(|db| position::page(db, q, find, position_of))
}

fn find(db: &mut Db, q: &TermQuery) -> Result<Page<TermId>> {
    let mut filtered = with_taxonomy(db);
    conditions(db, q, &mut filtered);
    let mut page = filtered.clone();
    if reads_in_order(db, q)? {
        page = terms_first(db);
        conditions(db, q, &mut page);
    }
    page.column(("t", "term_id"));
    let order = order(q);
    if let Some(Beyond::Position(position)) = &q.beyond {
        page.and_where(position::behind(&order, position, q.backwards)?);
    }
    for key in order {
        page.order_by_expr(key.by, key.order.into());
    }
    crate::query::page(
        db,
        &[rows::TERMS, rows::TERM_COUNTS, rows::POST_TERMS],
        &filtered,
        page,
        (q.limit, q.offset, q.total),
        TermId,
    )
}

/// The sort expressions of a list in the direction of reading, most significant first.
fn order(q: &TermQuery) -> Vec<SortKey> {
    let col = |table: &'static str, name: &'static str| Expr::col((table, name));
    let text = |table, name| Some(SortKey::text(col(table, name), q.order));
    let int = |table, name| Some(SortKey::int(col(table, name), q.order));
    let listed = |position: Option<Expr>| position.map(|position| SortKey::int(position, q.order));
    let first = match q.order_by {
        TermOrderBy::Id => None,
        TermOrderBy::Name => text("t", "name"),
        TermOrderBy::Slug => text("t", "slug"),
        TermOrderBy::Group => int("t", "term_group"),
        TermOrderBy::Description => text("tt", "description"),
        TermOrderBy::Count => int("tt", "count"),
        TermOrderBy::Parent => int("tt", "parent"),
        TermOrderBy::Include => {
            listed(crate::query::list_position(&col("t", "term_id"), q.include.iter().map(|id| id.0)))
        }
        TermOrderBy::IncludeSlugs => {
            listed(crate::query::list_position(&col("t", "slug"), q.slugs.iter().map(String::as_str)))
        }
    };
    let tie = if q.order_by == TermOrderBy::Id { q.order } else { Order::Asc };
    let keys = first.into_iter().chain([SortKey::int(col("t", "term_id"), tie)]).collect();
    position::directed(keys, q.backwards)
}

/// The position of a term in a list.
fn position_of(db: &mut Db, q: &TermQuery, id: i64) -> Result<Option<Position>> {
    let mut s = with_taxonomy(db);
    s.and_where(Expr::col(("t", "term_id")).eq(id));
    if !q.taxonomies.is_empty() {
        s.and_where(Expr::col(("tt", "taxonomy")).is_in(q.taxonomies.iter().map(String::as_str)));
    }
    position::read(db, &order(q), s)
}

/// Returns whether a list is best read in the order of the terms, which finds a page quickly if most terms are in the
/// list. Otherwise the terms of the taxonomies are sorted. On servers the optimizer decides.
fn reads_in_order(db: &mut Db, q: &TermQuery) -> Result<bool> {
    let in_order = matches!(q.order_by, TermOrderBy::Name | TermOrderBy::Slug | TermOrderBy::Id);
    let is_selective = !q.include.is_empty()
        || !q.posts.is_empty()
        || !q.slugs.is_empty()
        || !q.names.is_empty()
        || q.languages.is_some()
        || q.parent.is_some_and(|parent| !parent.is_none());
    if !in_order || is_selective || q.limit.is_none() || q.taxonomies.is_empty() || !db.has_counts() {
        return Ok(false);
    }
    let mut listed = Query::select();
    listed.from(db.table("term_taxonomy"));
    let all = listed.clone();
    listed.and_where(Expr::col("taxonomy").is_in(q.taxonomies.iter().map(String::as_str)));
    if q.hide_empty {
        listed.and_where(Expr::col("count").gt(0));
    }
    let n = db.approximate_total(&listed)?;
    if n < caches::tuning(db).many_terms {
        return Ok(false);
    }
    let n_all = db.approximate_total(&all)?;
    let n_read = q.limit.unwrap_or(0).saturating_add(q.offset).saturating_mul(n_all / n + 1);
    // Sorting compares names, which costs more than reading a term.
    Ok(n_read < n.saturating_mul(4))
}

/// Terms joined with their taxonomies like [`with_taxonomy`], which SQLite reads in the order of the terms.
fn terms_first(db: &Db) -> SelectStatement {
    let mut s = Query::select();
    s.from_as(db.table("terms"), "t");
    s.join_as(
        sea_query::JoinType::CrossJoin,
        db.table("term_taxonomy"),
        "tt",
        Expr::col(("tt", "term_id")).equals(("t", "term_id")),
    );
    // A cross join has no condition of its own.
    s.and_where(Expr::col(("tt", "term_id")).equals(("t", "term_id")));
    s
}

fn conditions(db: &Db, q: &TermQuery, s: &mut SelectStatement) {
    if !q.taxonomies.is_empty() {
        s.and_where(Expr::col(("tt", "taxonomy")).is_in(q.taxonomies.iter().map(String::as_str)));
    }
    if !q.include.is_empty() {
        s.and_where(Expr::col(("t", "term_id")).is_in(q.include.iter().map(|id| id.0)));
    }
    if !q.exclude.is_empty() {
        s.and_where(Expr::col(("t", "term_id")).is_not_in(q.exclude.iter().map(|id| id.0)));
    }
    if q.hide_empty {
        let mut counted = Cond::any().add(Expr::col(("tt", "count")).gt(0));
        if !q.include_empty.is_empty() {
            counted = counted.add(Expr::col(("t", "term_id")).is_in(q.include_empty.iter().map(|id| id.0)));
        }
        s.cond_where(counted);
    }
    if let Some(parent) = q.parent {
        s.and_where(Expr::col(("tt", "parent")).eq(parent.0));
    }
    if !q.posts.is_empty() {
        let mut rows = Query::select();
        rows.column("term_taxonomy_id").from(db.table("term_relationships"));
        rows.and_where(Expr::col("object_id").is_in(q.posts.iter().map(|id| id.0)));
        s.and_where(Expr::col(("tt", "term_taxonomy_id")).in_subquery(rows));
    }
    match q.languages.as_deref() {
        None => {}
        Some([]) => drop(s.and_where(Expr::cust("0 = 1"))),
        Some(languages) => {
            s.and_where(Expr::col(("t", "term_id")).in_subquery(language_terms::objects_of(db, languages)));
        }
    }
    if !q.slugs.is_empty() {
        s.and_where(Expr::col(("t", "slug")).is_in(q.slugs.iter().map(String::as_str)));
    }
    if !q.names.is_empty() {
        s.and_where(Expr::col(("t", "name")).is_in(q.names.iter().map(String::as_str)));
    }
    if let Some(text) = &q.search {
        let pattern = || crate::query::contains(text);
        s.cond_where(
            Cond::any().add(Expr::col(("t", "name")).like(pattern())).add(Expr::col(("t", "slug")).like(pattern())),
        );
    }
}

/// Inserts a term into a taxonomy, ignoring its ids and count, and returns the stored term.
pub fn insert(tx: &mut Tx, term: &Term) -> Result<Term> {
    let (columns, values) = columns::inserted(columns_of("t"), term, tx.charset());
    let mut row = Query::insert();
    row.into_table(tx.table("terms")).columns(columns.into_iter().map(|(_, name)| name));
    row.values(values).map_err(|e| StoreError::Other(e.to_string()))?;
    let id = tx.insert_row(&row, rows::TERMS)?;
    Descriptions::term(tx, id, None, Some(&term.taxonomy));
    let term = Term { id: TermId(id), count: 0, ..term.clone() };
    let (columns, values) = columns::inserted(columns_of("tt"), &term, tx.charset());
    let mut row = Query::insert();
    row.into_table(tx.table("term_taxonomy"));
    row.columns(["term_id"].into_iter().chain(columns.into_iter().map(|(_, name)| name)));
    row.values([id.into()].into_iter().chain(values)).map_err(|e| StoreError::Other(e.to_string()))?;
    let taxonomy_id = tx.change_rows(&row, rows::TERMS, &[id])?.last_id;
    if term.parent != TermId::default() {
        delete_cached_tree(tx, &term.taxonomy)?;
    }
    Ok(Term { taxonomy_id: TermTaxonomyId(taxonomy_id), ..term })
}

/// Updates all columns of a term except its count, and returns whether the rows exist.
pub fn update(tx: &mut Tx, term: &Term) -> Result<bool> {
    let values = |alias| columns::updated(columns_of(alias), term, tx.charset()).into_iter();
    let mut row = Query::update();
    row.table(tx.table("terms")).values(values("t").map(|((_, name), value)| (name, value)));
    row.and_where(Expr::col("term_id").eq(term.id.0));
    let mut taxonomy_row = Query::update();
    taxonomy_row.table(tx.table("term_taxonomy")).values(values("tt").map(|((_, name), value)| (name, value)));
    taxonomy_row.and_where(Expr::col("term_taxonomy_id").eq(term.taxonomy_id.0));
    tx.change_rows(&row, rows::TERMS, &[term.id.0])?;
    Descriptions::term(tx, term.id.0, Some(&term.taxonomy), Some(&term.taxonomy));
    let changed = tx.change_rows(&taxonomy_row, rows::TERMS, &[term.id.0])?.rows > 0;
    delete_cached_tree(tx, &term.taxonomy)?;
    Ok(changed)
}

/// Deletes the option in which WordPress caches the tree of a taxonomy. WordPress on the same database rebuilds it if
/// it is missing.
fn delete_cached_tree(tx: &mut Tx, taxonomy: &str) -> Result<()> {
    options::delete(tx, &format!("{taxonomy}_children")).map(drop)
}

/// Deletes a term with its meta. Its children are attached to its parent, and it is removed from its posts.
///
/// Posts that would have no term of the taxonomy left get `default` (`default_category`). Returns the posts that had
/// the term. Source: `wp_delete_term`.
pub fn delete(tx: &mut Tx, term: &Term, default: Option<&Term>) -> Result<Vec<PostId>> {
    let children = || Expr::col("parent").eq(term.id.0).and(Expr::col("taxonomy").eq(term.taxonomy.as_str()));
    let mut update = Query::update();
    update.table(tx.table("term_taxonomy")).value("parent", term.parent.0).and_where(children());
    change_matching(tx, &update, ("term_taxonomy", "term_id"), rows::TERMS, children())?;
    delete_cached_tree(tx, &term.taxonomy)?;

    let mut s = Query::select();
    s.column("object_id").from(tx.table("term_relationships"));
    s.and_where(Expr::col("term_taxonomy_id").eq(term.taxonomy_id.0)).order_by("object_id", sea_query::Order::Asc);
    let posts = tx.all(&s, |row| Ok(PostId(row.int(0)?)))?;
    let mut relationships = Query::delete();
    relationships.from_table(tx.table("term_relationships"));
    relationships.and_where(Expr::col("term_taxonomy_id").eq(term.taxonomy_id.0));
    let ids: Vec<i64> = posts.iter().map(|post| post.0).collect();
    tx.change_rows(&relationships, rows::POST_TERMS, &ids)?;
    if let Some(default) = default.filter(|d| d.taxonomy_id != term.taxonomy_id) {
        let terms_of_posts = of_objects(tx, &posts)?;
        let bare: Vec<PostId> = posts
            .iter()
            .copied()
            .filter(|p| terms_of_posts.get(p).is_none_or(|terms| terms.iter().all(|t| t.taxonomy != term.taxonomy)))
            .collect();
        add_relationships(tx, &bare, &[default.taxonomy_id])?;
        let n = term_counts::counted(tx, &bare)?.len();
        term_counts::add(tx, &[default.taxonomy_id], i64::try_from(n).unwrap_or(i64::MAX))?;
    }

    let mut row = Query::delete();
    row.from_table(tx.table("term_taxonomy")).and_where(Expr::col("term_taxonomy_id").eq(term.taxonomy_id.0));
    tx.change_rows(&row, rows::TERMS, &[term.id.0])?;
    Descriptions::term(tx, term.id.0, Some(&term.taxonomy), None);
    tx.record(rows::TERM_COUNTS, &[term.taxonomy_id.0]);
    // The name is deleted with its last taxonomy.
    let mut s = Query::select();
    s.column("term_id").from(tx.table("term_taxonomy")).and_where(Expr::col("term_id").eq(term.id.0));
    if tx.first(&s, |row| row.int(0))?.is_none() {
        let mut row = Query::delete();
        row.from_table(tx.table("terms")).and_where(Expr::col("term_id").eq(term.id.0));
        tx.change_rows(&row, rows::TERMS, &[term.id.0])?;
        meta::delete_all(tx, MetaKind::Term, &[term.id.0])?;
    }
    Ok(posts)
}

fn add_relationships(tx: &mut Tx, posts: &[PostId], terms: &[TermTaxonomyId]) -> Result<()> {
    let rows: Vec<(PostId, TermTaxonomyId)> = posts.iter().flat_map(|p| terms.iter().map(|t| (*p, *t))).collect();
    for piece in rows.chunks(1_000) {
        let mut insert = Query::insert();
        insert.into_table(tx.table("term_relationships")).columns(["object_id", "term_taxonomy_id", "term_order"]);
        for (post, term) in piece {
            insert.values([post.0.into(), term.0.into(), 0.into()]).map_err(|e| StoreError::Other(e.to_string()))?;
        }
        let of_posts: Vec<i64> = piece.iter().map(|(post, _)| post.0).collect();
        tx.change_rows(&insert, rows::POST_TERMS, &of_posts)?;
    }
    Ok(())
}

/// Sets the terms of a post in one taxonomy and updates the counts of those added or removed.
///
/// Ids of other taxonomies are ignored.
pub fn set_object_terms(tx: &mut Tx, post: PostId, taxonomy: &str, terms: &[TermId]) -> Result<()> {
    let before: HashSet<TermTaxonomyId> = of_objects(tx, &[post])?
        .remove(&post)
        .unwrap_or_default()
        .into_iter()
        .filter(|t| t.taxonomy == taxonomy)
        .map(|t| t.taxonomy_id)
        .collect();
    let mut after: Vec<TermTaxonomyId> = Vec::new();
    for term in without_counts(tx, terms)?.into_iter().filter(|t| t.taxonomy == taxonomy) {
        if !after.contains(&term.taxonomy_id) {
            after.push(term.taxonomy_id);
        }
    }
    let gained: Vec<TermTaxonomyId> = after.iter().copied().filter(|t| !before.contains(t)).collect();
    let lost: Vec<TermTaxonomyId> = before.into_iter().filter(|t| !after.contains(t)).collect();
    if !lost.is_empty() {
        let mut relationships = Query::delete();
        relationships.from_table(tx.table("term_relationships")).and_where(Expr::col("object_id").eq(post.0));
        relationships.and_where(Expr::col("term_taxonomy_id").is_in(lost.iter().map(|t| t.0)));
        tx.change_rows(&relationships, rows::POST_TERMS, &[post.0])?;
    }
    add_relationships(tx, &[post], &gained)?;
    if language_terms::COUNT_ALL.contains(&taxonomy) {
        term_counts::add_objects(tx, &gained, 1)?;
        return term_counts::add_objects(tx, &lost, -1);
    }
    if (!gained.is_empty() || !lost.is_empty()) && term_counts::counted(tx, &[post])?.contains(&post) {
        term_counts::add(tx, &gained, 1)?;
        term_counts::add(tx, &lost, -1)?;
    }
    Ok(())
}

/// Returns a slug that is unique within the taxonomy: the slug itself; for a child term, with the slugs of its
/// ancestors appended one by one; otherwise with the first free number.
///
/// `term` is the term that the slug is for, which may already have it (0 for a new one).
/// Source: `wp_unique_term_slug`.
pub fn unique_slug(db: &mut Db, slug: &str, taxonomy: &str, parent: TermId, term: TermId) -> Result<String> {
    if by_slug(db, slug, taxonomy)?.is_none_or(|t| t.id == term) {
        return Ok(slug.to_owned());
    }
    let mut slug = slug.to_owned();
    let mut above = parent;
    let mut seen = HashSet::new();
    while !above.is_none() && seen.insert(above) && seen.len() < 100 {
        let Some(ancestor) = get(db, above, Some(taxonomy))? else { break };
        slug = format!("{slug}-{}", ancestor.slug);
        slug.truncate(crate::slugs::truncate_slug(&slug, 200).len());
        if taken(db, &[slug.clone()], term)?.is_empty() {
            return Ok(slug);
        }
        above = ancestor.parent;
    }
    // A numbered slug counts as taken even if the term itself has it.
    crate::slugs::free_slug(&slug, 200, |slugs| {
        let is_plain = matches!(slugs, [only] if *only == slug);
        taken(db, slugs, if is_plain { term } else { TermId(0) })
    })
}

/// The slugs that other terms of any taxonomy have.
fn taken(db: &mut Db, slugs: &[String], except: TermId) -> Result<HashSet<String>> {
    let mut s = Query::select();
    s.column("slug").from(db.table("terms"));
    s.and_where(Expr::col("slug").is_in(slugs.iter().map(String::as_str))).and_where(Expr::col("term_id").ne(except.0));
    Ok(db.all(&s, |row| Ok(row.text(0)?.to_ascii_lowercase()))?.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{StoredText, fixture};

    fn base(taxonomy: &str) -> TermQuery {
        TermQuery {
            taxonomies: vec![taxonomy.to_owned()],
            order: Order::Asc,
            limit: Some(10),
            total: true,
            ..TermQuery::default()
        }
    }

    fn ids(list: &[i64]) -> Vec<TermId> {
        list.iter().map(|id| TermId(*id)).collect()
    }

    #[test]
    #[rustfmt::skip]
    fn lists_match_wordpress() {
        fixture::on_each(|store| {
        use TermOrderBy as By;
        let (category, tag) = (base("category"), base("post_tag"));
        let text = |t: &str| vec![t.to_owned()];
        let rows: Vec<(&str, TermQuery, &[i64], u64)> = vec![
            ("search", TermQuery { search: Some("a".to_owned()), ..category.clone() }, &[8, 7, 5, 1], 4),
            ("post", TermQuery { posts: vec![PostId(1000)], ..category.clone() }, &[1], 1),
            ("not empty", TermQuery { hide_empty: true, order_by: By::Count, order: Order::Desc, limit: Some(2), ..category.clone() }, &[2, 1], 7),
            ("include", TermQuery { include: ids(&[11, 10]), order_by: By::Include, ..tag.clone() }, &[11, 10], 2),
            ("include backwards", TermQuery { include: ids(&[11, 10]), order_by: By::Include, order: Order::Desc, ..tag.clone() }, &[10, 11], 2),
            ("exclude", TermQuery { parent: Some(TermId(2)), order_by: By::Slug, exclude: ids(&[3]), ..category.clone() }, &[8], 1),
            ("offset", TermQuery { order_by: By::Id, offset: 3, ..tag.clone() }, &[13, 14, 15, 16, 17], 8),
            ("slug", TermQuery { slugs: text("uncategorized"), ..category.clone() }, &[1], 1),
            ("unknown", base("nope"), &[], 0),
            ("several", TermQuery { taxonomies: ["category", "post_tag", "genre"].map(str::to_owned).to_vec(), search: Some("a".to_owned()), ..category.clone() }, &[10, 8, 7, 11, 5, 14, 52, 12, 1, 13], 10),
        ];
        for (name, q, expected, total) in rows {
            let page = store.read_blocking(|db| query(db, &q)).unwrap();
            assert_eq!((page.ids, page.total), (ids(expected), Some(total)), "{name}");
        }
        });
    }

    #[test]
    fn sets_and_counts_terms_of_posts() {
        fixture::on_each(|store| {
            let of = |id: i64| {
                store
                    .read_blocking(|db| Ok(of_objects(db, &[PostId(id)])?.remove(&PostId(id)).unwrap_or_default()))
                    .unwrap()
            };
            let count = |id: i64| store.read_blocking(|db| Ok(get(db, TermId(id), None)?.unwrap().count)).unwrap();
            let (two, ten) = (count(2), count(10));
            assert_eq!(of(1000).iter().filter(|t| t.taxonomy == "category").map(|t| t.id.0).collect::<Vec<_>>(), [1]);
            // Terms of other taxonomies and unknown terms are ignored; a duplicate is counted once.
            store
                .write_blocking(|tx| set_object_terms(tx, PostId(1000), "category", &[2, 10, 99, 2].map(TermId)))
                .unwrap();
            assert_eq!(of(1000).iter().filter(|t| t.taxonomy == "category").map(|t| t.id.0).collect::<Vec<_>>(), [2]);
            assert_eq!((count(2), count(10)), (two + 1, ten));
            // Drafts are not counted.
            store.write_blocking(|tx| set_object_terms(tx, PostId(1016), "category", &[TermId(2)])).unwrap();
            assert_eq!(count(2), two + 1);
            store.write_blocking(|tx| set_object_terms(tx, PostId(1000), "category", &[])).unwrap();
            assert_eq!(count(2), two);
        });
    }

    #[test]
    fn deleting_a_term_assigns_the_default() {
        fixture::on_each(|store| {
            let (term, default) = store
                .read_blocking(|db| Ok((get(db, TermId(2), None)?.unwrap(), get(db, TermId(1), None)?.unwrap())))
                .unwrap();
            let posts = store.write_blocking(move |tx| delete(tx, &term, Some(&default))).unwrap();
            store
                .read_blocking(|db| {
                    assert!(get(db, TermId(2), None)?.is_none());
                    assert_eq!(get(db, TermId(3), None)?.unwrap().parent, TermId(0), "children move up");
                    for (_, terms) in of_objects(db, &posts)? {
                        assert!(terms.iter().any(|t| t.taxonomy == "category"));
                    }
                    Ok(())
                })
                .unwrap();
        });
    }

    /// WordPress on the same database would continue to use its cached tree.
    #[test]
    fn changes_delete_the_cached_tree() {
        fixture::on_each(|store| {
            let tree_exists = || store.read_blocking(|db| options::get(db, "category_children")).unwrap().is_some();
            let keep = || {
                store
                    .write_blocking(|tx| {
                        options::set(tx, "category_children", &StoredText::of(serde_json::json!([])), true)
                    })
                    .unwrap()
            };
            let term = |name: &str, parent: i64| Term {
                name: name.to_owned(),
                slug: name.to_owned(),
                taxonomy: "category".to_owned(),
                parent: TermId(parent),
                ..Term::default()
            };
            keep();
            let (top, child) = (term("top", 0), term("child", 2));
            store.write_blocking(move |tx| insert(tx, &top)).unwrap();
            assert!(tree_exists(), "top-level terms are not in the tree");
            let child = store.write_blocking(move |tx| insert(tx, &child)).unwrap();
            assert!(!tree_exists(), "inserted");
            keep();
            let moved = Term { parent: TermId(0), ..child };
            let gone = moved.clone();
            store.write_blocking(move |tx| update(tx, &moved)).unwrap();
            assert!(!tree_exists(), "updated");
            keep();
            store.write_blocking(move |tx| delete(tx, &gone, None)).unwrap();
            assert!(!tree_exists(), "deleted");
        });
    }

    #[test]
    fn inserts_terms_with_unique_slugs() {
        fixture::on_each(|store| {
            let term = Term {
                name: "Größe".to_owned(),
                slug: "groesse".to_owned(),
                taxonomy: "post_tag".to_owned(),
                ..Term::default()
            };
            let new = store.write_blocking(move |tx| insert(tx, &term)).unwrap();
            assert_eq!((new.id.0, new.taxonomy_id.0), (300_001, 350_001));
            store
                .read_blocking(|db| {
                    assert_eq!(by_name(db, "GROSSE", "post_tag")?[0].id, new.id);
                    assert_eq!(unique_slug(db, "groesse", "post_tag", TermId(0), TermId(0))?, "groesse-2");
                    assert_eq!(unique_slug(db, "groesse", "post_tag", TermId(0), new.id)?, "groesse");
                    assert_eq!(unique_slug(db, "groesse", "category", TermId(0), TermId(0))?, "groesse");
                    let parent = get(db, TermId(2), None)?.unwrap();
                    let child = get(db, TermId(3), None)?.unwrap();
                    let expected = format!("{}-{}", child.slug, parent.slug);
                    assert_eq!(unique_slug(db, &child.slug, "category", parent.id, TermId(0))?, expected);
                    Ok(())
                })
                .unwrap();
        });
    }
}
