//! Serializes blocks to content.

use serde_json::{Map, Value};
use svc_php::{Php, json};

use super::{Block, Chunk, strip_core_namespace};

/// Serializes blocks. Source: `serialize_blocks`.
pub fn serialize_blocks(blocks: &[Block<'_>]) -> String {
    let mut out = String::new();
    blocks.iter().for_each(|block| write_block(block, &mut out));
    out
}

/// Serializes a block: its comments around its content, or only its text if it has no name. Source:
/// `serialize_block`.
pub fn serialize_block(block: &Block<'_>) -> String {
    serialize_blocks(std::slice::from_ref(block))
}

fn write_block(block: &Block<'_>, out: &mut String) {
    let Some(name) = &block.name else { return write_content(block, out) };
    write_opener(name, &block.attrs, out);
    let content_start = out.len();
    write_content(block, out);
    if is_nothing(&out[content_start..]) {
        out.truncate(content_start - "-->".len());
        out.push_str("/-->");
    } else {
        write_closer(name, out);
    }
}

fn write_content(block: &Block<'_>, out: &mut String) {
    for chunk in block.chunks() {
        match chunk {
            Chunk::Text(text) => out.push_str(text),
            Chunk::Block(inner) => write_block(inner, out),
        }
    }
}

/// A block's comments around serialized content; only the content without a name. Source:
/// `get_comment_delimited_block_content`.
pub fn comment_delimited(name: Option<&str>, attrs: &Map<String, Value>, content: &str) -> String {
    let mut out = String::new();
    match name {
        None => out.push_str(content),
        Some(name) => {
            write_opener(name, attrs, &mut out);
            if is_nothing(content) {
                out.insert(out.len() - "-->".len(), '/');
            } else {
                out.push_str(content);
                write_closer(name, &mut out);
            }
        }
    }
    out
}

/// Whether content is empty in PHP's sense, which includes `0`. Such a block is serialized without content.
fn is_nothing(content: &str) -> bool {
    matches!(content, "" | "0")
}

fn write_opener(name: &str, attrs: &Map<String, Value>, out: &mut String) {
    out.push_str("<!-- wp:");
    out.push_str(strip_core_namespace(name));
    if !attrs.is_empty() {
        out.push(' ');
        out.push_str(&serialize_attributes(attrs));
    }
    out.push_str(" -->");
}

fn write_closer(name: &str, out: &mut String) {
    out.push_str("<!-- /wp:");
    out.push_str(strip_core_namespace(name));
    out.push_str(" -->");
}

/// Serializes attributes as JSON for an HTML comment: `--`, `<`, `>`, `&`, `\` and `"` in strings become escapes such
/// as `\u002d\u002d`.
///
/// Since PHP has a single array type, an empty object becomes `[]`, and one with the keys 0, 1, 2 … a list. Source:
/// `serialize_block_attributes`.
pub fn serialize_attributes(attrs: &Map<String, Value>) -> String {
    let text = json::compact(&Value::from(Php::from(Value::Object(attrs.clone()))));
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let escape = match (c, chars.peek()) {
            ('-', Some('-')) => Some(("\\u002d\\u002d", true)),
            ('\\', Some('"')) => Some(("\\u0022", true)),
            ('\\', Some('\\')) => Some(("\\u005c", true)),
            ('<', _) => Some(("\\u003c", false)),
            ('>', _) => Some(("\\u003e", false)),
            ('&', _) => Some(("\\u0026", false)),
            _ => None,
        };
        match escape {
            Some((escape, both)) => {
                out.push_str(escape);
                if both {
                    chars.next();
                }
            }
            None => out.push(c),
        }
    }
    out
}
