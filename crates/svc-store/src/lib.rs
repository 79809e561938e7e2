#![doc = include_str!("../README.md")]

mod caches;
mod columns;
mod comment_groups;
mod counts;
mod export;
mod newest;
mod plain_totals;
mod position;
mod query;
mod search_indexer;
mod search_state;
mod slugs;
mod store;
mod stored_text;
mod tables;
mod tuning;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod store_tests;

pub mod authors;
pub mod cache_tags;
pub mod comment_threads;
pub mod comments;
pub mod descriptions;
pub mod import;
pub mod language_terms;
pub mod login_attempts;
pub mod meta;
pub mod meta_indexes;
pub mod options;
pub mod post_changes;
pub mod posts;
pub mod rows;
pub mod schema;
pub mod state;
pub mod term_counts;
pub mod term_tree;
pub mod terms;
pub mod users;

pub use export::create_table_statements;
pub use meta::{Meta, MetaKind};
pub use newest::{Numbered, newest_id};
pub use position::{Beyond, Bounds, Continued, Position, SortValue};
pub use search_indexer::{SearchIndexConfig, SearchIndexer};
pub use store::Store;
pub use stored_text::{Encode, StoredText};
pub use svc_db::{
    ChangeRecord, DatabaseUrl, DatabaseUsage, Db, Dialect, HeldSnapshot, Lease, LeaseTimes, LogBounds, LogReader,
    LoggedChange, Object, OpenTransaction, Operation, ReplicaUsage, Result, Row, Rows, StoreConfig, StoreError,
    Subscriber, Tx, copy_file, file_size, get_or_load, is_writable, mysql_options, stamp,
};
pub use svc_search::{Highlighter, QueryError, SearchIndexState};

/// A page of a list: ids in order, and the total if requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<Id> {
    /// Ids on this page.
    pub ids: Vec<Id>,
    /// Number of matches, ignoring limit and offset.
    pub total: Option<u64>,
    /// Where the list goes on, if it was requested and the list does: the last item on the page, with its position. If the list is read
    /// backwards, the last item before the page.
    pub next: Option<(Id, Position)>,
}

/// Sort direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Ascending.
    Asc,
    /// Descending.
    #[default]
    Desc,
}

impl Order {
    /// The opposite direction.
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
