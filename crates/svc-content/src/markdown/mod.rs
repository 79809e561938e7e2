//! HTML as Markdown (CommonMark, and tables and strikethrough of GitHub's extension), for programs that read text.
//!
//! The HTML is parsed to a document of blocks and inline units, and each unit is written as a whole: nothing that a text
//! contains can end the unit that it is in. Text is escaped, so that no part of it is markup, and the result contains no raw HTML.
//! Scripts, styles and forms are left out, embedded documents are links, and other elements are their contents.

mod document;
mod inlines;
mod tree;
mod urls;
mod write;

/// Maximum nesting of lists and quotations. Deeper ones are part of the one around them.
const MAX_CONTAINERS: usize = 12;

/// Size of the Markdown, as a multiple of the HTML's, above which it is written without lists and quotations, whose indentation may be
/// repeated for every line.
const MAX_GROWTH: usize = 4;

/// Number of bytes that every result may have in addition.
const MIN_BYTES: usize = 4096;

/// Converts HTML to Markdown. The result ends with a line break, unless it is empty.
///
/// Links lead to paths and to URLs with the schemes `http`, `https` and `mailto`; other links are their texts.
pub fn to_markdown(html: &str) -> String {
    let blocks = document::blocks(tree::parse(html));
    let budget = html.len().saturating_mul(MAX_GROWTH).saturating_add(MIN_BYTES);
    write::document(&blocks, MAX_CONTAINERS, budget)
        .or_else(|| write::document(&blocks, 0, usize::MAX))
        .unwrap_or_default()
}

/// Converts HTML to one line of Markdown without a line break at its end, which can be the text of a heading.
pub fn to_markdown_line(html: &str) -> String {
    inlines::write_line(&document::inlines(tree::parse(html)))
}
