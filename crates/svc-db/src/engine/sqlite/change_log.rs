//! The log of changes of an SQLite file. The transactions of this program write their records; triggers add what other programs
//! change, so that the log is complete whoever writes.

use std::sync::atomic::Ordering;

use super::LAYOUT_TABLE;
use crate::change_log::{self, TABLE};
use crate::change_record::Operation;
use crate::error::Result;
use crate::handle::Tx;
use crate::quoted::quoted;
use crate::schema::{ObjectColumn, Schema, Table, TableRows};

/// The events that are logged.
const EVENTS: [&str; 3] = ["insert", "update", "delete"];

/// The row of SQLite's table of sequences that is 1 while a transaction of this program is open, so that triggers log nothing,
/// without prefix. Each transaction that is logged changes this table anyway.
const OWN_TRANSACTION: &str = "svc_own_transaction";

/// The start of the names of the triggers.
pub(super) fn trigger_prefix(prefix: &str) -> String {
    format!("{prefix}{TABLE}_")
}

/// The number of triggers of the tables of a schema.
pub(super) fn n_triggers(schema: &Schema) -> usize {
    schema.tables.iter().map(|table| table.rows.len() * EVENTS.len()).sum()
}

/// Creates the log and its triggers. All rows count as changed.
pub(super) fn create(tx: &mut Tx, prefix: &str) -> Result<()> {
    let log = change_log::table(prefix);
    tx.run(&format!(
        "CREATE TABLE IF NOT EXISTS {log} (seq INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, \
         kind TEXT NOT NULL, operation TEXT NOT NULL, object INTEGER, name TEXT, object_before TEXT, object_after TEXT, \
         caller INTEGER, nonce INTEGER NOT NULL DEFAULT (random()))"
    ))?;
    change_log::create_consumers(tx, "TEXT", "")?;
    // Earlier versions had it.
    tx.run(&format!("DROP INDEX IF EXISTS {}", quoted(&format!("{prefix}{TABLE}_kind"))))?;
    for table in tx.schema().tables {
        for (i, rows) in table.rows.iter().enumerate() {
            for event in EVENTS {
                tx.run(&create_trigger(table, i, rows, prefix, event))?;
            }
        }
    }
    let kinds = tx.schema().all_rows();
    change_log::append_unknown(tx, prefix, &kinds)
}

/// The statement that creates the trigger of an event.
fn create_trigger(table: &Table, i: usize, rows: &TableRows, prefix: &str, event: &str) -> String {
    let name = quoted(&format!("{}{}_{i}_{event}", trigger_prefix(prefix), table.name));
    let (of, log) = (quoted(&format!("{prefix}{}", table.name)), change_log::table(prefix));
    let of_row = |expression: &str, row: &str| match expression {
        "" => "NULL".to_owned(),
        expression => expression.replace("{row}", row),
    };
    let (object, is_name) = match rows.object {
        ObjectColumn::Id(column) => (column, false),
        ObjectColumn::Name(column) => (column, true),
    };
    let column = if is_name { "name" } else { "object" };
    let described = |row: &str| if row.is_empty() { "NULL".to_owned() } else { of_row(rows.description, row) };
    let (before, after) = match event {
        "insert" => ("", "NEW"),
        "delete" => ("OLD", ""),
        _ => ("OLD", "NEW"),
    };
    let operation = if table.is_of_objects(rows) { event } else { Operation::Update.name() };
    let insert = |row: &str| {
        format!(
            "INSERT INTO {log} (time, kind, operation, {column}, object_before, object_after) \
             SELECT 1000 * strftime('%s', 'now'), '{}', '{operation}', {row}.{object}, {}, {}",
            rows.rows.name(),
            described(before),
            described(after)
        )
    };
    let (row, mut what) = match event {
        "delete" => ("OLD", insert("OLD")),
        _ => ("NEW", insert("NEW")),
    };
    let mut condition = of_row(rows.condition, row);
    if event == "update" {
        what += &format!("; {} WHERE OLD.{object} IS NOT NEW.{object}", insert("OLD"));
        condition = format!("({condition} OR {})", of_row(rows.condition, "OLD"));
    }
    let condition = if rows.condition.is_empty() { String::new() } else { format!(" AND {condition}") };
    format!(
        "CREATE TRIGGER IF NOT EXISTS {name} AFTER {event} ON {of} \
         WHEN NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = '{prefix}{OWN_TRANSACTION}' AND seq = 1){condition} BEGIN {what}; END"
    )
}

