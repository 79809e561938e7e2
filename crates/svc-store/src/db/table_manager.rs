//! How an engine creates the tables of a site, and replaces them by imported ones.

use super::handle::Tx;
use crate::error::Result;
use crate::tables::{TABLES, Table, quoted};

/// Prefix of staging tables.
pub(crate) const STAGING_PREFIX: &str = "svc_import_";

/// A table of an imported site under a temporary name.
pub(crate) struct StagedTable {
    pub(crate) table: &'static Table,
    /// Name of the staging table.
    pub(crate) name: String,
    /// The next generated id, if the dump contains it.
    pub(crate) next_id: Option<i64>,
}

/// An imported site whose tables are complete, but not yet installed.
pub(crate) struct StagedSite<'a> {
    pub(crate) tables: Vec<StagedTable>,
    /// Table prefix of the dump, with which some keys begin.
    pub(crate) prefix: &'a str,
    /// Prefix of the tables to replace.
    pub(crate) target: &'a str,
    /// Full name of the marker table, which is dropped in the step that installs the site.
    pub(crate) marker: &'a str,
}

/// The tables of an engine.
pub(crate) trait TableManager: Sync {
    /// Returns whether private tables of the engine are missing.
    fn lacks_private_tables(&self, _tx: &mut Tx) -> Result<bool> {
        Ok(false)
    }

    /// Creates or updates the private tables of the engine after the tables of the site changed.
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

    /// Type of the columns that plugins added.
    fn added_column_type(&self) -> &'static str;

    /// Called after a staging table was created.
    fn after_staging(&self, _tx: &mut Tx) -> Result<()> {
        Ok(())
    }

    /// Maximum number of imported rows per statement, and the total size in bytes at which a batch ends early.
    fn max_batch(&self) -> (usize, usize);

    /// Replaces the tables of the target by the staged ones and removes the import marker.
    fn install(&self, tx: &mut Tx, site: StagedSite<'_>) -> Result<()>;

    /// Drops staging tables after an error, on engines where a rollback does not.
    fn drop_staged(&self, _tx: &mut Tx, _names: &[&str]) {}
}

/// Creates the missing tables of a site with the store's table prefix, and the private tables of the engine.
pub(crate) fn create_missing_tables(tx: &mut Tx, manager: &dyn TableManager) -> Result<()> {
    let prefix = tx.prefix().to_owned();
    let sql = tx.sql();
    let mut is_changed = manager.lacks_private_tables(tx)?;
    for table in TABLES {
        let name = format!("{prefix}{}", table.name);
        if tx.table_exists(&name)? {
            continue;
        }
        is_changed = true;
        // Another process may be installing the same site.
        tx.run(&sql.create_table(table, &name).replacen("CREATE TABLE", "CREATE TABLE IF NOT EXISTS", 1))?;
        for statement in sql.create_indexes(table, &name) {
            tx.run(&statement)?;
        }
    }
    if is_changed {
        manager.create_private_tables(tx, &prefix)?;
    }
    Ok(())
}

/// Creates a staging table with our columns and those of `columns` that plugins added.
pub(crate) fn create_staging_table(
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

/// Renames keys that contain the table prefix: the roles option, and user meta for capabilities and settings.
///
/// `options` and `usermeta` are the full names of the tables.
pub(crate) fn rename_keys(tx: &mut Tx, from: &str, to: &str, options: &str, usermeta: &str) -> Result<()> {
    if from == to {
        return Ok(());
    }
    let (options, usermeta) = (quoted(options), quoted(usermeta));
    let sql = format!("UPDATE {options} SET option_name = ? WHERE option_name = ?");
    tx.conn.execute(&sql, &[format!("{to}user_roles").into(), format!("{from}user_roles").into()])?;
    if from.is_empty() {
        return Ok(());
    }
    let glue = tx.sql().concat("?", "substr(meta_key, ?)");
    let sql = format!("UPDATE {usermeta} SET meta_key = {glue} WHERE substr(meta_key, 1, ?) = ?");
    let len = from.len() as i64;
    tx.conn.execute(&sql, &[to.into(), (len + 1).into(), len.into(), from.into()])?;
    Ok(())
}
