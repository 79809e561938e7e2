//! PHP value semantics that the interface and the stored data need.
//!
//! Values ([`Php`]), their stored form ([`serialize`]), their JSON text ([`json`]), query strings ([`query`]), numeric
//! strings ([`numeric`]), casts ([`cast`]), comparison ([`compare`]) and lists ([`list`]). No I/O, no clock; nothing here
//! ever runs or instantiates what it reads.

pub mod cast;
pub mod compare;
pub mod float;
pub mod json;
pub mod list;
pub mod numeric;
pub mod query;
pub mod serialize;
mod value;

pub use value::{Array, Key, Object, Php};
