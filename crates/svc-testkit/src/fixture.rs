//! The recorded fixture site. It is imported once per process; each test gets a copy.

use std::{
    path::Path,
    sync::{Mutex, PoisonError},
};

use anyhow::{Context, Result};
use svc_store::{DatabaseUrl, Store, StoreConfig};
use tempfile::TempDir;

use crate::mariadb::MariaDb;

/// The fixture's database dump, compressed with gzip.
pub const DUMP: &[u8] = include_bytes!("../../svc-store/testdata/site.sql.gz");

/// A copy of the fixture in an SQLite file in a temporary directory.
///
/// # Errors
/// If the dump cannot be imported, or the file cannot be written.
pub fn sqlite() -> Result<(StoreConfig, TempDir)> {
    static TEMPLATE: Mutex<Option<Vec<u8>>> = Mutex::new(None);
    let folder = tempfile::tempdir().context("cannot create a temporary directory")?;
    let file = folder.path().join("site.db");
    let mut template = TEMPLATE.lock().unwrap_or_else(PoisonError::into_inner);
    if template.is_none() {
        *template = Some(sqlite_template()?);
    }
    std::fs::write(&file, template.as_deref().unwrap_or_default()).context("cannot write the database")?;
    drop(template);
    Ok((sqlite_config(&file), folder))
}

/// The SQLite file of the fixture.
fn sqlite_template() -> Result<Vec<u8>> {
    let folder = tempfile::tempdir().context("cannot create a temporary directory")?;
    let store = Store::open(&sqlite_config(&folder.path().join("site.db")))?;
    store.import(DUMP, Default::default())?;
    let copy = folder.path().join("copy.db");
    store.backup(&copy)?;
    std::fs::read(&copy).context("cannot read the copy of the database")
}

/// A store that does not wait for the disk.
fn sqlite_config(file: &Path) -> StoreConfig {
    let mut config = StoreConfig::new(DatabaseUrl::Sqlite(file.to_owned()));
    config.durable = false;
    config
}

/// A copy of the fixture in a new database of this MariaDB server.
///
/// # Errors
/// If the dump cannot be imported, or the server reports an error.
pub fn mariadb(server: &MariaDb, database: &str) -> Result<StoreConfig> {
    static TEMPLATE: Mutex<Option<String>> = Mutex::new(None);
    let config = StoreConfig::new(DatabaseUrl::MySql(server.create(database)?));
    let mut template = TEMPLATE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(dump) = template.clone() {
        // Copies are made in parallel.
        drop(template);
        server.client(&format!("USE `{database}`; {dump}"))?;
    } else {
        Store::open(&config)?.import(DUMP, Default::default())?;
        *template = Some(server.dump(database)?);
    }
    Ok(config)
}
