//! SQLite's `CREATE` statements, and the private table that counts changes.

use super::{EPOCH_TABLE, collation, counts, row_log};
use crate::error::Result;
use crate::handle::Tx;
use crate::quoted::{quoted, quoted_list};
use crate::schema::{Column, ColumnType, DefaultValue, RowCounter, Table};

/// The row of the table of change counters that contains the version of the indexes and private tables.
pub(crate) const LAYOUT: &str = "layout";

/// The statement that creates a table with this full name, without secondary indexes.
pub(super) fn create_table(table: &Table, full_name: &str) -> String {
    let mut lines: Vec<String> = table.columns.iter().map(definition).collect();
    let auto = table.auto_column().is_some();
    if !auto {
        lines.push(format!("PRIMARY KEY ({})", quoted_list(table.primary)));
    }
    let end = if auto { "" } else { " WITHOUT ROWID" };
    format!("CREATE TABLE {} (\n  {}\n){end}", quoted(full_name), lines.join(",\n  "))
}

fn definition(column: &Column) -> String {
    let name = quoted(column.name);
    let (kind, collate) = match column.kind {
        ColumnType::Id | ColumnType::BigInt | ColumnType::Int => ("INTEGER", ""),
        ColumnType::Key(_) => ("TEXT", " COLLATE NOCASE"),
        ColumnType::Varchar(_) | ColumnType::Text(_) => ("TEXT", " COLLATE PEOPLE"),
        ColumnType::DateTime => ("TEXT", ""),
    };
    match column.default {
        DefaultValue::Auto => format!("{name} INTEGER PRIMARY KEY AUTOINCREMENT"),
        DefaultValue::Value(d) if kind == "INTEGER" => format!("{name} INTEGER NOT NULL DEFAULT {d}"),
        DefaultValue::Value(d) => format!("{name} TEXT{collate} NOT NULL DEFAULT '{d}'"),
        DefaultValue::Required => format!("{name} {kind}{collate} NOT NULL DEFAULT ''"),
        DefaultValue::Null => format!("{name} {kind}{collate} DEFAULT NULL"),
    }
}

/// The statements that create missing secondary indexes. Index names are global.
pub(super) fn create_indexes(table: &Table, full_name: &str) -> Vec<String> {
    let all = table.indexes.iter().chain(table.sqlite_indexes);
    all.map(|i| {
        let columns: Vec<String> = i.columns.iter().map(|(c, _)| quoted(c)).collect();
        let unique = if i.unique { "UNIQUE " } else { "" };
        let name = quoted(&format!("{full_name}_{}", i.name));
        format!("CREATE {unique}INDEX IF NOT EXISTS {name} ON {} ({})", quoted(full_name), columns.join(", "))
    })
    .collect()
}

/// The triggers that count changes.
fn triggers(table: &Table, prefix: &str) -> Vec<String> {
    let full_name = quoted(&format!("{prefix}{}", table.name));
    let epochs = quoted(&format!("{prefix}{EPOCH_TABLE}"));
    let events = [("insert", "NEW"), ("update", "NEW"), ("delete", "OLD")];
    let trigger = |rows: &RowCounter, (event, row): (&str, &str)| {
        let condition = rows.condition.replace("{row}", row);
        let when = if condition.is_empty() { String::new() } else { format!(" WHEN {condition}") };
        let (name, counter) = (quoted(&format!("{prefix}svc_{}_{event}", rows.name)), rows.counter);
        format!(
            "CREATE TRIGGER {name} AFTER {event} ON {full_name}{when} BEGIN UPDATE {epochs} SET n = n + 1 WHERE family = '{counter}'; END",
        )
    };
    table.counters.iter().flat_map(|rows| events.map(|event| trigger(rows, event))).collect()
}

/// Creates the private tables and their triggers, and increments every change counter.
pub(super) fn count_changes(tx: &mut Tx, prefix: &str) -> Result<()> {
    let epochs = quoted(&format!("{prefix}{EPOCH_TABLE}"));
    tx.run(&format!(
        "CREATE TABLE IF NOT EXISTS {epochs} (family TEXT PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID"
    ))?;
    for family in tx.schema().counters {
        tx.run(&format!(
            "INSERT INTO {epochs} (family, n) VALUES ('{family}', 1) ON CONFLICT (family) DO UPDATE SET n = n + 1"
        ))?;
    }
    // The collation version that the indexes use.
    tx.run(&format!("INSERT OR REPLACE INTO {epochs} (family, n) VALUES ('collation', {})", collation::VERSION))?;
    for table in tx.schema().tables {
        for statement in triggers(table, prefix) {
            tx.run(&statement.replacen("CREATE TRIGGER", "CREATE TRIGGER IF NOT EXISTS", 1))?;
        }
    }
    // The posts may have been replaced.
    if let Some(logged) = &tx.schema().log {
        row_log::remove(tx, logged, prefix)?;
    }
    counts::create(tx, prefix)?;
    tx.run(&format!("INSERT OR REPLACE INTO {epochs} (family, n) VALUES ('{LAYOUT}', {})", tx.schema().layout.version))
}

/// Brings the indexes and private tables of a site with an earlier layout up to date. Returns whether it had one.
///
/// This reads all posts and comments.
pub(super) fn upgrade(tx: &mut Tx) -> Result<bool> {
    let prefix = tx.prefix().to_owned();
    let name = format!("{prefix}{EPOCH_TABLE}");
    if !tx.table_exists(&name)? {
        return Ok(false);
    }
    let mut version = 0;
    let sql = format!("SELECT n FROM {} WHERE family = '{LAYOUT}'", quoted(&name));
    tx.conn.query(&sql, &[], &mut |row| row.int(0).map(|n| version = n))?;
    if version >= tx.schema().layout.version {
        return Ok(false);
    }
    tracing::info!("creating the indexes of this version");
    tx.run("BEGIN IMMEDIATE")?;
    let done = replace_layout(tx, &prefix);
    tx.run(if done.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    done.map(|()| true)
}

fn replace_layout(tx: &mut Tx, prefix: &str) -> Result<()> {
    for what in tx.schema().layout.obsolete {
        let (kind, name) = what.split_once(' ').unwrap_or_default();
        tx.run(&format!("DROP {kind} IF EXISTS {}", quoted(&name.replace("{prefix}", prefix))))?;
    }
    for table in tx.schema().tables {
        let name = format!("{prefix}{}", table.name);
        if tx.table_exists(&name)? {
            for statement in create_indexes(table, &name) {
                tx.run(&statement)?;
            }
        }
    }
    count_changes(tx, prefix)
}
