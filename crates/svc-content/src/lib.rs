//! Raw text to HTML: blocks, shortcodes, paragraphs, typography, allowed HTML, excerpts.

pub mod blocks;