/// Checks whether the database has a log by now, if it had none. Another transaction or another program may have created it.
///
/// # Errors
/// Those of the statements.
pub(super) fn look_for_log(tx: &mut Tx) -> Result<()> {
    if !tx.shared.is_logging.load(Ordering::Relaxed) {
        let has_log = exists(tx)?;
        tx.shared.is_logging.store(has_log, Ordering::Relaxed);
    }
    Ok(())
}

fn exists(tx: &mut Tx) -> Result<bool> {
    let prefix = tx.prefix().to_owned();
    Ok(tx.table_exists(&format!("{prefix}{LAYOUT_TABLE}"))? && tx.table_exists(&format!("{prefix}{TABLE}"))?)
}

/// Begins a transaction whose changes are logged as the records of its jobs, and not by triggers. Call it before the first
/// change.
///
/// # Errors
/// Those of the statement.
pub(super) fn begin_own_transaction(tx: &mut Tx) -> Result<()> {
    match set_own_transaction(tx, true) {
        // Another program has dropped the tables.
        Err(_) if !exists(tx)? => {
            tx.shared.is_logging.store(false, Ordering::Relaxed);
            Ok(())
        }
        done => done,
    }
}

/// Ends the transaction, if it has [begun](begin_own_transaction).
///
/// # Errors
/// Those of the statement.
pub(super) fn end_own_transaction(tx: &mut Tx) -> Result<()> {
    set_own_transaction(tx, false)
}

