//! Registrations of a site: meta fields, block patterns and sidebars. Plain data that does not depend on the site.

pub(crate) mod builtin_meta;
pub mod meta;
pub mod patterns;
pub mod sidebars;
