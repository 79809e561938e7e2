//! SQLite's private tables, and imports into SQLite.

use sea_query::Value;

use super::schema;
use crate::db::Tx;
use crate::db::table_manager::{StagedSite, StagedTable, TableManager, create_missing_tables, rename_keys};
use crate::error::Result;
use crate::tables::{TABLES, quoted};

/// The tables of an SQLite file. An import happens in one transaction.
pub(crate) struct SqliteTables;

impl TableManager for SqliteTables {
    fn lacks_private_tables(&self, tx: &mut Tx) -> Result<bool> {
        let name = format!("{}{}", tx.prefix(), schema::EPOCH_TABLE);
        Ok(!tx.table_exists(&name)?)
    }

    fn create_private_tables(&self, tx: &mut Tx, prefix: &str) -> Result<()> {
        schema::count_changes(tx, prefix)
    }

    fn added_column_type(&self) -> &'static str {
        "TEXT COLLATE PEOPLE"
    }

    fn max_batch(&self) -> (usize, usize) {
        // Without a network, batches gain nothing.
        (1, 0)
    }

    fn install(&self, tx: &mut Tx, site: StagedSite<'_>) -> Result<()> {
        let target = site.target;
        for table in TABLES {
            tx.run(&format!("DROP TABLE IF EXISTS {}", quoted(&format!("{target}{}", table.name))))?;
        }
        for staged in &site.tables {
            let full = format!("{target}{}", staged.table.name);
            tx.run(&format!("ALTER TABLE {} RENAME TO {}", quoted(&staged.name), quoted(&full)))?;
            for statement in schema::create_indexes(staged.table, &full) {
                tx.run(&statement)?;
            }
            next_id(tx, &full, staged)?;
        }
        create_missing_tables(tx, self)?;
        schema::count_changes(tx, target)?;
        rename_keys(tx, site.prefix, target, &format!("{target}options"), &format!("{target}usermeta"))?;
        tx.run(&format!("DROP TABLE IF EXISTS {}", quoted(site.marker)))
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
