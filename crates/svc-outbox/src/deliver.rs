//! Claiming due messages, and recording what has become of them.

use std::{collections::HashMap, time::Duration};

use sea_query::{Alias, Expr, ExprTrait as _, Order, Query, SelectStatement, UnionType};
use svc_db::{Db, Result, Tx};

use crate::{
    Message, State, Time,
    message::COLUMNS,
    table::{NAME, OUTBOX},
};

/// Maximum number of lanes that are looked at in one claim. The others have their turn when some of these have nothing due.
const MAX_LANES: u64 = 100;

/// Maximum length of a result, in characters.
const MAX_RESULT: usize = 2_000;

/// What [`claim`] takes.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The name of the queue.
    pub queue: &'static str,
    /// Maximum number of messages of a lane that are in progress at once.
    pub per_lane: u64,
    /// The number of messages that are in progress, by lane.
    pub in_progress: HashMap<String, u64>,
    /// How long nobody else may claim the messages: longer than an attempt may take.
    pub lease: Duration,
}

/// What an attempt has resulted in, with a text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver has accepted the message.
    Delivered(String),
    /// The next attempt is due after this time.
    Retry(String, Duration),
    /// The message is given up.
    Dead(String),
}

/// Claims messages that are due: of each lane the oldest ones, and of those with the same key only the first. Their attempts are
/// counted.
///
/// # Errors
/// Those of the statements.
pub fn claim(tx: &mut Tx, claim: &Claim, now: Time) -> Result<Vec<Message>> {
    let mut lanes = Query::select();
    lanes.distinct().column("lane").from(tx.table(NAME)).limit(MAX_LANES);
    lanes.and_where(is_waiting(claim.queue)).and_where(Expr::col("due").lte(now.0));
    let lanes = tx.all(&lanes, |row| row.text(0))?;
    let free = |lane: &String| claim.per_lane.saturating_sub(claim.in_progress.get(lane).copied().unwrap_or_default());
    let lanes = lanes.iter().map(|lane| (lane, free(lane))).filter(|(_, free)| *free > 0);
    let mut of_lanes =
        lanes.map(|(lane, free)| due_of_lane(tx, claim, (lane.as_str(), free), now)).collect::<Vec<_>>().into_iter();
    let Some(mut select) = of_lanes.next() else { return Ok(Vec::new()) };
    of_lanes.for_each(|lane| {
        select.union(UnionType::All, lane);
    });
    let mut claimed = tx.all(&select, Message::read)?;
    let ids: Vec<i64> = claimed.iter().map(|message| message.number).collect();
    if ids.is_empty() {
        return Ok(claimed);
    }
    let until = now + claim.lease;
    let mut update = Query::update();
    update
        .table(tx.table(NAME))
        .value("due", until.0)
        .value("attempts", Expr::col("attempts").add(1))
        .and_where(Expr::col("id").is_in(ids.iter().copied()));
    tx.change_rows(&update, OUTBOX, &ids)?;
    for message in &mut claimed {
        message.due = until;
        message.attempts += 1;
    }
    Ok(claimed)
}

fn is_waiting(queue: &str) -> Expr {
    Expr::col("queue").eq(queue).and(Expr::col("state").eq(State::Waiting.name()))
}

/// The messages of a lane that are due and have no earlier one of the same key before them.
fn due_of_lane(tx: &Tx, claim: &Claim, (lane, free): (&str, u64), now: Time) -> SelectStatement {
    let (outer, inner) = (Alias::new("o"), Alias::new("earlier"));
    let mut earlier = Query::select();
    earlier.expr(Expr::val(1)).from_as(tx.table(NAME), inner.clone());
    for column in ["queue", "state", "order_key"] {
        earlier.and_where(Expr::col((inner.clone(), column)).equals((outer.clone(), column)));
    }
    earlier.and_where(Expr::col((inner, "id")).lt(Expr::col((outer.clone(), "id"))));
    let is_first = Expr::col((outer.clone(), "order_key")).eq("").or(Expr::exists(earlier).not());
    let of = |column: &'static str| Expr::col((outer.clone(), column));
    let mut due = Query::select();
    due.columns(COLUMNS.map(|column| (outer.clone(), column))).from_as(tx.table(NAME), outer.clone());
    due.and_where(of("queue").eq(claim.queue)).and_where(of("state").eq(State::Waiting.name()));
    due.and_where(of("lane").eq(lane)).and_where(of("due").lte(now.0)).and_where(is_first);
    due.order_by((outer, "due"), Order::Asc).limit(free);
    // A part of a union has no order of its own, so it is a table of its own.
    let table = Alias::new("lane");
    let mut select = Query::select();
    select.columns(COLUMNS.map(|column| (table.clone(), column))).from_subquery(due, table);
    select
}

/// Records the outcome of an attempt. Returns `false` if the message is somebody else's by now, because the lease was over, or no
/// longer waits.
///
/// # Errors
/// Those of the statement.
pub fn finish(tx: &mut Tx, message: &Message, outcome: &Outcome, now: Time) -> Result<bool> {
    let (state, due, text) = match outcome {
        Outcome::Delivered(text) => (State::Delivered, now, text),
        Outcome::Retry(text, after) => (State::Waiting, now + *after, text),
        Outcome::Dead(text) => (State::Dead, now, text),
    };
    let finished = if state == State::Waiting { 0 } else { now.0 };
    let text: String = text.chars().take(MAX_RESULT).collect();
    let mut update = Query::update();
    update.table(tx.table(NAME)).value("state", state.name()).value("due", due.0).value("finished", finished);
    update.value("result", text).and_where(Expr::col("id").eq(message.number));
    // Whoever claimed it since has counted another attempt.
    update.and_where(is_waiting(&message.queue)).and_where(Expr::col("attempts").eq(message.attempts));
    Ok(tx.change_rows(&update, OUTBOX, &[message.number])?.rows > 0)
}

/// When the next message of a queue is due. `None` if none waits.
///
/// # Errors
/// Those of the statement.
pub fn next_due(db: &mut Db, queue: &str) -> Result<Option<Time>> {
    let mut select = Query::select();
    select.column("due").from(db.table(NAME)).and_where(is_waiting(queue)).order_by("due", Order::Asc).limit(1);
    db.first(&select, |row| row.int(0).map(Time))
}
