//! SQLite's `CREATE` statements, and the versions of what this crate adds to the tables of a schema.

use std::sync::atomic::Ordering;

use super::{LAYOUT_TABLE, change_log, collation, counts};
use crate::change_log::TABLE;
use crate::error::Result;
use crate::handle::{Db, Tx};
use crate::quoted::{quoted, quoted_list};
use crate::schema::{Column, ColumnType, DefaultValue, Table};

/// The row of the layout table with the version of the indexes and private tables.
pub(super) const LAYOUT: &str = "layout";

/// The row of the layout table with the version of the collation order.
const COLLATION: &str = "collation";

/// The table that had the versions before the layout table, without prefix.
const FORMER_TABLE: &str = "svc_epoch";

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

/// Creates the private tables and their triggers, or replaces them. All rows count as changed.
///
/// This reads all posts and comments.
pub(super) fn create_private_tables(tx: &mut Tx, prefix: &str) -> Result<()> {
    let layout = quoted(&format!("{prefix}{LAYOUT_TABLE}"));
    tx.run(&format!("CREATE TABLE IF NOT EXISTS {layout} (name TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID"))?;
    drop_triggers(tx, prefix)?;
    change_log::create(tx, prefix)?;
    counts::create(tx, prefix)?;
    // The collation version that the indexes use.
    tx.run(&format!("INSERT OR IGNORE INTO {layout} (name, n) VALUES ('{COLLATION}', {})", collation::VERSION))?;
    tx.run(&format!("INSERT OR REPLACE INTO {layout} (name, n) VALUES ('{LAYOUT}', {})", tx.schema().layout.version))
}

/// Drops the triggers of this and earlier versions.
fn drop_triggers(tx: &mut Tx, prefix: &str) -> Result<()> {
    let mut names = Vec::new();
    let (start, like) = (format!("{prefix}svc_"), "SELECT name FROM sqlite_master WHERE type = 'trigger'");
    tx.conn.query(like, &[], &mut |row| row.text(0).map(|name| names.push(name)))?;
    let own = names.iter().filter(|name| name.starts_with(&start));
    own.clone().try_for_each(|name| tx.run(&format!("DROP TRIGGER {}", quoted(name))))
}

/// Prepares a site that was used by another version of this crate: rebuilds text indexes that have another collation order, and
/// brings the indexes and private tables up to date, if they are older or incomplete.
///
/// This reads all posts and comments.
pub(super) fn upgrade(tx: &mut Tx) -> Result<()> {
    let prefix = tx.prefix().to_owned();
    let mut found = None;
    for (table, column) in [(LAYOUT_TABLE, "name"), (FORMER_TABLE, "family")] {
        if found.is_none() && tx.table_exists(&format!("{prefix}{table}"))? {
            found = Some((quoted(&format!("{prefix}{table}")), column));
        }
    }
    let Some((table, column)) = found else { return Ok(()) };
    let number = |name: &str, otherwise: i64| {
        let mut n = otherwise;
        let sql = format!("SELECT n FROM {table} WHERE {column} = '{name}'");
        tx.conn.query(&sql, &[], &mut |row| row.int(0).map(|stored| n = stored))?;
        Ok(n)
    };
    let is_sorted = number(COLLATION, collation::VERSION)? == collation::VERSION;
    let is_current = column == "name" && number(LAYOUT, 0)? >= tx.schema().layout.version && has_triggers(tx, &prefix)?;
    tx.shared.is_logging.store(is_current, Ordering::Relaxed);
    if is_sorted && is_current {
        return Ok(());
    }
    tx.run("BEGIN IMMEDIATE")?;
    let done = prepare(tx, &prefix, is_sorted, is_current);
    tx.run(if done.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    tx.shared.is_logging.store(done.is_ok(), Ordering::Relaxed);
    done
}

fn prepare(tx: &mut Tx, prefix: &str, is_sorted: bool, is_current: bool) -> Result<()> {
    if !is_sorted {
        tracing::info!("the collation order has changed: rebuilding indexes");
        tx.run("REINDEX PEOPLE")?;
    }
    if !is_current {
        tracing::info!("creating the indexes of this version");
        replace_layout(tx, prefix)?;
    }
    let layout = quoted(&format!("{prefix}{LAYOUT_TABLE}"));
    tx.run(&format!("INSERT OR REPLACE INTO {layout} (name, n) VALUES ('{COLLATION}', {})", collation::VERSION))
}

/// Returns whether all changes are logged. A table that another program has dropped and created again has no triggers, and one that it
/// has renamed takes them along.
pub(super) fn has_triggers(db: &mut Db, prefix: &str) -> Result<bool> {
    let start = change_log::trigger_prefix(prefix);
    let mut n = 0;
    db.conn.query("SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'", &[], &mut |row| {
        let (name, table) = (row.text(0)?, row.text(1)?);
        let of_table = table.strip_prefix(prefix).and_then(|table| name.strip_prefix(&start)?.strip_prefix(table));
        n += usize::from(of_table.is_some_and(|rest| rest.starts_with('_')));
        Ok(())
    })?;
    Ok(n == change_log::n_triggers(db.schema()) && db.table_exists(&format!("{prefix}{TABLE}"))?)
}

/// Creates the missing indexes, and replaces the private tables.
pub(super) fn replace_layout(tx: &mut Tx, prefix: &str) -> Result<()> {
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
    create_private_tables(tx, prefix)
}
