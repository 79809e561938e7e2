//! Raw text to HTML: blocks, shortcodes, paragraphs, typography, allowed HTML, excerpts.

pub mod blocks;
pub mod css;
pub mod kses;
pub mod save;
