//! Renders widgets and their edit forms.

mod builtin;
pub mod kind;
pub mod render;
