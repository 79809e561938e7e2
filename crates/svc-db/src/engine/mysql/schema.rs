//! `CREATE` statements of MySQL, MariaDB and compatible servers.

use crate::quoted::{quoted, quoted_list};
use crate::schema::{Column, ColumnType, DefaultValue, Table};

/// The statement that creates a table with this full name and its indexes.
pub(super) fn create_table(table: &Table, full_name: &str) -> String {
    let mut lines: Vec<String> = table.columns.iter().map(definition).collect();
    lines.push(format!("PRIMARY KEY ({})", quoted_list(table.primary)));
    for i in table.indexes {
        let columns: Vec<String> =
            i.columns.iter().map(|(c, n)| if *n == 0 { quoted(c) } else { format!("{}({n})", quoted(c)) }).collect();
        let unique = if i.unique { "UNIQUE KEY" } else { "KEY" };
        lines.push(format!("{unique} {} ({})", quoted(i.name), columns.join(",")));
    }
    format!(
        "CREATE TABLE {} (\n  {}\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci",
        quoted(full_name),
        lines.join(",\n  ")
    )
}

fn definition(column: &Column) -> String {
    let name = quoted(column.name);
    let kind = match column.kind {
        ColumnType::Id => "bigint(20) unsigned".to_owned(),
        ColumnType::BigInt => "bigint(20)".to_owned(),
        ColumnType::Int => "int(11)".to_owned(),
        ColumnType::Key(n) | ColumnType::Varchar(n) => format!("varchar({n})"),
        ColumnType::Text(t) => t.to_owned(),
        ColumnType::DateTime => "datetime".to_owned(),
    };
    match column.default {
        DefaultValue::Auto => format!("{name} {kind} NOT NULL AUTO_INCREMENT"),
        DefaultValue::Value(d) => format!("{name} {kind} NOT NULL DEFAULT '{d}'"),
        DefaultValue::Required => format!("{name} {kind} NOT NULL"),
        DefaultValue::Null => format!("{name} {kind} DEFAULT NULL"),
    }
}
