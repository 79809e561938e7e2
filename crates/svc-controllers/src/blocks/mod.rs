//! Block types and the rendering of one block, over REST.

pub mod renderer;
pub mod types;
