//! Servers that speak the MySQL protocol.

mod change_log;
pub(crate) mod changes;
pub(crate) mod connection;
mod dialect;
mod folding;
mod ledger;
mod pool;
mod replicas;
mod row_log;
mod schema;
mod table_manager;
mod write_turn;

pub(crate) use changes::ServerState;
pub(crate) use dialect::MySqlDialect;
pub(crate) use pool::MySqlPool;
pub(crate) use table_manager::MySqlTables;
