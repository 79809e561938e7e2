//! What lies in a content folder: themes, plugins and block types, as their files describe them.
//!
//! Files in, plain structs out; what is active, and who may see it, is for the crates above.

pub mod archive;
pub mod blocks;
pub mod header;
pub mod pack;
pub mod plugins;
pub mod theme;
