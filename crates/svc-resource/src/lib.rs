//! One table per resource: each member is named once, with its schema, how it is read and how it is written.
//!
//! From a [`Fields`] table come the item schema that OPTIONS shows, the arguments of create and update, the members
//! that a request sees (a [`Plan`], made once per request and run over every item) and the change that a request asks
//! for. [`Params`] are such a table for the parameters of a collection. Members that a request does not ask for are not
//! computed. Knows no particular resource and does no I/O.

mod fields;
mod pagination;
mod plan;

pub use fields::{Field, Fields, Params, VALIDATED_FIRST};
pub use pagination::{Paging, total_headers};
pub use plan::{Plan, View};
