//! SQLite's `CREATE` statements, and the private table that counts changes.

use super::{collation, counts, post_log};
use crate::db::Tx;
use crate::error::Result;
use crate::tables::{Column, ColumnType, DefaultValue, EPOCHS, REVISIONS, TABLES, Table, quoted, quoted_list};

/// Name of the private table of change counters, without prefix.
pub(super) const EPOCH_TABLE: &str = "svc_epoch";

/// The row of the table of change counters that contains the version of the indexes and private tables.
pub(crate) const LAYOUT: &str = "layout";

/// The current version of the indexes and private tables. Increase it when they change.
pub(crate) const LAYOUT_VERSION: i64 = 3;

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
    let groups: &[(&str, &str, &str)] = match table.name {
        "posts" => &[("posts", "posts", "<>"), (REVISIONS, REVISIONS, "=")],
        name => &[(name, table.epoch, "")],
    };
    let trigger = |(name, group, compare): &(&str, &str, &str), (event, row): (&str, &str)| {
        let when =
            if compare.is_empty() { String::new() } else { format!(" WHEN {row}.post_type {compare} 'revision'") };
        let name = quoted(&format!("{prefix}svc_{name}_{event}"));
        format!(
            "CREATE TRIGGER {name} AFTER {event} ON {full_name}{when} BEGIN UPDATE {epochs} SET n = n + 1 WHERE family = '{group}'; END",
        )
    };
    groups.iter().flat_map(|group| events.map(|event| trigger(group, event))).collect()
}

/// Creates the private tables and their triggers, and increments every change counter.
pub(super) fn count_changes(tx: &mut Tx, prefix: &str) -> Result<()> {
    let epochs = quoted(&format!("{prefix}{EPOCH_TABLE}"));
    tx.run(&format!(
        "CREATE TABLE IF NOT EXISTS {epochs} (family TEXT PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID"
    ))?;
    for family in EPOCHS {
        tx.run(&format!(
            "INSERT INTO {epochs} (family, n) VALUES ('{family}', 1) ON CONFLICT (family) DO UPDATE SET n = n + 1"
        ))?;
    }
    // The collation version that the indexes use.
    tx.run(&format!("INSERT OR REPLACE INTO {epochs} (family, n) VALUES ('collation', {})", collation::VERSION))?;
    for table in TABLES {
        for statement in triggers(table, prefix) {
            tx.run(&statement.replacen("CREATE TRIGGER", "CREATE TRIGGER IF NOT EXISTS", 1))?;
        }
    }
    // The posts may have been replaced.
    post_log::remove(tx, prefix)?;
    counts::create(tx, prefix)?;
    tx.run(&format!("INSERT OR REPLACE INTO {epochs} (family, n) VALUES ('{LAYOUT}', {LAYOUT_VERSION})"))
}

/// Indexes and triggers of earlier layouts.
const OBSOLETE: [&str; 4] = [
    "INDEX {prefix}posts_type_date",
    "TRIGGER {prefix}svc_count_insert",
    "TRIGGER {prefix}svc_count_delete",
    "TRIGGER {prefix}svc_count_update",
];

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
    if version >= LAYOUT_VERSION {
        return Ok(false);
    }
    tracing::info!("creating the indexes of this version");
    tx.run("BEGIN IMMEDIATE")?;
    let done = replace_layout(tx, &prefix);
    tx.run(if done.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    done.map(|()| true)
}

fn replace_layout(tx: &mut Tx, prefix: &str) -> Result<()> {
    for what in OBSOLETE {
        let (kind, name) = what.split_once(' ').unwrap_or_default();
        tx.run(&format!("DROP {kind} IF EXISTS {}", quoted(&name.replace("{prefix}", prefix))))?;
    }
    for table in TABLES {
        let name = format!("{prefix}{}", table.name);
        if tx.table_exists(&name)? {
            for statement in create_indexes(table, &name) {
                tx.run(&statement)?;
            }
        }
    }
    count_changes(tx, prefix)
}
