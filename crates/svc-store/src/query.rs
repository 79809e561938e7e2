//! Common parts of lists: conditions, pages, totals, ordering by a given list, patterns.

use std::any::Any;
use std::collections::HashMap;

use sea_query::{Cond, Expr, ExprTrait as _, LikeExpr, Query, SelectStatement, Value};
use svc_db::{Change, Db, Result, Row, Rows, StoreError, Tx};

use crate::Page;

/// Defines the conditions of a list: a struct with public fields, and a setter for each field with the field's name. The fields that
/// select a page ([`crate::position::Bounds`]) are added.
macro_rules! list_query {
    (
        $(#[$attribute:meta])*
        pub struct $query:ident {
            $($(#[$field_attribute:meta])* pub $field:ident: $kind:ty,)+
        }
    ) => {
        crate::query::list_query! {
            @with_page
            $(#[$attribute])*
            pub struct $query {
                $($(#[$field_attribute])* pub $field: $kind,)+
                /// Maximum number of items; `None` is unlimited.
                pub limit: Option<u64>,
                /// Number of items to skip.
                pub offset: u64,
                /// Whether to count all matches.
                pub total: bool,
                /// Only what follows in the order of the list. The total is that of the whole list.
                pub beyond: Option<crate::Beyond>,
                /// Whether to read backwards: the last items up to the one of `beyond`, with it, or those at the end of the list. The items
                /// are returned in the order of the list; `offset` skips the last ones.
                pub backwards: bool,
                /// Whether to return where the list goes on ([`crate::Page::next`]).
                pub next: bool,
            }
        }
    };
    (
        @with_page
        $(#[$attribute:meta])*
        pub struct $query:ident {
            $($(#[$field_attribute:meta])* pub $field:ident: $kind:ty,)+
        }
    ) => {
        $(#[$attribute])*
        #[non_exhaustive]
        pub struct $query {
            $($(#[$field_attribute])* pub $field: $kind,)+
        }

        impl $query {
            $(
                $(#[$field_attribute])*
                #[must_use]
                pub fn $field(mut self, value: $kind) -> Self {
                    self.$field = value;
                    self
                }
            )+
        }

        impl crate::position::Continued for $query {
            fn bounds(&mut self) -> crate::position::Bounds<'_> {
                let Self { limit, offset, total, beyond, backwards, next, .. } = self;
                crate::position::Bounds { limit, offset, total, beyond, backwards, next }
            }
        }
    };
}

pub(crate) use list_query;

/// Runs the statement of a page, whose first column is the id, and counts all matches if requested.
///
/// `filtered` is the same statement without columns, order and limit; `bounds` are limit, offset, and whether to count.
pub(crate) fn page<Id>(
    db: &mut Db,
    counted: &[Rows],
    filtered: &SelectStatement,
    page: SelectStatement,
    bounds: (Option<u64>, u64, bool),
    id: impl Fn(i64) -> Id,
) -> Result<Page<Id>> {
    page_and_total(db, page, bounds, id, |db| db.total(counted, filtered))
}

/// [`page()`] with another way to count the matches.
pub(crate) fn page_and_total<Id>(
    db: &mut Db,
    mut page: SelectStatement,
    (limit, offset, count): (Option<u64>, u64, bool),
    id: impl Fn(i64) -> Id,
    total: impl FnOnce(&mut Db) -> Result<u64>,
) -> Result<Page<Id>> {
    // Both engines treat the numbers as signed and require a limit for an offset.
    const MAX_SIGNED: u64 = i64::MAX as u64;
    if limit.is_some() || offset > 0 {
        page.limit(Ord::min(limit.unwrap_or(MAX_SIGNED), MAX_SIGNED));
    }
    if offset > 0 {
        page.offset(Ord::min(offset, MAX_SIGNED));
    }
    let ids = db.all(&page, |row| Ok(id(row.int(0)?)))?;
    let n_ids = ids.len() as u64;
    // A page that is not full is the last one and determines the total, unless it is empty.
    let last = limit.is_none_or(|limit| n_ids < limit) && (n_ids > 0 || offset == 0);
    let total = match (count, last) {
        (false, _) => None,
        (true, true) => Some(offset + n_ids),
        (true, false) => Some(total(db)?),
    };
    Ok(Page { ids, total, next: None })
}

/// Sorts the rows of several statements, which have no columns yet, and returns their ids. The statements must not have
/// common rows. SQLite merges them and stops when a page is full, if each can be read in this order; other engines
/// need the number of rows to read from each (`limit`).
pub(crate) fn merged(
    branches: Vec<SelectStatement>,
    id: (&'static str, &'static str),
    order: Vec<(Expr, sea_query::Order)>,
    limit: Option<u64>,
) -> SelectStatement {
    let is_merged = branches.len() > 1;
    let mut all: Option<SelectStatement> = None;
    for mut branch in branches {
        branch.column(id);
        for (at, (by, direction)) in order.iter().enumerate().filter(|_| is_merged) {
            branch.expr_as(by.clone(), format!("k{at}"));
            if limit.is_some() {
                branch.order_by_expr(by.clone(), direction.clone());
            }
        }
        if let Some(limit) = limit.filter(|_| is_merged) {
            let mut rows = Query::select();
            rows.column(id.1).columns((0..order.len()).map(|at| format!("k{at}")));
            branch = rows.from_subquery(branch.limit(limit).take(), "b").take();
        }
        all = Some(match all {
            None => branch,
            Some(mut first) => first.union(sea_query::UnionType::All, branch).take(),
        });
    }
    let mut all = all.unwrap_or_default();
    for (at, (by, direction)) in order.into_iter().enumerate() {
        if is_merged {
            all.order_by(format!("k{at}"), direction);
        } else {
            all.order_by_expr(by, direction);
        }
    }
    all
}

/// The day of the row at an offset, and the number of rows of the days before it. The statement returns days with
/// their numbers of rows, in the order of the list. `None` behind the end.
pub(crate) fn day_at(db: &mut Db, days: &SelectStatement, offset: u64) -> Result<Option<(String, u64)>> {
    let (mut skipped, mut found) = (0, None);
    db.select(days, |row| {
        if found.is_none() {
            let n = u64::try_from(row.int(1)?).unwrap_or(0);
            if skipped + n > offset {
                found = Some((row.text(0)?, skipped));
            }
            skipped += n;
        }
        Ok(())
    })?;
    Ok(found)
}

/// Position of a column's value in a list; `None` for an empty list.
pub(crate) fn list_position<V: Into<Value>>(column: &Expr, values: impl Iterator<Item = V>) -> Option<Expr> {
    let mut case = sea_query::CaseStatement::new();
    let mut n = 0_i64;
    for value in values {
        case = case.case(column.clone().eq(Expr::val(value)), n);
        n += 1;
    }
    (n > 0).then(|| case.finally(n).into())
}

/// Reads the rows of these objects in the order of `ids`, each once per request or transaction. Missing ones are omitted, duplicate ids
/// return one row. `statement` is the name of the cached statement that `build` makes for a list of ids.
pub(crate) fn load_rows<T: Any + Clone + Send + Sync>(
    db: &mut Db,
    statement: &'static str,
    rows: Rows,
    ids: &[i64],
    build: impl Fn(&Db, Vec<i64>) -> SelectStatement,
    read: impl Fn(&Row<'_>) -> Result<T>,
    id: impl Fn(&T) -> i64,
) -> Result<Vec<T>> {
    let found = db.load_once(rows, &[], ids, |db, ids| {
        let mut found = HashMap::with_capacity(ids.len());
        db.cached_list(statement, &[rows], ids, build, |row| {
            let object = read(row)?;
            found.insert(id(&object), object);
            Ok(())
        })?;
        Ok(found)
    })?;
    let mut found: Vec<T> = found.into_values().collect();
    in_order(&mut found, ids, &id);
    Ok(found)
}

/// Sorts rows by the position of their id in `ids`.
pub(crate) fn in_order<T, Id: Copy + Eq + std::hash::Hash>(rows: &mut [T], ids: &[Id], id: impl Fn(&T) -> Id) {
    if rows.len() > 1 {
        let mut positions = HashMap::with_capacity(ids.len());
        for (position, id) in ids.iter().enumerate() {
            positions.entry(*id).or_insert(position);
        }
        rows.sort_by_key(|row| positions.get(&id(row)).copied().unwrap_or(usize::MAX));
    }
}

/// Maximum number of alternatives in a condition. Databases limit the depth of expressions, and every alternative is
/// compared with every row. Longer lists fail with [`StoreError::TooMany`], like lists with more values than a
/// statement can bind.
pub(crate) const MAX_ALTERNATIVES: usize = 500;

/// Matches if any of the conditions does.
///
/// # Errors
/// [`StoreError::TooMany`] if there are more than [`MAX_ALTERNATIVES`].
pub(crate) fn any_of(conditions: impl IntoIterator<Item = Expr>) -> Result<Cond> {
    let (mut any, mut n) = (Cond::any(), 0);
    for condition in conditions {
        if n == MAX_ALTERNATIVES {
            return Err(StoreError::TooMany);
        }
        (any, n) = (any.add(condition), n + 1);
    }
    Ok(any)
}

/// The distinct items of a list, because lists in requests may contain duplicates.
pub(crate) fn distinct<T: PartialEq>(list: &[T]) -> impl Iterator<Item = &T> {
    list.iter().enumerate().filter(|(at, item)| !list[..*at].contains(item)).map(|(_, item)| item)
}

/// A pattern for texts that contain `text`.
pub(crate) fn contains(text: &str) -> LikeExpr {
    LikeExpr::new(format!("%{}%", escape_pattern(text))).escape('\\')
}

/// A pattern for exactly `text`, compared by the collation.
pub(crate) fn equals(text: &str) -> LikeExpr {
    LikeExpr::new(escape_pattern(text)).escape('\\')
}

/// A pattern for texts that begin with `text`.
pub(crate) fn starts_with(text: &str) -> LikeExpr {
    LikeExpr::new(format!("{}%", escape_pattern(text))).escape('\\')
}

/// Escapes a text for use in a pattern.
pub(crate) fn escape_pattern(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '%' | '_' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Executes a statement that changes the rows of a table that match a condition, and records the objects that they belong to, whose
/// ids are in a column. Returns the number of rows.
pub(crate) fn change_matching(
    tx: &mut Tx,
    statement: &impl Change,
    (table, object): (&'static str, &'static str),
    rows: Rows,
    condition: Expr,
) -> Result<u64> {
    let mut s = Query::select();
    s.distinct().column(object).from(tx.table(table)).and_where(condition);
    let ids = tx.all(&s, |row| row.int(0))?;
    if ids.is_empty() {
        return Ok(0);
    }
    Ok(tx.change_rows(statement, rows, &ids)?.rows)
}
