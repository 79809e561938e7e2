//! JSON text as PHP reads and writes it.
//!
//! Reading keeps PHP's error numbers and its integers; writing keeps its number text and escapes. Values are
//! [`serde_json::Value`] or [`Php`](crate::Php).

mod decode;
mod encode;

pub use decode::{JsonError, JsonErrorKind, MAX_DEPTH, decode, decode_bounded, decode_php};
pub use encode::{Style, compact, encode, pretty, write};
