//! Menus and their items.

pub mod item;
pub mod on_delete;
pub(crate) mod on_publish;
pub mod save;
pub mod target;
