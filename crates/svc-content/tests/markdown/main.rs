//! HTML as Markdown, judged by two parsers of Markdown: no text becomes markup, all visible text is there, and links are those of the
//! HTML.

#![expect(clippy::unwrap_used, reason = "tests")]

mod html;
mod parsers;
mod properties;
mod rows;
