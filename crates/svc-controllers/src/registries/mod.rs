//! Plain types that code registers before the site is served, without routes.

pub(crate) mod abilities;
pub(crate) mod font_collections;
pub(crate) mod settings;
