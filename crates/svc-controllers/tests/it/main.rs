//! Tests of the route families, in process, on the recorded fixture. A single binary, so that the stack is linked once.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside of test functions")]

mod application_passwords;
mod batches;
mod block_hooks;
mod blocks;
mod cached_blocks;
mod cached_items;
mod client_media;
mod comments;
mod cursors;
mod database;
mod edges;
mod harness;
mod languages;
mod media;
mod meta_filters;
mod plain_permalinks;
mod posts;
mod query_counts;
mod recorded_edges;
mod registered;
mod revisions;
mod search;
mod secret_settings;
mod stored_rows;
mod terms;
mod theme_parts;
mod themes;
mod users;
mod widgets;
