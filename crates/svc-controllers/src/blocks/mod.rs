//! Block type routes and the block renderer.

pub mod renderer;
pub mod types;
