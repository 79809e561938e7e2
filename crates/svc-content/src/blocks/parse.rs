//! Parses content to blocks.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{
    Block,
    scan::{Delimiter, DelimiterKind, Scanner},
};

/// Maximum number of open blocks. Further opening comments and their closing ones are text. No editor nests this
/// deeply, and code that walks the tree may recurse.
pub const MAX_DEPTH: usize = 128;

/// Maximum number of blocks, without the text between them. Further comments are text.
pub(super) const MAX_BLOCKS: usize = 50_000;

/// Maximum number of values in the attributes of all blocks. Attributes beyond it are treated as invalid.
const MAX_ATTRIBUTE_VALUES: usize = 200_000;

/// Maximum total size of the content of unclosed blocks, as a multiple of the content's length. Outer blocks beyond
/// this limit have only the content that precedes inner unclosed blocks.
const MAX_REPEATS: usize = 8;

/// Parses content to blocks. Text between blocks becomes blocks without a name.
///
/// Never fails, takes linear time, and the number of blocks and of their attributes' values is limited. As in WordPress, a closing comment closes the innermost open block regardless
/// of its name; after a closing comment without an open block, the rest is text; and blocks that are open at the end
/// become siblings, innermost first, each with all text after its opening comment. Source: `parse_blocks`.
pub fn parse(content: &str) -> Vec<Block<'_>> {
    let mut parser =
        Parser { content, output: Vec::new(), open: Vec::new(), at: 0, n_blocks: 0, values_left: MAX_ATTRIBUTE_VALUES };
    parser.run();
    parser.output
}

/// Number of unclosed blocks.
pub(super) fn n_unclosed(content: &str) -> usize {
    let (mut scanner, mut open) = (Scanner::new(content), 0_usize);
    while let Some(delimiter) = scanner.next() {
        match delimiter.kind {
            DelimiterKind::Opener => open += 1,
            DelimiterKind::Void => {}
            DelimiterKind::Closer if open == 0 => break,
            DelimiterKind::Closer => open -= 1,
        }
    }
    open
}

/// A block that is not closed yet.
struct OpenBlock<'a> {
    block: Block<'a>,
    /// Start of its opening comment.
    start: usize,
    /// End of the content that was already added to it.
    consumed: usize,
    /// Start of the text before it that belongs to no block yet.
    text_before: Option<usize>,
}

struct Parser<'a> {
    content: &'a str,
    output: Vec<Block<'a>>,
    open: Vec<OpenBlock<'a>>,
    /// End of the last comment.
    at: usize,
    n_blocks: usize,
    /// Number of values that further attributes may have.
    values_left: usize,
}

impl<'a> Parser<'a> {
    fn run(&mut self) {
        let mut scanner = Scanner::new(self.content);
        let mut skipped: usize = 0;
        while let Some(delimiter) = scanner.next() {
            let is_full = self.n_blocks >= MAX_BLOCKS;
            match delimiter.kind {
                DelimiterKind::Opener if is_full || self.open.len() >= MAX_DEPTH => {
                    skipped += 1;
                    continue;
                }
                DelimiterKind::Closer if skipped > 0 => {
                    skipped -= 1;
                    continue;
                }
                DelimiterKind::Void if is_full => continue,
                DelimiterKind::Opener => self.open(&delimiter),
                DelimiterKind::Void => self.void(&delimiter),
                DelimiterKind::Closer => {
                    if !self.close(&delimiter) {
                        break;
                    }
                }
            }
            self.at = delimiter.end;
        }
        if self.open.is_empty() {
            self.text(self.at, self.content.len());
        }
        // Each unclosed block has all text after it, including that of inner ones.
        let mut remaining = MAX_REPEATS.saturating_mul(self.content.len());
        while let Some(open) = self.open.pop() {
            let rest = self.content.len() - open.consumed;
            let end = if rest <= remaining { self.content.len() } else { open.consumed };
            remaining = remaining.saturating_sub(rest);
            self.finish(open, end);
        }
    }

