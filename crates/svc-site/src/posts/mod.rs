//! Posts: drafts, rules, slugs, storage and deletion.

pub(crate) mod calendar_option;
pub mod delete;
pub mod draft;
pub mod edit_lock;
pub mod formats;
pub(crate) mod old_slugs;
pub(crate) mod publish;
pub mod rules;
pub mod save;
pub mod slugs;
