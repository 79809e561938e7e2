//! Numbers at which the store chooses another way to the same result, and the intervals of the search indexer.

use std::time::Duration;

/// The defaults are meant for use; tests reduce them, so that few rows are enough for every way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuning {
    /// Offset from which a page is read from the nearer end of the list, and whole days are skipped.
    pub(crate) deep_offset: u64,
    /// Number of terms from which a list may be read in the order of the terms.
    pub(crate) many_terms: u64,
    /// Maximum number of users of a role that are found by role, and then sorted. Users of more common roles are found by
    /// reading all users in the order of the list.
    pub(crate) rare_users: i64,
    /// Stored numbers of comments from this one are changed by what a write changed, others are counted again, as WordPress
    /// does.
    pub(crate) many_comments: i64,
    /// Searches with the index.
    pub(crate) search: SearchTuning,
    /// The search indexer.
    pub(crate) indexer: IndexerTuning,
}

/// Searches with the index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchTuning {
    /// Up to this many candidates are examined by the ordinary query.
    pub(crate) few: usize,
    /// Up to this many matches are bound to a statement.
    pub(crate) many: usize,
    /// Maximum number of changed posts that are examined one by one.
    pub(crate) max_changed: usize,
}

/// The search indexer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexerTuning {
    /// How often the log is read.
    pub(crate) interval: Duration,
    /// How long to wait after an error.
    pub(crate) after_error: Duration,
    /// How often a site without an index is measured.
    pub(crate) measure_interval: Duration,
    /// Changed posts are indexed when there are this many, or after some time.
    pub(crate) batch: usize,
    /// Old entries of the log are deleted when there are this many.
    pub(crate) max_old_entries: i64,
    /// Number of posts that are read with one statement.
    pub(crate) read_chunk: usize,
    /// The tiers of segments to merge ([`svc_search::Generation::segments_to_merge`]).
    pub(crate) tiers: [(usize, usize); 2],
    /// Maximum number of posts of a new segment.
    pub(crate) segment_posts: usize,
    /// Maximum number of posts that are indexed in one snapshot after changes.
    pub(crate) max_updated: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            deep_offset: 1_000,
            many_terms: 300,
            rare_users: 2_500,
            many_comments: 1_000,
            search: SearchTuning { few: 300, many: 8_000, max_changed: 1_000 },
            indexer: IndexerTuning {
                interval: Duration::from_millis(500),
                after_error: Duration::from_secs(10),
                measure_interval: Duration::from_secs(60),
                batch: 256,
                max_old_entries: 20_000,
                read_chunk: 1_000,
                tiers: [(4_096, 8), (49_152, 6)],
                segment_posts: 65_536,
                max_updated: 65_536,
            },
        }
    }
}
