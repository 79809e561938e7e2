//! Templates and template parts of the active theme and of the site.

pub mod draft;
pub mod hierarchy;
pub mod kinds;
pub mod load;
pub mod named;
pub mod save;
pub mod template;
