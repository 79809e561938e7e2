//! Tests of the public API.

mod arbitrary;
mod errors;
mod rules;
