//! PHP value semantics that the interface and the stored data need.

pub mod cast;
pub mod compare;
pub mod list;
pub mod numeric;
