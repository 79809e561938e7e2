//! Icons for editors.

mod routes;

pub use self::routes::IconRoutes;
pub use svc_render::icons::IconCollection;
pub use svc_render::icons::Icons;
