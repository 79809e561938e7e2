//! Tests of the public API.

mod arbitrary;
mod rules;
