//! Plugins in the content folder.

pub mod install;
pub mod item;
pub mod requirements;
