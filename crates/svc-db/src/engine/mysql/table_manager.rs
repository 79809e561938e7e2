//! Imports into servers that speak the MySQL protocol.

use super::connection::{BEGIN, COMMIT};
use crate::error::{Result, StoreError};
use crate::handle::Tx;
use crate::quoted::quoted;
use crate::table_manager::{STAGING_PREFIX, StagedTable, StagedTables, TableManager, create_staging_table};

/// Prefix of replaced tables until they are dropped.
const REPLACED_PREFIX: &str = "svc_old_";

/// The tables on a server. The server has no private tables.
///
/// Each schema change is committed, but one statement renames many tables atomically. The staging tables are completed
/// and committed first; then that statement replaces the old tables and removes the import marker.
pub(crate) struct MySqlTables;

impl TableManager for MySqlTables {
    fn begin_import(&self, tx: &mut Tx) -> Result<()> {
        lock_imports(tx)?;
        drop_staging_tables(tx)
    }

    fn added_column_type(&self) -> &'static str {
        "longtext"
    }

    fn after_staging(&self, tx: &mut Tx) -> Result<()> {
        // Creating a table ends the transaction. Without one, each row would wait for the disk.
        tx.run(BEGIN)
    }

    fn max_batch(&self) -> (usize, usize) {
        (100, 1 << 20)
    }

    fn install(&self, tx: &mut Tx, staged: StagedTables<'_>) -> Result<()> {
        let StagedTables { mut tables, prefix, target, marker, complete } = staged;
        tx.run(COMMIT)?;
        // Tables that the dumps of old sites lack.
        for table in tx.schema().tables {
            if !tables.iter().any(|staged| staged.table.name == table.name) {
                let name = format!("{STAGING_PREFIX}{prefix}{}", table.name);
                create_staging_table(tx, self, table, &name, &[])?;
                tables.push(StagedTable { table, name, next_id: None });
            }
        }
        tx.run(BEGIN)?;
        complete(tx, &|table| format!("{STAGING_PREFIX}{prefix}{table}"))?;
        tx.run(COMMIT)?;
        let mut names = Vec::new();
        let mut old = Vec::new();
        for full in tx.schema().tables.iter().map(|table| format!("{target}{}", table.name)).chain([marker.to_owned()])
        {
            if tx.table_exists(&full)? {
                let replaced = format!("{REPLACED_PREFIX}{full}");
                tx.run(&format!("DROP TABLE IF EXISTS {}", quoted(&replaced)))?;
                names.push(format!("{} TO {}", quoted(&full), quoted(&replaced)));
                old.push(replaced);
            }
        }
        for staged in &tables {
            if let (Some(next), Some(_)) = (staged.next_id, staged.table.auto_column()) {
                tx.run(&format!("ALTER TABLE {} AUTO_INCREMENT = {next}", quoted(&staged.name)))?;
            }
            let full = format!("{target}{}", staged.table.name);
            names.push(format!("{} TO {}", quoted(&staged.name), quoted(&full)));
        }
        tx.run(&format!("RENAME TABLE {}", names.join(", ")))?;
        for replaced in old {
            tx.run(&format!("DROP TABLE {}", quoted(&replaced)))?;
        }
        tx.run(BEGIN)
    }

    fn drop_staged(&self, tx: &mut Tx, names: &[&str]) {
        for name in names {
            let _ = tx.run(&format!("DROP TABLE IF EXISTS {}", quoted(name)));
        }
    }
}

/// Takes a lock against other imports into this database until the connection is closed. Their staging tables would
/// have the same names. It waits for some seconds, because the server notices the end of a killed import only after its statement.
fn lock_imports(tx: &mut Tx) -> Result<()> {
    let mut got = 0;
    let sql = "SELECT GET_LOCK(CONCAT('svc_import.', LEFT(SHA1(DATABASE()), 32)), 10)";
    tx.conn.query(sql, &[], &mut |row| row.int(0).map(|n| got = n))?;
    if got == 1 {
        Ok(())
    } else {
        Err(StoreError::Config("another import into this database is in progress".to_owned()))
    }
}

/// Drops the tables left behind by an interrupted import.
fn drop_staging_tables(tx: &mut Tx) -> Result<()> {
    let mut names = Vec::new();
    let sql =
        "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND LEFT(table_name, ?) = ?";
    let length = i64::try_from(STAGING_PREFIX.len()).unwrap_or_default();
    tx.conn.query(sql, &[length.into(), STAGING_PREFIX.into()], &mut |row| row.text(0).map(|name| names.push(name)))?;
    names.iter().try_for_each(|name| tx.run(&format!("DROP TABLE IF EXISTS {}", quoted(name))))
}
