//! Renders blocks to HTML.
//!
//! [`Renderer`] renders static blocks. Dynamic blocks are rendered by an implementation of [`DynamicBlocks`].

mod bindings;
mod duotone;
mod excerpt;
mod fluid;
mod layout;
mod renderer;
mod states;
mod static_blocks;
mod styles;
mod supports;
mod theme;

pub use excerpt::excerpt_remove_blocks;
pub use fluid::FluidSizes;
pub use renderer::{DynamicBlocks, Renderer, StaticOnly, render};
pub use theme::{Duotone, Theme};

#[cfg(test)]
mod tests;
