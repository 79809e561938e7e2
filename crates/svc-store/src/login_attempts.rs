//! Attempts to log in that the servers on one database have counted, by which they limit them together.
//!
//! Each server adds what it has counted since the last time, and reads what the others have added. Nothing is stored of an attempt but a
//! hash of whom a limit counts it for, and that for a minute.

use std::time::Duration;

use sea_query::{Expr, ExprTrait as _, Order, Query};
use svc_db::schema::{Column, ColumnType, DefaultValue, Index, Table};
use svc_db::{Db, Dialect, Result, Rows, Tx};

use crate::Store;

/// Maximum number of counts that a server adds at once, and that are deleted with it.
pub const MAX_ADDED: usize = 1_000;
const MAX_DELETED: u64 = 5_000;

/// Maximum number of counts that are read at once.
const MAX_READ: u64 = 5_000;

/// How long counts are kept. Servers read them more often.
const KEPT: Duration = Duration::from_mins(1);

/// The counts, as what changes. Nothing is cached that depends on them, and the log of changes does not contain them.
const ATTEMPTS: Rows = Rows::named("login_attempts");

const NAME: &str = "svc_login_attempts";

const COLUMNS: [&str; 5] = ["server", "kind", "counter", "n", "created"];

const fn column(name: &'static str, kind: ColumnType, default: DefaultValue) -> Column {
    Column { name, kind, default }
}

static TABLE: Table = Table {
    name: NAME,
    columns: &[
        column("id", ColumnType::Id, DefaultValue::Auto),
        column("server", ColumnType::Key(20), DefaultValue::Value("")),
        column("kind", ColumnType::Key(20), DefaultValue::Value("")),
        column("counter", ColumnType::Key(32), DefaultValue::Value("")),
        column("n", ColumnType::BigInt, DefaultValue::Value("0")),
        // In seconds since the epoch.
        column("created", ColumnType::BigInt, DefaultValue::Value("0")),
    ],
    primary: &["id"],
    indexes: &[Index { name: "created", columns: &[("created", 0)], unique: false }],
    sqlite_indexes: &[],
    rows: &[],
};

/// A number of attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedAttempts {
    /// The name of the limit, of at most 20 characters.
    pub kind: String,
    /// Whom the limit counts them for, as a hash.
    pub counter: u128,
    /// How many.
    pub n: u32,
}

/// Creates the table if several servers may share the database, and it is missing. Returns `false` if only one server can use it: an
/// SQLite file.
///
/// # Errors
/// Those of the statements.
pub fn create_table(store: &Store) -> Result<bool> {
    if store.read_blocking(|db| Ok(db.dialect()))? == Dialect::Sqlite {
        return Ok(false);
    }
    store.create_own_table(&TABLE).map(|()| true)
}

/// Adds what this server has counted, at most [`MAX_ADDED`], and deletes old counts. `now` is in seconds since the epoch.
///
/// # Errors
/// Those of the statements.
pub fn add(tx: &mut Tx, server: &str, counted: &[CountedAttempts], now: i64) -> Result<()> {
    let mut insert = Query::insert();
    insert.into_table(tx.table(NAME)).columns(COLUMNS);
    for CountedAttempts { kind, counter, n } in counted.iter().take(MAX_ADDED) {
        let counter = format!("{counter:032x}");
        insert.values_panic([
            server.into(),
            kind.as_str().into(),
            counter.into(),
            i64::from(*n).into(),
            Expr::from(now),
        ]);
    }
    if !counted.is_empty() {
        tx.change_rows(&insert, ATTEMPTS, &[])?;
    }
    let mut old = Query::select();
    old.column("id").from(tx.table(NAME)).limit(MAX_DELETED);
    old.and_where(Expr::col("created").lt(oldest_kept(now))).order_by("created", Order::Asc);
    let ids = tx.all(&old, |row| row.int(0))?;
    if !ids.is_empty() {
        let mut delete = Query::delete();
        delete.from_table(tx.table(NAME)).and_where(Expr::col("id").is_in(ids.iter().copied()));
        tx.change_rows(&delete, ATTEMPTS, &ids)?;
    }
    Ok(())
}

/// When the oldest counts that matter were added, in seconds since the epoch.
fn oldest_kept(now: i64) -> i64 {
    now.saturating_sub(i64::try_from(KEPT.as_secs()).unwrap_or(i64::MAX))
}

/// What other servers have added in the last minute after the entry with this number, and the number of the last entry. What comes after
/// the first few thousand is in the next result. `now` is in seconds since the epoch.
///
/// # Errors
/// Those of the statement.
pub fn of_others(db: &mut Db, server: &str, after: i64, now: i64) -> Result<(Vec<CountedAttempts>, i64)> {
    let mut select = Query::select();
    select.column("id").columns(COLUMNS).from(db.table(NAME)).and_where(Expr::col("id").gt(after));
    select.and_where(Expr::col("created").gte(oldest_kept(now))).order_by("id", Order::Asc).limit(MAX_READ);
    let mut last = after;
    let entries = db.all(&select, |row| {
        last = row.int(0)?;
        let (counter, n) = (u128::from_str_radix(&row.text(3)?, 16).ok(), u32::try_from(row.int(4)?).ok());
        let counted = counter.zip(n).filter(|_| row.text(1).is_ok_and(|of| of != server));
        Ok(counted.map(|(counter, n)| (row.text(2), counter, n)))
    })?;
    let attempts =
        entries.into_iter().flatten().map(|(kind, counter, n)| Ok(CountedAttempts { kind: kind?, counter, n }));
    Ok((attempts.collect::<Result<_>>()?, last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn counted(kind: &str, counter: u128, n: u32) -> CountedAttempts {
        CountedAttempts { kind: kind.to_owned(), counter, n }
    }

    #[test]
    fn servers_read_what_others_have_counted_once_and_for_a_minute() {
        fixture::on_each(|store| {
            let is_shared = create_table(&store).unwrap();
            assert_eq!(is_shared, store.read_blocking(|db| Ok(db.dialect())).unwrap() == Dialect::MySql);
            if !is_shared {
                store.create_own_table(&TABLE).unwrap();
            }
            let add = |server: &'static str, counted: Vec<CountedAttempts>, now| {
                store.write_blocking(move |tx| add(tx, server, &counted, now)).unwrap();
            };
            let of_others =
                |server: &str, after, now| store.read_blocking(|db| of_others(db, server, after, now)).unwrap();
            add("a", vec![counted("form", u128::MAX, 3), counted("wrong", 7, 1)], 1_000);
            add("b", vec![counted("form", 7, 2)], 1_001);
            assert_eq!(of_others("a", 0, 1_001).0, [counted("form", 7, 2)]);
            let (found, last) = of_others("b", 0, 1_001);
            assert_eq!(found, [counted("form", u128::MAX, 3), counted("wrong", 7, 1)]);
            assert_eq!(of_others("b", last, 1_001), (vec![], last));
            add("b", vec![], 1_061);
            assert_eq!(of_others("c", 0, 1_061).0, [counted("form", 7, 2)], "old ones are deleted");
            add("b", vec![counted("wrong", 1, 1); MAX_ADDED + 1], 1_062);
            assert_eq!(of_others("c", 0, 1_062).0.len(), MAX_ADDED);
            assert_eq!(of_others("c", 0, 1_123), (vec![], 0), "old ones that are not deleted yet");
        });
    }
}
