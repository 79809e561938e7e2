//! Widgets as HTML.

pub mod kind;
pub mod kinds;
pub mod show;
