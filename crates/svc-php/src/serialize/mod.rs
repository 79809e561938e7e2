//! PHP's `serialize()` format: parsing, writing, and WordPress's rules for stored values.
//!
//! Parsing instantiates nothing: an object is a class name and properties, and values without an equivalent are
//! preserved byte for byte. Malformed input is an error, nesting is limited by [`MAX_DEPTH`], and memory use by the
//! input's length (declared counts allocate nothing).

mod replace;
mod stored;
mod token;

use std::fmt;

pub use replace::search_replace;
pub use stored::{from_stored, is_serialized, is_serialized_string, maybe_serialize, maybe_unserialize, to_stored};

use crate::{Array, ArrayKey, Object, Php, float};
use token::{Cursor, Token};

/// Maximum nesting depth of arrays and objects.
pub const MAX_DEPTH: usize = 512;

/// Error for malformed serialized text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnserializeError {
    /// Position of the error, in bytes from the start.
    pub offset: usize,
}

impl fmt::Display for UnserializeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed serialized value at byte {}", self.offset)
    }
}

impl std::error::Error for UnserializeError {}

/// Parses one value; as in PHP, trailing bytes are ignored.
///
/// # Errors
/// If the text is malformed, truncated or nested deeper than [`MAX_DEPTH`].
pub fn unserialize(text: &[u8]) -> Result<Php, UnserializeError> {
    let mut cursor = Cursor::new(text);
    read(&mut cursor, 0)
}

fn read(cursor: &mut Cursor<'_>, depth: usize) -> Result<Php, UnserializeError> {
    Ok(match cursor.token()? {
        Token::Null => Php::Null,
        Token::Bool(b) => Php::Bool(b),
        Token::Int(n) => Php::Int(n),
        Token::Float(f) => Php::Float(f),
        Token::Text(text) => Php::Bytes(text.into_owned()),
        Token::Opaque(raw) => Php::Opaque(raw.to_vec()),
        Token::Array(n) => {
            let mut array = Array::new();
            read_entries(cursor, n, depth, |key, value| array.insert(key, value))?;
            Php::Array(array)
        }
        Token::Object(class, n) => {
            let mut object = Object { class: class.to_vec(), properties: Vec::new() };
            read_entries(cursor, n, depth, |key, value| object.properties.push((key, value)))?;
            Php::Object(Box::new(object))
        }
    })
}

fn read_entries(
    cursor: &mut Cursor<'_>,
    n: u64,
    depth: usize,
    mut take: impl FnMut(ArrayKey, Php),
) -> Result<(), UnserializeError> {
    if depth >= MAX_DEPTH {
        return Err(cursor.error());
    }
    for _ in 0..n {
        let key = match cursor.token()? {
            Token::Int(n) => ArrayKey::Int(n),
            Token::Text(text) => ArrayKey::from_bytes(&text),
            _ => return Err(cursor.error()),
        };
        take(key, read(cursor, depth + 1)?);
    }
    cursor.close()
}

/// Writes a value like PHP's `serialize()`.
///
/// A value parsed by [`unserialize`] is written with the same bytes, except for spellings that PHP itself never
/// writes (`d:1e5;`, `i:007;`).
pub fn serialize(value: &Php) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, &mut out);
    out
}

fn write(value: &Php, out: &mut Vec<u8>) {
    match value {
        Php::Null => out.extend_from_slice(b"N;"),
        Php::Bool(b) => out.extend_from_slice(if *b { b"b:1;" } else { b"b:0;" }),
        Php::Int(n) => write_int(*n, out),
        Php::Float(f) => {
            out.extend_from_slice(b"d:");
            out.extend_from_slice(float::shortest(*f, 'E').as_bytes());
            out.push(b';');
        }
        Php::Bytes(text) => write_text(text, out),
        Php::Opaque(raw) => out.extend_from_slice(raw),
        Php::Array(array) => {
            out.extend_from_slice(format!("a:{}:{{", array.len()).as_bytes());
            for (key, value) in array.iter() {
                write_key(key, out);
                write(value, out);
            }
            out.push(b'}');
        }
        Php::Object(object) => {
            out.extend_from_slice(format!("O:{}:\"", object.class.len()).as_bytes());
            out.extend_from_slice(&object.class);
            out.extend_from_slice(format!("\":{}:{{", object.properties.len()).as_bytes());
            for (key, value) in &object.properties {
                // Property names are strings even if they look like integers.
                write_text(&key.to_bytes(), out);
                write(value, out);
            }
            out.push(b'}');
        }
    }
}

fn write_key(key: &ArrayKey, out: &mut Vec<u8>) {
    match key {
        ArrayKey::Int(n) => write_int(*n, out),
        ArrayKey::Bytes(text) => write_text(text, out),
    }
}

fn write_int(n: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("i:{n};").as_bytes());
}

fn write_text(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("s:{}:\"", text.len()).as_bytes());
    out.extend_from_slice(text);
    out.extend_from_slice(b"\";");
}

#[cfg(test)]
mod tests;