    fn open(&mut self, delimiter: &Delimiter<'a>) {
        let block = self.block(delimiter);
        self.open.push(OpenBlock {
            block,
            start: delimiter.start,
            consumed: delimiter.end,
            text_before: (delimiter.start > self.at).then_some(self.at),
        });
    }

    fn void(&mut self, delimiter: &Delimiter<'a>) {
        let block = self.block(delimiter);
        if self.open.is_empty() {
            self.text(self.at, delimiter.start);
            self.output.push(block);
        } else {
            self.add_to_parent(block, delimiter.start, delimiter.end);
        }
    }

    /// Closes the innermost open block. Returns `false` if there is none.
    fn close(&mut self, delimiter: &Delimiter<'a>) -> bool {
        let Some(mut open) = self.open.pop() else { return false };
        if self.open.is_empty() {
            self.finish(open, delimiter.start);
        } else {
            // Added even if empty, unlike everywhere else.
            open.block.inner_content.push(Some(self.between(open.consumed, delimiter.start)));
            self.add_to_parent(open.block, open.start, delimiter.end);
        }
        true
    }

    /// Adds a block at `start..end`, and the text before it, to the innermost open block.
    fn add_to_parent(&mut self, block: Block<'a>, start: usize, end: usize) {
        let Some(mut parent) = self.open.pop() else { return };
        parent.block.inner_content.extend(self.non_empty(parent.consumed, start).map(Some));
        parent.block.inner_content.push(None);
        parent.block.inner_blocks.push(block);
        parent.consumed = end;
        self.open.push(parent);
    }

    /// Adds an open block to the output, with its content up to `end`, after the text before it.
    fn finish(&mut self, mut open: OpenBlock<'a>, end: usize) {
        open.block.inner_content.extend(self.non_empty(open.consumed, end).map(Some));
        if let Some(before) = open.text_before {
            self.text(before, open.start);
        }
        self.output.push(open.block);
    }

    fn text(&mut self, start: usize, end: usize) {
        if end > start {
            self.output.push(Block::freeform(self.between(start, end)));
        }
    }

    fn between(&self, start: usize, end: usize) -> Cow<'a, str> {
        Cow::Borrowed(self.content.get(start..end).unwrap_or_default())
    }

    /// Text of a block, unless it is empty in PHP's sense, which includes `0`.
    fn non_empty(&self, start: usize, end: usize) -> Option<Cow<'a, str>> {
        Some(self.between(start, end)).filter(|text| !matches!(text.as_ref(), "" | "0"))
    }

    /// A new block with the name and the attributes of its comment.
    fn block(&mut self, delimiter: &Delimiter<'a>) -> Block<'a> {
        self.n_blocks += 1;
        let name = if delimiter.name.contains('/') {
            Cow::Borrowed(delimiter.name)
        } else {
            Cow::Owned(format!("core/{}", delimiter.name))
        };
        let attrs = delimiter.attrs.map_or(Some(Map::new()), |text| self.attributes(text));
        Block {
            name: Some(name),
            has_invalid_attrs: attrs.is_none(),
            attrs: attrs.unwrap_or_default(),
            ..Block::default()
        }
    }

    fn attributes(&mut self, text: &str) -> Option<Map<String, Value>> {
        let Ok(Value::Object(attrs)) = svc_php::json::decode_bounded(text.as_bytes(), self.values_left) else {
            return None;
        };
        self.values_left = self.values_left.saturating_sub(1 + count(attrs.values()));
        Some(attrs)
    }
}

/// Number of values, with those in lists and objects. Recursion is limited by the depth of parsed JSON.
fn count<'v>(values: impl Iterator<Item = &'v Value>) -> usize {
    let inside = |value: &Value| match value {
        Value::Array(items) => count(items.iter()),
        Value::Object(properties) => count(properties.values()),
        _ => 0,
    };
    values.map(|value| 1 + inside(value)).sum()
}
