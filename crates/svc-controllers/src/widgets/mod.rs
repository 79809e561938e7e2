//! Widgets: small pieces of a page that stand in sidebars, as classic themes show them.
//!
//! Code registers sidebars ([`Sidebar`]) and kinds of widgets ([`WidgetKind`]); what stands where, and how each widget is
//! set, is kept in the site's options.

mod errors;
mod fields;
mod routes;
pub use svc_site::widgets::sidebar::Sidebar;
mod sidebars;
mod types;

use svc_routing::{Request, Result};
use svc_site::Access;

use crate::{RestSite, caller};

pub use self::routes::WidgetRoutes;
pub use self::sidebars::SidebarRoutes;
pub use self::types::WidgetTypeRoutes;
pub use svc_render::widgets::show::Showing;
pub use svc_site::widgets::instance::Instance;

/// Whether the caller may set widgets.
fn may_manage(site: &RestSite, req: &Request) -> Result<bool> {
    let settings = site.settings()?;
    Ok(Access::new(site, &settings).can(&caller(req), "edit_theme_options"))
}

/// Refuses callers who may not set widgets.
fn check_manage(site: &RestSite, req: &Request) -> Result<()> {
    if may_manage(site, req)? { Ok(()) } else { Err(errors::cannot_manage(req)) }
}

/// Whether everybody sees what stands in a sidebar.
fn is_open(site: &RestSite, sidebar: &str) -> bool {
    site.sidebars.get(sidebar).is_some_and(|sidebar| sidebar.show_in_rest)
}
