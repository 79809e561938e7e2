//! Servers that speak the MySQL protocol.

mod changes;
pub(crate) mod connection;
mod pool;
mod write_turn;

#[cfg(test)]
mod tests;

pub(crate) use pool::MySqlPool;