/// Writes nothing if the flag has this value.
fn set_own_transaction(tx: &mut Tx, is_own: bool) -> Result<()> {
    let name = format!("{}{OWN_TRANSACTION}", tx.prefix());
    let (before, after) = (i64::from(!is_own), i64::from(is_own));
    let sql = "UPDATE sqlite_sequence SET seq = ? WHERE name = ? AND seq = ?";
    let done = tx.conn.execute(sql, &[after.into(), name.as_str().into(), before.into()])?;
    if is_own && done.rows == 0 {
        // Other programs empty the table to number rows anew.
        tx.conn.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, 1)", &[name.into()])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::change_record::Object;
    use crate::rows::Rows;
    use crate::schema::{Column, ColumnType, DefaultValue, Layout};
    use crate::{
        ChangeRecord, Companion, Database, DatabaseUrl, Description, ReadText as _, StoreConfig, Subscriber, Tuning,
        WriteText as _, create_missing_tables, sql, table_manager,
    };
    use std::collections::HashMap;
    use svc_versions::Context;

    const BOATS: Rows = Rows::named("boats");
    const WRECKS: Rows = Rows::named("wrecks");
    const FLAGS: Rows = Rows::named("flags");

    const fn column(name: &'static str, kind: ColumnType, default: DefaultValue) -> Column {
        Column { name, kind, default }
    }

    const EMPTY: Table = Table { name: "", columns: &[], primary: &[], indexes: &[], sqlite_indexes: &[], rows: &[] };

    static SCHEMA: Schema = Schema {
        tables: &[
            Table {
                name: "boats",
                columns: &[
                    column("id", ColumnType::Id, DefaultValue::Auto),
                    column("state", ColumnType::Key(20), DefaultValue::Value("afloat")),
                ],
                primary: &["id"],
                rows: &[
                    TableRows {
                        rows: BOATS,
                        object: ObjectColumn::Id("id"),
                        condition: "{row}.state <> 'sunk'",
                        description: "{row}.state",
                    },
                    TableRows {
                        rows: WRECKS,
                        object: ObjectColumn::Id("id"),
                        condition: "{row}.state = 'sunk'",
                        description: "",
                    },
                ],
                ..EMPTY
            },
            Table {
                name: "flags",
                columns: &[column("name", ColumnType::Key(20), DefaultValue::Required)],
                primary: &["name"],
                rows: &[TableRows { rows: FLAGS, object: ObjectColumn::Name("name"), condition: "", description: "" }],
                ..EMPTY
            },
        ],
        layout: Layout { version: 1, obsolete: &[] },
        ..Schema::EMPTY
    };

    struct Harbour;

    impl Subscriber for Harbour {
        fn committed(&self, _: &ChangeRecord) {}
    }

    impl Companion for Harbour {
        fn describe(&self, _: &ChangeRecord, rows: Rows) -> HashMap<i64, Description> {
            let description = Description { before: None, after: Some("afloat".to_owned()) };
            if rows == BOATS { HashMap::from([(1, description)]) } else { HashMap::new() }
        }
    }

    fn database(path: &std::path::Path) -> Database {
        let config =
            StoreConfig { table_prefix: "x_".to_owned(), ..StoreConfig::new(DatabaseUrl::Sqlite(path.into())) };
        let database = Database::open(&config, &SCHEMA, Arc::new(Harbour), Tuning::default()).unwrap();
        let manager = table_manager(sql(crate::Dialect::Sqlite).dialect());
        database.write_blocking(move |tx| create_missing_tables(tx, manager)).unwrap();
        database
    }

    /// The changes after a number, each as a line.
    fn lines(database: &Database, after: i64) -> Vec<String> {
        let changes = database.logged_changes(&Context::background(), Some(after), 1_000).unwrap().unwrap();
        assert!(changes.iter().all(|change| change.time.elapsed().is_ok_and(|time| time.as_secs() < 60)));
        let line = |c: &crate::LoggedChange| {
            let object = match &c.object {
                Some(Object::Id(id)) => id.to_string(),
                Some(Object::Name(name)) => name.clone(),
                None => "?".to_owned(),
            };
            let described = format!("{}>{}", c.before.as_deref().unwrap_or(""), c.after.as_deref().unwrap_or(""));
            format!("{} {} {object} {described} {:?}", c.operation.name(), c.kind, c.caller)
        };
        changes.iter().map(line).collect()
    }

    /// A transaction that changes these boats.
    fn record(database: &Database, ids: Vec<i64>) {
        let change = move |tx: &mut Tx| {
            tx.record(BOATS, &ids);
            Ok(())
        };
        database.write_blocking(change).unwrap();
    }

    fn last(database: &Database) -> i64 {
        let changes = database.logged_changes(&Context::background(), Some(0), 1_000).unwrap().unwrap();
        changes.last().map_or(0, |change| change.seq)
    }

    #[test]
    fn transactions_log_their_record_and_triggers_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let database = database(&path);
        assert_eq!(lines(&database, 0), ["update boats ? > None", "update wrecks ? > None", "update flags ? > None"]);

        let after = last(&database);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let cx = Context::background();
        cx.set_caller(7);
        let insert = |tx: &mut Tx| {
            let mut boat = sea_query::Query::insert();
            boat.into_table(tx.table("boats")).columns(["state"]).values_panic(["afloat".into()]);
            let id = tx.insert_row(&boat, BOATS)?;
            let mut flag = sea_query::Query::insert();
            flag.into_table(tx.table("flags")).columns(["name"]).values_panic(["red".into()]);
            tx.change_named(&flag, Operation::Update, FLAGS, "red")?;
            Ok(id)
        };
        runtime.block_on(database.write(&cx, insert)).unwrap();
        assert_eq!(lines(&database, after), ["insert boats 1 >afloat Some(7)", "update flags red > Some(7)"]);

        let after = last(&database);
        let failed = runtime.block_on(database.write::<()>(&cx, move |tx| {
            insert(tx).ok();
            Err(crate::StoreError::TooMany)
        }));
        assert!(failed.is_err());
        assert_eq!(lines(&database, after), [] as [String; 0], "what was rolled back is not logged");

        // Another program, which knows nothing of the log.
        let other = rusqlite::Connection::open(&path).unwrap();
        other
            .execute_batch(
                "INSERT INTO x_boats (state) VALUES ('afloat'); UPDATE x_boats SET state = 'sunk' WHERE id = 2; \
                 UPDATE x_boats SET id = 9 WHERE id = 1; DELETE FROM x_boats WHERE id = 2; DELETE FROM x_flags;",
            )
            .unwrap();
        let expected = [
            "insert boats 2 >afloat None",
            "update wrecks 2 > None",
            "update boats 2 afloat>sunk None",
            "update boats 9 afloat>afloat None",
            "update boats 1 afloat>afloat None",
            "delete wrecks 2 > None",
            "delete flags red > None",
        ];
        let mut logged = lines(&database, after);
        // Triggers of one event run in no particular order.
        logged.sort_unstable();
        let mut expected = expected.map(str::to_owned);
        expected.sort_unstable();
        assert_eq!(logged, expected);
    }

    #[test]
    fn old_changes_are_deleted_but_the_last_of_each_kind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        drop(database(&path));
        let config = StoreConfig {
            table_prefix: "x_".to_owned(),
            change_log: Some(100),
            ..StoreConfig::new(DatabaseUrl::Sqlite(path))
        };
        let database = Database::open(&config, &SCHEMA, Arc::new(()), Tuning::default()).unwrap();
        let version = |rows| database.read_blocking(|db| Ok(db.version(rows))).unwrap();
        let (of_flags, of_boats) = (version(FLAGS), version(BOATS));
        assert!(of_flags.is_some());
        for from in [0, 2_000] {
            let ids: Vec<i64> = (from + 1..from + 2_000).collect();
            record(&database, ids);
        }
        let kept = database.logged_changes(&Context::background(), Some(0), 10_000).unwrap().unwrap();
        assert!((100..2_100).contains(&kept.len()), "{}", kept.len());
        assert_eq!(version(FLAGS), of_flags);
        assert!(version(BOATS) > of_boats);
        let many: Vec<i64> = (1..20_000).collect();
        let after = last(&database);
        record(&database, many);
        assert_eq!(lines(&database, after), ["update boats ? > None"], "too many for a list");
    }

    #[test]
    fn tables_that_were_rolled_back_are_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let config = StoreConfig { table_prefix: "x_".to_owned(), ..StoreConfig::new(DatabaseUrl::Sqlite(path)) };
        let database = Database::open(&config, &SCHEMA, Arc::new(()), Tuning::default()).unwrap();
        let manager = table_manager(sql(crate::Dialect::Sqlite).dialect());
        let failed = database.exclusively(|tx| -> crate::Result<()> {
            create_missing_tables(tx, manager)?;
            Err(crate::StoreError::TooMany)
        });
        assert!(failed.is_err());
        let failed = database.write_blocking(move |tx| -> crate::Result<()> {
            create_missing_tables(tx, manager)?;
            Err(crate::StoreError::TooMany)
        });
        assert!(failed.is_err());
        database.write_blocking(move |tx| create_missing_tables(tx, manager)).unwrap();
        record(&database, vec![1]);
        assert_eq!(lines(&database, 3), ["update boats 1 > None"]);
    }

    #[test]
    fn transactions_without_changes_write_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let database = database(&path);
        let log = || std::fs::metadata(folder.path().join("x.db-wal")).map_or(0, |file| file.len());
        record(&database, vec![1]);
        let before = log();
        database.write_blocking(|_| Ok(())).unwrap();
        assert_eq!(log(), before);
        record(&database, vec![1]);
        assert!(log() > before);
    }

    #[test]
    fn a_renamed_table_takes_its_triggers_along() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        drop(database(&path));
        let other = rusqlite::Connection::open(&path).unwrap();
        other
            .execute_batch("ALTER TABLE x_flags RENAME TO y_flags; CREATE TABLE x_flags (name TEXT PRIMARY KEY)")
            .unwrap();
        let database = database(&path);
        let after = last(&database);
        other.execute_batch("INSERT INTO x_flags (name) VALUES ('blue')").unwrap();
        assert_eq!(lines(&database, after), ["insert flags blue > None"]);
    }

    #[test]
    fn a_failed_transaction_undoes_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        let database = database(&folder.path().join("x.db"));
        let after = last(&database);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        // While the writer is busy, the next transactions are queued, and become one group.
        let (started, has_started) = std::sync::mpsc::sync_channel(1);
        let (go_on, may_go_on) = std::sync::mpsc::sync_channel::<()>(1);
        let may_go_on = std::sync::Mutex::new(may_go_on);
        let cx = Context::background();
        let busy = database.write(&cx, move |_| {
            started.send(()).ok();
            may_go_on.lock().unwrap().recv().ok();
            Err::<(), _>(crate::StoreError::TooMany)
        });
        let n_runs = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let write = |id: i64, fails: bool| {
            let n_runs = Arc::clone(&n_runs);
            database.write(&cx, move |tx: &mut Tx| {
                n_runs.fetch_add(1, Ordering::Relaxed);
                tx.execute_text("INSERT INTO x_boats (id) VALUES (?)", &[id.into()])?;
                tx.record(BOATS, &[id]);
                if fails { Err(crate::StoreError::TooMany) } else { Ok(()) }
            })
        };
        let all = runtime.block_on(async {
            let (first, second, third, fourth) = (write(1, true), write(2, false), write(3, true), write(4, false));
            let release = async {
                has_started.recv().unwrap();
                // The transactions are sent when they are polled first, which has happened by now.
                go_on.send(()).unwrap();
            };
            let (busy, first, second, third, fourth, ()) = tokio::join!(busy, first, second, third, fourth, release);
            assert!(busy.is_err());
            [first, second, third, fourth].map(|done| done.is_ok())
        });
        assert_eq!(all, [false, true, false, true]);
        assert_eq!(n_runs.load(Ordering::Relaxed), 4, "none has run twice");
        let boats = lines(&database, after).into_iter().filter(|line| line.contains("boats")).collect::<Vec<_>>();
        assert_eq!(boats, ["update boats ? > None"; 2]);
        let ids = database.read_blocking(|db| {
            let mut ids = Vec::new();
            db.query_text("SELECT id FROM x_boats ORDER BY id", &[], &mut |row| row.int(0).map(|id| ids.push(id)))?;
            Ok(ids)
        });
        assert_eq!(ids.unwrap(), [2, 4]);
    }

    #[test]
    fn numbers_that_another_program_forgets_are_no_change_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let database = database(&path);
        rusqlite::Connection::open(&path).unwrap().execute_batch("DELETE FROM sqlite_sequence").unwrap();
        let after = last(&database);
        for name in ["red", "green"] {
            let insert = move |tx: &mut Tx| {
                let mut flag = sea_query::Query::insert();
                flag.into_table(tx.table("flags")).columns(["name"]).values_panic([name.into()]);
                tx.change_named(&flag, Operation::Insert, FLAGS, name).map(drop)
            };
            database.write_blocking(insert).unwrap();
        }
        assert_eq!(lines(&database, after), ["insert flags red > None", "insert flags green > None"]);
    }

    #[test]
    fn versions_are_those_of_the_snapshot() {
        let folder = tempfile::tempdir().unwrap();
        let database = database(&folder.path().join("x.db"));
        let version = |database: &Database, rows| database.read_blocking(|db| Ok(db.version(rows))).unwrap();
        let (flags, boats) = (version(&database, FLAGS), version(&database, BOATS));
        database
            .read_blocking(|earlier| {
                record(&database, vec![1]);
                // Another reader knows the later version before this one is asked.
                assert!(version(&database, BOATS) > boats);
                assert_eq!((earlier.version(FLAGS), earlier.version(BOATS)), (flags, boats));
                Ok(())
            })
            .unwrap();
        for _ in 0..20 {
            record(&database, vec![2]);
        }
        assert_eq!(version(&database, FLAGS), flags);
        assert_eq!(version(&database, BOATS), database.read_blocking(|db| db.log_bounds()).unwrap().map(|b| b.last));
    }

    #[test]
    fn text_statements_count_as_changes_of_everything() {
        let folder = tempfile::tempdir().unwrap();
        let database = database(&folder.path().join("x.db"));
        let after = last(&database);
        database.write_blocking(|tx| tx.execute_text("UPDATE x_boats SET id = id", &[]).map(drop)).unwrap();
        assert_eq!(lines(&database, after).len(), 3);
    }
}
