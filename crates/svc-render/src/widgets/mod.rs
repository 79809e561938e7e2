//! Renders widgets and their edit forms.

pub mod kind;
pub mod kinds;
pub mod show;
