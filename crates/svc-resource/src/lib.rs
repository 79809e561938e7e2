#![doc = include_str!("../README.md")]

mod fields;
mod pagination;
mod plan;
mod typed;

pub use fields::{Field, Fields, Params, VALIDATED_FIRST};
pub use pagination::{Paging, total_headers};
pub use plan::{Plan, View};
pub use typed::{LazyTyped, Typed};
