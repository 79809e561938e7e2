//! How an engine creates the tables of a schema, and replaces them by imported ones.

use crate::error::Result;
use crate::handle::{Db, Tx};
use crate::quoted::quoted;
use crate::schema::{PartialIndex, Table};

/// Prefix of staging tables.
pub const STAGING_PREFIX: &str = "svc_import_";

/// An imported table under a temporary name.
pub struct StagedTable {
    /// The table.
    pub table: &'static Table,
    /// Name of the staging table.
    pub name: String,
    /// The next generated id, if the dump contains it.
    pub next_id: Option<i64>,
}

/// Changes imported rows before they are installed. The second argument returns the present full name of a table.
pub type Complete<'a> = dyn Fn(&mut Tx, &dyn Fn(&str) -> String) -> Result<()> + 'a;

/// Imported tables that are complete, but not yet installed.
pub struct StagedTables<'a> {
    /// The tables.
    pub tables: Vec<StagedTable>,
    /// Prefix of the names of these tables, after [`STAGING_PREFIX`].
    pub prefix: &'a str,
    /// Prefix of the tables to replace.
    pub target: &'a str,
    /// Full name of the marker table, which is dropped in the step that installs the tables.
    pub marker: &'a str,
    /// Called when all tables of the schema exist.
    pub complete: &'a Complete<'a>,
}

/// The tables of an engine.
pub trait TableManager: Sync {
    /// Returns whether private tables of the engine are missing.
    ///
    /// # Errors
    /// Those of the statements.
    fn lacks_private_tables(&self, _tx: &mut Tx) -> Result<bool> {
        Ok(false)
    }

    /// Creates or updates the private tables of the engine after the tables of the schema changed.
    ///
    /// # Errors
    /// Those of the statements.
    fn create_private_tables(&self, _tx: &mut Tx, _prefix: &str) -> Result<()> {
        Ok(())
    }

    /// Prepares the database for an import, before the first staging table is created.
    ///
    /// # Errors
    /// If another import is in progress.
    fn begin_import(&self, _tx: &mut Tx) -> Result<()> {
        Ok(())
    }

    /// The names of the partial indexes of a table that begin with `start`, without the prefix of table names. `None` if the engine
    /// has no such indexes.
    ///
    /// # Errors
    /// Those of the statements.
    fn partial_indexes(&self, _db: &mut Db, _table: &str, _start: &str) -> Result<Option<Vec<String>>> {
        Ok(None)
    }

    /// The statement that creates a partial index.
    fn create_partial_index(&self, _prefix: &str, _table: &str, _index: &PartialIndex) -> String {
        String::new()
    }

    /// Type of the columns that others added.
    fn added_column_type(&self) -> &'static str;

    /// Called after a staging table was created.
    ///
    /// # Errors
    /// Those of the statements.
    fn after_staging(&self, _tx: &mut Tx) -> Result<()> {
        Ok(())
    }

    /// Maximum number of imported rows per statement, and the total size in bytes at which a batch ends early.
    fn max_batch(&self) -> (usize, usize);

    /// Replaces the tables of the target by the staged ones and removes the import marker.
    ///
    /// # Errors
    /// Those of the statements.
    fn install(&self, tx: &mut Tx, staged: StagedTables<'_>) -> Result<()>;

    /// Drops staging tables after an error, on engines where a rollback does not.
    fn drop_staged(&self, _tx: &mut Tx, _names: &[&str]) {}
}

/// Creates the missing tables of the schema with the configured prefix, and the private tables of the engine.
///
/// # Errors
/// Those of the statements.
pub fn create_missing_tables(tx: &mut Tx, manager: &dyn TableManager) -> Result<()> {
    let mut is_changed = manager.lacks_private_tables(tx)?;
    for table in tx.schema().tables {
        is_changed |= create_table(tx, table)?;
    }
    if is_changed {
        let prefix = tx.prefix().to_owned();
        manager.create_private_tables(tx, &prefix)?;
    }
    Ok(())
}

/// Creates a table and its indexes. Returns `false` if it exists.
///
/// # Errors
/// Those of the statements.
pub(crate) fn create_table(tx: &mut Tx, table: &Table) -> Result<bool> {
    let (name, sql) = (format!("{}{}", tx.prefix(), table.name), tx.sql());
    if tx.table_exists(&name)? {
        return Ok(false);
    }
    // Another process may be installing the same site.
    tx.run(&sql.create_table(table, &name).replacen("CREATE TABLE", "CREATE TABLE IF NOT EXISTS", 1))?;
    for statement in sql.create_indexes(table, &name) {
        tx.run(&statement)?;
    }
    Ok(true)
}

/// Creates a staging table with the columns of the schema and those of `columns` that others added.
///
/// # Errors
/// Those of the statements.
pub fn create_staging_table(
    tx: &mut Tx,
    manager: &dyn TableManager,
    table: &Table,
    name: &str,
    columns: &[String],
) -> Result<()> {
    tx.run(&format!("DROP TABLE IF EXISTS {}", quoted(name)))?;
    tx.run(&tx.sql().create_table(table, name))?;
    for column in columns {
        if !table.columns.iter().any(|c| c.name.eq_ignore_ascii_case(column)) {
            let kind = manager.added_column_type();
            tx.run(&format!("ALTER TABLE {} ADD COLUMN {} {kind}", quoted(name), quoted(column)))?;
        }
    }
    manager.after_staging(tx)
}
