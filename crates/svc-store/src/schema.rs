//! Creates the tables of a site, and claims a database for a new site.

use svc_db::{Result, StoreError, Tx, WriteText as _, collation, create_missing_tables, quoted, table_manager};

use crate::tables::SCHEMA;

/// The format of a database in an SQLite file: the version of the indexes, private tables and triggers, and that of the order of texts.
pub fn sqlite_format() -> String {
    format!("{}.{}", SCHEMA.layout.version, collation::VERSION)
}

/// Creates the tables of a site with the store's table prefix.
///
/// Existing tables are unchanged. The caller writes the contents of a new site (options, roles, an administrator) with
/// [`crate::options::set`], [`crate::users::insert`] and similar functions.
pub fn install(tx: &mut Tx) -> Result<()> {
    create_missing_tables(tx, table_manager(tx.dialect()))
}

/// Claims a database for a new site at this URL. Returns `false` if it already contains a site.
///
/// The claim is a row that only one transaction can insert, on every engine and on every node of a cluster. Every other
/// transaction that tries waits for it, or is run again after it, and then finds the site. Call this first in the
/// transaction that writes the contents of the new site. The tables must exist; see [`install`].
pub fn claim(tx: &mut Tx, site_url: &str) -> Result<bool> {
    let options = quoted(&format!("{}options", tx.prefix()));
    let sql = format!("INSERT INTO {options} (option_name, option_value, autoload) VALUES ('siteurl', ?, 'on')");
    match tx.execute_text(&sql, &[site_url.into()]) {
        Ok(_) => Ok(true),
        Err(StoreError::Duplicate(_)) => Ok(false),
        Err(e) => Err(e),
    }
}
