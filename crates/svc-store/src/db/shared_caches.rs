//! Caches in memory that all connections of a store share.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use indexmap::IndexMap;
use svc_versions::Versions;

use super::plain_totals::PlainTotals;
use crate::search_state::SearchState;
use crate::stored_text::StoredText;

/// Stored options by name.
pub type Options = IndexMap<String, StoredText>;

/// A group of tables with a common change counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableGroup {
    /// Posts of all types, except revisions.
    Posts,
    /// Post meta.
    PostMeta,
    /// Terms, taxonomies and their relationships.
    Terms,
    /// Term meta.
    TermMeta,
    /// Comments.
    Comments,
    /// Comment meta.
    CommentMeta,
    /// Users and their meta.
    Users,
    /// The users who have posts of a type and status.
    Authors,
    /// Options.
    Options,
}

impl TableGroup {
    pub(crate) fn name(self) -> &'static str {
        match self {
            TableGroup::Posts => "posts",
            TableGroup::PostMeta => "postmeta",
            TableGroup::Terms => "terms",
            TableGroup::TermMeta => "termmeta",
            TableGroup::Comments => "comments",
            TableGroup::CommentMeta => "commentmeta",
            TableGroup::Users => "users",
            TableGroup::Authors => "authors",
            TableGroup::Options => "options",
        }
    }
}

/// Caches that all connections of a store share.
pub(crate) struct SharedCaches {
    /// Totals of lists of posts that are restricted by type and status only.
    pub(crate) plain_totals: PlainTotals,
    pub(super) totals: quick_cache::sync::Cache<String, u64>,
    /// Approximate totals and when they were counted.
    pub(super) approximate: quick_cache::sync::Cache<String, (Instant, u64)>,
    pub(super) options: Mutex<Option<(i64, Arc<Options>)>>,
    /// When data last changed.
    pub(crate) versions: Arc<Versions>,
    pub(crate) statements: AtomicU64,
    pub(crate) search: SearchState,
    /// Whether the columns of `posts` cannot store characters outside the Basic Multilingual Plane (`utf8mb3`).
    pub(crate) is_utf8mb3: AtomicBool,
}

impl SharedCaches {
    pub(crate) fn new() -> Self {
        SharedCaches {
            plain_totals: PlainTotals::default(),
            totals: quick_cache::sync::Cache::new(4_096),
            approximate: quick_cache::sync::Cache::new(64),
            options: Mutex::new(None),
            versions: Arc::default(),
            statements: AtomicU64::new(0),
            search: SearchState::default(),
            is_utf8mb3: AtomicBool::new(false),
        }
    }
}
