//! Widgets: sidebars, instances and storage.

pub mod instance;
pub mod sidebar;
pub mod store;
