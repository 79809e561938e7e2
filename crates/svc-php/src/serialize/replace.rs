//! Search and replace in stored values, for imports that move a site to another URL.

use super::{
    MAX_DEPTH, UnserializeError,
    stored::{is_serialized, trim},
    token::{Cursor, Token},
};

/// Maximum number of serialized strings nested in each other. Deeper text is treated as plain text.
const MAX_LAYERS: usize = 8;

/// Replaces `old` by `new` in a stored value and updates the lengths of serialized strings, including serialized
/// strings inside strings.
///
/// Only values change. Array keys, property names, class names and custom payloads are preserved. In text that is not
/// serialized or is malformed, every occurrence of `old` is replaced. An empty `old` changes nothing.
pub fn search_replace(text: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    replace_layer(text, old, new, 0)
}

fn replace_layer(text: &[u8], old: &[u8], new: &[u8], layer: usize) -> Vec<u8> {
    if old.is_empty() || find(text, old).is_none() {
        return text.to_vec();
    }
    if layer < MAX_LAYERS && is_serialized(text, true) {
        let body = trim(text);
        let start = text.len() - text.iter().skip_while(|b| **b != body[0]).count();
        let mut cursor = Cursor::new(body);
        let mut out = text[..start].to_vec();
        let complete = rewrite(&mut cursor, old, new, layer, 0, &mut out).is_ok() && cursor.position() == body.len();
        if complete {
            out.extend_from_slice(&text[start + body.len()..]);
            return out;
        }
    }
    replace_plain(text, old, new)
}

fn rewrite(
    cursor: &mut Cursor<'_>,
    old: &[u8],
    new: &[u8],
    layer: usize,
    depth: usize,
    out: &mut Vec<u8>,
) -> Result<(), UnserializeError> {
    let start = cursor.position();
    match cursor.token()? {
        Token::Text(text) => {
            let text = replace_layer(&text, old, new, layer + 1);
            super::write_text(&text, out);
        }
        Token::Array(n) | Token::Object(_, n) => {
            if depth >= MAX_DEPTH {
                return Err(cursor.error());
            }
            out.extend_from_slice(cursor.since(start));
            for _ in 0..n {
                let key = cursor.position();
                let (Token::Int(_) | Token::Text(_)) = cursor.token()? else { return Err(cursor.error()) };
                out.extend_from_slice(cursor.since(key));
                rewrite(cursor, old, new, layer, depth + 1, out)?;
            }
            cursor.close()?;
            out.push(b'}');
        }
        _ => out.extend_from_slice(cursor.since(start)),
    }
    Ok(())
}

fn replace_plain(text: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = find(rest, old) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(new);
        rest = &rest[at + old.len()..];
    }
    out.extend_from_slice(rest);
    out
}

fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len()).position(|window| window == needle)
}
