//! Imports into SQLite.

use sea_query::Value;

use super::schema;
use crate::error::Result;
use crate::import::load::{Loader, Staged};
use crate::import::marker;
use crate::import::target::ImportTarget;
use crate::schema::{TABLES, quoted};

/// Imports into SQLite: everything happens in one transaction.
pub(super) struct SqliteImport;

impl ImportTarget for SqliteImport {
    fn added_column_type(&self) -> &'static str {
        "TEXT COLLATE PEOPLE"
    }

    fn max_batch(&self) -> (usize, usize) {
        // Without a network, batches gain nothing.
        (1, 0)
    }

    fn install(&self, loader: &mut Loader<'_, '_>, site: Vec<Staged>, prefix: &str, target: &str) -> Result<()> {
        for table in TABLES {
            loader.tx.run(&format!("DROP TABLE IF EXISTS {}", quoted(&format!("{target}{}", table.name))))?;
        }
        for staged in &site {
            let full = format!("{target}{}", staged.table.name);
            loader.tx.run(&format!("ALTER TABLE {} RENAME TO {}", quoted(&staged.stage), quoted(&full)))?;
            for statement in schema::create_indexes(staged.table, &full) {
                loader.tx.run(&statement)?;
            }
            next_id(loader, &full, staged)?;
        }
        crate::schema::install(loader.tx)?;
        schema::count_changes(loader.tx, target)?;
        loader.rename_keys(prefix, target, &format!("{target}options"), &format!("{target}usermeta"))?;
        marker::remove(loader.tx)
    }
}

/// Continues the ids where the dump's database would continue.
fn next_id(loader: &mut Loader<'_, '_>, full: &str, staged: &Staged) -> Result<()> {
    let (Some(next), Some(_)) = (staged.next_id, staged.table.auto_column()) else { return Ok(()) };
    let name: Value = full.into();
    let mut last = 0;
    loader.tx.conn.query(
        "SELECT seq FROM sqlite_sequence WHERE name = ?",
        std::slice::from_ref(&name),
        &mut |row| {
            last = row.int(0)?;
            Ok(())
        },
    )?;
    loader.tx.conn.execute("DELETE FROM sqlite_sequence WHERE name = ?", std::slice::from_ref(&name))?;
    let seq = last.max(next - 1);
    loader.tx.conn.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", &[name, seq.into()])?;
    Ok(())
}
