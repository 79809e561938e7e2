//! Widgets: instances and storage.

pub mod instance;
pub mod store;

pub use crate::registries::sidebars as sidebar;
