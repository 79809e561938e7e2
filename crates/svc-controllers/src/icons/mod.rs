//! Icons for editors.

mod routes;

pub use self::routes::{IconCollectionFamily, IconFamily};
pub use svc_render::icons::IconCollection;
pub use svc_render::icons::Icons;
