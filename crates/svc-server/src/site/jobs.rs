//! The table of the background jobs of a site.
//!
//! The search index is not in it: it is built by blocking reads of many minutes, which stop in the middle, so it has a
//! thread of its own (`svc_store::SearchIndexer`).

use std::sync::Arc;

use svc_site::{
    Site,
    jobs::{CheckTermCounts, JobTable, PublishPosts, RemoveInterruptedUploads, WatchTheme},
};

/// The jobs of a site.
pub(crate) fn table(site: &Arc<Site>) -> JobTable {
    JobTable::new()
        .with(RemoveInterruptedUploads(Arc::clone(site)))
        .with(PublishPosts(Arc::clone(site)))
        .with(WatchTheme(Arc::clone(site)))
        .with(CheckTermCounts::new(Arc::clone(site)))
}
