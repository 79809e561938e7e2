#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod blocks;
pub mod class_list;
pub mod content;
pub mod feeds;
mod gallery;
pub mod html_metadata;
pub mod images;
mod menus;
pub mod oembed;
mod oembed_thumbnail;
pub mod page_template;
mod renderer;
pub mod widgets;

pub use renderer::{SiteRenderer, icons, render_cache};
