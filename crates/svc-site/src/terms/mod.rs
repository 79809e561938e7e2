//! Terms: drafts, paths and storage.

pub mod draft;
pub mod paths;
pub mod save;
