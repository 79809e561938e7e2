//! SQLite's `CREATE` statements, and the private tables that count changes and posts.

use super::collation;
use crate::db::Tx;
use crate::error::Result;
use crate::tables::{Column, ColumnType, DefaultValue, EPOCHS, REVISIONS, TABLES, Table, quoted, quoted_list};

/// Name of the private table of change counters, without prefix.
pub(super) const EPOCH_TABLE: &str = "svc_epoch";

/// Name of the private table with the number of posts per type and status, without prefix. Triggers maintain it, so that
/// totals of plain lists are fast on sites of any size.
pub(super) const COUNT_TABLE: &str = "svc_post_count";

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

/// The statements that create secondary indexes. Index names are global.
pub(super) fn create_indexes(table: &Table, full_name: &str) -> Vec<String> {
    let all = table.indexes.iter().chain(table.sqlite_indexes);
    all.map(|i| {
        let columns: Vec<String> = i.columns.iter().map(|(c, _)| quoted(c)).collect();
        let unique = if i.unique { "UNIQUE " } else { "" };
        let name = quoted(&format!("{full_name}_{}", i.name));
        format!("CREATE {unique}INDEX {name} ON {} ({})", quoted(full_name), columns.join(", "))
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

/// Whether the database was created by a version of this crate that counted the changes of fewer tables.
pub(super) fn lacks_counters(tx: &mut Tx, prefix: &str) -> Result<bool> {
    let name = format!("{prefix}svc_{REVISIONS}_insert");
    let mut found = false;
    let sql = "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND name = ?";
    tx.conn.query(sql, &[name.into()], &mut |_| {
        found = true;
        Ok(())
    })?;
    Ok(!found)
}

/// Creates the private table of change counters and its triggers, and increments every counter.
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
    count_posts(tx, prefix)
}

/// Counts the posts per type and status, and creates the triggers that maintain the counts.
fn count_posts(tx: &mut Tx, prefix: &str) -> Result<()> {
    let posts = quoted(&format!("{prefix}posts"));
    let counts = quoted(&format!("{prefix}{COUNT_TABLE}"));
    tx.run(&format!("DROP TABLE IF EXISTS {counts}"))?;
    tx.run(&format!(
        "CREATE TABLE {counts} (post_type TEXT COLLATE NOCASE NOT NULL, post_status TEXT COLLATE NOCASE NOT NULL, \
         n INTEGER NOT NULL, PRIMARY KEY (post_type, post_status)) WITHOUT ROWID"
    ))?;
    tx.run(&format!("INSERT INTO {counts} SELECT post_type, post_status, COUNT(*) FROM {posts} GROUP BY 1, 2"))?;
    let more = format!(
        "INSERT INTO {counts} VALUES (NEW.post_type, NEW.post_status, 1) \
         ON CONFLICT (post_type, post_status) DO UPDATE SET n = n + 1;"
    );
    let less =
        format!("UPDATE {counts} SET n = n - 1 WHERE post_type = OLD.post_type AND post_status = OLD.post_status;");
    let moved = "WHEN NEW.post_type <> OLD.post_type OR NEW.post_status <> OLD.post_status";
    let events = [("insert", "", more.clone()), ("delete", "", less.clone()), ("update", moved, less + &more)];
    for (event, when, what) in events {
        let name = quoted(&format!("{prefix}svc_count_{event}"));
        tx.run(&format!("CREATE TRIGGER IF NOT EXISTS {name} AFTER {event} ON {posts} {when} BEGIN {what} END"))?;
    }
    Ok(())
}
