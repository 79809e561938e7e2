//! PHP's `json_decode` and `json_encode`.
//!
//! Decoding has PHP's error codes and integer rules; encoding has its number format and escapes. Values are
//! [`serde_json::Value`] or [`Php`](crate::Php).

mod decode;
mod encode;

pub use decode::{JsonError, JsonErrorKind, MAX_DEPTH, decode, decode_bounded, decode_php};
pub use encode::{Style, compact, encode, pretty, write};
