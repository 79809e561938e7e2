//! Database engines. Each engine is a folder with a [`Backend`] (its connections), a [`SqlDialect`] and a
//! [`TableManager`].

pub(crate) mod mysql;
pub(crate) mod sqlite;

use std::sync::Arc;

use crate::backend::Backend;
use crate::config::{DatabaseUrl, StoreConfig};
use crate::dialect::{Dialect, SqlDialect};
use crate::error::Result;
use crate::shared::Shared;
use crate::table_manager::TableManager;

/// Opens the database of a configuration.
///
/// # Errors
/// If the database cannot be reached, or the file is corrupt.
pub(crate) fn open(config: &StoreConfig, shared: Arc<Shared>) -> Result<Arc<dyn Backend>> {
    Ok(match &config.url {
        DatabaseUrl::Sqlite(path) => Arc::new(sqlite::SqlitePool::open(path, config, false, shared)?),
        DatabaseUrl::Temporary => Arc::new(sqlite::SqlitePool::open(&sqlite::temporary_path(), config, true, shared)?),
        DatabaseUrl::MySql(url) => Arc::new(mysql::MySqlPool::open(url, config, shared)?),
    })
}

/// The SQL of a dialect.
pub fn sql(dialect: Dialect) -> &'static dyn SqlDialect {
    match dialect {
        Dialect::Sqlite => &sqlite::SqliteDialect,
        Dialect::MySql => &mysql::MySqlDialect,
    }
}

/// How the engine of a dialect creates and replaces tables.
pub fn table_manager(dialect: Dialect) -> &'static dyn TableManager {
    match dialect {
        Dialect::Sqlite => &sqlite::SqliteTables,
        Dialect::MySql => &mysql::MySqlTables,
    }
}
