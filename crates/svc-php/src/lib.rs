#![doc = include_str!("../README.md")]

pub mod cast;
pub mod compare;
pub mod float;
pub mod json;
pub mod list;
pub mod numeric;
pub mod query;
pub mod serialize;
mod value;

pub use value::{Array, ArrayKey, Object, Php};
