//! Servers that speak the MySQL protocol.

mod changes;
pub(crate) mod connection;
mod dialect;
mod import;
mod pool;
mod schema;
mod write_turn;

#[cfg(test)]
mod tests;

pub(crate) use dialect::MySqlDialect;
pub(crate) use pool::MySqlPool;
