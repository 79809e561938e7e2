//! Block patterns.

pub mod expand;
pub mod registry;
