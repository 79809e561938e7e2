//! Terms: drafts, paths, storage and counts.

pub mod counts;
pub mod draft;
pub mod paths;
pub mod save;
