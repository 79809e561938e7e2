//! The table.

use svc_db::{
    Rows,
    schema::{Column, ColumnType, DefaultValue, Index, Table},
};

use crate::message::MAX_ID;

/// The messages, as what reads of them depend on and as what changes. The log of changes does not contain them.
pub const OUTBOX: Rows = Rows::named("outbox");

/// Name without prefix.
pub(crate) const NAME: &str = "svc_outbox";

const fn column(name: &'static str, kind: ColumnType, default: DefaultValue) -> Column {
    Column { name, kind, default }
}

const fn number(name: &'static str) -> Column {
    column(name, ColumnType::BigInt, DefaultValue::Value("0"))
}

const fn key(name: &'static str, length: u16) -> Column {
    column(name, ColumnType::Key(length), DefaultValue::Value(""))
}

/// The table, which [`svc_db::Database::create_own_table`] creates.
pub static TABLE: Table = Table {
    name: NAME,
    columns: &[
        column("id", ColumnType::Id, DefaultValue::Auto),
        key("queue", 20),
        key("message_id", MAX_ID),
        key("lane", MAX_ID),
        key("order_key", MAX_ID),
        key("state", 10),
        // Times are in milliseconds since the epoch. Until then, nobody may claim a waiting message.
        number("due"),
        number("created"),
        number("finished"),
        number("attempts"),
        column("result", ColumnType::Text("text"), DefaultValue::Required),
        column("payload", ColumnType::Text("longtext"), DefaultValue::Required),
    ],
    primary: &["id"],
    indexes: &[
        Index { name: "message", columns: &[("queue", 0), ("message_id", 0)], unique: true },
        Index { name: "due", columns: &[("queue", 0), ("state", 0), ("lane", 0), ("due", 0)], unique: false },
        Index { name: "in_order", columns: &[("queue", 0), ("state", 0), ("order_key", 0), ("id", 0)], unique: false },
    ],
    sqlite_indexes: &[],
    rows: &[],
};
