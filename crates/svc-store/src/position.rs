//! Positions in ordered lists, from which a later query continues in both directions, whatever has been inserted or deleted
//! meanwhile.
//!
//! A position consists of the sort values of an item, the last of which is unique, so it remains when the item is deleted.

use sea_query::{Expr, ExprTrait as _, SelectStatement};
use svc_db::{Db, Result, StoreError};

use crate::{Order, Page};

/// A sort value of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SortValue {
    /// A number.
    Int(i64),
    /// A text, or a date as stored.
    Text(String),
    /// The bits of a floating-point number.
    Number(u64),
}

/// The position of an item in an ordered list: its sort values, most significant first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position(pub Vec<SortValue>);

/// The place behind an item of a list, at which a page begins or, read backwards, ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// This position, whether an item is there or not.
    Position(Position),
    /// The position that the item with this id has now. If it does not exist, the query fails with
    /// [`StoreError::NoPosition`].
    Item(i64),
}

/// How a sort value is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SortKind {
    Int,
    Text,
    Number,
}

/// A sort expression of a list.
#[derive(Clone, Debug)]
pub(crate) struct SortKey {
    pub(crate) by: Expr,
    pub(crate) order: Order,
    pub(crate) kind: SortKind,
}

impl SortKey {
    /// Sorts by a number.
    pub(crate) fn int(by: impl Into<Expr>, order: Order) -> Self {
        SortKey { by: by.into(), order, kind: SortKind::Int }
    }

    /// Sorts by a text or a date.
    pub(crate) fn text(by: impl Into<Expr>, order: Order) -> Self {
        SortKey { by: by.into(), order, kind: SortKind::Text }
    }

    /// Sorts by a floating-point number.
    pub(crate) fn number(by: impl Into<Expr>, order: Order) -> Self {
        SortKey { by: by.into(), order, kind: SortKind::Number }
    }

    /// The same expression in the opposite direction.
    fn reversed(self) -> Self {
        SortKey { order: self.order.reversed(), ..self }
    }

    /// Compares the expression with a value.
    fn compare(&self, value: &SortValue, is_inclusive: bool) -> Expr {
        let by = self.by.clone();
        let value = bound(value);
        match (self.order, is_inclusive) {
            (Order::Asc, false) => by.gt(value),
            (Order::Asc, true) => by.gte(value),
            (Order::Desc, false) => by.lt(value),
            (Order::Desc, true) => by.lte(value),
        }
    }
}

fn bound(value: &SortValue) -> Expr {
    match value {
        SortValue::Int(n) => Expr::val(*n),
        SortValue::Text(text) => Expr::val(text.as_str()),
        SortValue::Number(bits) => Expr::val(f64::from_bits(*bits)),
    }
}

/// The sort expressions in the direction in which a list is read.
pub(crate) fn directed(keys: Vec<SortKey>, backwards: bool) -> Vec<SortKey> {
    if backwards { keys.into_iter().map(SortKey::reversed).collect() } else { keys }
}

/// Matches the items behind a position in a list with this order; if the list is read backwards ([`directed`]), also the item
/// at the position, so that the two directions have no item in common and none between them.
///
/// # Errors
/// [`StoreError::NoPosition`] if the position is one of a list with another order.
pub(crate) fn behind(keys: &[SortKey], position: &Position, backwards: bool) -> Result<Expr> {
    let of_this_order = |(key, value): (&SortKey, &SortValue)| match value {
        SortValue::Int(_) => key.kind == SortKind::Int,
        SortValue::Text(_) => key.kind == SortKind::Text,
        SortValue::Number(_) => key.kind == SortKind::Number,
    };
    if keys.len() != position.0.len() || !keys.iter().zip(&position.0).all(of_this_order) {
        return Err(StoreError::NoPosition);
    }
    let mut pairs = keys.iter().zip(&position.0).rev();
    let (last, value) = pairs.next().ok_or(StoreError::NoPosition)?;
    let behind = |rest: Expr, (key, value): (&SortKey, &SortValue)| {
        // The first comparison lets the engine begin at the position in an index.
        let ties = key.compare(value, false).or(rest);
        key.compare(value, true).and(ties)
    };
    Ok(pairs.fold(last.compare(value, backwards), behind))
}

