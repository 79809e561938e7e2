//! The table of changes on a server, which is created only if the configuration asks for it.

use crate::change_log::{self, TABLE};
use crate::error::Result;
use crate::handle::Db;

/// Creates the table if it is missing.
///
/// # Errors
/// If the account may not create tables.
pub(super) fn create(db: &mut Db) -> Result<()> {
    if db.table_exists(&format!("{}{TABLE}", db.prefix()))? {
        return create_consumers(db);
    }
    let log = change_log::table(db.prefix());
    let sql = format!(
        "CREATE TABLE IF NOT EXISTS {log} (seq bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, time bigint NOT NULL, \
         kind varchar(32) NOT NULL, operation varchar(8) NOT NULL, object bigint, name varchar(191), object_before text, \
         object_after text, caller bigint) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4"
    );
    db.conn.execute(&sql, &[])?;
    create_consumers(db)
}

fn create_consumers(db: &mut Db) -> Result<()> {
    change_log::create_consumers(db, "varchar(64)", " ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4")
}
