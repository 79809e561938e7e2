//! The blocks that generated excerpts contain.

use super::Renderer;
use crate::blocks::{Block, has_blocks, parse};

/// Removes blocks from content for an excerpt: keeps text and text blocks, and the text blocks inside columns and
/// groups.
///
/// Source: `excerpt_remove_blocks`.
pub fn excerpt_remove_blocks(content: &str, renderer: &Renderer<'_>) -> String {
    if !has_blocks(content) {
        return content.to_owned();
    }
    let mut out = String::new();
    for block in parse(content) {
        if !is_excerpt_text(&block) && !is_excerpt_wrapper(&block) {
            continue;
        }
        if block.inner_blocks.is_empty() {
            out.push_str(&renderer.render_block(&block));
        } else if is_excerpt_wrapper(&block) {
            excerpt_inner(&block, renderer, &mut out);
        } else if block.inner_blocks.iter().all(|inner| is_excerpt_text(inner) && inner.inner_blocks.is_empty()) {
            out.push_str(&renderer.render_block(&block));
        }
    }
    out
}

/// Renders the text blocks inside a wrapper. [`MAX_DEPTH`](crate::blocks::MAX_DEPTH) limits the nesting.
fn excerpt_inner(block: &Block<'_>, renderer: &Renderer<'_>, out: &mut String) {
    for inner in &block.inner_blocks {
        if !is_excerpt_text(inner) && !is_excerpt_wrapper(inner) {
            continue;
        }
        if inner.inner_blocks.is_empty() {
            out.push_str(&renderer.render_block(inner));
        } else {
            excerpt_inner(inner, renderer, out);
        }
    }
}

fn is_excerpt_text(block: &Block<'_>) -> bool {
    const TEXT: [&str; 10] = [
        "core/freeform",
        "core/heading",
        "core/html",
        "core/list",
        "core/media-text",
        "core/paragraph",
        "core/preformatted",
        "core/pullquote",
        "core/quote",
        "core/table",
    ];
    block.name.as_deref().is_none_or(|name| TEXT.contains(&name) || name == "core/verse")
}

fn is_excerpt_wrapper(block: &Block<'_>) -> bool {
    block.name.as_deref().is_some_and(|name| matches!(name, "core/columns" | "core/column" | "core/group"))
}
