#![doc = include_str!("../README.md")]

pub mod archive;
pub mod block_editor;
pub mod blocks;
pub mod header;
pub mod pack;
pub mod plugins;
pub mod theme;
