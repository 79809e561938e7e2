//! A message, and how it is stored.

use sea_query::{Expr, ExprTrait as _, Query};
use svc_db::{Db, Result, Row, StoreError, Tx};

use crate::{
    Time,
    table::{NAME, OUTBOX},
};

/// Maximum length of an id, a lane and a key, in characters.
pub const MAX_ID: u16 = 100;

/// Maximum length of a payload, in bytes.
pub const MAX_PAYLOAD: usize = 4 << 20;

/// A message that is to be delivered. Names, ids, lanes and keys are compared without case.
#[derive(Clone, Copy, Debug)]
pub struct NewMessage<'a> {
    /// The name of the queue, such as `mail`, at most 20 characters.
    pub queue: &'a str,
    /// Unique within the queue, for receivers that have to recognize a repetition.
    pub id: &'a str,
    /// The receiver, if the messages of one are not to delay those of others.
    pub lane: &'a str,
    /// What the message is about: messages with the same key are delivered one after another. Empty if their order is of no
    /// interest.
    pub key: &'a str,
    /// What is delivered, in the queue's own format.
    pub payload: &'a str,
}

/// What has become of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It waits for its first or next attempt, or somebody is delivering it.
    Waiting,
    /// The receiver has accepted it.
    Delivered,
    /// It was given up. It can be [retried](crate::retry).
    Dead,
}

impl State {
    /// All states.
    pub const ALL: [State; 3] = [State::Waiting, State::Delivered, State::Dead];

    /// The name in the table: `waiting`, `delivered` or `dead`.
    pub const fn name(self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Delivered => "delivered",
            State::Dead => "dead",
        }
    }

    /// The state with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// A stored message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its number, which ascends in the order in which messages were stored.
    pub number: i64,
    /// The name of the queue.
    pub queue: String,
    /// Its id, unique within the queue.
    pub id: String,
    /// The receiver; empty if there is only one.
    pub lane: String,
    /// What it is about; empty if its order is of no interest.
    pub key: String,
    /// What has become of it.
    pub state: State,
    /// When the next attempt is due, or when the lease of the present one ends.
    pub due: Time,
    /// When it was stored.
    pub created: Time,
    /// When it was delivered or given up.
    pub finished: Option<Time>,
    /// The number of attempts so far, including the present one.
    pub attempts: u32,
    /// What the last attempt has resulted in. Empty before its end.
    pub result: String,
    /// What is delivered.
    pub payload: String,
}

/// The columns of [`Message::read`].
pub(crate) const COLUMNS: [&str; 12] = [
    "id",
    "queue",
    "message_id",
    "lane",
    "order_key",
    "state",
    "due",
    "created",
    "finished",
    "attempts",
    "result",
    "payload",
];

impl Message {
    pub(crate) fn read(row: &Row<'_>) -> Result<Self> {
        Ok(Message {
            number: row.int(0)?,
            queue: row.text(1)?,
            id: row.text(2)?,
            lane: row.text(3)?,
            key: row.text(4)?,
            state: State::named(&row.text(5)?).unwrap_or(State::Dead),
            due: Time(row.int(6)?),
            created: Time(row.int(7)?),
            finished: Some(row.int(8)?).filter(|time| *time != 0).map(Time),
            attempts: u32::try_from(row.int(9)?).unwrap_or(u32::MAX),
            result: row.text(10)?,
            payload: row.text(11)?,
        })
    }
}

/// Stores a message, which is delivered after the commit. Returns its number; `None` if the queue has a message with this id
/// already, which stays as it is.
///
/// # Errors
/// If a name or the payload is too long, or those of the statements.
pub fn put(tx: &mut Tx, message: &NewMessage<'_>, now: Time) -> Result<Option<i64>> {
    let NewMessage { queue, id, lane, key, payload } = *message;
    if [id, lane, key].iter().any(|text| text.chars().count() > MAX_ID.into()) || payload.len() > MAX_PAYLOAD {
        return Err(StoreError::Other(format!("a message of the queue `{queue}` is too large")));
    }
    if number_of(tx, queue, id)?.is_some() {
        return Ok(None);
    }
    let mut insert = Query::insert();
    insert
        .into_table(tx.table(NAME))
        .columns(["queue", "message_id", "lane", "order_key", "state", "due", "created", "result", "payload"])
        .values_panic([
            queue.into(),
            id.into(),
            lane.into(),
            key.into(),
            State::Waiting.name().into(),
            now.0.into(),
            now.0.into(),
            "".into(),
            Expr::from(payload),
        ]);
    tx.insert_row(&insert, OUTBOX).map(Some)
}

/// The number of the message with this id.
fn number_of(db: &mut Db, queue: &str, id: &str) -> Result<Option<i64>> {
    let mut select = Query::select();
    select.column("id").from(db.table(NAME));
    select.and_where(Expr::col("queue").eq(queue)).and_where(Expr::col("message_id").eq(id));
    db.first(&select, |row| row.int(0))
}