/// Reads the sort values of the row that `statement` selects, which has no columns yet. `None` if there is no row.
pub(crate) fn read(db: &mut Db, keys: &[SortKey], mut statement: SelectStatement) -> Result<Option<Position>> {
    for key in keys {
        statement.expr(key.by.clone());
    }
    db.first(&statement, |row| {
        let value = |(at, key): (usize, &SortKey)| {
            Ok(match key.kind {
                SortKind::Int => SortValue::Int(row.int(at)?),
                SortKind::Text => SortValue::Text(row.text(at)?),
                SortKind::Number => SortValue::Number(row.text(at)?.parse::<f64>().unwrap_or_default().to_bits()),
            })
        };
        Ok(Position(keys.iter().enumerate().map(value).collect::<Result<_>>()?))
    })
}

/// The fields of a list's conditions that select a page of it.
pub struct Bounds<'q> {
    /// Maximum number of items.
    pub limit: &'q mut Option<u64>,
    /// Number of items to skip.
    pub offset: &'q mut u64,
    /// Whether to count all matches.
    pub total: &'q mut bool,
    /// Only what follows.
    pub beyond: &'q mut Option<Beyond>,
    /// Whether to read backwards from there.
    pub backwards: &'q mut bool,
    /// Whether to return where the list goes on.
    pub next: &'q mut bool,
}

/// Conditions of a list that can continue after an item.
pub trait Continued: Clone {
    /// The fields that select a page.
    fn bounds(&mut self) -> Bounds<'_>;
}

/// Runs a query that may continue after an item or end with one, and whose page may have the place where the list goes on.
///
/// `find` returns the page of a list without these, in the direction of reading; `position` the position of an item.
pub(crate) fn page<Q: Continued, Id: Copy + Into<i64>>(
    db: &mut Db,
    q: &Q,
    find: impl Fn(&mut Db, &Q) -> Result<Page<Id>>,
    position: impl Fn(&mut Db, &Q, i64) -> Result<Option<Position>>,
) -> Result<Page<Id>> {
    let mut listed = q.clone();
    let bounds = listed.bounds();
    let backwards = *bounds.backwards;
    if !*bounds.next && bounds.beyond.is_none() && !backwards {
        return find(db, q);
    }
    // The total is that of the whole list.
    let counts_separately = *bounds.total && (bounds.beyond.is_some() || backwards);
    *bounds.total &= !counts_separately;
    let limit = bounds.limit.filter(|_| std::mem::take(bounds.next));
    if let Some(limit) = limit {
        *bounds.limit = Some(limit.saturating_add(1));
    }
    if let Some(Beyond::Item(id)) = *bounds.beyond {
        let found = position(db, q, id)?.ok_or(StoreError::NoPosition)?;
        *listed.bounds().beyond = Some(Beyond::Position(found));
    }
    let mut page = find(db, &listed)?;
    if let Some(limit) = limit.and_then(|limit| usize::try_from(limit).ok()).filter(|limit| page.ids.len() > *limit) {
        // The next page begins behind the last item of this one; read backwards, it ends with the first item that is left out.
        let at = if backwards { Some(limit) } else { limit.checked_sub(1) };
        if let Some(id) = at.and_then(|at| page.ids.get(at).copied()) {
            page.next = position(db, q, id.into())?.map(|position| (id, position));
        }
        page.ids.truncate(limit);
    }
    if backwards {
        page.ids.reverse();
    }
    if counts_separately {
        let mut counted = q.clone();
        let bounds = counted.bounds();
        (*bounds.limit, *bounds.offset, *bounds.beyond, *bounds.next) = (Some(0), 0, None, false);
        *bounds.backwards = false;
        page.total = find(db, &counted)?.total;
    }
    Ok(page)
}
