//! The rows of [leases](crate::Lease), and the check of a context whose transactions need one.

use sea_query::{Expr, ExprTrait as _, Query};

use crate::error::{Result, StoreError};
use crate::handle::{Db, Tx};
use crate::rows::Rows;
use crate::schema::{Column, ColumnType, DefaultValue, Table};

/// The rows, as what changes. Nothing is cached that depends on them, and the log of changes does not contain them.
pub(crate) const LEASES: Rows = Rows::named("leases");

/// The name of the table without prefix.
pub(crate) const NAME: &str = "svc_leases";

const fn column(name: &'static str, kind: ColumnType, default: DefaultValue) -> Column {
    Column { name, kind, default }
}

/// The table.
pub(crate) static TABLE: Table = Table {
    name: NAME,
    columns: &[
        column("name", ColumnType::Key(20), DefaultValue::Value("")),
        // The process, and a random number. Empty if the owner has released the lease.
        column("owner", ColumnType::Key(100), DefaultValue::Value("")),
        // The owner for people.
        column("label", ColumnType::Varchar(100), DefaultValue::Value("")),
        // The number of renewals, by whichever owner.
        column("renewals", ColumnType::BigInt, DefaultValue::Value("0")),
        // The state of the server before the last renewal.
        column("follows", ColumnType::Varchar(400), DefaultValue::Value("")),
    ],
    primary: &["name"],
    indexes: &[],
    sqlite_indexes: &[],
    rows: &[],
};

/// The row of a lease.
pub(crate) struct Row {
    pub(crate) owner: String,
    pub(crate) label: String,
    pub(crate) renewals: i64,
}

/// The value of a context whose transactions fail when another process holds the lease.
pub(crate) struct Fence {
    pub(crate) name: &'static str,
    pub(crate) own: String,
}

impl Fence {
    /// Fails if another process holds the lease.
    pub(crate) fn check(&self, tx: &mut Tx) -> Result<()> {
        let row = tx.recorded_by_caller(|db| row(db, self.name))?;
        if row.is_some_and(|row| row.owner == self.own) { Ok(()) } else { Err(StoreError::LeaseLost) }
    }
}

/// The row of the lease with this name; `None` if nobody has held it yet.
///
/// # Errors
/// Those of the statement.
pub(crate) fn row(db: &mut Db, name: &str) -> Result<Option<Row>> {
    let mut select = Query::select();
    select.columns(["owner", "label", "renewals"]).from(db.table(NAME)).and_where(Expr::col("name").eq(name));
    db.first(&select, |row| Ok(Row { owner: row.text(0)?, label: row.text(1)?, renewals: row.int(2)? }))
}

/// Whether a lease was last renewed in the transaction after this state of the server, as of this snapshot. The table must exist.
///
/// # Errors
/// Those of the statements.
pub(crate) fn is_renewed_after(db: &mut Db, state: &str) -> Result<bool> {
    let mut select = Query::select();
    select.column("name").from(db.table(NAME)).and_where(Expr::col("follows").eq(state)).limit(1);
    Ok(db.first(&select, |_| Ok(()))?.is_some())
}
