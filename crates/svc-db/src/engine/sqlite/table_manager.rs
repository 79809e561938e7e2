//! SQLite's private tables, and imports into SQLite.

use sea_query::Value;

use super::{LAYOUT_TABLE, schema};
use crate::error::Result;
use crate::handle::{Db, Tx};
use crate::quoted::quoted;
use crate::schema::PartialIndex;
use crate::table_manager::{StagedTable, StagedTables, TableManager, create_missing_tables};

/// The tables of an SQLite file. An import happens in one transaction.
pub(crate) struct SqliteTables;

impl TableManager for SqliteTables {
    fn lacks_private_tables(&self, tx: &mut Tx) -> Result<bool> {
        let name = format!("{}{}", tx.prefix(), LAYOUT_TABLE);
        Ok(!tx.table_exists(&name)?)
    }

    fn create_private_tables(&self, tx: &mut Tx, prefix: &str) -> Result<()> {
        schema::create_private_tables(tx, prefix)
    }

    fn partial_indexes(&self, db: &mut Db, table: &str, start: &str) -> Result<Option<Vec<String>>> {
        let (full, prefix) = (format!("{}{table}", db.prefix()), db.prefix().to_owned());
        let mut names = Vec::new();
        let all = "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ?";
        db.conn.query(all, &[full.into()], &mut |row| {
            let name = row.text(0)?;
            names.extend(name.strip_prefix(&prefix).filter(|name| name.starts_with(start)).map(str::to_owned));
            Ok(())
        })?;
        Ok(Some(names))
    }

    fn create_partial_index(&self, prefix: &str, table: &str, index: &PartialIndex) -> String {
        let [name, table] = [&index.name, table].map(|name| quoted(&format!("{prefix}{name}")));
        let (column, value) = (quoted(index.column), index.value.replace('\'', "''"));
        format!("CREATE INDEX IF NOT EXISTS {name} ON {table} ({}) WHERE {column} = '{value}'", index.expressions)
    }

    fn added_column_type(&self) -> &'static str {
        "TEXT COLLATE PEOPLE"
    }

    fn max_batch(&self) -> (usize, usize) {
        // Without a network, batches gain nothing.
        (1, 0)
    }

    fn install(&self, tx: &mut Tx, staged: StagedTables<'_>) -> Result<()> {
        let StagedTables { tables, target, marker, complete, .. } = staged;
        for table in tx.schema().tables {
            tx.run(&format!("DROP TABLE IF EXISTS {}", quoted(&format!("{target}{}", table.name))))?;
        }
        for staged in &tables {
            let full = format!("{target}{}", staged.table.name);
            tx.run(&format!("ALTER TABLE {} RENAME TO {}", quoted(&staged.name), quoted(&full)))?;
            for statement in schema::create_indexes(staged.table, &full) {
                tx.run(&statement)?;
            }
            next_id(tx, &full, staged)?;
        }
        create_missing_tables(tx, self)?;
        schema::create_private_tables(tx, target)?;
        complete(tx, &|table| format!("{target}{table}"))?;
        tx.run(&format!("DROP TABLE IF EXISTS {}", quoted(marker)))
    }
}

/// Continues the ids where the dump's database would continue.
fn next_id(tx: &mut Tx, full: &str, staged: &StagedTable) -> Result<()> {
    let (Some(next), Some(_)) = (staged.next_id, staged.table.auto_column()) else { return Ok(()) };
    let name: Value = full.into();
    let mut last = 0;
    tx.conn.query("SELECT seq FROM sqlite_sequence WHERE name = ?", std::slice::from_ref(&name), &mut |row| {
        last = row.int(0)?;
        Ok(())
    })?;
    tx.conn.execute("DELETE FROM sqlite_sequence WHERE name = ?", std::slice::from_ref(&name))?;
    let seq = last.max(next - 1);
    tx.conn.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", &[name, seq.into()])?;
    Ok(())
}
