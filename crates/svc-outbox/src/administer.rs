//! What administrators do with messages: look at them, retry those that were given up, delete old ones.

use sea_query::{Expr, ExprTrait as _, Func, Order, Query};
use svc_db::{Db, Result, Tx};

use crate::{
    Message, State, Time,
    message::COLUMNS,
    table::{NAME, OUTBOX},
};

/// Maximum number of messages that [`delete_finished`] deletes at once.
const MAX_DELETED: u64 = 500;

/// The messages that [`list`] returns: the newest first.
#[derive(Clone, Debug, Default)]
pub struct Page<'a> {
    /// Only those of this lane.
    pub lane: Option<&'a str>,
    /// Only those in this state.
    pub state: Option<State>,
    /// Only those with a smaller number, to continue a list.
    pub before: Option<i64>,
    /// Maximum number of messages.
    pub limit: u64,
}

/// The messages of a queue.
///
/// # Errors
/// Those of the statement.
pub fn list(db: &mut Db, queue: &str, page: &Page<'_>) -> Result<Vec<Message>> {
    OUTBOX.depend_on_all(db.cx());
    let mut select = Query::select();
    select.columns(COLUMNS).from(db.table(NAME)).and_where(Expr::col("queue").eq(queue));
    if let Some(lane) = page.lane {
        select.and_where(Expr::col("lane").eq(lane));
    }
    if let Some(state) = page.state {
        select.and_where(Expr::col("state").eq(state.name()));
    }
    if let Some(before) = page.before {
        select.and_where(Expr::col("id").lt(before));
    }
    select.order_by("id", Order::Desc).limit(page.limit);
    db.all(&select, Message::read)
}

/// The message of a queue with this number.
///
/// # Errors
/// Those of the statement.
pub fn find(db: &mut Db, queue: &str, number: i64) -> Result<Option<Message>> {
    OUTBOX.depend_on(db.cx(), [number]);
    let mut select = Query::select();
    select.columns(COLUMNS).from(db.table(NAME));
    select.and_where(Expr::col("queue").eq(queue)).and_where(Expr::col("id").eq(number));
    db.first(&select, Message::read)
}

/// How many messages a queue has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Those that wait or are being delivered.
    pub waiting: u64,
    /// Those that were delivered and are kept for the record.
    pub delivered: u64,
    /// Those that were given up.
    pub dead: u64,
}

/// Counts the messages of a queue.
///
/// # Errors
/// Those of the statement.
pub fn counts(db: &mut Db, queue: &str) -> Result<Counts> {
    OUTBOX.depend_on_all(db.cx());
    let mut select = Query::select();
    select.column("state").expr(Func::count(Expr::col("id"))).from(db.table(NAME));
    select.and_where(Expr::col("queue").eq(queue)).group_by_col("state");
    let mut counts = Counts::default();
    db.select(&select, |row| {
        let n = u64::try_from(row.int(1)?).unwrap_or_default();
        match State::named(&row.text(0)?) {
            Some(State::Waiting) => counts.waiting = n,
            Some(State::Delivered) => counts.delivered = n,
            Some(State::Dead) | None => counts.dead += n,
        }
        Ok(())
    })?;
    Ok(counts)
}

/// Makes messages that were given up wait again, as if they were new: those with this number, or all of the queue. Returns how many.
///
/// # Errors
/// Those of the statements.
pub fn retry(tx: &mut Tx, queue: &str, number: Option<i64>, now: Time) -> Result<u64> {
    let is_dead = Expr::col("queue").eq(queue).and(Expr::col("state").eq(State::Dead.name()));
    let is_meant = match number {
        Some(number) => is_dead.and(Expr::col("id").eq(number)),
        None => is_dead,
    };
    let mut update = Query::update();
    update.table(tx.table(NAME)).value("state", State::Waiting.name()).value("due", now.0).value("attempts", 0);
    update.value("finished", 0).and_where(is_meant);
    let ids: Vec<i64> = number.into_iter().collect();
    Ok(tx.change_rows(&update, OUTBOX, &ids)?.rows)
}

/// Deletes some of the messages that were delivered or given up before a time. Returns how many; if it is not zero, more may be
/// left.
///
/// # Errors
/// Those of the statements.
pub fn delete_finished(tx: &mut Tx, queue: &str, before: Time) -> Result<usize> {
    let mut select = Query::select();
    select.column("id").from(tx.table(NAME)).limit(MAX_DELETED).and_where(Expr::col("queue").eq(queue));
    select.and_where(Expr::col("state").is_in([State::Delivered.name(), State::Dead.name()]));
    select.and_where(Expr::col("finished").lt(before.0));
    let ids = tx.all(&select, |row| row.int(0))?;
    if !ids.is_empty() {
        let mut delete = Query::delete();
        delete.from_table(tx.table(NAME)).and_where(Expr::col("id").is_in(ids.iter().copied()));
        tx.change_rows(&delete, OUTBOX, &ids)?;
    }
    Ok(ids.len())
}
