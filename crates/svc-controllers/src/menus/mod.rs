//! Menu, menu item and menu location routes, for classic themes.
//!
//! Menus are terms and their items are posts, so both build on the routes of terms and posts.

mod errors;
pub(crate) mod items;
mod locations;
mod menu;

use svc_routing::{Request, Result};
use svc_site::{Access, Site};

use crate::caller;

pub(crate) use self::items::edit_args;
pub use self::{items::MenuItems, locations::MenuLocations, menu::Menus};

/// Rejects callers who may neither manage menus nor edit posts of any post type in the REST API.
fn check_read(site: &Site, req: &Request) -> Result<()> {
    let settings = site.settings(req.cx())?;
    let access = Access::new(site, &settings);
    let caller = caller(req);
    let writes = || site.registries.types.iter().any(|t| t.show_in_rest && access.can(&caller, &t.caps.edit_posts));
    if access.can(&caller, "edit_theme_options") || writes() { Ok(()) } else { Err(errors::cannot_view(req)) }
}
