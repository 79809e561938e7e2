//! Users: drafts, rules, roles and storage.

pub mod draft;
pub mod locales;
pub mod roles;
pub mod rules;
pub mod save;
