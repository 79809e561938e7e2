//! The mark of an import in progress: a table that is there from before the first row is loaded until the imported site
//! is in place.
//!
//! It is removed by the very step that puts the site in place (SQLite: the transaction; MySQL: the statement that renames
//! the tables). So a database with the mark and without a site holds the rest of an import that was interrupted.

use crate::db::{Db, Tx};
use crate::error::Result;
use crate::schema::quoted;

/// Name of the table, after the prefix.
const TABLE: &str = "svc_import";

/// The table's whole name.
pub(super) fn table(prefix: &str) -> String {
    format!("{prefix}{TABLE}")
}

/// Marks that the dump of this name is being imported.
pub(super) fn set(tx: &mut Tx, source: &str) -> Result<()> {
    let table = quoted(&table(tx.prefix()));
    tx.run(&format!("CREATE TABLE IF NOT EXISTS {table} (source TEXT)"))?;
    tx.run(&format!("DELETE FROM {table}"))?;
    tx.conn.execute(&format!("INSERT INTO {table} (source) VALUES (?)"), &[source.into()]).map(drop)
}

/// Removes the mark.
pub(super) fn remove(tx: &mut Tx) -> Result<()> {
    let table = quoted(&table(tx.prefix()));
    tx.run(&format!("DROP TABLE IF EXISTS {table}"))
}

/// The dump that is being imported, if there is the mark.
pub(super) fn get(db: &mut Db) -> Result<Option<String>> {
    let table = table(db.prefix());
    if !db.table_exists(&table)? {
        return Ok(None);
    }
    let mut source = String::new();
    db.conn.query(&format!("SELECT source FROM {}", quoted(&table)), &[], &mut |row| {
        source = row.text(0)?;
        Ok(())
    })?;
    Ok(Some(source))
}
