//! Widget, sidebar and widget type routes, for classic themes.
//!
//! Sidebars ([`Sidebar`]) and widget types ([`WidgetType`](svc_render::widgets::WidgetType)) are registered by code.
//! The widgets of each sidebar and their settings are stored in options.

mod errors;
mod fields;
mod routes;
pub use svc_site::widgets::sidebar::Sidebar;
mod sidebars;
mod types;

use svc_routing::{Request, Result};

use crate::request::can;
use svc_site::Site;

pub use self::routes::WidgetRoutes;
pub use self::sidebars::SidebarFamily;
pub use self::types::WidgetTypeFamily;
pub use svc_render::widgets::WidgetContext;
pub use svc_site::widgets::instance::Instance;

/// Whether the caller may manage widgets.
fn may_manage(site: &Site, req: &Request) -> Result<bool> {
    can(site, req, "edit_theme_options")
}

/// Rejects callers who may not manage widgets.
fn check_manage(site: &Site, req: &Request) -> Result<()> {
    if may_manage(site, req)? { Ok(()) } else { Err(errors::cannot_manage(req)) }
}

/// Whether everyone may read the widgets in a sidebar.
fn is_public(site: &Site, sidebar: &str) -> bool {
    site.registries.sidebars.get(sidebar).is_some_and(|sidebar| sidebar.show_in_rest)
}
