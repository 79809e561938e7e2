//! Comments: drafts, moderation, status and storage.

pub mod draft;
pub mod form;
pub mod html;
pub mod moderation;
pub mod notes;
pub mod save;
pub mod status;
