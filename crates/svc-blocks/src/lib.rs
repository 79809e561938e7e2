#![doc = include_str!("../README.md")]

mod attributes;
mod bindings;
mod breadcrumbs;
mod calendar;
mod comments;
mod core;
pub mod data;
pub mod date;
mod featured;
mod html;
mod lists;
mod navigation;
mod parts;
mod posts;
mod query;
mod renderers;
mod search;
mod site;
mod social;
mod supports;
mod urls;
mod users;
pub mod variations;

pub use crate::core::{CoreBlocks, MAX_BYTES, with_text};
pub use data::BlockData;
pub use posts::title_or_placeholder;
pub use renderers::has_renderer;
