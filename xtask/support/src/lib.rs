//! What the tasks of `cargo xtask` share. It depends on no crate of the site, so that checks such as `fmt` are built quickly.

mod commands;
pub mod gateway;
pub mod server;
pub mod tasks;

/// Texts of WordPress's block editor, which is under the GPL, so that no part of it may be in a release. `live-editor --installed`
/// requires that an installed editor has them.
pub const BLOCK_EDITOR_TEXTS: [&str; 3] =
    ["core/editor/post-locked-modal-", "editor-post-publish-panel__toggle", "block-editor-rich-text__editable"];

pub use commands::{cargo, cargo_here, root, run, say, target};
