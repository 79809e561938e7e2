//! Database engines. Each engine is a folder with a [`Backend`] (its connections), a [`SqlDialect`] and a
//! [`TableManager`].

pub(crate) mod mysql;
pub(crate) mod sqlite;

use std::sync::Arc;

use super::backend::Backend;
use super::dialect::{Dialect, SqlDialect};
use super::table_manager::TableManager;
use crate::config::{DatabaseUrl, StoreConfig};
use crate::error::Result;

/// Opens the database of a configuration.
///
/// # Errors
/// If the database cannot be reached, or the file is corrupt.
pub(crate) fn open(config: &StoreConfig) -> Result<Arc<dyn Backend>> {
    Ok(match &config.url {
        DatabaseUrl::Sqlite(path) => Arc::new(sqlite::SqlitePool::open(path, config, false)?),
        DatabaseUrl::Temporary => Arc::new(sqlite::SqlitePool::open(&sqlite::temporary_path(), config, true)?),
        DatabaseUrl::MySql(url) => Arc::new(mysql::MySqlPool::open(url, config)?),
    })
}

/// The SQL of a dialect.
pub(crate) fn sql(dialect: Dialect) -> &'static dyn SqlDialect {
    match dialect {
        Dialect::Sqlite => &sqlite::SqliteDialect,
        Dialect::MySql => &mysql::MySqlDialect,
    }
}

/// The table manager of a dialect's engine.
pub(crate) fn table_manager(dialect: Dialect) -> &'static dyn TableManager {
    match dialect {
        Dialect::Sqlite => &sqlite::SqliteTables,
        Dialect::MySql => &mysql::MySqlTables,
    }
}
