//! The site's data on SQLite and MySQL-protocol databases: typed queries, batched loading, import and export.
//!
//! [`Store::read`] hands out a snapshot ([`Db`]) and [`Store::write`] a transaction ([`Tx`]); the query functions of the
//! modules take one of these. One module per noun, the same names as in `svc-model`. Nothing here knows the interface,
//! capabilities or rendering; who may see what is told by the caller in the query.

mod cache;
mod collation;
mod config;
mod db;
mod dialect;
mod engine;
mod error;
mod export;
mod file_guard;
mod mysql_changes;
mod mysql_pool;
mod pool;
mod query;
mod session;
mod store;
mod stored_text;
mod write_turn;
mod writer;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod mysql_tests;
#[cfg(test)]
mod store_tests;

pub mod authors;
pub mod comment_threads;
pub mod comments;
pub mod import;
pub mod meta;
pub mod options;
pub mod posts;
pub mod request_cache;
pub mod schema;
pub mod stamp;
pub mod term_tree;
pub mod terms;
pub mod users;

pub use cache::Family;
pub use config::{DatabaseUrl, StoreConfig};
pub use db::{Db, Tx};
pub use dialect::Dialect;
pub use engine::Row;
pub use error::{Result, StoreError};
pub use meta::{Meta, MetaKind};
pub use store::Store;
pub use stored_text::{Encode, StoredText};

/// A page of a list: ids in order, and how many there are in all when that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<Id> {
    /// The ids of this page.
    pub ids: Vec<Id>,
    /// The number of all, without limit and offset.
    pub total: Option<u64>,
}

/// Direction of an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Smallest first.
    Asc,
    /// Largest first.
    #[default]
    Desc,
}

impl Order {
    /// The other direction.
    pub(crate) fn reversed(self) -> Self {
        match self {
            Order::Asc => Order::Desc,
            Order::Desc => Order::Asc,
        }
    }
}

impl From<Order> for sea_query::Order {
    fn from(order: Order) -> Self {
        match order {
            Order::Asc => sea_query::Order::Asc,
            Order::Desc => sea_query::Order::Desc,
        }
    }
}
