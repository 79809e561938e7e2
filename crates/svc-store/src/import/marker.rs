//! The import marker: a table that exists from before the first row is loaded until the imported site is installed.
//!
//! The marker is removed in the step that installs the site (SQLite: the transaction; MySQL: the statement that renames
//! the tables). A database that has the marker but no site contains the remains of an interrupted import.

use svc_db::{Db, ReadText as _, Result, Tx, WriteText as _, quoted};

/// Name of the table, without prefix.
const TABLE: &str = "svc_import";

/// The full name of the table.
pub(crate) fn table(prefix: &str) -> String {
    format!("{prefix}{TABLE}")
}

/// Creates the marker for the dump with this name.
pub(crate) fn set(tx: &mut Tx, source: &str) -> Result<()> {
    let table = quoted(&table(tx.prefix()));
    tx.execute_text(&format!("CREATE TABLE IF NOT EXISTS {table} (source TEXT)"), &[])?;
    tx.execute_text(&format!("DELETE FROM {table}"), &[])?;
    tx.execute_text(&format!("INSERT INTO {table} (source) VALUES (?)"), &[source.into()]).map(drop)
}

/// Removes the marker.
pub(crate) fn remove(tx: &mut Tx) -> Result<()> {
    let table = quoted(&table(tx.prefix()));
    tx.execute_text(&format!("DROP TABLE IF EXISTS {table}"), &[]).map(drop)
}

/// The name of the dump being imported, if the marker exists.
pub(crate) fn get(db: &mut Db) -> Result<Option<String>> {
    let table = table(db.prefix());
    if !db.table_exists(&table)? {
        return Ok(None);
    }
    let mut source = String::new();
    db.query_text(&format!("SELECT source FROM {}", quoted(&table)), &[], &mut |row| {
        source = row.text(0)?;
        Ok(())
    })?;
    Ok(Some(source))
}
