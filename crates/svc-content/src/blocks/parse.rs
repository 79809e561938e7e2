//! Content to blocks.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{
    Block,
    scan::{Delimiter, Kind, Scanner},
};

/// Blocks that may be open at once. Openers beyond are text, with their closers; no editor nests so deeply, and what walks
/// the tree may recurse.
pub const MAX_DEPTH: usize = 128;

/// How many times the content's length all blocks together may hold that are never closed; the outer ones beyond it hold
/// no more than what is certainly theirs.
const MAX_REPEATS: usize = 8;

/// Reads content into blocks; text between them becomes blocks without name.
///
/// Never fails. As in the reference: a closer closes the innermost open block whatever its name, one with nothing to close
/// makes the rest text, and blocks still open at the end stand side by side, innermost first, each with all text from its
/// opener on. Takes time in proportion to the content. Source: `parse_blocks`.
pub fn parse(content: &str) -> Vec<Block<'_>> {
    let mut parser = Parser { content, output: Vec::new(), open: Vec::new(), at: 0 };
    parser.run();
    parser.output
}

/// How many blocks are never closed.
pub(super) fn n_unclosed(content: &str) -> usize {
    let (mut scanner, mut open) = (Scanner::new(content), 0_usize);
    while let Some(delimiter) = scanner.next() {
        match delimiter.kind {
            Kind::Opener => open += 1,
            Kind::Void => {}
            Kind::Closer if open == 0 => break,
            Kind::Closer => open -= 1,
        }
    }
    open
}

/// A block whose closer is still to come.
struct Open<'a> {
    block: Block<'a>,
    /// Where its comment begins.
    start: usize,
    /// Up to where its content has been taken.
    taken: usize,
    /// Where text before it begins, that no block has taken yet.
    text_before: Option<usize>,
}

struct Parser<'a> {
    content: &'a str,
    output: Vec<Block<'a>>,
    open: Vec<Open<'a>>,
    /// End of the last comment.
    at: usize,
}

impl<'a> Parser<'a> {
    fn run(&mut self) {
        let mut scanner = Scanner::new(self.content);
        let mut too_deep: usize = 0;
        while let Some(delimiter) = scanner.next() {
            match delimiter.kind {
                Kind::Opener if self.open.len() >= MAX_DEPTH => {
                    too_deep += 1;
                    continue;
                }
                Kind::Closer if too_deep > 0 => {
                    too_deep -= 1;
                    continue;
                }
                Kind::Opener => self.open(&delimiter),
                Kind::Void => self.void(&delimiter),
                Kind::Closer => {
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
        // Each block that is never closed holds all that follows it, what the inner ones hold too.
        let mut left = MAX_REPEATS.saturating_mul(self.content.len());
        while let Some(open) = self.open.pop() {
            let rest = self.content.len() - open.taken;
            let end = if rest <= left { self.content.len() } else { open.taken };
            left = left.saturating_sub(rest);
            self.finish(open, end);
        }
    }

    fn open(&mut self, delimiter: &Delimiter<'a>) {
        self.open.push(Open {
            block: block(delimiter),
            start: delimiter.start,
            taken: delimiter.end,
            text_before: (delimiter.start > self.at).then_some(self.at),
        });
    }

    fn void(&mut self, delimiter: &Delimiter<'a>) {
        if self.open.is_empty() {
            self.text(self.at, delimiter.start);
            self.output.push(block(delimiter));
        } else {
            self.put_inside(block(delimiter), delimiter.start, delimiter.end);
        }
    }

    /// Whether there was anything to close.
    fn close(&mut self, delimiter: &Delimiter<'a>) -> bool {
        let Some(mut open) = self.open.pop() else { return false };
        if self.open.is_empty() {
            self.finish(open, delimiter.start);
        } else {
            // Even when empty, unlike everywhere else.
            open.block.inner_content.push(Some(self.between(open.taken, delimiter.start)));
            self.put_inside(open.block, open.start, delimiter.end);
        }
        true
    }

    /// Puts a block that spans `start..end` inside the innermost open one, with the text before it.
    fn put_inside(&mut self, block: Block<'a>, start: usize, end: usize) {
        let Some(mut parent) = self.open.pop() else { return };
        parent.block.inner_content.extend(self.significant(parent.taken, start).map(Some));
        parent.block.inner_content.push(None);
        parent.block.inner_blocks.push(block);
        parent.taken = end;
        self.open.push(parent);
    }

    /// Puts an open block out, its content ending here, after the text before it.
    fn finish(&mut self, mut open: Open<'a>, end: usize) {
        open.block.inner_content.extend(self.significant(open.taken, end).map(Some));
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

    /// Text of a block, unless it is empty in PHP's sense, which takes in a lone `0`.
    fn significant(&self, start: usize, end: usize) -> Option<Cow<'a, str>> {
        Some(self.between(start, end)).filter(|text| !matches!(text.as_ref(), "" | "0"))
    }
}

fn block<'a>(delimiter: &Delimiter<'a>) -> Block<'a> {
    let name = if delimiter.name.contains('/') {
        Cow::Borrowed(delimiter.name)
    } else {
        Cow::Owned(format!("core/{}", delimiter.name))
    };
    let attrs = delimiter.attrs.map_or(Some(Map::new()), |text| match svc_php::json::decode(text.as_bytes()) {
        Ok(Value::Object(attrs)) => Some(attrs),
        _ => None,
    });
    Block { name: Some(name), attrs_unreadable: attrs.is_none(), attrs: attrs.unwrap_or_default(), ..Block::default() }
}
