//! Blocks: comments that divide post content into typed, nested parts.
//!
//! Parsing ([`parse()`]), serializing ([`serialize_blocks`]), block types ([`BlockTypes`]) and hooked blocks
//! ([`BlockHooks`]). [`block_render`](crate::block_render) renders blocks.

mod data;
mod hooks;
mod parse;
mod registry;
pub(crate) mod scan;
mod serialize;
mod source;
pub mod types;

use std::borrow::Cow;

use serde_json::{Map, Value};

pub use data::{BlockForm, block_schema, blocks_to_json, content_of, is_exact};
pub use hooks::{BlockHooks, ContentRoot, StoredContent};
pub use parse::{MAX_DEPTH, parse};
pub use registry::BlockTypes;
pub use serialize::{comment_delimited, serialize_attributes, serialize_block, serialize_blocks};
pub use source::declared_attributes;
pub use types::BlockType;

/// A part of content: a block, or text between blocks.
///
/// Text is borrowed from the content if possible.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Block<'a> {
    /// The full name with namespace (`core/paragraph`); `None` for text outside of blocks.
    pub name: Option<Cow<'a, str>>,
    /// Attributes in the block's comment.
    pub attrs: Map<String, Value>,
    /// The comment had attributes that are not valid JSON, so [`Block::attrs`] is empty. WordPress has null there.
    pub has_invalid_attrs: bool,
    /// Inner blocks, in order.
    pub inner_blocks: Vec<Block<'a>>,
    /// The content in order: text, or `None` for each of [`Block::inner_blocks`].
    pub inner_content: Vec<Option<Cow<'a, str>>>,
}

impl<'a> Block<'a> {
    /// Text outside of blocks.
    pub fn freeform(text: impl Into<Cow<'a, str>>) -> Self {
        Block { inner_content: vec![Some(text.into())], ..Block::default() }
    }

    /// The block's own text, without inner blocks.
    pub fn inner_html(&self) -> String {
        self.inner_content.iter().flatten().map(AsRef::as_ref).collect()
    }

    /// Text and inner blocks, in order.
    pub fn chunks(&self) -> impl Iterator<Item = Chunk<'_, 'a>> {
        let mut blocks = self.inner_blocks.iter();
        self.inner_content.iter().filter_map(move |chunk| match chunk {
            Some(text) => Some(Chunk::Text(text)),
            None => blocks.next().map(Chunk::Block),
        })
    }
}

/// The value of an attribute; null if it is not set.
impl<'a> std::ops::Index<&str> for Block<'a> {
    type Output = Value;

    fn index(&self, name: &str) -> &Value {
        self.attrs.get(name).unwrap_or(&Value::Null)
    }
}

/// A part of a block's content.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Chunk<'b, 'a> {
    /// Text of the block itself.
    Text(&'b str),
    /// An inner block.
    Block(&'b Block<'a>),
}

/// Whether content seems to have blocks: a quick test for the usual spelling of their comments.
///
/// The result may be wrong for unusual spellings (`<!--  wp:x -->` with two spaces). Source: `has_blocks`.
pub fn has_blocks(content: &str) -> bool {
    content.contains("<!-- wp:")
}

/// The `block_version` of content: 1 with blocks, 0 without. Source: `block_version`.
pub fn block_version(content: &str) -> u8 {
    u8::from(has_blocks(content))
}

/// A block's name as in its comment: without `core/`. Source: `strip_core_block_namespace`.
pub fn strip_core_namespace(name: &str) -> &str {
    name.strip_prefix("core/").unwrap_or(name)
}
