//! What all connections of a database share.

use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Instant;

use svc_versions::{Context, Versions};

use crate::change_record::{ChangeRecord, Subscriber};
use crate::config::StoreConfig;
use crate::row_versions::KnownVersions;
use crate::rows::Rows;
use crate::schema::Schema;
use crate::tuning::Tuning;
use crate::turns::Turns;
use crate::usage::Counters;

/// What the owner of a [`Schema`] keeps for all connections of a database, such as its caches; see
/// [`Db::companion`](crate::Db::companion).
///
/// It is the first subscriber, so that its caches can follow the changes instead of being discarded ([`ChangeRecord::step`]).
pub trait Companion: Subscriber + Any {
    /// Describes the objects whose rows a transaction has changed, by id, for the [log of changes](crate::LoggedChange).
    fn describe(&self, _changes: &ChangeRecord, _rows: Rows) -> HashMap<i64, Description> {
        HashMap::new()
    }
}

/// How an object is described before and after a transaction, such as by its type and status. `None` if it did not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Before the transaction.
    pub before: Option<String>,
    /// After it.
    pub after: Option<String>,
}

/// Keeps nothing.
impl Companion for () {}

impl Subscriber for () {
    fn committed(&self, _: &ChangeRecord) {}
}

/// What all connections of a database share.
pub(crate) struct Shared {
    pub(crate) schema: &'static Schema,
    pub(crate) tuning: Tuning,
    pub(crate) companion: Arc<dyn Companion>,
    /// Told of each transaction, in this order, after the companion.
    subscribers: RwLock<Vec<Arc<dyn Subscriber>>>,
    /// The context of connections that nobody uses.
    pub(crate) no_context: Context,
    pub(crate) totals: quick_cache::sync::Cache<String, u64>,
    /// Approximate totals and when they were counted.
    pub(crate) approximate: quick_cache::sync::Cache<String, (Instant, u64)>,
    /// When data last changed.
    pub(crate) versions: Arc<Versions>,
    /// The latest versions of rows in the database that were read.
    pub(crate) known_versions: Mutex<Option<KnownVersions>>,
    pub(crate) statements: AtomicU64,
    /// For metrics.
    pub(crate) counters: Counters,
    /// Whether transactions are logged in a table.
    pub(crate) is_logging: AtomicBool,
    /// Maximum number of logged changes that are kept.
    pub(crate) max_logged: i64,
    /// The number of the change after which old ones were deleted last.
    pub(crate) pruned_at: AtomicI64,
    /// Who may keep the database for a while.
    pub(crate) turns: Arc<Turns>,
    /// Whether [`Schema::charset_of`] cannot store characters outside the Basic Multilingual Plane (`utf8mb3`).
    pub(crate) is_utf8mb3: AtomicBool,
    /// Whether this process uses [leases](crate::Lease), so that their table exists.
    pub(crate) has_leases: AtomicBool,
}

impl Shared {
    pub(crate) fn new(
        schema: &'static Schema,
        companion: Arc<dyn Companion>,
        tuning: Tuning,
        max_logged: Option<u32>,
    ) -> Self {
        Shared {
            schema,
            tuning,
            companion,
            subscribers: RwLock::default(),
            no_context: Context::background(),
            totals: quick_cache::sync::Cache::new(4_096),
            approximate: quick_cache::sync::Cache::new(64),
            versions: Arc::default(),
            known_versions: Mutex::default(),
            statements: AtomicU64::new(0),
            counters: Counters::default(),
            is_logging: AtomicBool::new(false),
            pruned_at: AtomicI64::new(0),
            max_logged: max_logged.unwrap_or(StoreConfig::DEFAULT_CHANGE_LOG).into(),
            turns: Arc::default(),
            is_utf8mb3: AtomicBool::new(false),
            has_leases: AtomicBool::new(false),
        }
    }

    pub(crate) fn subscribe(&self, subscriber: Arc<dyn Subscriber>) {
        self.subscribers.write().unwrap_or_else(PoisonError::into_inner).push(subscriber);
    }

    /// Tells the subscribers of a transaction that was committed. The versions have its changes already. The order is fixed: the
    /// caches of the schema's owner, the engine's log of changed rows if that is in memory, and the others as they were added.
    pub(crate) fn publish(&self, changes: &ChangeRecord) {
        self.companion.committed(changes);
        let subscribers = self.subscribers.read().unwrap_or_else(PoisonError::into_inner);
        subscribers.iter().for_each(|subscriber| subscriber.committed(changes));
    }
}
