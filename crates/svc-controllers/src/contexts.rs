//! The contexts in which a field is part of the response, in the order in which schemas list them.

pub(crate) const EDIT: &[&str] = &["edit"];
pub(crate) const EMBED_VIEW_EDIT: &[&str] = &["embed", "view", "edit"];
pub(crate) const VIEW: &[&str] = &["view"];
pub(crate) const VIEW_EDIT: &[&str] = &["view", "edit"];
pub(crate) const VIEW_EDIT_EMBED: &[&str] = &["view", "edit", "embed"];
pub(crate) const VIEW_EMBED: &[&str] = &["view", "embed"];
pub(crate) const VIEW_EMBED_EDIT: &[&str] = &["view", "embed", "edit"];
